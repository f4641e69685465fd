"""Errors: every failure is raised, as what it is, with what the provider said of it, and nothing else is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, takewhile

from turnproof.dialects.base import Dialect, ErrorMeaning, WireAnswer
from turnproof.errors import (
    AuthenticationError,
    CacheExpiredError,
    ContentFilterError,
    ContextLimitError,
    InvalidRequestError,
    OverloadedError,
    RateLimitError,
    TransportError,
)
from turnproof.messages import JSON, FinishReason, Message, same_history
from turnproof.requirements import Findings, check
from turnproof.transcript import Failed, HistorySnapshot, TurnBegan
from turnproof.verdict import violated
from turnproof.view import Exchange, ProviderCall, TurnView, View
from turnproof.view.diff import show

from .reading import by_place, excerpt, first_requests, too_long, user_text
from .steps import unpaired

_SOCKET_FAULTS = ("reset", "truncate", "stall", "refuse-connection", "no-end")

_OVERLOADED = (OverloadedError, TransportError)
_REFUSED = (InvalidRequestError, ContextLimitError, ContentFilterError)
_CLASSES: dict[int, tuple[type[Exception], ...]] = {
    400: _REFUSED,
    401: (AuthenticationError,),
    403: (AuthenticationError, ContentFilterError),
    404: (InvalidRequestError,),
    408: _OVERLOADED,
    409: (OverloadedError, TransportError, InvalidRequestError),
    413: _REFUSED,
    422: _REFUSED,
    429: (RateLimitError,),
    500: _OVERLOADED,
    502: _OVERLOADED,
    503: _OVERLOADED,
    504: _OVERLOADED,
    529: (OverloadedError,),
}
"""Which errors say what a status says. Statuses that are not here are not judged."""

_MEANINGS: dict[ErrorMeaning, tuple[type[Exception], ...]] = {
    "authentication": (AuthenticationError,),
    "cache-expired": (CacheExpiredError,),
    "content-filter": (ContentFilterError,),
    "context-limit": (ContextLimitError,),
    "invalid-request": (InvalidRequestError,),
    "overloaded": _OVERLOADED,
    "rate-limit": (RateLimitError,),
}
"""Which errors say what the API's own words say, where they say more than the status."""

_IN_EVENTS = (400, 401, 403, 404, 429, 500, 503, 529)
"""Statuses whose error types an error event may name: its stream has status 200, which says nothing."""

_PASSING = frozenset({408, 429, 500, 502, 503, 504, 529})
_LASTING = frozenset({400, 401, 403, 404, 413, 422})


def _names(failed: Failed) -> set[str]:
    return {failed.error, *failed.bases}


def _is(failed: Failed, *classes: type[Exception]) -> bool:
    return any(one.__name__ in _names(failed) for one in classes)


def _said(failed: Failed) -> str:
    return f"{failed.error}: {show(failed.message)}"


def _failures(view: View) -> Iterator[tuple[ProviderCall, Failed]]:
    """Calls that raised something else than a cancellation."""
    for call in view.calls:
        if call.failed is not None and "Cancelled" not in _names(call.failed):
            yield call, call.failed


def _refused(view: View) -> Iterator[tuple[ProviderCall, Failed, WireAnswer]]:
    """Calls that raised, and were answered with an error status."""
    for call, failed in _failures(view):
        answer = call.last.answer if call.last is not None else None
        if answer is not None and answer.status >= 400:
            yield call, failed, answer


def _meaning(call: ProviderCall) -> ErrorMeaning | None:
    return call.last.error_meaning if call.last is not None else None


@check(
    "errors/failures-are-typed",
    aspect=lambda view: by_place(view, ((call, _essence(failed)) for call, failed in _failures(view))),
)
def failures_are_typed(view: View) -> Findings:
    """As one of the tree's provider errors, never as an SDK's or Python's own."""
    for call, failed in _failures(view):
        if failed.from_callback:
            continue  # an exception of the session's own callback, which the adapter rightly let through
        if failed.typed:
            yield "failures"
        else:
            yield violated(f"{call.where}: the adapter raised {_said(failed)}", detail=excerpt(call.last))


def _essence(failed: Failed) -> JSON:
    return {
        "error": failed.error,
        "status": failed.status,
        "retryable": failed.retryable,
        "retry_after": failed.retry_after,
    }


@check("errors/error-answers-are-raised")
def error_answers_are_raised(view: View) -> Findings:
    """An error status is never an answer, not even an empty one."""
    for call in view.calls:
        answer = call.last.answer if call.last is not None else None
        if answer is None or answer.status < 400:
            continue
        if call.response is not None and call.response.finish_reason is not FinishReason.ERROR:
            yield violated(
                f"{call.where}: the API answered {answer.status} {answer.error_kind}, "
                f"the adapter returned a response that ended with {str(call.response.finish_reason)!r}"
            )
        else:
            yield "error answers"


@check("errors/status-is-kept")
def status_is_kept(view: View) -> Findings:
    """The numeric status, batch and streamed."""
    for call, failed, answer in _refused(view):
        if not failed.typed:
            continue
        if failed.status == answer.status:
            yield "statuses"
        else:
            yield violated(f"{call.where}: the API answered {answer.status}, the error has status {failed.status}")


