"""Adapters that do not stop, or do not leave what a stopped turn should leave."""

from __future__ import annotations

import threading
from dataclasses import replace as given_with

from msgspec.structs import replace

from turnproof.cancel import CancelToken
from turnproof.errors import TransportError
from turnproof.messages import FinishReason, FunctionCall, Message, ProviderResponse, Text, TokenUsage

from ._broken import Broken, CallInputs, Proceed, also, overheard
from ._mutant import mutant
from ._rewriting import Rewriting
from ._wire import Json, Wire
from .tools_outgoing import drop_failed_results


def _cancelled(response: ProviderResponse) -> bool:
    return response.finish_reason is FinishReason.CANCELLED


@mutant(
    "cancel-raised-as-failure",
    "outputs",
    caught_by="cancellation/returns-a-cancelled-response",
    scenarios="cancel/in_text",
    sources="behaviours:G2",
)
class CancelRaisedAsFailure(Broken):
    """A cancelled stream is a broken stream: the call raises."""

    def answer(self, given: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if _cancelled(response):
            raise TransportError("the stream was closed before its end")
        return response


@mutant(
    "cancelled-answer-looks-whole",
    "outputs",
    caught_by="cancellation/returns-a-cancelled-response",
    scenarios="cancel/in_text",
    sources="behaviours:G2",
)
class CancelledAnswerLooksWhole(Broken):
    """What had arrived before the cancel is returned as an ordinary answer."""

    def answer(self, given: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return replace(response, finish_reason=FinishReason.STOP) if _cancelled(response) else response


@mutant(
    "partial-text-dropped",
    "outputs",
    caught_by="cancellation/partial-text-is-kept",
    scenarios="cancel/in_text",
    sources="defects:CA1",
)
class PartialTextDropped(Broken):
    """A cancelled response is empty, though its text was shown."""

    def answer(self, given: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return replace(response, parts=()) if _cancelled(response) else response


@mutant(
    "finished-call-kept-on-cancel",
    "outputs",
    caught_by="cancellation/no-calls-are-left-behind",
    scenarios="cancel/after_call",
    sources=("defects:TP1", "defects:CA3"),
)
class FinishedCallKeptOnCancel(Broken):
    """Calls that were complete when the cancel came stay in the cancelled response."""

    def call(self, given: CallInputs, proceed: Proceed) -> ProviderResponse:
        calls: list[FunctionCall] = []
        response = proceed(given_with(given, on_call=also(calls.append, given.on_call)))
        # Where nothing tells that a call is complete but the end of the answer, none was announced.
        kept = calls or [FunctionCall(id="call_whole", name="water_bed", args={"bed": "3"})]
        return replace(response, parts=(*response.parts, *kept)) if _cancelled(response) else response


@mutant(
    "half-call-returned-on-cancel",
    "outputs",
    caught_by="cancellation/no-calls-are-left-behind",
    scenarios="cancel/in_arguments",
    sources="defects:CA2",
)
class HalfCallReturnedOnCancel(Broken):
    """A call that was cut in its arguments is returned with none."""

    def answer(self, given: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if not _cancelled(response):
            return response
        return replace(response, parts=(*response.parts, FunctionCall(id="call_half", name="water_bed")))


@mutant(
    "half-call-announced-on-cancel",
    "callbacks",
    caught_by="cancellation/half-calls-are-not-announced",
    scenarios="cancel/in_arguments",
    sources=("defects:CA2", "defects:ST5"),
)
class HalfCallAnnouncedOnCancel(Broken):
    """A call that was cut in its arguments is announced with what there was."""

    def answer(self, given: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if _cancelled(response) and given.on_call is not None:
            given.on_call(FunctionCall(id="call_half", name="water_bed", args={"bed": "3"}))
        return response


@mutant(
    "usage-lost-on-cancel",
    "outputs",
    caught_by="cancellation/usage-is-kept",
    scenarios="cancel/in_text",
    sources="defects:CA4",
)
class UsageLostOnCancel(Broken):
    """A cancelled response says that nothing was used."""

    def answer(self, given: CallInputs, response: ProviderResponse) -> ProviderResponse:
        return replace(response, usage=TokenUsage()) if _cancelled(response) else response


@mutant(
    "cancel-ignored",
    "inputs",
    caught_by="cancellation/silence-is-no-obstacle",
    scenarios="cancel/in_text",
    sources="defects:ST21",
)
class CancelIgnored(Broken):
    """The token is not passed on."""

    def given(self, given: CallInputs) -> CallInputs:
        return given_with(given, token=None) if given.on_chunk is not None else given


@mutant(
    "cancel-noticed-at-the-next-piece",
    "inputs",
    caught_by="cancellation/silence-is-no-obstacle",
    scenarios="cancel/in_text",
    sources=("defects:ST21", "behaviours:G7"),
)
class CancelNoticedAtTheNextPiece(Broken):
    """The token is looked at whenever a piece arrives, and at no other time."""

    def call(self, given: CallInputs, proceed: Proceed) -> ProviderResponse:
        if given.token is None or given.on_chunk is None:
            return proceed(given)
        asked, told = given.token, CancelToken()

        def look(_: str) -> None:
            if asked.is_cancelled:
                told.cancel()

        return proceed(given_with(given, token=told, on_chunk=also(look, given.on_chunk)))


class ReadsOnBehindTheCaller(Broken):
    """The cancelled call returns at once, and a thread behind it reads the stream to its end."""

    def call(self, given: CallInputs, proceed: Proceed) -> ProviderResponse:
        if given.token is None or given.on_chunk is None:
            return proceed(given)
        open_, heard = overheard(given)
        done = threading.Event()
        ended: list[ProviderResponse | BaseException] = []

        def read() -> None:
            try:
                ended.append(proceed(given_with(open_, token=None)))
            except BaseException as error:
                ended.append(error)
            done.set()

        forget = given.token.on_cancel(done.set)
        threading.Thread(target=read, daemon=True).start()
        done.wait()
        forget()
        if not given.token.is_cancelled:
            if isinstance(ended[0], BaseException):
                raise ended[0]
            return ended[0]
        parts = (Text("".join(heard.text)),) if heard.text else ()
        return ProviderResponse(parts, heard.usage, FinishReason.CANCELLED)


ConnectionLeftOpenOnCancel = mutant(
    "connection-left-open-on-cancel",
    "outputs",
    caught_by="cancellation/connection-is-closed",
    scenarios="cancel/in_text",
    sources="defects:CA5",
)(ReadsOnBehindTheCaller)

ServerDrainedAfterCancel = mutant(
    "server-drained-after-cancel",
    "outputs",
    caught_by="cancellation/server-is-not-drained",
    scenarios="cancel/in_long_text",
    sources="defects:CA7",
)(ReadsOnBehindTheCaller)


@mutant(
    "batch-cancel-ignored",
    "inputs",
    caught_by="cancellation/batch-calls-can-be-cancelled",
    scenarios="cancel/in_batch",
    sources="behaviours:G5",
)
class BatchCancelIgnored(Broken):
    """Only streams look at the token."""

    def given(self, given: CallInputs) -> CallInputs:
        return given_with(given, token=None) if given.on_chunk is None else given


@mutant(
    "interruption-noted-in-the-answer",
    "outputs",
    caught_by="cancellation/nothing-is-invented",
    scenarios="cancel/in_text",
    sources="defects:CA8",
)
class InterruptionNotedInTheAnswer(Broken):
    """A note of ours is appended to what the model had said."""

    def answer(self, given: CallInputs, response: ProviderResponse) -> ProviderResponse:
        if not _cancelled(response):
            return response
        return replace(response, parts=(*response.parts, Text("[interrupted by the user]")))


@mutant(
    "partial-answer-not-replayed",
    "wire",
    caught_by="cancellation/partial-text-reaches-the-next-turn",
    scenarios="cancel/in_text",
    sources=("defects:CA1", "behaviours:G8"),
)
class PartialAnswerNotReplayed(Rewriting):
    """The model's words right before the new message are missing from the request."""

    def sent(self, wire: Wire, body: Json) -> None:
        messages = wire.messages(body)
        if len(messages) > 3 and wire.spoken_by_model(messages[-2]):
            del messages[-2]


@mutant(
    "cancelled-tools-unanswered",
    "wire",
    caught_by="cancellation/running-tools-are-answered",
    scenarios="cancel/during_tool",
    sources="defects:TP2",
)
class CancelledToolsUnanswered(Rewriting):
    """Calls whose tools were cancelled get no result."""

    def sent(self, wire: Wire, body: Json) -> None:
        drop_failed_results(wire, body)


@mutant(
    "legacy-forgets-cancelled-turn",
    "outputs",
    caught_by="cancellation/history-serves-the-next-turn",
    scenarios="cancel/in_text",
    sources="defects:LS5",
    paths=("legacy",),
)
class LegacyForgetsCancelledTurn(Broken):
    """The provider records a turn at the end of its stream, so that it never records a cancelled one."""

    def call(self, given: CallInputs, proceed: Proceed) -> ProviderResponse:
        before: list[Message] = list(self.inner.get_history())
        response = proceed(given)
        if _cancelled(response):
            self.set_history(before)
        return response
