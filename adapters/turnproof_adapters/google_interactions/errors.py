"""Every way a call can fail, as one of turnproof's typed errors.

The status and the API's own word for it decide. Words decide only where one status stands for several things (a wrong
key and a prompt that is too long are invalid requests like any other), and then only whole sentences that are known.
What the model list raises has the form of the Gemini API, and is `google_genai`'s affair.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx2
from google.genai import _interactions as sdk

from turnproof import errors

from .._errors import by_status, hide_secret, retry_after, too_long
from .._http import HTTP_FAILURES
from ..google_genai import errors as genai_errors
from ..google_genai.error_sentences import TOO_LONG
from .wire import Failure

FAILURES: tuple[type[Exception], ...] = (sdk.APIError, *genai_errors.FAILURES)
"""What the SDK and everything below it raises."""

_BAD_KEY = ("API key not valid", "API key expired")
_STATUSES: Mapping[str, int] = {
    "invalid_request": 400,
    "unauthenticated": 401,
    "permission_denied": 403,
    "not_found": 404,
    "too_many_requests": 429,
    "internal_error": 500,
    "unavailable": 503,
    "deadline_exceeded": 504,
}
"""What the code of an error means that came within an answer. Any other is taken for a service in trouble."""


@dataclass(frozen=True, slots=True)
class InteractionsErrorMapper:
    """What failures mean. `secret` never shows in an error."""

    secret: str

    def exception(self, error: Exception) -> errors.ProviderError:
        """The typed error for whatever the SDK, its HTTP client or the socket raised."""
        match error:
            case sdk.APIStatusError():
                return self._refused(error)
            case sdk.APIConnectionError() if isinstance(error.__cause__, HTTP_FAILURES):
                return genai_errors.from_exception(error.__cause__, self.secret)
            case sdk.APIError():
                shown = hide_secret(f"{type(error).__name__}: {str(error) or 'no details'}", self.secret)
                return errors.TransportError(f"no complete answer from the service ({shown})", status=error.status_code)
            case _:
                return genai_errors.from_exception(error, self.secret)

    def failure(self, wire_failure: Failure) -> errors.ProviderError:
        """The typed error for a failure that came under status 200."""
        kind = hide_secret(wire_failure.code, self.secret) if isinstance(wire_failure.code, str) else None
        text = hide_secret(
            wire_failure.message if isinstance(wire_failure.message, str) else kind or "no details", self.secret
        )
        full = too_long(text, TOO_LONG, status=200, kind=kind)
        return full or by_status(_STATUSES.get(kind or "", 500), text, kind=kind, shown_status=200)

    def _refused(self, error: sdk.APIStatusError) -> errors.ProviderError:
        status = int(error.status_code or 0)
        details = _error_details(error.body)
        code = details.get("code")
        if not isinstance(code, str):
            # A number there is the form of the Gemini API, which says the word beside it.
            code = details.get("status")
        kind = hide_secret(code, self.secret) if isinstance(code, str) else None
        message = details.get("message")
        text = hide_secret(
            message if isinstance(message, str) and message else kind or f"HTTP status {status}", self.secret
        )
        wait = retry_after(_headers(error))
        if status == 400 and text.startswith(_BAD_KEY):
            return errors.AuthenticationError(text, status=400, kind=kind)
        if status == 400 and (full := too_long(text, TOO_LONG, status=400, kind=kind)) is not None:
            return full
        return by_status(status, text, kind=kind, wait=wait)


def _error_details(body: object) -> Mapping[str, Any]:
    """The error in a body, as far as it has the form of one."""
    found = body.get("error") if isinstance(body, Mapping) else None
    if isinstance(found, Mapping):
        return found
    # A proxy's page of HTML is no message: the status has to do.
    text = body.strip() if isinstance(body, str) else ""
    return {} if not text or text.startswith("<") else {"message": text}


def _headers(error: sdk.APIStatusError) -> Mapping[str, str]:
    response = getattr(error, "response", None)
    return response.headers if isinstance(response, httpx2.Response) else {}
