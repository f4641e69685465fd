"""Adapters that lose, change or misplace what the model thought."""

from __future__ import annotations

from dataclasses import replace as given_with
from itertools import pairwise

from msgspec.structs import replace

from turnproof.messages import Part, ProviderResponse, Text, Thought

from ._broken import Broken, CallInputs
from ._mutant import mutant
from ._rewriting import Rewriting, only
from ._wire import Json, Wire


@mutant(
    "thinking-not-replayed",
    "wire",
    caught_by="thinking/signed-thinking-goes-back-in-a-tool-loop",
    scenarios="thinking/with_tools",
    sources="defects:TH1",
)
class ThinkingNotReplayed(Rewriting):
    """Thinking is left out of the history, in a running tool loop too."""

    def sent(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            wire.drop_thinking(message)


@mutant(
    "signature-dropped",
    "wire",
    caught_by="thinking/signed-thinking-goes-back-in-a-tool-loop",
    scenarios="thinking/with_tools",
    sources=("defects:TH3", "defects:PE2"),
)
class SignatureDropped(Rewriting):
    """What the model thought is sent back without its signature."""

    def sent(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            for block in wire.blocks(message):
                wire.strip_signature(block)


@mutant(
    "thinking-edited",
    "wire",
    caught_by="thinking/nothing-is-forged",
    scenarios="thinking/with_tools",
    sources="wire:anthropic#5",
)
class ThinkingEdited(Rewriting):
    """Thinking is tidied up before it is sent back, under the old signature."""

    def sent(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            for block in wire.blocks(message):
                if wire.kind(block) == "thinking":
                    wire.edit_thinking(block, lambda text: text[:-1])


@mutant(
    "redacted-thinking-dropped",
    "wire",
    caught_by="thinking/redacted-thinking-goes-back-in-a-tool-loop",
    scenarios="thinking/redacted",
    sources="defects:TH2",
)
class RedactedThinkingDropped(Rewriting):
    """Encrypted thinking says nothing to us, so it is thrown away."""

    def sent(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            only(wire.blocks(message), lambda block: wire.kind(block) != "redacted")


@mutant(
    "thinking-returned-as-text",
    "outputs",
    caught_by="thinking/is-no-text",
    scenarios="thinking/plain",
    sources="defects:TH6",
)
class ThinkingReturnedAsText(Broken):
    """What the model thought is returned as what it said."""

    def answer(self, given: CallInputs, response: ProviderResponse) -> ProviderResponse:
        parts: list[Part] = [
            Text(part.text) if isinstance(part, Thought) and part.text else part for part in response.parts
        ]
        return replace(response, parts=tuple(parts))


@mutant(
    "thinking-streamed-as-text",
    "callbacks",
    caught_by="thinking/is-no-text",
    scenarios="thinking/plain",
    sources="defects:TH6",
)
class ThinkingStreamedAsText(Broken):
    """What the model thinks is passed on as if it said it."""

    def given(self, given: CallInputs) -> CallInputs:
        return given_with(given, on_thinking=given.on_chunk) if given.on_chunk is not None else given


@mutant(
    "thinking-not-told",
    "callbacks",
    caught_by="thinking/is-passed-on",
    scenarios="thinking/plain",
    sources="behaviours:F4",
)
class ThinkingNotTold(Broken):
    """The callback for thinking is never called."""

    def given(self, given: CallInputs) -> CallInputs:
        return given_with(given, on_thinking=None)


@mutant(
    "hidden-thinking-dropped",
    "outputs",
    caught_by="thinking/blocks-stay-apart",
    scenarios="thinking/interleaved",
    sources="defects:TH4",
    capability=("opaque_thinking",),
)
class HiddenThinkingDropped(Broken):
    """Thinking that has a signature and no text is taken for nothing."""

    def answer(self, given: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return replace(
            response, parts=tuple(part for part in response.parts if not isinstance(part, Thought) or part.text)
        )


@mutant(
    "empty-thought-invented",
    "outputs",
    caught_by="thinking/blocks-stay-apart",
    scenarios="thinking/plain",
    sources="defects:TH4",
)
class EmptyThoughtInvented(Broken):
    """Every answer begins with a thought, whether or not the model had one."""

    def answer(self, given: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return replace(response, parts=(Thought(), *response.parts))


@mutant(
    "thinking-after-its-call",
    "wire",
    caught_by="thinking/comes-before-its-call",
    scenarios="thinking/with_tools",
    sources=("defects:TH1", "defects:TP6"),
)
class ThinkingAfterItsCall(Rewriting):
    """Calls are written first, and the thinking that led to them behind."""

    def sent(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            wire.blocks(message).sort(key=lambda block: wire.kind(block) == "thinking")


@mutant(
    "thinking-not-asked-for",
    "wire",
    caught_by="thinking/setting-goes-out",
    scenarios="thinking/plain",
    sources="behaviours:D4",
)
class ThinkingNotAskedFor(Rewriting):
    """Thinking was switched on, and no request says so."""

    def sent(self, wire: Wire, body: Json) -> None:
        wire.drop_thinking_setting(body)


@mutant(
    "words-lost-behind-a-thought",
    "wire",
    caught_by="core/wire-is-what-the-session-holds",
    scenarios="thinking/with_tools",
    sources="defects:TH10",
    capability=("opaque_thinking",),
)
class WordsLostBehindAThought(Rewriting):
    """What the model said right after a thought is left out, and the thought is sent without it."""

    def sent(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            blocks = wire.blocks(message)
            lost = [
                said
                for thought, said in pairwise(blocks)
                if wire.kind(thought) in ("thinking", "redacted") and wire.kind(said) == "text"
            ]
            only(blocks, lambda block, lost=lost: not any(block is one for one in lost))
