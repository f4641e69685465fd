"""Adapters whose callbacks tell something else than their responses."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from msgspec.structs import replace as changed

from turnproof.dialects.base import WireEvent
from turnproof.messages import FunctionCall, Part, ProviderResponse, Text
from turnproof.provider import OnChunk, Path

from ._broken import Broken, CallInputs, Proceed, trim_texts
from ._mutant import suite_mutant
from ._rewriting import Rewriting
from ._wire import Wire


@suite_mutant("first-chunk-lost")
class FirstChunkLost(Broken):
    """The piece that opens a block is never passed on."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        pieces: list[str] = []

        def after_the_first(on_chunk: OnChunk) -> OnChunk:
            def pass_on(piece: str) -> None:
                if pieces:
                    on_chunk(piece)
                pieces.append(piece)

            return pass_on

        return inputs.with_callback("on_chunk", after_the_first)


@suite_mutant("chunks-doubled")
class ChunksDoubled(Broken):
    """Each piece of text is passed on twice."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return inputs.with_callback("on_chunk", _twice)


def _twice(callback: Callable[[Any], None]) -> Callable[[Any], None]:
    def call_twice(value: Any) -> None:
        callback(value)
        callback(value)

    return call_twice


class _ChunksAtTheEnd(Broken):
    """Collects the pieces of text, and passes them on when the call has ended."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        if inputs.on_chunk is None:
            return proceed(inputs)
        pieces: list[str] = []
        response = proceed(replace(inputs, on_chunk=pieces.append))
        self.pass_on(pieces, inputs.on_chunk)
        return response

    def pass_on(self, pieces: Sequence[str], on_chunk: OnChunk) -> None:
        for piece in pieces:
            on_chunk(piece)


@suite_mutant("chunks-held-back")
class ChunksHeldBack(_ChunksAtTheEnd):
    """The text is streamed over the wire, and passed on all at once when it is complete."""

    def pass_on(self, pieces: Sequence[str], on_chunk: OnChunk) -> None:
        on_chunk("".join(pieces))


@suite_mutant("chunk-after-the-return")
class ChunkAfterTheReturn(Broken):
    """The last piece of a call is delivered when the next call begins."""

    def __init__(self, inner: Any, path: Path) -> None:
        super().__init__(inner, path)
        self.late: OnChunk | None = None

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        if self.late is not None:
            self.late(".")
        self.late = inputs.on_chunk
        return proceed(inputs)


@suite_mutant("calls-announced-twice")
class CallsAnnouncedTwice(Broken):
    """A call is announced when it is complete, and again at the end of the stream."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return inputs.with_callback("on_call", _twice)


@suite_mutant("calls-announced-without-arguments")
class CallsAnnouncedWithoutArguments(Broken):
    """A call is announced as soon as its name is known, before its arguments are."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return inputs.with_callback(
            "on_call", lambda on_call: lambda call: on_call(FunctionCall(id=call.id, name=call.name))
        )


@suite_mutant("text-told-after-calls")
class TextToldAfterCalls(_ChunksAtTheEnd):
    """Text waits in a buffer until the stream ends; calls do not."""


@suite_mutant("bytes-decoded-one-by-one")
class BytesDecodedOneByOne(Broken):
    """Every network read is decoded on its own: what is not ASCII is lost at the seams."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return inputs.with_callback("on_chunk", lambda on_chunk: lambda piece: on_chunk(_garbled(piece)))

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if inputs.on_chunk is None:
            return response
        return changed(response, parts=tuple(map(_garbled_part, response.parts)))


def _garbled_part(part: Part) -> Part:
    return changed(part, text=_garbled(part.text)) if isinstance(part, Text) else part


def _garbled(text: str) -> str:
    return re.sub(r"[^\x00-\x7f]", "\N{REPLACEMENT CHARACTER}", text)


@suite_mutant("pings-read-as-text")
class PingsReadAsText(Rewriting):
    """A keep-alive between two events ends up in the answer."""

    def change_events(self, wire: Wire, events: Sequence[WireEvent]) -> Sequence[WireEvent]:
        first = next((n for n, event in enumerate(events) if event.kind == "text"), len(events))
        return [
            *events[:first],
            *(_saying(wire, event, "ping") for event in events[first : first + 1]),
            *events[first:],
        ]


def _saying(wire: Wire, event: WireEvent, text: str) -> WireEvent:
    document = wire.document(event)
    assert document is not None
    wire.set_text(document, text)
    return replace(wire.with_document(event, document), text=text)


@suite_mutant("unspaced-events-ignored")
class UnspacedEventsIgnored(Broken):
    """Events in a spelling that the parser does not know are passed over: the answer comes back empty."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return inputs if inputs.on_chunk is None else replace(inputs, on_chunk=lambda piece: None)

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if inputs.on_chunk is None:
            return response
        return changed(response, parts=tuple(part for part in response.parts if not isinstance(part, Text)))


@suite_mutant("pieces-go-to-the-last-block")
class PiecesGoToTheLastBlock(Broken):
    """Each piece of arguments is added to the call that was opened last: where calls overlap, all are lost."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if inputs.on_chunk is None or len(response.calls) < 2:
            return response
        return changed(
            response,
            parts=tuple(changed(part, args={}) if isinstance(part, FunctionCall) else part for part in response.parts),
        )


@suite_mutant("batch-answer-trimmed")
class BatchAnswerTrimmed(Broken):
    """Answers in one piece lose the white space at their borders; streams keep it."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return response if inputs.on_chunk is not None else trim_texts(response)
