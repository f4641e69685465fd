"""What Copilot's own statuses and codes mean (`openai-chat.md` §6); all others mean what they do everywhere."""

from __future__ import annotations

from collections.abc import Mapping

from turnproof.errors import ContentFilterError, OverloadedError, ProviderError, RateLimitError, TransportError

from ..._errors import Secret, retry_after
from ...openai import errors

_OVERLOADED = frozenset({"model_overloaded"})


def from_status(status: int, body: object, headers: Mapping[str, str], secret: Secret) -> ProviderError:
    """The typed error for an answer of this status. `secret` never shows in it."""
    typed = errors.from_status(status, body, headers, secret)
    wait = retry_after(headers)
    match status:
        case 402:
            # The month's premium requests are spent: no wait that a session would take brings them back.
            error = RateLimitError(typed.message, status=status, kind=typed.kind, retry_after=wait)
            error.retryable = False
            return error
        case 422:
            return ContentFilterError(typed.message, status=status, kind=typed.kind)
        case 424:
            return OverloadedError(typed.message, status=status, kind=typed.kind, retry_after=wait)
        case 429 if typed.kind in _OVERLOADED:
            return OverloadedError(typed.message, status=status, kind=typed.kind, retry_after=wait)
        case 499:
            return TransportError(typed.message, status=status, kind=typed.kind, retry_after=wait)
    return typed
