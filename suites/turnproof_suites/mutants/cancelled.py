"""Adapters that do not stop, or do not leave what a stopped turn should leave."""

from __future__ import annotations

import threading
from dataclasses import replace as replace_inputs

from msgspec.structs import replace

from turnproof.cancel import CancelToken
from turnproof.errors import TransportError
from turnproof.messages import FinishReason, FunctionCall, Message, ProviderResponse, Text, Thought, TokenUsage

from ._broken import Broken, CallInputs, Proceed, chain_callbacks, record_callbacks
from ._mutant import suite_mutant
from ._rewriting import Rewriting
from ._wire import Json, Wire
from .tools_outgoing import drop_failed_results


def _cancelled(response: ProviderResponse) -> bool:
    return response.finish_reason is FinishReason.CANCELLED


@suite_mutant("cancel-raised-as-failure")
class CancelRaisedAsFailure(Broken):
    """A cancelled stream is a broken stream: the call raises."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if _cancelled(response):
            raise TransportError("the stream was closed before its end")
        return response


@suite_mutant("cancelled-answer-looks-whole")
class CancelledAnswerLooksWhole(Broken):
    """What had arrived before the cancel is returned as an ordinary answer."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return replace(response, finish_reason=FinishReason.STOP) if _cancelled(response) else response


@suite_mutant("partial-text-dropped")
class PartialTextDropped(Broken):
    """A cancelled response is empty, though its text was shown."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return replace(response, parts=()) if _cancelled(response) else response


@suite_mutant("finished-call-kept-on-cancel")
class FinishedCallKeptOnCancel(Broken):
    """Calls that were complete when the cancel came stay in the cancelled response."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        calls: list[FunctionCall] = []
        response = proceed(replace_inputs(inputs, on_call=chain_callbacks(calls.append, inputs.on_call)))
        # Where nothing tells that a call is complete but the end of the answer, none was announced.
        complete_calls = calls or [FunctionCall(id="call_whole", name="water_bed", args={"bed": "3"})]
        return replace(response, parts=(*response.parts, *complete_calls)) if _cancelled(response) else response


@suite_mutant("half-call-returned-on-cancel")
class HalfCallReturnedOnCancel(Broken):
    """A call that was cut in its arguments is returned with none."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if not _cancelled(response):
            return response
        return replace(response, parts=(*response.parts, FunctionCall(id="call_half", name="water_bed")))


@suite_mutant("half-call-announced-on-cancel")
class HalfCallAnnouncedOnCancel(Broken):
    """A call that was cut in its arguments is announced with what there was."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if _cancelled(response) and inputs.on_call is not None:
            inputs.on_call(FunctionCall(id="call_half", name="water_bed", args={"bed": "3"}))
        return response


@suite_mutant("usage-lost-on-cancel")
class UsageLostOnCancel(Broken):
    """A cancelled response says that nothing was used."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return replace(response, usage=TokenUsage()) if _cancelled(response) else response


@suite_mutant("cancel-ignored")
class CancelIgnored(Broken):
    """The token is not passed on."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return replace_inputs(inputs, token=None) if inputs.on_chunk is not None else inputs


class NoticedAtTheNextPiece(Broken):
    """The token is looked at whenever a piece arrives, and at no other time."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        if inputs.token is None or inputs.on_chunk is None:
            return proceed(inputs)
        old_token, new_token = inputs.token, CancelToken()

        def look(_: str) -> None:
            if old_token.is_cancelled:
                new_token.cancel()

        return proceed(replace_inputs(inputs, token=new_token, on_chunk=chain_callbacks(look, inputs.on_chunk)))


CancelNoticedAtTheNextPiece = suite_mutant("cancel-noticed-at-the-next-piece")(NoticedAtTheNextPiece)

PiecePassedOnBeforeTheLook = suite_mutant("piece-passed-on-before-the-look")(NoticedAtTheNextPiece)


@suite_mutant("thinking-dropped-on-cancel")
class ThinkingDroppedOnCancel(Broken):
    """A cancelled response has its text alone."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if not _cancelled(response):
            return response
        return replace(response, parts=tuple(part for part in response.parts if not isinstance(part, Thought)))


