"""Error answers: types and usual messages by status, the error body, the error event."""

from __future__ import annotations

from collections.abc import Mapping

from ...messages import JSON
from ..base import NO_HEADERS, ErrorMeaning, Refusal, Rendered, WireEvent
from ..tables import load_errors
from .writing import body_event, request_id, sse

KINDS = load_errors(__package__)["anthropic"]


def error_meaning(status: int, kind: str | None, message: str | None) -> ErrorMeaning | None:
    """Only the words tell a prompt that does not fit the window from other bad requests (`anthropic.md` §5)."""
    words = ("prompt is too long", "exceed context limit", "context window", "context length")
    if status == 400 and any(word in (message or "").lower() for word in words):
        return "context-limit"
    return None


def error_body(kind: str, message: str, seed: str | None = None) -> JSON:
    """The body of an error; with a seed it names the request."""
    body: dict[str, JSON] = {"type": "error", "error": {"type": kind, "message": message}}
    if seed is not None:
        body["request_id"] = request_id(seed)
    return body


def render_refusal(refusal: Refusal, seed: str) -> Rendered:
    """The refusal as the API answers it. Client errors carry `x-should-retry: false`, as recorded."""
    headers = {"content-type": "application/json", "request-id": request_id(seed)}
    if refusal.status in (400, 401):
        headers["x-should-retry"] = "false"
    if refusal.retry_after is not None:
        headers["retry-after"] = f"{refusal.retry_after:g}"
    event = body_event(error_body(refusal.kind, refusal.message, seed))
    return Rendered(refusal.status, headers, (event,))


def error_event(kind: str, message: str, headers: Mapping[str, str] = NO_HEADERS) -> WireEvent:
    """The event that reports an error after the stream began."""
    return sse("error", error_body(kind, message), 0, "error")
