"""Answers that broke off: a broken connection, an error event, or a missing end is an error, whatever came before."""

from __future__ import annotations

from collections.abc import Sequence

from turnproof.dialects.base import WireAnswer
from turnproof.dialects.contract import Dialect
from turnproof.errors import OverloadedError, TransportError
from turnproof.judge.finding import Compared, Side
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import View
from turnproof.messages import FinishReason
from turnproof.run.transcript import Failed

from .raised_errors import (
    CLASSES_BY_MEANING,
    CLASSES_BY_STATUS,
    SOCKET_FAULTS,
    alternatives,
    at_error_answer,
    error_names,
    failures,
    is_one_of,
    last_answers,
)

_IN_EVENTS = (400, 401, 403, 404, 429, 500, 503, 529)
"""Statuses whose error types an error event may name: its stream has status 200, which says nothing."""

_NO_TRANSPORT_ERROR = finding(
    "errors/broken-connections-are-transport-errors/wrong-class",
    "The connection broke, and the error is not a transport error.",
    "{expected:words}, because the connection broke ({fault:words})",
    "{observed:words}: {message}",
)


@check("errors/broken-connections-are-transport-errors")
def broken_connections_are_transport_errors(view: View) -> Findings:
    """Reset before the headers, cut in mid stream, or silent: one class for all of them. Where the server closes the
    connection in order and its stream lacks the end, the server may be to blame as well."""
    for call, failed in failures(view):
        if call.fault not in SOCKET_FAULTS:
            continue
        is_servers = call.fault == "no-end" and failed.status is None
        if is_one_of(failed, TransportError, *([OverloadedError] if is_servers else [])):
            yield Compared(f"connections broken by {call.fault}")
        else:
            yield _NO_TRANSPORT_ERROR.of_error(
                call.at(Side.ERROR, "error"),
                failed,
                expected=TransportError.__name__,
                related=(call.at_answer(),),
                fault=call.fault,
            )


_EVENT_RETURNED = finding(
    "errors/error-events-end-the-call/returned",
    "A stream with an error event was returned as an answer.",
    "an error, because the stream has the error event {kind}",
    "a response with the text {text} that ended with {observed}",
)
_WRONG_CLASS_FOR_EVENT = finding(
    "errors/error-events-end-the-call/wrong-class",
    "The class of the error does not fit the error event of the stream.",
    "{classes:words} for the error event {kind}",
    "{observed:words}: {message}",
)


@check("errors/error-events-end-the-call")
def error_events_end_the_call(view: View) -> Findings:
    """An error inside a stream of status 200 is an error all the same."""
    for call, answer in last_answers(view):
        if answer.status != 200 or answer.error_kind is None:
            continue
        if call.response is not None and call.response.finish_reason is not FinishReason.ERROR:
            yield _EVENT_RETURNED(
                call.at(Side.RESPONSE, "finish_reason"),
                observed=call.response.finish_reason,
                related=at_error_answer(call),
                kind=answer.error_kind,
                text=call.response.text,
            )
            continue
        classes = _event_classes(answer, view.dialect)
        if call.failed is not None and call.failed.typed and not _fits(call.failed, classes):
            yield _WRONG_CLASS_FOR_EVENT.of_error(
                call.at(Side.ERROR, "error"),
                call.failed,
                expected=[one.__name__ for one in classes],
                related=at_error_answer(call),
                classes=alternatives(classes),
                kind=answer.error_kind,
            )
        else:
            yield Compared("error events")


def _event_classes(answer: WireAnswer, dialect: Dialect) -> tuple[type[Exception], ...]:
    """The classes that an error event can mean, by the API's own words or by its error type; any class, if none."""
    meaning = dialect.error_meaning(answer.status, answer.error_kind, answer.error_message)
    if meaning is not None:
        return CLASSES_BY_MEANING[meaning]
    named = (status for status in _IN_EVENTS if dialect.error_kind(status)[0] == answer.error_kind)
    return tuple(dict.fromkeys(one for status in named for one in CLASSES_BY_STATUS[status]))


def _fits(failed: Failed, classes: Sequence[type[Exception]]) -> bool:
    return not classes or "Cancelled" in error_names(failed) or is_one_of(failed, *classes)


_CUT_RETURNED = finding(
    "errors/a-stream-without-its-end-is-no-answer/returned",
    "A stream that broke off was returned as an answer.",
    "an error, because the stream broke off ({fault:words})",
    "a response with the text {text} that ended with {observed}",
)


@check("errors/a-stream-without-its-end-is-no-answer")
def a_stream_without_its_end_is_no_answer(view: View) -> Findings:
    """What ends before its end marker was cut, however cleanly the socket was closed."""
    for call in view.calls:
        last = call.last
        if not call.began.streamed or last is None or last.held or last.fault is None:
            continue
        answer = last.answer
        if answer is None or answer.status != 200 or answer.complete or answer.error_kind is not None:
            continue
        if call.response is not None and call.response.finish_reason not in (
            FinishReason.ERROR,
            FinishReason.CANCELLED,
        ):
            yield _CUT_RETURNED(
                call.at(Side.RESPONSE, "finish_reason"),
                observed=call.response.finish_reason,
                related=(call.at_answer(),),
                fault=last.fault,
                text=call.response.text,
            )
        else:
            yield Compared("streams without an end")
