"""Every way a call can fail, as one of turnproof's typed errors.

The status, the API's own word for it and the structured details decide. Words decide only where one status stands for
several things (a prompt that is too long is an `INVALID_ARGUMENT` like any other), and then only whole sentences known
from recordings and reports: a refusal that merely mentions tokens or a maximum is not a full context.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import google.auth.exceptions
import httpx2
from google.genai import errors as sdk

from turnproof import errors

from .._errors import by_status, hide_secret, retry_after, too_long
from .._http import HTTP_FAILURES
from .error_sentences import TOO_LONG
from .wire import ToldOfFailure

FAILURES: tuple[type[Exception], ...] = (
    ToldOfFailure,
    sdk.APIError,
    google.auth.exceptions.GoogleAuthError,
    *HTTP_FAILURES,
    # What the SDK makes of JSON of another form than the API's.
    TypeError,
    AttributeError,
    LookupError,
)
"""What the SDK and everything below it raises."""

_DURATION = re.compile(r"(?P<seconds>\d{1,9}(?:\.\d{1,9})?)s")
_NO_CACHE = re.compile(r"cached ?content (?:not found|\S+ not found)|not found: cached content", re.IGNORECASE)


def from_exception(error: Exception, secret: str, cache: str | None = None) -> errors.ProviderError:
    """The typed error for whatever the SDK, its HTTP client or the socket raised. `secret` never shows in it.

    `cache` is the managed cache that the request named.
    """
    if isinstance(error, ToldOfFailure):
        # As the SDK makes one of it.
        details = error.error if isinstance(error.error, dict) else {"message": error.error}
        error = sdk.APIError(0, {"error": details})
    if isinstance(error, sdk.APIError):
        return _from_status(error, secret, cache)
    if isinstance(error, google.auth.exceptions.GoogleAuthError):
        kind = errors.TransportError if error.retryable else errors.AuthenticationError
        return kind(hide_secret(f"no access token ({type(error).__name__}: {error})", secret))
    detail = hide_secret(f"{type(error).__name__}: {str(error) or 'no details'}", secret)
    if isinstance(error, httpx2.TimeoutException | TimeoutError):
        return errors.TransportError(f"the service was silent for too long ({detail})")
    # The SDK looks at what is no JSON only in an answer that is none of its errors.
    status = 200 if isinstance(error, sdk.UnknownApiResponseError) else None
    return errors.TransportError(f"no complete answer from the service ({detail})", status=status)


def _from_status(error: sdk.APIError, secret: str, cache: str | None) -> errors.ProviderError:
    # Status and code come out of the body, where a proxy may have put anything.
    code = error.code if type(error.code) is int and 100 <= error.code < 1000 else None
    kind = hide_secret(error.status, secret) if isinstance(error.status, str) else None
    details = tuple(_details(error.details))
    # A proxy's page of HTML is no message: the status has to do.
    message = error.message if isinstance(error.message, str) and not error.message.lstrip().startswith("<") else None
    text = hide_secret(message or kind or f"HTTP status {code}", secret)
    if cache is not None and code in (403, 404) and _NO_CACHE.search(text):
        return errors.CacheExpiredError(text, name=cache, status=code, kind=kind)
    wait = _wait(error, details)
    match code:
        case 400 if any(detail.get("reason") == "API_KEY_INVALID" for detail in details):
            # Also of one that has expired.
            return errors.AuthenticationError(text, status=400, kind=kind)
        case 400:
            full = too_long(text, TOO_LONG, status=400, kind=kind)
            return full or errors.InvalidRequestError(text, status=400, kind=kind)
        case 429:
            return _limited(text, kind, wait, details)
        case int():
            return by_status(code, text, kind=kind, wait=wait)
        case None:
            return errors.TransportError(f"no answer under this status: {text}", kind=kind)


def _limited(
    text: str, kind: str | None, wait: float | None, details: tuple[Mapping[str, Any], ...]
) -> errors.RateLimitError:
    if any("PerDay" in quota for quota in _quotas(details)):
        # The delay that comes with it is the minute's; the day's quota is not back by then.
        quota_error = errors.RateLimitError(text, status=429, kind=kind)
        quota_error.retryable = False
        return quota_error
    return errors.RateLimitError(text, status=429, kind=kind, retry_after=wait)


def _wait(error: sdk.APIError, details: tuple[Mapping[str, Any], ...]) -> float | None:
    """Seconds to wait: the API says it in the body, a proxy on the way in a header."""
    for detail in details:
        delay = detail.get("retryDelay")
        if isinstance(delay, str) and (found := _DURATION.fullmatch(delay)):
            return float(found["seconds"])
    headers = getattr(error.response, "headers", None)
    return retry_after(headers) if headers else None


def _details(body: Any) -> Iterator[Mapping[str, Any]]:
    """The `google.rpc` details of an error body, as far as it has the form of one."""
    failure = body.get("error") if isinstance(body, Mapping) else None
    details = failure.get("details") if isinstance(failure, Mapping) else None
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, Mapping):
            yield detail


def _quotas(details: tuple[Mapping[str, Any], ...]) -> Iterator[str]:
    for detail in details:
        violations = detail.get("violations")
        for violation in violations if isinstance(violations, list) else ():
            if isinstance(violation, Mapping):
                yield str(violation.get("quotaId"))
