"""What the gateway refuses."""

from __future__ import annotations

from typing import Any

from turnproof import errors
from turnproof_adapters._encoded_messages import encode
from turnproof_adapters.antigravity.errors import MINUTE

from ..contract.refusal import Refusal
from ..google_genai.refusals import quota, refused, retry_in

DOMAIN = "cloudcode-pa.googleapis.com"


EXHAUSTED, INVALID, DENIED = "RESOURCE_EXHAUSTED", "INVALID_ARGUMENT", "PERMISSION_DENIED"


def reason(name: str, domain: str = DOMAIN, **metadata: str) -> dict[str, Any]:
    return {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": name,
        "domain": domain,
        "metadata": metadata,
    }


def nested(kind: str, message: str) -> str:
    """Anthropic's error, as the gateway hands it on."""
    error = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_vrtx_011EX"}
    return encode(error).decode()


def limited(id: str, message: str, *details: dict[str, Any], retry: bool, wait: float | None, **more: Any) -> Refusal:
    return refused(
        id, 429, EXHAUSTED, message, errors.RateLimitError, retry, [*details], fields={"retry_after": wait}, **more
    )


CAPACITY = "You have exhausted your capacity on this model. Your quota will reset after 3s."


VERIFY = "https://accounts.google.com/signin/continue"


HELP = {"@type": "type.googleapis.com/google.rpc.Help", "links": [{"description": "Verify", "url": VERIFY}]}


TOO_LONG = "The input token count (1250074) exceeds the maximum number of tokens allowed (1048576)."


CLAUDE_TOO_LONG = "prompt is too long: 200001 tokens > 200000 maximum"


DANGLING = "messages.4: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_vrtx_01EX."