class ReadsOnBehindTheCaller(Broken):
    """The cancelled call returns at once, and a thread behind it reads the stream to its end."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        if inputs.token is None or inputs.on_chunk is None:
            return proceed(inputs)
        open_, record = record_callbacks(inputs)
        done = threading.Event()
        ended: list[ProviderResponse | BaseException] = []

        def read() -> None:
            try:
                ended.append(proceed(replace_inputs(open_, token=None)))
            except BaseException as error:
                ended.append(error)
            done.set()

        forget = inputs.token.on_cancel(done.set)
        threading.Thread(target=read, daemon=True).start()
        done.wait()
        forget()
        if not inputs.token.is_cancelled:
            if isinstance(ended[0], BaseException):
                raise ended[0]
            return ended[0]
        parts = (Text("".join(record.text)),) if record.text else ()
        return ProviderResponse(parts, record.usage, FinishReason.CANCELLED)


ConnectionLeftOpenOnCancel = suite_mutant("connection-left-open-on-cancel")(ReadsOnBehindTheCaller)

ServerDrainedAfterCancel = suite_mutant("server-drained-after-cancel")(ReadsOnBehindTheCaller)


@suite_mutant("batch-cancel-ignored")
class BatchCancelIgnored(Broken):
    """Only streams look at the token."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return replace_inputs(inputs, token=None) if inputs.on_chunk is None else inputs


def _with_a_new_token(inputs: CallInputs) -> CallInputs:
    """The call with a token that nobody has set, where its own was set before it began."""
    set_before = inputs.token is not None and inputs.token.is_cancelled
    return replace_inputs(inputs, token=CancelToken()) if set_before else inputs


@suite_mutant("set-token-ignored")
class SetTokenIgnored(Broken):
    """A stream listens for a cancel, and does not look whether the token was set before."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return _with_a_new_token(inputs) if inputs.on_chunk is not None else inputs


@suite_mutant("set-token-ignored-in-batch")
class SetTokenIgnoredInBatch(Broken):
    """A call in one piece does not look whether the token was set before."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return _with_a_new_token(inputs) if inputs.on_chunk is None else inputs


@suite_mutant("set-token-raised-as-failure")
class SetTokenRaisedAsFailure(Broken):
    """A call whose token is already set sends nothing, and raises a connection error instead of `Cancelled`."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        if inputs.token is not None and inputs.token.is_cancelled:
            raise TransportError("the connection was closed")
        return proceed(inputs)


@suite_mutant("interruption-noted-in-the-answer")
class InterruptionNotedInTheAnswer(Broken):
    """A note of ours is appended to what the model had said."""

    def change_response(self, inputs: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if not _cancelled(response):
            return response
        return replace(response, parts=(*response.parts, Text("[interrupted by the user]")))


@suite_mutant("partial-answer-not-replayed")
class PartialAnswerNotReplayed(Rewriting):
    """The model's words right before the new message are missing from the request."""

    def change_request(self, wire: Wire, body: Json) -> None:
        messages = wire.messages(body)
        if len(messages) > 3 and wire.spoken_by_model(messages[-2]):
            del messages[-2]


@suite_mutant("cancelled-tools-unanswered")
class CancelledToolsUnanswered(Rewriting):
    """Calls whose tools were cancelled get no result."""

    def change_request(self, wire: Wire, body: Json) -> None:
        drop_failed_results(wire, body)


@suite_mutant("legacy-forgets-cancelled-turn")
class LegacyForgetsCancelledTurn(Broken):
    """The provider records a turn at the end of its stream, so that it never records a cancelled one."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        before: list[Message] = list(self.inner.get_history())
        response = proceed(inputs)
        if _cancelled(response):
            self.set_history(before)
        return response
