"""What the service refuses."""

from __future__ import annotations

from typing import Any

from turnproof import errors

from ..contract.refusal import refused

UNPAID = "Insufficient balance or no resource package. Please recharge."


RESET = "Usage limit reached for 5 hour. Your limit will reset at 2026-09-10 04:24:36"


NO_ROUTE = {"code": 500, "msg": "404 NOT_FOUND", "success": False}


def enveloped(code: str, message: str, kind: str = "rate_limit_error") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "code": code, "message": message}, "request_id": "2026"}


def coded(code: str | int, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}, "request_id": "2026"}


REFUSALS = [
    refused(
        "key-of-no-one",
        401,
        coded("401", "token expired or incorrect"),
        errors.AuthenticationError,
        "401",
        "token expired or incorrect",
    ),
    refused("no-key", 401, coded("1001", "no key"), errors.AuthenticationError, "1001", "no key"),
    refused(
        "key-by-code-alone",
        400,
        coded(1000, "Authentication Failed"),
        errors.AuthenticationError,
        "1000",
        "Authentication Failed",
    ),
    refused(
        "key-under-200",
        200,
        {"code": 401, "msg": "token expired or incorrect", "success": False},
        errors.AuthenticationError,
        "401",
        "token expired or incorrect",
    ),
    refused(
        "forbidden",
        403,
        enveloped("1220", "no permission", "permission_error"),
        errors.AuthenticationError,
        "1220",
        "no permission",
    ),
    refused("unpaid", 429, enveloped("1113", UNPAID), errors.RateLimitError, "1113", UNPAID),
    refused("unpaid-wrapped", 429, enveloped("1113", f"[1113][{UNPAID}]"), errors.RateLimitError, "1113", UNPAID),
    refused(
        "unpaid-wrapped-thrice",
        429,
        enveloped("1113", f"[1113][{UNPAID}][2026a0]"),
        errors.RateLimitError,
        "1113",
        UNPAID,
    ),
    refused(
        "code-in-the-words-alone",
        429,
        {"error": {"type": "rate_limit_error", "message": f"[1113][{UNPAID}]"}},
        errors.RateLimitError,
        "1113",
        UNPAID,
    ),
    refused(
        "rate",
        429,
        coded("1302", "Rate limit reached for requests"),
        errors.RateLimitError,
        "1302",
        "Rate limit reached for requests",
        True,
    ),
    refused("rate-under-200", 200, coded("1302", "slow down"), errors.RateLimitError, "1302", "slow down", True),
    refused(
        "a-wait-that-a-gateway-names",
        429,
        coded("1302", "slow down"),
        errors.RateLimitError,
        "1302",
        "slow down",
        True,
        {"retry-after": "17"},
        17,
    ),
    refused("frequency", 429, coded("1303", "too frequent"), errors.RateLimitError, "1303", "too frequent", True),
    refused("calls-of-the-day", 429, coded("1304", "daily limit"), errors.RateLimitError, "1304", "daily limit"),
    refused(
        "overloaded", 429, coded("1305", "try again later"), errors.OverloadedError, "1305", "try again later", True
    ),
    refused(
        "plan-used-up",
        429,
        coded("1308", RESET),
        errors.RateLimitError,
        "1308",
        RESET,
        False,
        {"date": "Wed, 09 Sep 2026 20:00:00 GMT"},
        1476,
    ),
    refused(
        "plan-of-the-week-used-up",
        429,
        coded("1310", "Weekly limit reached."),
        errors.RateLimitError,
        "1310",
        "Weekly limit reached.",
    ),
    refused(
        "plan-used-up-until-no-time",
        429,
        coded("1308", RESET.replace("-09-", "-19-")),
        errors.RateLimitError,
        "1308",
        RESET.replace("-09-", "-19-"),
    ),
    refused(
        "parameter",
        400,
        enveloped("1210", "Invalid API parameter", "invalid_request_error"),
        errors.InvalidRequestError,
        "1210",
        "Invalid API parameter",
    ),
    refused(
        "unknown-model",
        400,
        coded("1211", "Unknown Model, please check the model code."),
        errors.InvalidRequestError,
        "1211",
        "Unknown Model, please check the model code.",
    ),
    refused(
        "unknown-model-under-200",
        200,
        coded("1211", "Unknown Model"),
        errors.InvalidRequestError,
        "1211",
        "Unknown Model",
    ),
    refused(
        "too-long",
        400,
        coded("1261", "Prompt exceeds max length"),
        errors.ContextLimitError,
        "1261",
        "Prompt exceeds max length",
    ),
    refused(
        "words-of-a-full-prompt-alone",
        400,
        coded("1214", "Prompt exceeds max length"),
        errors.InvalidRequestError,
        "1214",
        "Prompt exceeds max length",
    ),
    refused("unsafe", 400, coded("1301", "unsafe content"), errors.ContentFilterError, "1301", "unsafe content"),
    refused("inner", 500, coded("1234", "Network error"), errors.OverloadedError, "1234", "Network error", True),
    refused(
        "inner-under-200",
        200,
        {"code": 500, "msg": "trouble", "success": False},
        errors.OverloadedError,
        "500",
        "trouble",
        True,
    ),
    refused("wrong-address", 200, NO_ROUTE, errors.InvalidRequestError, "500", "404 NOT_FOUND"),
    refused(
        "error-in-a-word",
        503,
        {"error": "DNS resolution failure"},
        errors.OverloadedError,
        None,
        "DNS resolution failure",
        True,
    ),
    refused(
        "error-in-a-word-under-200",
        200,
        {"error": "DNS resolution failure"},
        errors.OverloadedError,
        None,
        "DNS resolution failure",
        True,
    ),
    refused("code-of-tomorrow", 400, coded("1999", "new"), errors.InvalidRequestError, "1999", "new"),
    refused(
        "no-permission-under-200",
        200,
        enveloped("1220", "no permission", "permission_error"),
        errors.AuthenticationError,
        "1220",
        "no permission",
    ),
    refused(
        "no-such-api-under-200",
        200,
        coded("1222", "This API does not exist."),
        errors.InvalidRequestError,
        "1222",
        "This API does not exist.",
    ),
    refused(
        "type-alone",
        529,
        {"error": {"type": "overloaded_error", "message": "Overloaded"}},
        errors.OverloadedError,
        "overloaded_error",
        "Overloaded",
        True,
    ),
    refused(
        "type-alone-under-200",
        200,
        {"error": {"type": "permission_error", "message": "no"}},
        errors.AuthenticationError,
        "permission_error",
        "no",
    ),
]
