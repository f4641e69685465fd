"""Errors: every failure is raised, as what it is, with what the provider said of it, and nothing else is."""

from __future__ import annotations

from msgspec import UNSET

from turnproof.judge.finding import Compared, Finding, Side
from turnproof.judge.requirements import FindingCode, Findings, check, finding
from turnproof.judge.view import Exchange, ProviderCall, View
from turnproof.messages import JSON, FinishReason
from turnproof.run.transcript import Failed

from .raised_errors import (
    CLASSES_BY_MEANING,
    CLASSES_BY_STATUS,
    SOCKET_FAULTS,
    alternatives,
    answer_in_words,
    at_error_answer,
    breaks_contract,
    failures,
    is_one_of,
    last_answers,
    meaning_of,
    refused_calls,
)
from .reading import by_place

_PASSING = frozenset({408, 429, 500, 502, 503, 504, 529})
_LASTING = frozenset({400, 401, 403, 404, 413, 422})


_UNTYPED = finding(
    "errors/failures-are-typed/untyped",
    "A call raised an error that is not a ProviderError.",
    "a ProviderError",
    "{observed:words}: {message}",
)


@check(
    "errors/failures-are-typed",
    aspect=lambda view: by_place(view, ((call, _essence(failed)) for call, failed in failures(view))),
)
def failures_are_typed(view: View) -> Findings:
    """As one of the tree's provider errors, never as an SDK's or Python's own."""
    for call, failed in failures(view):
        if breaks_contract(failed):
            continue  # turnproof's own exception for a value of another type
        if failed.typed:
            yield Compared("failures")
        else:
            yield _UNTYPED.of_error(call.at(Side.ERROR, "error"), failed, related=at_error_answer(call))


def _essence(failed: Failed) -> JSON:
    return {
        "error": failed.error,
        "status": failed.status,
        "retryable": failed.retryable,
        "retry_after": failed.retry_after,
    }


_ERROR_RETURNED = finding(
    "errors/error-answers-are-raised/returned",
    "An error answer of the API was returned as a response.",
    "an error for the API's answer {answer:words}",
    "a response that ended with {observed}",
)


@check("errors/error-answers-are-raised")
def error_answers_are_raised(view: View) -> Findings:
    """An error status is never an answer, not even an empty one."""
    for call, answer in last_answers(view):
        if answer.status < 400:
            continue
        if call.response is not None and call.response.finish_reason is not FinishReason.ERROR:
            yield _ERROR_RETURNED(
                call.at(Side.RESPONSE, "finish_reason"),
                observed=call.response.finish_reason,
                related=at_error_answer(call),
                answer=answer_in_words(answer),
            )
        else:
            yield Compared("error answers")


_WRONG_STATUS = finding(
    "errors/status-is-kept/wrong-status",
    "The error does not have the status of the API's answer.",
    "the status {expected}",
)


@check("errors/status-is-kept")
def status_is_kept(view: View) -> Findings:
    """The numeric status, batch and streamed."""
    for call, failed, answer in refused_calls(view):
        if not failed.typed:
            continue
        if failed.status == answer.status:
            yield Compared("statuses")
        else:
            yield _other_value(_WRONG_STATUS, call, "status", answer.status, failed.status)


_WORDS_MISSING = finding(
    "errors/words-are-kept/missing",
    "The error's message leaves out the API's message.",
    "a message with the API's words {expected}",
    "the message {observed}",
)


@check("errors/words-are-kept")
def words_are_kept(view: View) -> Findings:
    """What the service says is wrong, so that a person can tell what to do; of a very long text, its beginning."""
    for call, failed, answer in refused_calls(view):
        words = " ".join((answer.error_message or "").split())
        if not words or not failed.typed:
            continue
        if words[:_ENOUGH] in " ".join(failed.message.split()):
            yield Compared("messages of the service")
        else:
            yield _WORDS_MISSING(
                call.at(Side.ERROR, "message"),
                expected=words[:_ENOUGH],
                observed=failed.message,
                related=at_error_answer(call),
            )


_ENOUGH = 200
"""Characters of a service's words that an error has to show."""


_WRONG_CLASS = finding(
    "errors/class-fits-the-status/wrong-class",
    "The class of the error does not fit the API's answer.",
    "{classes:words} for the API's answer {answer:words}",
    "{observed:words}: {message}",
)


@check("errors/class-fits-the-status")
def class_fits_the_status(view: View) -> Findings:
    """By status and the API's error type, never by words in the text."""
    for call, failed, answer in refused_calls(view):
        meaning = meaning_of(call)
        expected = (
            CLASSES_BY_STATUS.get(answer.status) if meaning in (None, "context-limit") else CLASSES_BY_MEANING[meaning]
        )
        if expected is None or not failed.typed:
            continue
        if is_one_of(failed, *expected):
            yield Compared("classes of errors")
        else:
            yield _WRONG_CLASS.of_error(
                call.at(Side.ERROR, "error"),
                failed,
                expected=[one.__name__ for one in expected],
                related=at_error_answer(call),
                classes=alternatives(expected),
                answer=answer_in_words(answer),
            )


_NOT_RETRYABLE = finding(
    "errors/passing-failures-are-retryable/not-retryable",
    "The error of a passing failure is not retryable.",
    "a retryable error, because {reason:words}",
    "{error:words}, which is not retryable",
)


