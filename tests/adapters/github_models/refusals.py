"""What the service refuses. `retry-after` is 17 seconds, which counts where trying again makes sense."""

from __future__ import annotations

from typing import Any

from turnproof import errors

from ..contract.refusal import Refusal
from .kit import KEY


def refused(
    id: str,
    status: int,
    body: Any,
    expected: type[errors.ProviderError],
    kind: str | None = None,
    message: str | None = None,
    waits: bool = False,
    limit: int | None = None,
) -> Refusal:
    facts = {"kind": kind, "message": message, "limit": limit}
    stated = {name: value for name, value in facts.items() if value is not None}
    return Refusal(id, status, body, expected, {**stated, "retry_after": 17 if waits else None}, {"retry-after": "17"})


def error(code: str, message: str = "Sorry", **more: Any) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "details": message, **more}}


LIMIT_WORDS = "Request body too large for gpt-4o-mini model. Max size: 8000 tokens."


DAY = "Rate limit of 50 per 86400s exceeded for UserByModelByDay. Please wait 52220 seconds before retrying."


REFUSALS = [
    refused(
        "bad-request",
        400,
        error("BadRequest", "Invalid input format."),
        errors.InvalidRequestError,
        "BadRequest",
        "Invalid input format.",
    ),
    refused(
        "unknown-model", 404, error("unknown_model", "Unknown model: x"), errors.InvalidRequestError, "unknown_model"
    ),
    refused(
        "filtered", 400, error("content_filter", innererror={"code": "x"}), errors.ContentFilterError, "content_filter"
    ),
    refused("key", 401, error("unauthorized", f"bad {KEY}"), errors.AuthenticationError, "unauthorized", "bad ***"),
    refused("permission", 403, error("403", "Access denied."), errors.AuthenticationError),
    refused(
        "too-long",
        413,
        error("tokens_limit_reached", LIMIT_WORDS),
        errors.ContextLimitError,
        "tokens_limit_reached",
        LIMIT_WORDS,
        limit=8000,
    ),
    refused(
        "the-day-is-spent", 429, error("RateLimitReached", DAY), errors.RateLimitError, "RateLimitReached", DAY, True
    ),
    refused("server", 500, error("InternalServerError"), errors.OverloadedError, waits=True),
    refused("page", 502, "<html><h1>Bad gateway</h1></html>", errors.OverloadedError, None, "HTTP status 502", True),
    refused("words", 400, "no such thing", errors.InvalidRequestError, None, "no such thing"),
    refused("nothing", 503, "", errors.OverloadedError, None, "HTTP status 503", True),
]
