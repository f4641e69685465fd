"""Error answers: statuses and usual messages by code, the error body with its details, the error event.

The two surfaces differ in words only, and those stand in the refusal: a quota error in Vertex's words has none of the
details that the Gemini API gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...messages import JSON
from ..base import NO_HEADERS, ErrorMeaning, Refusal, Rendered, WireEvent
from ..tables import load_errors
from . import rules
from .spelling import violations
from .times import format_duration
from .writing import JSON_HEADERS, Chunk, body_event, sse_event

KINDS = load_errors(__package__)["gemini"]
QUOTA = KINDS[429][1]
VERTEX_QUOTA = (
    "Resource exhausted. Please try again later. Please refer to "
    "https://cloud.google.com/vertex-ai/generative-ai/docs/error-code-429 for more details."
)
_CODES = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ABORTED": 409,
    "RESOURCE_EXHAUSTED": 429,
    "CANCELLED": 499,
    "UNIMPLEMENTED": 501,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
}
"""The code under which a status goes out by itself; any other is an internal error."""

_TOO_LONG = ("exceeds the maximum number of tokens allowed", "but model only supports up to")
_NO_CACHE = ("cachedcontent not found", "not found: cached content")
_TYPE = "type.googleapis.com/google.rpc."
_SERVICE = "generativelanguage.googleapis.com"


def error_meaning(status: int, kind: str | None, message: str | None) -> ErrorMeaning | None:
    """What only the words tell: a wrong key under 400, a prompt that is too long, a managed cache that is gone."""
    lowered = (message or "").lower()
    if status == 400 and any(words in lowered for words in ("api key not valid", "api key expired")):
        return "authentication"
    if status == 400 and any(words in lowered for words in _TOO_LONG):
        return "context-limit"
    if status in (403, 404) and any(words in lowered for words in _NO_CACHE):
        return "cache-expired"
    return None


def render_refusal(refusal: Refusal, seed: str) -> Rendered:
    """The refusal as the API answers it. How long to wait stands in the body alone, in words and as `RetryInfo`."""
    message, details = refusal.message, _details(refusal)
    if refusal.status == 429 and refusal.retry_after is not None and message != VERTEX_QUOTA:
        message += f"\nPlease retry in {format_duration(refusal.retry_after)}."
    body = _error(refusal.status, message, refusal.kind, details)
    return Rendered(refusal.status, JSON_HEADERS, (body_event(body),))


def error_event(kind: str, message: str, headers: Mapping[str, str] = NO_HEADERS) -> WireEvent:
    """The event that reports an error after the stream began: a chunk that has nothing but the error."""
    return sse_event(Chunk(_error(_CODES.get(kind, 500), message, kind, []), "error"))


def _error(code: int, message: str, kind: str, details: list[JSON]) -> dict[str, Any]:
    error: dict[str, Any] = {"code": code, "message": message, "status": kind}
    return {"error": error | {"details": details} if details else error}


def _details(refusal: Refusal) -> list[JSON]:
    match refusal.rule:
        case rules.BAD_KEY:
            return [
                _error_info("API_KEY_INVALID", _SERVICE),
                {"@type": f"{_TYPE}LocalizedMessage", "locale": "en-US", "message": refusal.message},
            ]
        case rules.MISSING_TOKEN | rules.KEY_FOR_TOKEN:
            return [_error_info("CREDENTIALS_MISSING", "aiplatform.googleapis.com")]
        case rules.UNKNOWN_NAME | rules.NOT_REPEATING | rules.WRONG_TYPE | rules.ONEOF | rules.BROKEN_BASE64:
            return [{"@type": f"{_TYPE}BadRequest", "fieldViolations": list(violations(refusal.message))}]
    if refusal.message == VERTEX_QUOTA:
        return []
    return [*_quota(refusal), *_retry(refusal)]


def _error_info(reason: str, service: str) -> JSON:
    return {
        "@type": f"{_TYPE}ErrorInfo",
        "reason": reason,
        "domain": "googleapis.com",
        "metadata": {"service": service},
    }


def _quota(refusal: Refusal) -> list[JSON]:
    if refusal.status != 429:
        return []
    link = {
        "description": "Learn more about Gemini API quotas",
        "url": "https://ai.google.dev/gemini-api/docs/rate-limits",
    }
    violation = {
        "quotaMetric": f"{_SERVICE}/generate_content_paid_tier_input_token_count",
        "quotaId": "GenerateContentPaidTierInputTokensPerModelPerMinute",
        "quotaDimensions": {"location": "global"},
        "quotaValue": "1000000",
    }
    return [
        {"@type": f"{_TYPE}Help", "links": [link]},
        {"@type": f"{_TYPE}QuotaFailure", "violations": [violation]},
    ]


def _retry(refusal: Refusal) -> list[JSON]:
    if refusal.retry_after is None:
        return []
    return [{"@type": f"{_TYPE}RetryInfo", "retryDelay": format_duration(refusal.retry_after)}]