@check("errors/words-are-kept")
def words_are_kept(view: View) -> Findings:
    """What the service says is wrong, so that a person can tell what to do; of a very long text, its beginning."""
    for call, failed, answer in _refused(view):
        words = " ".join((answer.error_message or "").split())
        if not words or not failed.typed:
            continue
        if words[:_ENOUGH] in " ".join(failed.message.split()):
            yield "messages of the service"
        else:
            yield violated(f"{call.where}: the API said {show(words)}; the error says {show(failed.message)}")


_ENOUGH = 200
"""Characters of a service's words that an error has to show."""


@check("errors/class-fits-the-status")
def class_fits_the_status(view: View) -> Findings:
    """By status and the API's error type, never by words in the text."""
    for call, failed, answer in _refused(view):
        meaning = _meaning(call)
        wanted = _CLASSES.get(answer.status) if meaning in (None, "context-limit") else _MEANINGS[meaning]
        if wanted is None or not failed.typed:
            continue
        if _is(failed, *wanted):
            yield "classes of errors"
        else:
            names = " or ".join(one.__name__ for one in wanted)
            yield violated(
                f"{call.where}: the API answered {answer.status} {answer.error_kind}; "
                f"that is {names}, the adapter raised {_said(failed)}"
            )


@check("errors/passing-failures-are-retryable")
def passing_failures_are_retryable(view: View) -> Findings:
    """Too many requests, an overloaded service, a connection that broke: all of them may go well next time."""
    for call, failed in _failures(view):
        why = _passing(call)
        if why is None or not failed.typed:
            continue
        if failed.retryable:
            yield "passing failures"
        else:
            yield violated(f"{call.where}: {why}, but the error is not retryable: {_said(failed)}")


def _passing(call: ProviderCall) -> str | None:
    last = call.last
    if last is None or last.response is None:
        return None
    answer = last.answer
    if answer is not None and answer.status in _PASSING:
        return f"the API answered {answer.status}"
    return f"the connection broke ({last.fault})" if last.fault in _SOCKET_FAULTS else None


@check("errors/lasting-failures-are-not-retryable")
def lasting_failures_are_not_retryable(view: View) -> Findings:
    """The same request would be refused again, as often as it is sent."""
    for call, failed, answer in _refused(view):
        if answer.status not in _LASTING or not failed.typed:
            continue
        if failed.retryable:
            yield violated(
                f"{call.where}: the API answered {answer.status}, but the error is retryable: {_said(failed)}"
            )
        else:
            yield "lasting failures"


_CLOCKS = 2.0
"""Seconds by which a wait may differ that was given as a date: it is told in whole seconds, by another's clock."""


@check("errors/retry-after-is-kept")
def retry_after_is_kept(view: View) -> Findings:
    """How long the provider asked us to wait, as a number or as a date."""
    for call, failed, answer in _refused(view):
        if answer.retry_after is None or answer.status not in _PASSING or not failed.typed:
            continue
        if failed.retry_after is not None and abs(failed.retry_after - answer.retry_after) <= _CLOCKS:
            yield "waits asked for"
        else:
            yield violated(
                f"{call.where}: the API asked for {answer.retry_after:g} s, the error says {failed.retry_after}"
            )


@check("errors/one-request-per-attempt")
def one_request_per_attempt(view: View) -> Findings:
    """The session retries. Retries of the SDK underneath would multiply with its own.

    An adapter may itself ask again, without the managed cache that the service had lost, or with another token of its
    own in place of one that the service refused.
    """
    for call in view.calls:
        sent = [exchange for exchange in call.generated if not _is_repaired(exchange, call)]
        if len(sent) > 1:
            yield violated(f"{call.where}: one attempt made {len(sent)} requests")
        elif call.generated:
            yield "attempts"


def _is_repaired(refused: Exchange, call: ProviderCall) -> bool:
    """Whether only the adapter could know what the service missed, and made it good."""
    if refused.error_meaning == "cache-expired":
        return True
    later = call.exchanges[call.exchanges.index(refused) + 1 :]
    is_refused = refused.answer is not None and refused.answer.status == 401
    return is_refused and any(exchange.request.operation == "authenticate" for exchange in later)


@check("errors/context-limit-is-recognised")
def context_limit_is_recognised(view: View) -> Findings:
    """A prompt that does not fit is told from every other refusal: only then does collecting history help."""
    for call, failed, answer in _refused(view):
        if not too_long(call.last):
            continue
        if not _is(failed, ContextLimitError):
            yield violated(f"{call.where}: the API said {answer.error_message!r}; the adapter raised {_said(failed)}")
        elif invented := _invented(failed, answer.error_message or ""):
            yield violated(f"{call.where}: the API said {answer.error_message!r}; the error's {invented}")
        else:
            yield "prompts that were too long"