REFUSALS = [
    # Limits: antigravity.md §6, row by row
    limited("limit-0", "Quota exceeded, limit: 0, model: x", retry_in("2s"), retry=False, wait=2.0),
    limited("limit-05-is-another", "Quota exceeded, limit: 05", retry_in("2s"), retry=True, wait=2.0),
    limited("words-in-seconds", "Please retry in 31.5s.", retry=True, wait=31.5),
    limited("words-in-milliseconds", "Please retry in 250ms", retry=True, wait=0.25),
    limited("words-too-long", "Please retry in 301s.", retry=False, wait=301.0),
    limited("words-longest", "Please retry in 300s.", retry=True, wait=300.0),
    limited("words-capacity", CAPACITY, retry=False, wait=3.0),
    limited("words-capacity-exceeded", "Model capacity exceeded", retry=False, wait=None),
    limited("words-reason", "MODEL_CAPACITY_EXHAUSTED", retry=False, wait=None),
    limited("bare", "Resource has been exhausted (e.g. check quota).", retry=True, wait=None),
    limited("a-day", "no", quota("GenerateRequestsPerDayPerUser"), retry_in("9s"), retry=False, wait=9.0),
    limited("daily", "no", quota("DailyRequests"), retry=False, wait=None),
    limited(
        "capacity",
        "no",
        reason("MODEL_CAPACITY_EXHAUSTED"),
        retry_in("9s"),
        retry=False,
        wait=9.0,
        kind="MODEL_CAPACITY_EXHAUSTED",
    ),
    limited(
        "capacity-exceeded",
        "no",
        reason("MODEL_CAPACITY_EXCEEDED"),
        retry=False,
        wait=None,
        kind="MODEL_CAPACITY_EXCEEDED",
    ),
    limited(
        "credits",
        "no",
        reason("INSUFFICIENT_G1_CREDITS_BALANCE"),
        retry=False,
        wait=None,
        kind="INSUFFICIENT_G1_CREDITS_BALANCE",
    ),
    limited(
        "rate",
        CAPACITY,
        reason("RATE_LIMIT_EXCEEDED", quotaResetDelay="4s"),
        retry_in("3.957525076s"),
        retry=True,
        wait=3.957525076,
        kind="RATE_LIMIT_EXCEEDED",
    ),
    limited(
        "rate-by-metadata",
        "no",
        reason("RATE_LIMIT_EXCEEDED", quotaResetDelay="510ms"),
        retry=True,
        wait=0.51,
        kind="RATE_LIMIT_EXCEEDED",
    ),
    limited(
        "rate-without-delay",
        "no",
        reason("RATE_LIMIT_EXCEEDED"),
        retry=False,
        wait=None,
        kind="RATE_LIMIT_EXCEEDED",
    ),
    limited(
        "rate-too-long",
        "no",
        reason("RATE_LIMIT_EXCEEDED"),
        retry_in("301s"),
        retry=False,
        wait=301.0,
        kind="RATE_LIMIT_EXCEEDED",
    ),
    limited(
        "quota",
        "no",
        reason("QUOTA_EXHAUSTED"),
        retry_in("1h16m0.667923083s"),
        retry=False,
        wait=4560.667923083,
        kind="QUOTA_EXHAUSTED",
    ),
    limited("delay-alone", "no", retry_in("5s"), retry=True, wait=5.0),
    limited("delay-alone-too-long", "no", retry_in("18000s"), retry=False, wait=18000.0),
    limited("delay-that-is-none", "no", retry_in("soon"), retry=True, wait=None),
    limited("a-minute", "no", quota("RequestsPerMinutePerUser"), retry=True, wait=MINUTE),
    limited("a-minute-with-delay", "no", quota("RequestsPerMinute"), retry_in("7s"), retry=True, wait=7.0),
    refused("cancelled-there", 499, "CANCELLED", "cancelled", errors.OverloadedError, True),
    refused(
        "busy", 503, "UNAVAILABLE", "busy", errors.OverloadedError, True, [retry_in("5s")], fields={"retry_after": 5.0}
    ),
    refused(
        "no-capacity",
        503,
        "UNAVAILABLE",
        "No capacity available for model x on the server",
        errors.OverloadedError,
        False,
        [reason("MODEL_CAPACITY_EXHAUSTED")],
        kind="MODEL_CAPACITY_EXHAUSTED",
    ),
    refused("overloaded", 529, "UNAVAILABLE", "busy", errors.OverloadedError, True),
    refused("internal", 500, "INTERNAL", "Internal error encountered.", errors.OverloadedError, True),
    refused("deadline", 504, "DEADLINE_EXCEEDED", "deadline", errors.OverloadedError, True),
    # Who asks
    refused(
        "token", 401, "UNAUTHENTICATED", "Request had invalid authentication credentials.", errors.AuthenticationError
    ),
    refused("denied", 403, DENIED, "Permission denied on resource project x.", errors.AuthenticationError),
    refused(
        "unlicensed",
        403,
        DENIED,
        "no licence",
        errors.AuthenticationError,
        False,
        [reason("SUBSCRIPTION_REQUIRED", "cloudaicompanion.googleapis.com")],
        kind="SUBSCRIPTION_REQUIRED",
    ),
    refused(
        "unverified",
        403,
        DENIED,
        "Verify your account to continue.",
        errors.AuthenticationError,
        False,
        [reason("VALIDATION_REQUIRED"), HELP],
        kind="VALIDATION_REQUIRED",
        reported_message=f"Verify your account to continue. ({VERIFY})",
    ),
    refused(
        "service-off",
        403,
        DENIED,
        "off",
        errors.AuthenticationError,
        False,
        [reason("SERVICE_DISABLED")],
        kind="SERVICE_DISABLED",
    ),
    # What is asked
    refused("unknown-model", 404, "NOT_FOUND", "Requested entity was not found.", errors.InvalidRequestError),
    refused("field", 400, INVALID, 'Invalid JSON payload received. Unknown name "const"', errors.InvalidRequestError),
    refused("too-large", 413, "", "too large", errors.ContextLimitError, fields={"kind": None}),
    refused(
        "too-long",
        400,
        INVALID,
        TOO_LONG,
        errors.ContextLimitError,
        fields={"limit": 1048576, "requested": 1250074},
    ),
    refused(
        "too-long-for-claude",
        400,
        INVALID,
        nested("invalid_request_error", CLAUDE_TOO_LONG),
        errors.ContextLimitError,
        kind="invalid_request_error",
        reported_message=CLAUDE_TOO_LONG,
        fields={"limit": 200000, "requested": 200001},
    ),
    refused(
        "claude-pairing",
        400,
        INVALID,
        nested("invalid_request_error", DANGLING),
        errors.InvalidRequestError,
        kind="invalid_request_error",
        reported_message=DANGLING,
    ),
    refused(
        "claude-overloaded",
        400,
        INVALID,
        nested("overloaded_error", "Overloaded"),
        errors.OverloadedError,
        True,
        kind="overloaded_error",
        reported_message="Overloaded",
    ),
    refused(
        "claude-rate",
        400,
        INVALID,
        nested("rate_limit_error", "slow"),
        errors.RateLimitError,
        True,
        kind="rate_limit_error",
        reported_message="slow",
    ),
    refused(
        "a-quoted-sentence-is-not-a-full-context",
        400,
        INVALID,
        f"Invalid value '{TOO_LONG}'",
        errors.InvalidRequestError,
    ),
    refused("braces-are-no-error", 400, INVALID, "{x} is no field", errors.InvalidRequestError),
    refused("json-without-an-error", 400, INVALID, '{"x": 1}', errors.InvalidRequestError),
]