@check("errors/passing-failures-are-retryable")
def passing_failures_are_retryable(view: View) -> Findings:
    """Too many requests, an overloaded service, a connection that broke: all of them may go well next time."""
    for call, failed in failures(view):
        why = _passing(call)
        if why is None or not failed.typed:
            continue
        if failed.retryable:
            yield Compared("passing failures")
        else:
            yield _NOT_RETRYABLE(
                call.at(Side.ERROR, "retryable"),
                expected=True,
                observed=False,
                related=at_error_answer(call),
                reason=why,
                error=failed.error,
            )


def _advice(call: ProviderCall) -> str | None:
    """What the service says about another attempt (`true` or `false`), which its SDK obeys. Anthropic sends `false`
    with a 429 for a request that is over the limit by itself (recorded)."""
    last = call.last
    return last.response.headers.get("x-should-retry") if last is not None and last.response is not None else None


def _waiting_is_useless(call: ProviderCall) -> bool:
    return _advice(call) == "false" or meaning_of(call) == "oversized"


def _passing(call: ProviderCall) -> str | None:
    last = call.last
    if last is None or last.response is None:
        return None
    answer = last.answer
    if answer is not None and answer.status in _PASSING and not _waiting_is_useless(call):
        return f"the API answered {answer.status}"
    return f"the connection broke ({last.fault})" if last.fault in SOCKET_FAULTS else None


_RETRYABLE = finding(
    "errors/lasting-failures-are-not-retryable/retryable",
    "The error of a lasting failure is retryable.",
    "an error that is not retryable, because the API answered {status}",
    "{error:words}, which is retryable",
)


@check("errors/lasting-failures-are-not-retryable")
def lasting_failures_are_not_retryable(view: View) -> Findings:
    """The same request would be refused again, as often as it is sent."""
    for call, failed, answer in refused_calls(view):
        if answer.status not in _LASTING or not failed.typed or _advice(call) == "true":
            continue
        if failed.retryable:
            yield _RETRYABLE(
                call.at(Side.ERROR, "retryable"),
                expected=False,
                observed=True,
                related=at_error_answer(call),
                status=answer.status,
                error=failed.error,
            )
        else:
            yield Compared("lasting failures")


_CLOCKS = 2.0
"""Seconds by which a wait may differ that was given as a date: it is told in whole seconds, by another's clock."""


_WRONG_WAIT = finding(
    "errors/retry-after-is-kept/wrong-wait",
    "The error does not have the wait that the API requested.",
    "a `retry_after` of {expected} seconds",
)


@check("errors/retry-after-is-kept")
def retry_after_is_kept(view: View) -> Findings:
    """How long the provider asked us to wait, as a number or as a date."""
    for call, failed, answer in refused_calls(view):
        if answer.retry_after is None or answer.status not in _PASSING or not failed.typed:
            continue
        if failed.retry_after is not None and abs(failed.retry_after - answer.retry_after) <= _CLOCKS:
            yield Compared("waits asked for")
        else:
            yield _other_value(_WRONG_WAIT, call, "retry_after", answer.retry_after, failed.retry_after)


def _other_value(code: FindingCode, call: ProviderCall, field: str, expected: float, observed: float | None) -> Finding:
    """The error of a call has another value in a field than the API's answer."""
    return code(
        call.at(Side.ERROR, field),
        expected=expected,
        observed=UNSET if observed is None else observed,
        related=at_error_answer(call),
    )


_MORE_REQUESTS = finding(
    "errors/one-request-per-attempt/repeated",
    "One attempt made more than one request.",
    "{expected} request",
    "{observed} requests",
)


@check("errors/one-request-per-attempt", shows=("reports_retries",))
def one_request_per_attempt(view: View) -> Findings:
    """The session retries. Retries of the SDK underneath would multiply with its own.

    An adapter may itself ask again, without the managed cache or the stored answer that the service had lost, or with
    another token of its own in place of one that the service refused.
    """
    for call in view.calls:
        sent = [exchange for exchange in call.generated if not _is_repaired(exchange, call)]
        if len(sent) > 1:
            yield _MORE_REQUESTS(sent[1].at(), expected=1, observed=len(sent), related=(sent[0].at(),))
        elif call.generated:
            yield Compared("attempts")


def _shows_a_lost_answer(exchange: Exchange) -> bool:
    """Whether an adapter looked for the stored answer that it continues, and the service no longer has it."""
    looked = exchange.request.method == "GET" and exchange.request.operation == "stored"
    return looked and exchange.response is not None and exchange.response.status in (404, 410)


def _is_repaired(refused: Exchange, call: ProviderCall) -> bool:
    """Whether only the adapter could know what the service missed, and made it good."""
    if refused.error_meaning == "cache-expired":
        return True
    later = call.exchanges[call.exchanges.index(refused) + 1 :]
    status = refused.response.status if refused.response is not None else 200
    if status >= 400 and any(_shows_a_lost_answer(exchange) for exchange in later):
        return True
    is_refused = refused.answer is not None and refused.answer.status == 401
    return is_refused and any(exchange.request.operation == "authenticate" for exchange in later)
