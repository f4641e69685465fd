"""What the API refuses. Bodies are those that threads quote, and those of the Gemini API at the same host."""

from __future__ import annotations

from typing import Any

from turnproof import errors

from ..contract.refusal import refused_waiting as refused


def error(code: str, message: str) -> dict[str, Any]:
    return {"error": {"message": message, "code": code}}


TOO_LONG = "The input token count (1075001) exceeds the maximum number of tokens allowed (1048576)."
INVALID = "Request contains an invalid argument."
QUOTA = "You do not have enough quota to make this request."
BAD_KEY = "API key not valid. Please pass a valid API key."

REFUSALS = [
    refused("invalid", 400, error("invalid_request", INVALID), errors.InvalidRequestError,
            {"kind": "invalid_request", "message": INVALID, "retryable": False}),
    refused("key", 400, error("invalid_request", BAD_KEY), errors.AuthenticationError, {"retryable": False}),
    refused("no-permission", 403, error("permission_denied", "No."), errors.AuthenticationError),
    refused("model", 404, error("not_found", "no such model"), errors.InvalidRequestError),
    refused("too-long", 400, error("invalid_request", TOO_LONG), errors.ContextLimitError,
            {"limit": 1048576, "requested": 1075001}),
    refused("words-about-tokens", 400, error("invalid_request", "maxOutputTokens: too many tokens"),
            errors.InvalidRequestError),
    refused("quota", 429, error("too_many_requests", QUOTA), errors.RateLimitError,
            {"kind": "too_many_requests", "retry_after": 7, "retryable": True}),
    refused("form-of-the-gemini-api", 503,
            {"error": {"code": 503, "message": "Overloaded.", "status": "UNAVAILABLE"}}, errors.OverloadedError,
            {"kind": "UNAVAILABLE", "message": "Overloaded."}),
    refused("page", 503, "<html><h1>503</h1></html>", errors.OverloadedError, {"message": "HTTP status 503"}),
    refused("text", 500, "upstream gone", errors.OverloadedError, {"message": "upstream gone"}),
    refused("empty", 500, b"", errors.OverloadedError),
    refused("list", 500, [1, 2], errors.OverloadedError),
]  # fmt: skip
