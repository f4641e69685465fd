"""Error answers: types and usual messages by status, the error body, the error event."""

from __future__ import annotations

from collections.abc import Mapping

from ...messages import JSON
from ..base import NO_HEADERS, ErrorMeaning, Refusal, Rendered, WireEvent
from .writing import body_event, request_id, sse

_RATE_LIMIT = (
    "This request would exceed your organization's rate limit of 30,000 input tokens per minute. For details, refer "
    "to: https://docs.claude.com/en/api/rate-limits."
)

KINDS: Mapping[int, tuple[str, str]] = {
    400: ("invalid_request_error", "There was an issue with the format or content of your request."),
    401: ("authentication_error", "invalid x-api-key"),
    402: ("billing_error", "Your credit balance is too low to access the Anthropic API."),
    403: ("permission_error", "Your API key does not have permission to use the specified resource."),
    404: ("not_found_error", "The requested resource could not be found."),
    408: ("timeout_error", "The request timed out."),
    409: ("conflict_error", "The request conflicts with the current state of the resource."),
    413: ("request_too_large", "Request exceeds the maximum size"),
    422: ("invalid_request_error", "There was an issue with the format or content of your request."),
    429: ("rate_limit_error", _RATE_LIMIT),
    500: ("api_error", "Internal server error"),
    502: ("api_error", "Bad gateway"),
    503: ("api_error", "Service unavailable"),
    504: ("timeout_error", "The request timed out."),
    529: ("overloaded_error", "Overloaded"),
}
"""Types as in `anthropic.md` §4. 408, 502 and 503 come from proxies; their type is a guess of ours."""


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
