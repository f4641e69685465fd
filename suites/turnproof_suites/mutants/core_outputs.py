"""Adapters that do not return what the wire carried, or do not return at all."""

from __future__ import annotations

import dataclasses
import threading
from html import escape

from msgspec.structs import replace

from turnproof.dialects.base import HttpRequest
from turnproof.errors import InvalidRequestError
from turnproof.messages import FinishReason, FunctionCall, ProviderResponse, Text, Thought

from ._broken import Broken, CallInputs, trimmed
from ._mutant import mutant
from ._rewriting import Rewriting
from ._wire import Json, Wire


@mutant(
    "never-returns",
    "outputs",
    caught_by="core/turns-come-to-an-end",
    scenarios="basics/plain",
    sources="defects:ST21",
    fails="hangs",
)
class NeverReturns(Broken):
    """The call has its answer and waits for something that never comes."""

    def answer(self, given: CallInputs, response: ProviderResponse) -> ProviderResponse:
        threading.Event().wait()
        return response


@mutant(
    "only-first-text-kept",
    "outputs",
    caught_by="core/text-is-what-the-wire-carried",
    scenarios="basics/text_in_blocks",
    sources="defects:ST16",
    capability=("wire:text-blocks",),
)
class OnlyFirstTextKept(Broken):
    """Of several text parts only the first is returned."""

    def answer(self, given: CallInputs, response: ProviderResponse) -> ProviderResponse:
        first = next((part for part in response.parts if isinstance(part, Text)), None)
        return replace(
            response, parts=tuple(part for part in response.parts if part is first or not isinstance(part, Text))
        )


