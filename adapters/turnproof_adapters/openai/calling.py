"""How calls through the official SDK fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import httpx2
import openai

from turnproof.errors import InvalidRequestError, ProviderError, TransportError

from .._errors import Secret, hide_secret
from .._http import HTTP_FAILURES
from . import errors
from .caller import ChatCaller
from .service import Service
from .wire import Failure, failure_of

FAILURES: tuple[type[Exception], ...] = (
    openai.OpenAIError,
    *HTTP_FAILURES,
    TypeError,  # an answer of another form than the API's, in the SDK's hands
    AttributeError,
)
"""What the SDK and everything below it raises."""

Refused: TypeAlias = Callable[[int, object, Mapping[str, str], Secret], ProviderError]
"""What an answer of a status means, with its body and its headers; as `errors.refused`."""


@dataclass(frozen=True, slots=True)
class OpenAIErrorMapper:
    """What the failures of one provider mean.

    `secret` gives what no error may show; `refused` says what a status means, where the service has its own codes.
    """

    secret: Callable[[], Secret]
    refused: Refused = errors.from_status

    def exception(self, error: Exception) -> ProviderError:
        """The typed error for what was raised."""
        return from_exception(error, self.secret(), self.refused)

    def failure(self, wire_failure: Failure) -> ProviderError:
        """The typed error for a failure told in an answer's place."""
        return errors.from_failure(wire_failure, self.secret())


class Caller(ChatCaller):
    """Makes calls through the official SDK. `error_mapper` says what its failures mean."""

    def __init__(self, service: Service, error_mapper: OpenAIErrorMapper) -> None:
        super().__init__(service, FAILURES, error_mapper.exception, error_mapper.failure)


def from_exception(error: Exception, secret: Secret, refused: Refused = errors.from_status) -> ProviderError:
    """The typed error for whatever the SDK, its HTTP client or the socket raised. `secret` never shows in it."""
    if isinstance(error, openai.APIStatusError):
        return refused(error.status_code, error.body, error.response.headers, secret)
    if isinstance(error, UnicodeEncodeError):
        return InvalidRequestError(f"the request holds text that is not valid Unicode: {error.reason}")
    cause = (error.__cause__ if isinstance(error, openai.APIConnectionError) else None) or error
    if isinstance(cause, openai.APIError) and cause.body is not None:
        # What the SDK makes of an error inside a stream.
        return errors.from_failure(failure_of(cause.body), secret)
    detail = hide_secret(str(cause) or "no details", secret)
    if isinstance(cause, openai.APITimeoutError | httpx2.TimeoutException | TimeoutError):
        return TransportError(f"the service was silent for too long ({type(cause).__name__}: {detail})")
    return TransportError(f"no complete answer from the service ({type(cause).__name__}: {detail})")