def _invented(failed: Failed, words: str) -> str:
    """Which number of the error the API's words do not have, if any; what is asked for may be a sum of two of them."""
    told = [int(number.replace(",", "")) for number in _NUMBER.findall(words)]
    sums = {*told, *(one + other for one, other in combinations(told, 2))}
    if failed.limit is not None and failed.limit not in told:
        return f"limit is {failed.limit}"
    if failed.requested is not None and failed.requested not in sums:
        return f"requested is {failed.requested}"
    return ""


_NUMBER = re.compile(r"\d[\d,]*")


@check("errors/other-refusals-are-no-context-limit")
def other_refusals_are_no_context_limit(view: View) -> Findings:
    """Words like "maximum" or "tokens" stand in other refusals too; collecting history would destroy it for nothing."""
    for call, failed, answer in _refused(view):
        if answer.status != 400 or too_long(call.last):
            continue
        if _is(failed, ContextLimitError):
            yield violated(f"{call.where}: the API said {answer.error_message!r}; the adapter raised {_said(failed)}")
        else:
            yield "other refusals"


@check("errors/broken-connections-are-transport-errors")
def broken_connections_are_transport_errors(view: View) -> Findings:
    """Reset before the headers, cut in mid stream, or silent: one class for all of them."""
    for call, failed in _failures(view):
        if call.fault not in _SOCKET_FAULTS:
            continue
        if _is(failed, TransportError):
            yield f"connections broken by {call.fault}"
        else:
            yield violated(f"{call.where}: the connection broke ({call.fault}), the adapter raised {_said(failed)}")


@check("errors/error-events-end-the-call")
def error_events_end_the_call(view: View) -> Findings:
    """An error inside a stream of status 200 is an error all the same."""
    for call in view.calls:
        answer = call.last.answer if call.last is not None else None
        if answer is None or answer.status != 200 or answer.error_kind is None:
            continue
        if call.response is not None and call.response.finish_reason is not FinishReason.ERROR:
            yield violated(
                f"{call.where}: the stream carried an error event ({answer.error_kind}), the adapter returned "
                f"{show(call.response.text)} as an answer that ended with {str(call.response.finish_reason)!r}",
                detail=excerpt(call.last),
            )
        elif call.failed is not None and call.failed.typed and not _fits_event(call.failed, answer, view.dialect):
            yield violated(
                f"{call.where}: the stream said {answer.error_kind}, the adapter raised {_said(call.failed)}"
            )
        else:
            yield "error events"


def _fits_event(failed: Failed, told: WireAnswer, dialect: Dialect) -> bool:
    """Whether the error is of a class that the event can mean, by the API's own words or by its error type."""
    meaning = dialect.error_meaning(told.status, told.error_kind, told.error_message)
    if meaning is not None:
        right = _MEANINGS[meaning]
    else:
        named = (status for status in _IN_EVENTS if dialect.error_kind(status)[0] == told.error_kind)
        right = tuple(kind for status in named for kind in _CLASSES[status])
    return not right or "Cancelled" in _names(failed) or _is(failed, *right)


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
            yield violated(
                f"{call.where}: the stream broke off ({last.fault}), the adapter returned "
                f"{show(call.response.text)} as an answer that ended with {str(call.response.finish_reason)!r}"
            )
        else:
            yield "streams without an end"


@check("errors/a-failed-turn-leaves-no-trace")
def a_failed_turn_leaves_no_trace(view: View) -> Findings:
    """The history is what it was before the turn, wherever it is kept, and the next request shows it."""
    requests = {turn.index: request for turn, request in first_requests(view)}
    spoken = [turn for turn in view.turns if turn.spoken]
    for turn, after in pairwise(spoken):
        if turn.ended is None or turn.ended.outcome != "error" or turn.script is None:
            continue
        before, now = _provider_history_before(view, turn), turn.provider_history
        request = requests.get(after.index)
        said = turn.said
        changed = now is not None and before is not None and not same_history(before, now, ids=False)
        if now is not None and before is not None and changed and not unpaired(before):
            yield violated(
                f"{turn.where}: it failed, and the provider's history went from {len(before)} to {len(now)} messages"
            )
        elif request is not None and said.strip() and _lingers(said, after.said, request.sent.messages, request.held):
            yield violated(
                f"{request.where}: the request still has what the user said in the failed {turn.where}: {show(said)}"
            )
        elif request is not None or now is not None:
            yield "histories after a failed turn"


def _provider_history_before(view: View, turn: TurnView) -> tuple[Message, ...] | None:
    """What the provider held when the user spoke, after whatever was done ahead of it; None where nobody looked."""
    # What a provider makes of a conversation that it is handed is not seen before the turn.
    held: tuple[Message, ...] | None = None if view.scenario.given else ()
    events = (event for each in view.turns if each.index <= turn.index for event in each.events)
    for event in takewhile(lambda event: not (isinstance(event, TurnBegan) and event.turn == turn.index), events):
        if isinstance(event, HistorySnapshot):
            held = event.messages if event.owner == "provider" else held
    return held


def _lingers(said: str, now: str, sent: Sequence[Message], held: Sequence[Message]) -> bool:
    """Whether a failed turn's text is on the wire, though neither the session nor the new message has it."""
    return said in user_text(sent) and said not in user_text(held) and said not in now
