"""What the API and Copilot refuse. `retry-after` is 7 seconds, which counts where trying again makes sense."""

from __future__ import annotations

from typing import Any

from turnproof import errors

from ..contract.refusal import refused_waiting as refused


def error(code: str, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}


TOO_LONG = "Your input exceeds the context window of this model. Please adjust your input and try again."
FIGURES = "prompt token count of 391491 exceeds the limit of 128000"

REFUSALS = [
    refused("key", 401, error("invalid_api_key", "Incorrect API key"), errors.AuthenticationError),
    refused("model", 400, error("model_not_found", "no such model"), errors.InvalidRequestError),
    refused("too-long", 400, error("context_length_exceeded", TOO_LONG), errors.ContextLimitError, {"limit": None}),
    refused(
        "too-long-with-figures",
        400,
        error("invalid_request_body", FIGURES),
        errors.ContextLimitError,
        {"limit": 128000, "requested": 391491},
    ),
    refused("rate", 429, error("rate_limit_exceeded", "slow down"), errors.RateLimitError, {"retry_after": 7}),
    refused("page", 503, "<html><h1>503</h1></html>", errors.OverloadedError, {"message": "HTTP status 503"}),
    refused("empty", 500, b"", errors.OverloadedError),
]