@mutant(
    "end-marker-read-as-text",
    "outputs",
    caught_by="core/text-is-what-the-wire-carried",
    scenarios="basics/plain",
    sources=("defects:ST10", "wire:openai-chat#3"),
)
class EndMarkerReadAsText(Broken):
    """What ends a stream is read as the last of its text."""

    def answer(self, given: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if given.on_chunk is None:
            return response
        given.on_chunk("[DONE]")
        return replace(response, parts=(*response.parts, Text("[DONE]")))


@mutant(
    "text-trimmed",
    "outputs",
    caught_by="core/text-is-what-the-wire-carried",
    scenarios="finish/reasons",
    sources="behaviours:F1",
)
class TextTrimmed(Broken):
    """White space at the borders of an answer is taken for nothing."""

    def answer(self, given: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return trimmed(response)


@mutant(
    "text-escaped-for-html",
    "outputs",
    caught_by="core/text-is-what-the-wire-carried",
    scenarios="basics/markup",
    sources="behaviours:F1",
)
class TextEscapedForHtml(Broken):
    """The model's text is made safe for a web page, where nobody said that it will stand on one."""

    def given(self, given: CallInputs) -> CallInputs:
        on_chunk = given.on_chunk
        if on_chunk is None:
            return given
        return dataclasses.replace(given, on_chunk=lambda text: on_chunk(escape(text)))

    def answer(self, given: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return replace(
            response,
            parts=tuple(
                replace(part, text=escape(part.text)) if isinstance(part, Text) else part for part in response.parts
            ),
        )


@mutant(
    "service-work-dropped",
    "outputs",
    caught_by="core/what-the-service-did-goes-back",
    scenarios="service/searches",
    sources="wire:anthropic#4",
    capability=("wire:server-tools",),
    paths=("stateless",),
)
class ServiceWorkDropped(Broken):
    """Of an answer only texts, thinking and calls are kept: what the service did by itself is nobody's business."""

    def answer(self, given: CallInputs, response: ProviderResponse) -> ProviderResponse:
        ours = (Text, Thought, FunctionCall)
        return replace(response, parts=tuple(part for part in response.parts if isinstance(part, ours)))


@mutant(
    "calls-put-before-text",
    "outputs",
    caught_by="core/parts-keep-the-models-order",
    scenarios="tools/one",
    sources="behaviours:B6",
)
class CallsPutBeforeText(Broken):
    """Calls are collected first and text is appended to them."""

    def answer(self, given: CallInputs, response: ProviderResponse) -> ProviderResponse:
        parts = sorted(response.parts, key=lambda part: not isinstance(part, FunctionCall))
        return replace(response, parts=tuple(parts))


@mutant(
    "finish-always-stop",
    "outputs",
    caught_by="core/finish-reason-says-why",
    scenarios="finish/reasons",
    sources="defects:FR3",
)
class FinishAlwaysStop(Broken):
    """Every answer is said to have ended by itself."""

    def answer(self, given: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return replace(response, finish_reason=FinishReason.STOP)


@mutant(
    "refusal-unknown",
    "outputs",
    caught_by="core/finish-reason-says-why",
    scenarios="finish/reasons",
    sources="defects:FR1",
    capability=("wire:refusals",),
)
class RefusalUnknown(Broken):
    """A refusal is mapped to unknown, for want of an entry in the table."""

    def answer(self, given: CallInputs, response: ProviderResponse) -> ProviderResponse:
        refused = response.finish_reason in (FinishReason.REFUSAL, FinishReason.SAFETY)
        return replace(response, finish_reason=FinishReason.UNKNOWN) if refused else response


@mutant(
    "limit-read-as-stop",
    "wire",
    caught_by="core/finish-reason-says-why",
    scenarios="finish/reasons",
    sources="defects:FR3",
)
class LimitReadAsStop(Rewriting):
    """The word for the output limit is read as the word for an ordinary end."""

    def answered(self, wire: Wire, document: Json) -> None:
        if wire.finish(document) is FinishReason.MAX_TOKENS:
            wire.set_finish(document, FinishReason.STOP)


@mutant(
    "finish-word-dropped",
    "outputs",
    caught_by="core/providers-own-finish-word-is-kept",
    scenarios="finish/reasons",
    sources="defects:FR1",
)
class FinishWordDropped(Broken):
    """The provider's own word for the end is thrown away."""

    def answer(self, given: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return replace(response, raw_finish=None)


@mutant(
    "unusual-end-raises",
    "outputs",
    caught_by="core/a-good-answer-is-returned",
    scenarios="finish/reasons",
    sources="behaviours:H9",
)
class UnusualEndRaises(Broken):
    """An answer that reached the output limit is raised as an error, its text lost."""

    def answer(self, given: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if response.finish_reason is FinishReason.MAX_TOKENS:
            raise InvalidRequestError("the answer was cut at max_tokens")
        return response


@mutant(
    "other-model-asked",
    "wire",
    caught_by="core/asks-for-the-model-it-was-given",
    scenarios="basics/plain",
    sources=("defects:RS10", "defects:SP7"),
)
class OtherModelAsked(Rewriting):
    """A default model from the configuration wins over the one that was asked for."""

    def addressed(self, wire: Wire, request: HttpRequest) -> HttpRequest:
        return wire.for_other_model(request)


@mutant(
    "blank-block-sent",
    "wire",
    caught_by="core/no-request-is-refused",
    scenarios="basics/plain",
    sources="defects:EC1",
    capability=("wire:refuses-blanks",),
)
class BlankBlockSent(Rewriting):
    """A block that says nothing is sent along with each message of the user."""

    def sent(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            if not wire.spoken_by_model(message):
                wire.blocks(message).append(wire.blank_block())


@mutant(
    "answer-printed",
    "outputs",
    caught_by="core/adapter-prints-nothing",
    scenarios="basics/plain",
    sources="design:bad-input",
)
class AnswerPrinted(Broken):
    """A print of the answer, left behind by somebody who was debugging."""

    def answer(self, given: CallInputs, response: ProviderResponse) -> ProviderResponse:
        print("DEBUG", response.finish_reason)
        return response


@mutant(
    "shutdown-raises",
    "outputs",
    caught_by="core/shutdown-does-not-fail",
    scenarios="basics/plain",
    sources="behaviours:D15",
    fails="raises",
)
class ShutdownRaises(Broken):
    """Closing what was never opened fails."""

    def shutdown(self) -> None:
        """Release everything, and then complain."""
        self.inner.shutdown()
        raise RuntimeError("no event loop is running")


@mutant(
    "last-answer-not-replayed",
    "wire",
    caught_by="core/wire-is-what-the-session-holds",
    scenarios="basics/four_turns",
    sources="defects:LS12",
)
class LastAnswerNotReplayed(Rewriting):
    """The model's latest answer is missing from the next request."""

    def sent(self, wire: Wire, body: Json) -> None:
        messages = wire.messages(body)
        last = next((message for message in reversed(messages) if wire.spoken_by_model(message)), None)
        if last is not None:
            messages[:] = [message for message in messages if message is not last]
