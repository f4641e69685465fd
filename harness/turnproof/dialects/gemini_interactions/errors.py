"""Error answers: codes and usual messages by status, the error body, the error event.

An error is `{"error": {"message", "code"}}`, its code a word (allenhutchison/gemini-cli-deep-research#30 and #73,
googleapis/js-genai#1735). What the model list refuses has the form of the Gemini API.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...messages import JSON
from ..base import NO_HEADERS, ErrorMeaning, Refusal, Rendered, WireEvent
from ..gemini import DIALECT as GEMINI
from ..tables import load_errors
from .writing import JSON_HEADERS, body_event, sse

KINDS = load_errors(__package__)["interactions"]

_TOO_LONG = "exceeds the maximum number of tokens allowed"
_GEMINI_RULES = frozenset(rule.id for rule in GEMINI.rules)


def error_meaning(status: int, kind: str | None, message: str | None) -> ErrorMeaning | None:
    """What only the words tell: a wrong key under 400, a prompt that is too long; of an event, what its code says."""
    lowered = (message or "").lower()
    if status in (200, 400):
        if any(words in lowered for words in ("api key not valid", "api key expired")):
            return "authentication"
        if _TOO_LONG in lowered:
            return "context-limit"
    if status == 200:
        return {"too_many_requests": "rate-limit", "unavailable": "overloaded"}.get(kind or "")  # type: ignore[return-value]
    return None


def render_refusal(refusal: Refusal, seed: str) -> Rendered:
    """The refusal as the API answers it."""
    if refusal.rule.id in _GEMINI_RULES:
        return GEMINI.render_refusal(refusal, seed)
    headers = dict(JSON_HEADERS)
    if refusal.retry_after is not None:
        headers["retry-after"] = f"{refusal.retry_after:g}"
    return Rendered(refusal.status, headers, (body_event(_error(refusal.kind, refusal.message)),))


def error_event(kind: str, message: str, headers: Mapping[str, str] = NO_HEADERS) -> WireEvent:
    """The event that reports an error after the stream began (google-genai 3.6, `ErrorEvent`)."""
    return sse("error", {**_error(kind, message), "event_type": "error"}, "error")


def _error(kind: str, message: str) -> dict[str, JSON]:
    return {"error": {"message": message, "code": kind}}
