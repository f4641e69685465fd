"""Every way a call can fail, as one of turnproof's typed errors.

The status and the API's own error type decide. Words decide only where one type stands for several things (a prompt
that is too long is an `invalid_request_error` like any other), and then only whole sentences known from recordings and
the public reference: a refusal that merely mentions tokens or a maximum is not a full context.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import anthropic
import httpx2

from turnproof.errors import (
    ContentFilterError,
    ContextLimitError,
    InvalidRequestError,
    ProviderError,
    TransportError,
)

from .._decoding import converted
from .._errors import by_status, retry_after, scrubbed, too_long
from .wire import ErrorBody, Failure

_TOO_LONG = re.compile(
    r"prompt is too long(?:: (?P<requested>\d{1,15}) tokens > (?P<limit>\d{1,15}) maximum)?\.?", re.IGNORECASE
)
_NO_ROOM = re.compile(
    r"input length and `?max_tokens`? exceed context limit: "
    r"(?P<prompt>\d{1,15}) \+ (?P<room>\d{1,15}) > (?P<limit>\d{1,15})"
)
_FILTERED = re.compile(r"output blocked by content filtering policy\.?", re.IGNORECASE)

_STATUS_OF_KIND: Mapping[str | None, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
}
"""Which status an error type goes with: an error inside a stream comes under status 200. All other types are the
service's own trouble, like everything under a 5xx."""


def from_exception(error: Exception, secret: str) -> ProviderError:
    """The typed error for whatever the SDK, its HTTP client or the socket raised. `secret` never shows in it."""
    if isinstance(error, anthropic.APIStatusError):
        return _from_status(error, secret)
    if isinstance(error, UnicodeEncodeError):
        return InvalidRequestError(f"the request holds text that is not valid Unicode: {error.reason}")
    cause = (error.__cause__ if isinstance(error, anthropic.APIConnectionError) else None) or error
    detail = scrubbed(str(cause) or "no details", secret)
    if isinstance(cause, anthropic.APITimeoutError | httpx2.TimeoutException | TimeoutError):
        return TransportError(f"the service was silent for too long ({type(cause).__name__}: {detail})")
    return TransportError(f"no complete answer from the service ({type(cause).__name__}: {detail})")


def from_stream(failure: Failure, secret: str) -> ProviderError:
    """The typed error for an error event. It shows the status that its stream came under."""
    return _typed(_STATUS_OF_KIND.get(failure.type, 500), failure, None, secret, shown_status=200)


def _from_status(error: anthropic.APIStatusError, secret: str) -> ProviderError:
    failure = _failure(error)
    status = error.status_code
    if status == 200:
        # The SDK reports an error event of a stream under the stream's own status.
        return from_stream(failure, secret)
    typed = _typed(status, failure, retry_after(error.response.headers), secret, shown_status=status)
    advice = error.response.headers.get("x-should-retry")
    if advice in ("true", "false"):
        typed.retryable = advice == "true"
    return typed


def _failure(error: anthropic.APIStatusError) -> Failure:
    try:
        body = converted(error.body, ErrorBody)
    except ValueError:
        body = ErrorBody()
    # A proxy's page of HTML is no message: the status has to do.
    return body.error or Failure()


def _typed(status: int, failure: Failure, wait: float | None, secret: str, *, shown_status: int) -> ProviderError:
    kind = scrubbed(failure.type, secret) if failure.type else None
    text = scrubbed(failure.message or kind or f"HTTP status {shown_status}", secret)
    if status == 400:
        return _refusal(text, shown_status, kind)
    return by_status(status, text, kind=kind, wait=wait, shown_status=shown_status)


def _refusal(text: str, status: int, kind: str | None) -> ProviderError:
    if full := too_long(text, [_TOO_LONG], status=status, kind=kind):
        return full
    if found := _NO_ROOM.match(text):
        requested = int(found["prompt"]) + int(found["room"])
        return ContextLimitError(text, limit=int(found["limit"]), requested=requested, status=status, kind=kind)
    if _FILTERED.fullmatch(text.strip()):
        return ContentFilterError(text, status=status, kind=kind)
    return InvalidRequestError(text, status=status, kind=kind)
