"""What calls raised, and which errors say what an answer of the API says: read by the checks of errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from turnproof import errors
from turnproof.dialects.base import ErrorMeaning, WireAnswer
from turnproof.judge.finding import Place
from turnproof.judge.view import ProviderCall, View
from turnproof.run.transcript import Failed

SOCKET_FAULTS = ("reset", "truncate", "stall", "refuse-connection", "no-end")
"""Faults in which the connection breaks."""

_OVERLOADED = (errors.OverloadedError, errors.TransportError)
_REFUSED = (errors.InvalidRequestError, errors.ContextLimitError, errors.ContentFilterError)
CLASSES_BY_STATUS: dict[int, tuple[type[Exception], ...]] = {
    400: _REFUSED,
    401: (errors.AuthenticationError,),
    403: (errors.AuthenticationError, errors.ContentFilterError),
    404: (errors.InvalidRequestError,),
    408: _OVERLOADED,
    409: (errors.OverloadedError, errors.TransportError, errors.InvalidRequestError),
    413: _REFUSED,
    422: _REFUSED,
    429: (errors.RateLimitError,),
    500: _OVERLOADED,
    502: _OVERLOADED,
    503: _OVERLOADED,
    504: _OVERLOADED,
    529: (errors.OverloadedError,),
}
"""Which errors say what a status says. Statuses that are not here are not judged."""

CLASSES_BY_MEANING: dict[ErrorMeaning, tuple[type[Exception], ...]] = {
    "authentication": (errors.AuthenticationError,),
    "cache-expired": (errors.CacheExpiredError,),
    "content-filter": (errors.ContentFilterError,),
    "context-limit": (errors.ContextLimitError,),
    "invalid-request": (errors.InvalidRequestError,),
    "overloaded": _OVERLOADED,
    "oversized": (errors.RateLimitError, errors.ContextLimitError),
    "rate-limit": (errors.RateLimitError,),
}
"""Which errors say what the API's own words say, where they say more than the status."""


def error_names(failed: Failed) -> set[str]:
    """The names of the class that was raised, and of its bases."""
    return {failed.error, *failed.bases}


def is_one_of(failed: Failed, *classes: type[Exception]) -> bool:
    """Whether what was raised is an instance of one of these classes."""
    return any(one.__name__ in error_names(failed) for one in classes)


def failures(view: View) -> Iterator[tuple[ProviderCall, Failed]]:
    """Calls that raised something else than a cancellation, and that by themselves: an exception of the session's own
    callback an adapter rightly lets through."""
    for call in view.calls:
        failed = call.failed
        if failed is not None and not failed.from_callback and "Cancelled" not in error_names(failed):
            yield call, failed


def last_answers(view: View) -> Iterator[tuple[ProviderCall, WireAnswer]]:
    """Calls whose last request was answered, whatever the status, with that answer."""
    for call in view.calls:
        if call.last is not None and call.last.answer is not None:
            yield call, call.last.answer


def breaks_contract(failed: Failed) -> bool:
    """Whether turnproof raised it, for a value of the adapter that is of another type than the contract has."""
    return failed.error == errors.ContractError.__name__


def refused_calls(view: View) -> Iterator[tuple[ProviderCall, Failed, WireAnswer]]:
    """Calls that raised, and were answered with an error status."""
    for call, failed in failures(view):
        answer = call.last.answer if call.last is not None else None
        if answer is not None and answer.status >= 400:
            yield call, failed, answer


def meaning_of(call: ProviderCall) -> ErrorMeaning | None:
    """What the error answer of a call means where its status does not tell."""
    return call.last.error_meaning if call.last is not None else None


def at_error_answer(call: ProviderCall) -> tuple[Place, ...]:
    """Where the server said what went wrong, if it was asked for anything."""
    return (call.last.at_error(),) if call.last is not None else ()


def answer_in_words(answer: WireAnswer) -> str:
    """An error answer by its status and the API's error type: `529 overloaded_error`."""
    return " ".join(filter(None, (str(answer.status), answer.error_kind)))


def alternatives(classes: Sequence[type[Exception]]) -> str:
    """Classes for people: `OverloadedError or TransportError`."""
    return " or ".join(one.__name__ for one in classes)
