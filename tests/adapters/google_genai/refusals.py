"""What the API refuses."""

from __future__ import annotations

from typing import Any

from turnproof import errors

from ..contract.refusal import Refusal


def refused(
    id: str,
    status: int,
    word: str,
    message: str,
    expected: type[errors.ProviderError],
    retryable: bool = False,
    details: list[dict[str, Any]] | None = None,
    fields: dict[str, Any] | None = None,
    *,
    kind: str | None = None,
    reported_message: str | None = None,
) -> Refusal:
    """An error of Google's form. Its kind is its status word, and its words are its message, unless told otherwise."""
    error = {"code": status, "message": message, "status": word, "details": details or []}
    facts = {
        "kind": word if kind is None else kind,
        "message": reported_message or message,
        "retryable": retryable,
        **(fields or {}),
    }
    return Refusal(id, status, {"error": error}, expected, facts)


INVALID, EXHAUSTED = "INVALID_ARGUMENT", "RESOURCE_EXHAUSTED"


def quota(name: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": name}]}


def retry_in(delay: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}


BAD_KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}


REFUSALS = [
    refused(
        "key",
        400,
        INVALID,
        "API key not valid. Please pass a valid API key.",
        errors.AuthenticationError,
        details=[BAD_KEY, {"@type": "type.googleapis.com/google.rpc.LocalizedMessage", "locale": "en-US"}],
    ),
    refused(
        "key-expired",
        400,
        INVALID,
        "API key expired. Please renew the API key.",
        errors.AuthenticationError,
        details=[BAD_KEY],
    ),
    refused(
        "no-key", 403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers", errors.AuthenticationError
    ),
    refused(
        "token", 401, "UNAUTHENTICATED", "Request had invalid authentication credentials.", errors.AuthenticationError
    ),
    refused("no-cache-was-named", 403, "PERMISSION_DENIED", "CachedContent not found", errors.AuthenticationError),
    refused(
        "unknown-model", 404, "NOT_FOUND", "models/nope is not found for API version v1beta", errors.InvalidRequestError
    ),
    refused("place", 400, "FAILED_PRECONDITION", "User location is not supported", errors.InvalidRequestError),
    refused(
        "prompt-too-long",
        400,
        INVALID,
        "The input token count (1250074) exceeds the maximum number of tokens allowed (1048576).",
        errors.ContextLimitError,
        fields={"limit": 1048576, "requested": 1250074},
    ),
    refused(
        "prompt-too-long-in-older-words",
        400,
        INVALID,
        "The input token count exceeds the maximum number of tokens allowed 1048576.",
        errors.ContextLimitError,
        fields={"limit": 1048576, "requested": None},
    ),
    refused(
        "prompt-too-long-without-a-number",
        400,
        INVALID,
        "The input token count exceeds the maximum number of tokens allowed.",
        errors.ContextLimitError,
        fields={"limit": None, "requested": None},
    ),
    *(
        refused(
            f"prompt-too-long-on-vertex-in-{lines}",
            400,
            INVALID,
            "Unable to submit request because the input token count is 2000000 but model only supports up to 1048576."
            f"{between}Reduce the input token count and try again.",
            errors.ContextLimitError,
            fields={"limit": 1048576, "requested": 2000000},
        )
        for lines, between in (("a-line", " "), ("two-lines", "\n"))
    ),
    refused(
        "a-limit-of-output-is-not-a-full-context",
        400,
        INVALID,
        "Unable to submit request because it has a maxOutputTokens value of 70000 but the supported range is from 1 "
        "(inclusive) to 65537 (exclusive). Update the value and try again.",
        errors.InvalidRequestError,
    ),
    refused(
        "a-quoted-sentence-is-not-a-full-context",
        400,
        INVALID,
        "Invalid value 'The input token count (2) exceeds the maximum number of tokens allowed (1).'",
        errors.InvalidRequestError,
    ),
    refused(
        "order",
        400,
        INVALID,
        "Please ensure that function call turn comes immediately after",
        errors.InvalidRequestError,
    ),
    refused(
        "timeout",
        408,
        "DEADLINE_EXCEEDED",
        "slow",
        errors.TransportError,
        True,
        [retry_in("2s")],
        {"retry_after": 2.0},
    ),
    refused("conflict", 409, "ABORTED", "conflict", errors.OverloadedError, True),
    refused("too-large", 413, "", "too large", errors.ContextLimitError),
    refused(
        "per-minute",
        429,
        EXHAUSTED,
        "You exceeded your current quota. Please retry in 48.939935699s.",
        errors.RateLimitError,
        True,
        [quota("GenerateContentPaidTierInputTokensPerModelPerMinute"), retry_in("48s")],
        {"retry_after": 48.0},
    ),
    refused(
        "fraction", 429, EXHAUSTED, "slow", errors.RateLimitError, True, [retry_in("0.739s")], {"retry_after": 0.739}
    ),
    refused("without-details", 429, EXHAUSTED, "exhausted", errors.RateLimitError, True, [], {"retry_after": None}),
    refused(
        "odd-delay", 429, EXHAUSTED, "slow", errors.RateLimitError, True, [retry_in("soon")], {"retry_after": None}
    ),
    refused(
        "per-day",
        429,
        EXHAUSTED,
        "You exceeded your current quota",
        errors.RateLimitError,
        False,
        [quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"), retry_in("31s")],
        {"retry_after": None},
    ),
    refused("internal", 500, "INTERNAL", "Internal error encountered.", errors.OverloadedError, True),
    refused(
        "unavailable",
        503,
        "UNAVAILABLE",
        "This model is currently experiencing high demand.",
        errors.OverloadedError,
        True,
        [retry_in("5s")],
        {"retry_after": 5.0},
    ),
    refused("deadline", 504, "DEADLINE_EXCEEDED", "deadline", errors.OverloadedError, True),
]
