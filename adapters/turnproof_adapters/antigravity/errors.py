"""Every way a call can fail, as one of turnproof's typed errors, and whether somebody else should be asked.

The status, the gateway's own word for it and the structured details decide. Words decide only where one status stands
for several things, and then only whole sentences, or those that gemini-cli goes by (`antigravity.md` §6).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import httpx2

from turnproof import errors

from .._errors import by_status, hide_secret, too_long
from .._http import HTTP_FAILURES
from ..google_genai.error_sentences import TOO_LONG
from ..google_genai.wire import ToldOfFailure
from . import oauth
from .refusals import Refusal

FAILURES: tuple[type[Exception], ...] = (ToldOfFailure, oauth.Refused, *HTTP_FAILURES)
"""What the HTTP client, the socket and the reading of answers raise."""

LONGEST_WAIT = 300.0
"""Seconds: where the gateway asks for more, gemini-cli gives up, and so does a session."""

MINUTE = 60.0
"""Seconds after which a quota of so much a minute is asked for again, where no delay is told."""

ACCOUNT_REASONS = frozenset({"VALIDATION_REQUIRED", "SUBSCRIPTION_REQUIRED"})
"""Why one account may not ask, whichever host it asks."""

CAPACITY_REASONS = frozenset({"MODEL_CAPACITY_EXHAUSTED", "MODEL_CAPACITY_EXCEEDED"})
_SPENT_REASONS = frozenset({"QUOTA_EXHAUSTED", "INSUFFICIENT_G1_CREDITS_BALANCE"})
_RATE_REASONS = frozenset({"RATE_LIMIT_EXCEEDED"})
_BARE_SPENT = re.compile(r"exhausted your capacity|capacity exceeded|MODEL_CAPACITY_EXHAUSTED", re.IGNORECASE)
_LIMIT_ZERO = re.compile(r"\blimit: 0\b")
_CREDENTIALS = frozenset({"invalid_grant", "invalid_client", "unauthorized_client"})
_CLAUDE_TOO_LONG = (
    re.compile(r"prompt is too long(?:: (?P<requested>\d{1,15}) tokens > (?P<limit>\d{1,15}) maximum)?\.?"),
)
_INNER_STATUS = {"authentication_error": 401, "permission_error": 403, "rate_limit_error": 429, "overloaded_error": 529}


def from_exception(error: Exception, secrets: Iterable[str]) -> errors.ProviderError:
    """The typed error for whatever the HTTP client, the socket or an answer raised. No secret shows in it."""
    match error:
        case ToldOfFailure(error=details):
            return from_refusal(Refusal.of_error(details), secrets)
        case oauth.Refused(refusal=refusal):
            return from_refusal(refusal, secrets)
    detail = _scrubbed(f"{type(error).__name__}: {str(error) or 'no details'}", secrets)
    if isinstance(error, httpx2.TimeoutException | TimeoutError):
        return errors.TransportError(f"the service was silent for too long ({detail})")
    return errors.TransportError(f"no complete answer from the service ({detail})")


def from_refusal(refusal: Refusal, secrets: Iterable[str]) -> errors.ProviderError:
    """The typed error for an error answer. Its `kind` is the reason that the details give, else the status's word."""
    secrets = list(secrets)
    text = refusal.message if refusal.link is None else f"{refusal.message} ({refusal.link})"
    text = _scrubbed(text, secrets)
    kind = next(iter(sorted(refusal.reasons)), None) or refusal.inner or refusal.word
    kind = None if kind is None else _scrubbed(kind, secrets)
    match refusal.status:
        case None:
            return errors.TransportError(f"no answer under this status: {text}", kind=kind)
        case status if refusal.word in _CREDENTIALS:
            return errors.AuthenticationError(text, status=status, kind=kind)
        case 400:
            full = too_long(text, (*TOO_LONG, *_CLAUDE_TOO_LONG), status=400, kind=kind)
            if full is None and refusal.inner in _INNER_STATUS:
                return by_status(_INNER_STATUS[refusal.inner], text, kind=kind, wait=refusal.wait, shown_status=400)
            return full or errors.InvalidRequestError(text, status=400, kind=kind)
        case 429 | 499 | 503 as status:
            return _limited(refusal, status, text, kind)
        case status:
            return by_status(status, text, kind=kind, wait=refusal.wait)


def _limited(refusal: Refusal, status: int, text: str, kind: str | None) -> errors.ProviderError:
    error_type = errors.RateLimitError if status == 429 else errors.OverloadedError
    wait = refusal.wait
    if wait is None and any("PerMinute" in quota for quota in refusal.quotas):
        wait = MINUTE
    error = error_type(text, status=status, kind=kind, retry_after=wait)
    error.retryable = not _is_final(refusal, wait)
    return error


def _is_final(refusal: Refusal, wait: float | None) -> bool:
    """Whether asking again is of no use: what gemini-cli (2026-08) holds terminal, in its order."""
    if _LIMIT_ZERO.search(refusal.message):
        return True
    if not refusal.has_details:
        return (wait is not None and wait > LONGEST_WAIT) or _BARE_SPENT.search(refusal.message) is not None
    if any("PerDay" in quota or "Daily" in quota for quota in refusal.quotas):
        return True
    if refusal.reasons & (CAPACITY_REASONS | _SPENT_REASONS):
        return True
    if refusal.reasons & _RATE_REASONS and wait is None:
        return True
    return wait is not None and wait > LONGEST_WAIT


def asks_elsewhere(refusal: Refusal) -> bool:
    """Whether another host may answer: after 403, 404, 429 and 5xx (`antigravity.md` §6) that are not the account's."""
    if refusal.status in (403, 429):
        return not is_the_accounts(refusal)
    return refusal.status == 404 or (refusal.status is not None and refusal.status >= 500)


def asks_another(refusal: Refusal) -> bool:
    """Whether another account may be answered: one that is allowed to ask, or has something left to ask with.

    What the model has no capacity for it has for nobody.
    """
    return refusal.status in (401, 403, 429) and not refusal.reasons & CAPACITY_REASONS


def is_the_accounts(refusal: Refusal) -> bool:
    """Whether every host would say the same to this account."""
    return bool(refusal.reasons & (ACCOUNT_REASONS | _SPENT_REASONS | _RATE_REASONS)) or bool(refusal.quotas)


def _scrubbed(text: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, "***") if secret else text
    return hide_secret(text, "")
