"""What the server refuses."""

from __future__ import annotations

from typing import Any

from turnproof import errors

from ..contract.refusal import refused

INVALID = "invalid_request_error"


BUSY = "server busy, please try again.  maximum pending requests exceeded"


CLOUD = "prompt too long; exceeded max context length by 1119046 tokens (ref: 5cdbf6d6-8a8a-4a5e-9a0e-1b1b1b1b1b1b)"


RUNNER = "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it"


OLDER_RUNNER = "the request exceeds the available context size. try increasing the context size or enable context shift"


def enveloped(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_3f2a"}


REFUSALS = [
    refused(
        "no-messages",
        400,
        enveloped(INVALID, "messages is required"),
        errors.InvalidRequestError,
        INVALID,
        "messages is required",
    ),
    refused(
        "no-tools",
        400,
        enveloped(INVALID, '"gemma3" does not support tools'),
        errors.InvalidRequestError,
        INVALID,
        '"gemma3" does not support tools',
    ),
    refused(
        "unknown-model",
        404,
        enveloped("not_found_error", "model 'qwen' not found"),
        errors.InvalidRequestError,
        "not_found_error",
        "model 'qwen' not found",
    ),
    refused(
        "unknown-model-in-a-word",
        404,
        {"error": "model 'qwen' not found"},
        errors.InvalidRequestError,
        None,
        "model 'qwen' not found",
    ),
    refused("key-at-the-cloud", 401, {"error": "Unauthorized"}, errors.AuthenticationError, None, "Unauthorized"),
    refused(
        "key-at-a-gateway",
        403,
        enveloped("permission_error", "no"),
        errors.AuthenticationError,
        "permission_error",
        "no",
    ),
    refused(
        "quota",
        429,
        enveloped("rate_limit_error", "weekly limit"),
        errors.RateLimitError,
        "rate_limit_error",
        "weekly limit",
        True,
    ),
    refused(
        "inner",
        500,
        enveloped("api_error", "llama runner terminated"),
        errors.OverloadedError,
        "api_error",
        "llama runner terminated",
        True,
    ),
    refused("busy", 503, enveloped("overloaded_error", BUSY), errors.OverloadedError, "overloaded_error", BUSY, True),
    refused("busy-in-a-word", 503, {"error": BUSY}, errors.OverloadedError, None, BUSY, True),
    refused(
        "overloaded", 529, enveloped("overloaded_error", BUSY), errors.OverloadedError, "overloaded_error", BUSY, True
    ),
    refused("too-long-for-the-cloud", 400, enveloped(INVALID, CLOUD), errors.ContextLimitError, INVALID, CLOUD),
    refused(
        "too-long-for-the-runner",
        400,
        enveloped(INVALID, RUNNER),
        errors.ContextLimitError,
        INVALID,
        RUNNER,
        fields={"requested": 5000, "limit": 4096},
    ),
    refused(
        "too-long-for-an-older-runner",
        400,
        {"error": OLDER_RUNNER},
        errors.ContextLimitError,
        None,
        OLDER_RUNNER,
        fields={"requested": None, "limit": None},
    ),
    refused(
        "a-quoted-sentence",
        400,
        enveloped(INVALID, f'invalid tool description "{RUNNER}"'),
        errors.InvalidRequestError,
        INVALID,
        f'invalid tool description "{RUNNER}"',
    ),
    refused(
        "enveloped-under-200",
        200,
        enveloped("overloaded_error", BUSY),
        errors.OverloadedError,
        "overloaded_error",
        BUSY,
        True,
    ),
    refused("too-long-under-200", 200, enveloped(INVALID, RUNNER), errors.ContextLimitError, INVALID, RUNNER),
    refused(
        "in-a-word-under-200", 200, {"error": "unexpected EOF"}, errors.OverloadedError, None, "unexpected EOF", True
    ),
]
