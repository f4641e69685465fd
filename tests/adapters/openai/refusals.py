"""What the API and its like refuse. `retry-after` is 17 seconds, which counts where trying again makes sense."""

from __future__ import annotations

from typing import Any

from turnproof import errors

from ..contract.refusal import Refusal


def refused(
    id: str,
    status: int,
    error: Any,
    expected: type[errors.ProviderError],
    kind: str | None = None,
    retryable: bool = False,
    fields: dict[str, Any] | None = None,
) -> Refusal:
    """`kind` is the code, or the type where there is none."""
    words = error if isinstance(error, str) else error["message"]
    facts = {"kind": kind, "message": words, "retryable": retryable, **({"retry_after": 17} if retryable else {})}
    return Refusal(id, status, {"error": error}, expected, {**facts, **(fields or {})}, {"retry-after": "17"})


def error(message: str, code: Any = None, type: str | None = "invalid_request_error") -> dict[str, Any]:
    return {"message": message, "type": type, "param": None, "code": code}


INVALID = "invalid_request_error"


NO_ROOM = (
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130211 tokens. Please "
    "reduce the length of the messages."
)


DEEPSEEK = (
    "This model's maximum context length is 1048565 tokens. However, you requested 1250025 tokens (1250025 in the "
    "messages, 0 in the completion). Please reduce the length of the messages or completion."
)


VLLM = (
    "This model's maximum context length is 4096 tokens. However, you requested 100 output tokens and your prompt "
    "contains at least 3997 input tokens, for a total of at least 4097 tokens. Please reduce the length of the input "
    "prompt or the number of requested output tokens. (parameter=input_tokens, value=3997)"
)


VLLM_INPUT = (
    "This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens. Please reduce "
    "the length of the input messages."
)


TOO_LARGE = (
    "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 38324. The "
    "input or output tokens must be reduced in order to run successfully. Visit "
    "https://platform.openai.com/account/rate-limits to learn more."
)


LLAMA = "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it"


REFUSALS = [
    refused("bad-request", 400, error("Invalid request."), errors.InvalidRequestError, INVALID),
    refused("key", 401, error("Incorrect API key", "invalid_api_key"), errors.AuthenticationError, "invalid_api_key"),
    refused("permission", 403, error("no", "permission_denied"), errors.AuthenticationError, "permission_denied"),
    refused("model", 404, error("no such", "model_not_found"), errors.InvalidRequestError, "model_not_found"),
    refused("request-timeout", 408, error("slow", None, None), errors.TransportError, None, True),
    refused("conflict", 409, error("conflict", None, None), errors.OverloadedError, None, True),
    refused(
        "too-large", 413, error("too large", "tokens_limit_reached"), errors.ContextLimitError, "tokens_limit_reached"
    ),
    refused("unprocessable", 422, error("no"), errors.InvalidRequestError, INVALID),
    refused(
        "rate",
        429,
        error("slower", "rate_limit_exceeded", "tokens"),
        errors.RateLimitError,
        "rate_limit_exceeded",
        True,
    ),
    refused("quota", 429, error("no money", "insufficient_quota"), errors.RateLimitError, "insufficient_quota"),
    refused("server", 500, error("sorry", None, "server_error"), errors.OverloadedError, "server_error", True),
    refused(
        "overloaded",
        503,
        error("The engine is currently overloaded", None, "server_error"),
        errors.OverloadedError,
        "server_error",
        True,
    ),
    refused(
        "full",
        400,
        error(NO_ROOM, "context_length_exceeded"),
        errors.ContextLimitError,
        "context_length_exceeded",
        fields={"limit": 128000, "requested": 130211},
    ),
    refused(
        "full-in-other-words",
        400,
        error("It is full.", "context_length_exceeded"),
        errors.ContextLimitError,
        "context_length_exceeded",
        fields={"limit": None, "requested": None},
    ),
    refused(
        "full-without-a-code",
        400,
        error(DEEPSEEK),
        errors.ContextLimitError,
        INVALID,
        fields={"limit": 1048565, "requested": 1250025},
    ),
    refused(
        "full-vllm",
        400,
        error(VLLM, 400, "BadRequestError"),
        errors.ContextLimitError,
        "400",
        fields={"limit": 4096, "requested": 4097},
    ),
    refused(
        "full-vllm-by-its-input",
        400,
        error(VLLM_INPUT, 400),
        errors.ContextLimitError,
        "400",
        fields={"limit": 4096, "requested": 5000},
    ),
    refused(
        "larger-than-a-minutes-limit",
        429,
        error(TOO_LARGE, "rate_limit_exceeded", "tokens"),
        errors.ContextLimitError,
        "rate_limit_exceeded",
        fields={"limit": 30000, "requested": 38324},
    ),
    refused(
        "full-llama",
        400,
        error(LLAMA, 400, "exceed_context_size_error"),
        errors.ContextLimitError,
        "400",
        fields={"limit": 4096, "requested": 9000},
    ),
    refused(
        "copilot-full",
        400,
        error("prompt token count of 391491 exceeds the limit of 128000", "model_max_prompt_tokens_exceeded"),
        errors.ContextLimitError,
        "model_max_prompt_tokens_exceeded",
        fields={"limit": 128000, "requested": 391491},
    ),
    refused(
        "a-maximum-is-not-a-full-context",
        400,
        error(
            "max_tokens is too large: 99999. This model supports at most "
            "16384 completion tokens, whereas you provided 99999."
        ),
        errors.InvalidRequestError,
        INVALID,
    ),
    refused(
        "a-quoted-sentence-is-not-a-full-context",
        400,
        error(f"Invalid 'tools[0].description': {NO_ROOM}"),
        errors.InvalidRequestError,
        INVALID,
    ),
    refused(
        "filtered",
        400,
        error("The response was filtered", "content_filter", None),
        errors.ContentFilterError,
        "content_filter",
    ),
    refused("zai-key", 401, {"code": "1000", "message": "Authentication Failed"}, errors.AuthenticationError, "1000"),
    refused("zai-money", 429, {"code": "1113", "message": "Insufficient balance"}, errors.RateLimitError, "1113"),
    refused("zai-rate", 429, {"code": "1302", "message": "Rate limit reached"}, errors.RateLimitError, "1302", True),
    refused(
        "zai-full", 400, {"code": "1261", "message": "Prompt exceeds max length"}, errors.ContextLimitError, "1261"
    ),
    refused("zai-unsafe", 400, {"code": "1301", "message": "unsafe"}, errors.ContentFilterError, "1301"),
    refused("azure-key", 401, {"code": "401", "message": "Access denied"}, errors.AuthenticationError, "401"),
    refused("a-string", 503, "DNS resolution failure", errors.OverloadedError, None, True),
]
