"""What the API refuses. `retry-after` is 17 seconds, which counts where trying again makes sense."""

from __future__ import annotations

from typing import Any

from turnproof import errors

from ..contract.refusal import Refusal


def refused(
    id: str,
    status: int,
    kind: str | None,
    message: str,
    expected: type[errors.ProviderError],
    retryable: bool = False,
    fields: dict[str, Any] | None = None,
) -> Refusal:
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
    facts = {"kind": kind, "message": message, "retryable": retryable, "retry_after": 17 if retryable else None}
    return Refusal(id, status, body, expected, {**facts, **(fields or {})}, {"retry-after": "17"})


INVALID = "invalid_request_error"


REFUSALS = [
    refused("bad-request", 400, INVALID, "messages: at least one message is required", errors.InvalidRequestError),
    refused("key", 401, "authentication_error", "invalid x-api-key", errors.AuthenticationError),
    refused("billing", 402, "billing_error", "Your credit balance is too low", errors.InvalidRequestError),
    refused("permission", 403, "permission_error", "not allowed", errors.AuthenticationError),
    refused("unknown-model", 404, "not_found_error", "model: claude-sonet-4-5", errors.InvalidRequestError),
    refused("request-timeout", 408, "timeout_error", "slow", errors.TransportError, True),
    refused("conflict", 409, "conflict_error", "conflict", errors.OverloadedError, True),
    refused("too-large", 413, "request_too_large", "Request exceeds the maximum size", errors.ContextLimitError),
    refused("unprocessable", 422, INVALID, "no", errors.InvalidRequestError),
    refused("rate", 429, "rate_limit_error", "This request would exceed your rate limit", errors.RateLimitError, True),
    refused("server", 500, "api_error", "Internal server error", errors.OverloadedError, True),
    refused("unavailable", 503, None, "upstream", errors.OverloadedError, True),
    refused("gateway-timeout", 504, "timeout_error", "timed out", errors.OverloadedError, True),
    refused("overloaded", 529, "overloaded_error", "Overloaded", errors.OverloadedError, True),
    refused(
        "prompt-too-long",
        400,
        INVALID,
        "prompt is too long: 3333404 tokens > 200000 maximum",
        errors.ContextLimitError,
        fields={"limit": 200000, "requested": 3333404},
    ),
    refused(
        "prompt-too-long-without-figures",
        400,
        INVALID,
        "Prompt is too long",
        errors.ContextLimitError,
        fields={"limit": None, "requested": None},
    ),
    refused(
        "no-room",
        400,
        INVALID,
        "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or "
        "`max_tokens` and try again",
        errors.ContextLimitError,
        fields={"limit": 200000, "requested": 209573},
    ),
    refused(
        "a-maximum-of-tokens-is-not-a-full-context",
        400,
        INVALID,
        "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5",
        errors.InvalidRequestError,
    ),
    refused(
        "a-quoted-sentence-is-not-a-full-context",
        400,
        INVALID,
        "tools.0.description: 'prompt is too long: 2 tokens > 1 maximum' is not allowed",
        errors.InvalidRequestError,
    ),
    refused(
        "a-missing-result-is-not-a-missing-model",
        400,
        INVALID,
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: model_404",
        errors.InvalidRequestError,
    ),
    refused("filtered", 400, INVALID, "Output blocked by content filtering policy", errors.ContentFilterError),
]
