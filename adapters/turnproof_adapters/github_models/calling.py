"""How calls through azure's SDK fail, in the words of the chat API's own errors."""

from __future__ import annotations

from functools import partial

import httpx2
from azure.core.exceptions import AzureError, HttpResponseError

from turnproof.errors import InvalidRequestError, ProviderError, TransportError

from .._errors import hide_secret
from .._http import HTTP_FAILURES
from ..openai import errors
from ..openai.caller import ChatCaller
from ..openai.service import Service
from .readable_stream import FailureTold
from .transport import Httpx2Response

_FAILURES: tuple[type[Exception], ...] = (
    AzureError,
    FailureTold,
    *HTTP_FAILURES,
    # What the SDK makes of an answer of another form than the API's.
    TypeError,
    AttributeError,
    LookupError,
)


class Caller(ChatCaller):
    """Makes calls through the SDK. `secret` is the key, which no error may show."""

    def __init__(self, service: Service, secret: str) -> None:
        typed = partial(from_exception, secret=secret)
        super().__init__(service, _FAILURES, typed, partial(errors.from_failure, secret=secret))


def from_exception(error: Exception, secret: str) -> ProviderError:
    """The typed error for whatever the SDK, its HTTP client or the socket raised. `secret` never shows in it."""
    if isinstance(error, HttpResponseError) and isinstance(error.response, Httpx2Response):
        return _refused(error.response, secret)
    if isinstance(error, FailureTold):
        return errors.from_failure(error.failure, secret)
    if isinstance(error, UnicodeEncodeError):
        return InvalidRequestError(f"the request holds text that is not valid Unicode: {error.reason}")
    detail = hide_secret(f"{type(error).__name__}: {str(error) or 'no details'}", secret)
    if isinstance(error, httpx2.TimeoutException | TimeoutError):
        return TransportError(f"the service was silent for too long ({detail})")
    return TransportError(f"no complete answer from the service ({detail})")


def _refused(response: Httpx2Response, secret: str) -> ProviderError:
    try:
        body = response.json()
    except (ValueError, RecursionError):
        body = response.text()
    return errors.from_status(response.status_code, body, response.headers, secret)
