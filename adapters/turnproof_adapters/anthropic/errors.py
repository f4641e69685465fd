"""Every way a call can fail, as one of turnproof's typed errors. What a refusal means is the service's to say."""

from __future__ import annotations

import anthropic
import httpx2

from turnproof.errors import InvalidRequestError, ProviderError, TransportError

from .._errors import hide_secret, retry_after
from .refusals import Refused
from .service import Service
from .wire import Failure


def from_exception(error: Exception, service: Service, secret: str) -> ProviderError:
    """The typed error for whatever the SDK, its HTTP client or the socket raised. `secret` never shows in it."""
    if isinstance(error, anthropic.APIStatusError):
        return _from_status(error, service, secret)
    if isinstance(error, UnicodeEncodeError):
        return InvalidRequestError(f"the request holds text that is not valid Unicode: {error.reason}")
    cause = (error.__cause__ if isinstance(error, anthropic.APIConnectionError) else None) or error
    detail = hide_secret(str(cause) or "no details", secret)
    if isinstance(cause, anthropic.APITimeoutError | httpx2.TimeoutException | TimeoutError):
        return TransportError(f"the service was silent for too long ({type(cause).__name__}: {detail})")
    return TransportError(f"no complete answer from the service ({type(cause).__name__}: {detail})")


def from_answer(failure: Failure, service: Service, secret: str) -> ProviderError:
    """The typed error for a failure told where an answer belongs: in a stream, or under status 200."""
    return service.refusals.refusal(_refused(200, failure, secret))


def _from_status(error: anthropic.APIStatusError, service: Service, secret: str) -> ProviderError:
    failure = service.refusals.complaint(error.body) or Failure()
    status, headers = error.status_code, error.response.headers
    if status == 200:
        # The SDK reports an error event of a stream under the stream's own status.
        return from_answer(failure, service, secret)
    typed = service.refusals.refusal(_refused(status, failure, secret, retry_after(headers), headers.get("date")))
    advice = headers.get("x-should-retry")
    if advice in ("true", "false"):
        typed.retryable = advice == "true"
    return typed


def _refused(status: int, failure: Failure, secret: str, wait: float | None = None, date: str | None = None) -> Refused:
    kind = hide_secret(failure.type, secret) if failure.type else None
    text = hide_secret(failure.message or kind or f"HTTP status {status}", secret)
    return Refused(status, kind, text, wait, date)
