"""Adapters that do not return what the wire carried, or do not return at all."""

from __future__ import annotations

import dataclasses
import threading
from html import escape

from msgspec.structs import replace

from turnproof.dialects.base import HttpRequest
from turnproof.errors import InvalidRequestError
from turnproof.messages import FinishReason, FunctionCall, ProviderResponse, Text, Thought

from ._broken import Broken, CallInputs, trim_texts
from ._mutant import suite_mutant
from ._rewriting import Rewriting
from ._wire import Json, Wire


@suite_mutant("never-returns")
class NeverReturns(Broken):
    """The call has its answer and waits for something that never comes."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        threading.Event().wait()
        return response


@suite_mutant("only-first-text-kept")
class OnlyFirstTextKept(Broken):
    """Of several text parts only the first is returned."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        first = next((part for part in response.parts if isinstance(part, Text)), None)
        return replace(
            response, parts=tuple(part for part in response.parts if part is first or not isinstance(part, Text))
        )


@suite_mutant("end-marker-read-as-text")
class EndMarkerReadAsText(Broken):
    """What ends a stream is read as the last of its text."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if inputs.on_chunk is None:
            return response
        inputs.on_chunk("[DONE]")
        return replace(response, parts=(*response.parts, Text("[DONE]")))


@suite_mutant("text-trimmed")
class TextTrimmed(Broken):
    """White space at the borders of an answer is taken for nothing."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return trim_texts(response)


@suite_mutant("text-escaped-for-html")
class TextEscapedForHtml(Broken):
    """The model's text is made safe for a web page, where nobody said that it will stand on one."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        on_chunk = inputs.on_chunk
        if on_chunk is None:
            return inputs
        return dataclasses.replace(inputs, on_chunk=lambda text: on_chunk(escape(text)))

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return replace(
            response,
            parts=tuple(
                replace(part, text=escape(part.text)) if isinstance(part, Text) else part for part in response.parts
            ),
        )


@suite_mutant("service-work-dropped")
class ServiceWorkDropped(Broken):
    """Of an answer only texts, thinking and calls are kept: what the service did by itself is nobody's business."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        ours = (Text, Thought, FunctionCall)
        return replace(response, parts=tuple(part for part in response.parts if isinstance(part, ours)))


@suite_mutant("calls-put-before-text")
class CallsPutBeforeText(Broken):
    """Calls are collected first and text is appended to them."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        parts = sorted(response.parts, key=lambda part: not isinstance(part, FunctionCall))
        return replace(response, parts=tuple(parts))


@suite_mutant("finish-always-stop")
class FinishAlwaysStop(Broken):
    """Every answer is said to have ended by itself."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return replace(response, finish_reason=FinishReason.STOP)


@suite_mutant("refusal-unknown")
class RefusalUnknown(Broken):
    """A refusal is mapped to unknown, for want of an entry in the table."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        refused = response.finish_reason in (FinishReason.REFUSAL, FinishReason.SAFETY)
        return replace(response, finish_reason=FinishReason.UNKNOWN) if refused else response


@suite_mutant("limit-read-as-stop")
class LimitReadAsStop(Rewriting):
    """The word for the output limit is read as the word for an ordinary end."""

    def change_document(self, wire: Wire, document: Json) -> None:
        if wire.finish(document) is FinishReason.MAX_TOKENS:
            wire.set_finish(document, FinishReason.STOP)


@suite_mutant("finish-word-dropped")
class FinishWordDropped(Broken):
    """The provider's own word for the end is thrown away."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return replace(response, raw_finish=None)


@suite_mutant("unusual-end-raises")
class UnusualEndRaises(Broken):
    """An answer that reached the output limit is raised as an error, its text lost."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if response.finish_reason is FinishReason.MAX_TOKENS:
            raise InvalidRequestError("the answer was cut at max_tokens")
        return response


@suite_mutant("other-model-asked")
class OtherModelAsked(Rewriting):
    """A default model from the configuration wins over the one that was asked for."""

    def change_http_request(self, wire: Wire, request: HttpRequest) -> HttpRequest:
        return wire.for_other_model(request)


@suite_mutant("blank-block-sent")
class BlankBlockSent(Rewriting):
    """A block that says nothing is sent along with each message of the user."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            if not wire.spoken_by_model(message):
                wire.blocks(message).append(wire.blank_block())


@suite_mutant("answer-printed")
class AnswerPrinted(Broken):
    """A print of the answer, left behind by somebody who was debugging."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        print("DEBUG", response.finish_reason)
        return response


@suite_mutant("shutdown-raises")
class ShutdownRaises(Broken):
    """Closing what was never opened fails."""

    def shutdown(self) -> None:
        """Release everything, and then complain."""
        self.inner.shutdown()
        raise RuntimeError("no event loop is running")


@suite_mutant("last-answer-not-replayed")
class LastAnswerNotReplayed(Rewriting):
    """The model's latest answer is missing from the next request."""

    def change_request(self, wire: Wire, body: Json) -> None:
        messages = wire.messages(body)
        last = next((message for message in reversed(messages) if wire.spoken_by_model(message)), None)
        if last is not None:
            messages[:] = [message for message in messages if message is not last]


@suite_mutant("answering-model-forgotten")
class AnsweringModelForgotten(Broken):
    """The response does not say which model answered."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return replace(response, model=None)


@suite_mutant("answering-model-is-an-alias")
class AnsweringModelIsAnAlias(Broken):
    """The response names the model by an alias of the adapter's own."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return replace(response, model="default")
