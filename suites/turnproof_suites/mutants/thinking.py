"""Adapters that lose, change or misplace what the model thought."""

from __future__ import annotations

from dataclasses import replace as replace_inputs
from itertools import pairwise

from msgspec.structs import replace

from turnproof.messages import Part, ProviderResponse, Text, Thought

from ._broken import Broken, CallInputs
from ._mutant import suite_mutant
from ._rewriting import Rewriting, blocks_of_kind, every_block, keep_only
from ._wire import Json, Wire


@suite_mutant("thinking-not-replayed")
class ThinkingNotReplayed(Rewriting):
    """Thinking is left out of the history, in a running tool loop too."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            wire.drop_thinking(message)


@suite_mutant("signature-dropped")
class SignatureDropped(Rewriting):
    """What the model thought is sent back without its signature."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for block in every_block(wire, body):
            wire.strip_signature(block)


@suite_mutant("thinking-edited")
class ThinkingEdited(Rewriting):
    """Thinking is tidied up before it is sent back, under the old signature."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for block in blocks_of_kind(wire, every_block(wire, body), "thinking"):
            wire.edit_thinking(block, lambda text: text[:-1])


@suite_mutant("redacted-thinking-dropped")
class RedactedThinkingDropped(Rewriting):
    """Encrypted thinking says nothing to us, so it is thrown away."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            keep_only(wire.blocks(message), lambda block: wire.kind(block) != "redacted")


@suite_mutant("thinking-returned-as-text")
class ThinkingReturnedAsText(Broken):
    """What the model thought is returned as what it said."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        parts: list[Part] = [
            Text(part.text) if isinstance(part, Thought) and part.text else part for part in response.parts
        ]
        return replace(response, parts=tuple(parts))


@suite_mutant("thinking-streamed-as-text")
class ThinkingStreamedAsText(Broken):
    """What the model thinks is passed on as if it said it."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return replace_inputs(inputs, on_thinking=inputs.on_chunk) if inputs.on_chunk is not None else inputs


@suite_mutant("thinking-not-told")
class ThinkingNotTold(Broken):
    """The callback for thinking is never called."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return replace_inputs(inputs, on_thinking=None)


@suite_mutant("hidden-thinking-dropped")
class HiddenThinkingDropped(Broken):
    """Thinking that has a signature and no text is taken for nothing."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return replace(
            response, parts=tuple(part for part in response.parts if not isinstance(part, Thought) or part.text)
        )


@suite_mutant("thought-invented")
class ThoughtInvented(Broken):
    """Every answer begins with a thought that says something, whether or not the model had one."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return replace(response, parts=(Thought("…"), *response.parts))


@suite_mutant("thinking-after-its-call")
class ThinkingAfterItsCall(Rewriting):
    """Calls are written first, and the thinking that led to them behind."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            wire.blocks(message).sort(key=lambda block: wire.kind(block) == "thinking")


@suite_mutant("thinking-not-asked-for")
class ThinkingNotAskedFor(Rewriting):
    """Thinking was switched on, and no request says so."""

    def change_request(self, wire: Wire, body: Json) -> None:
        wire.drop_thinking_setting(body)


@suite_mutant("words-lost-behind-a-thought")
class WordsLostBehindAThought(Rewriting):
    """What the model said right after a thought is left out, and the thought is sent without it."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            blocks = wire.blocks(message)
            dropped_blocks = [
                next_block
                for thought, next_block in pairwise(blocks)
                if wire.kind(thought) in ("thinking", "redacted") and wire.kind(next_block) == "text"
            ]
            keep_only(blocks, lambda block, lost=dropped_blocks: not any(block is one for one in lost))
