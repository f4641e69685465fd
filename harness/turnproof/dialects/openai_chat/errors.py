"""Error answers: kinds and usual messages by status, the forms of error bodies, and what an error means.

An error has a `type` and perhaps a `code`; the code tells more. Its *kind* is the code, and the type where there is no
code. Azure, GitHub Models, Copilot and Z.ai give only codes, Ollama only types.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...messages import JSON
from ..base import ErrorMeaning, Refusal, Rendered, Rule, WireEvent
from ..openai_common import AZURE_CODES, AZURE_KINDS, is_oversized
from . import rules
from .surfaces import Surface
from .writing import body_event, chunk_event, headers, json_headers

_Kinds = Mapping[int, tuple[str, str]]

_SORRY = "The server had an error while processing your request. Sorry about that!"
_RATE_LIMIT = (
    "Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Used 25339, Requested "
    "5560. Please try again in 1.798s. Visit https://platform.openai.com/account/rate-limits to learn more."
)
_OPENAI: _Kinds = {
    400: ("invalid_request_error", "Invalid request."),
    401: ("invalid_api_key", "Incorrect API key provided."),
    403: ("permission_denied", "You are not allowed to use this resource."),
    404: ("model_not_found", "The model does not exist or you do not have access to it."),
    429: ("rate_limit_exceeded", _RATE_LIMIT),
    500: ("server_error", _SORRY),
    502: ("server_error", "Bad gateway."),
    503: ("server_error", "The engine is currently overloaded, please try again later"),
    504: ("server_error", "The request timed out."),
}
_GITHUB: _Kinds = {
    **AZURE_KINDS,
    401: ("unauthorized", "The `models` permission is required to access this endpoint"),
    413: ("tokens_limit_reached", "Request body too large for gpt-4o-mini model. Max size: 8000 tokens."),
    429: (
        "RateLimitReached",
        "Rate limit of 15 per 60s exceeded for UserByModelByMinute. Please wait 52 seconds before retrying.",
    ),
}
_COPILOT: _Kinds = {
    400: ("invalid_request_body", "Bad request"),
    401: ("unauthorized", "unauthorized: token expired"),
    402: ("quota_exceeded", "You have exceeded your free tier limit."),
    403: ("forbidden", "token not authorized for this integration"),
    404: ("model_not_found", "The requested model is not found."),
    422: ("content_filter", "The response was filtered."),
    429: ("user_global_rate_limited", "Sorry, you have exceeded your rate limit. Please try again later."),
    500: ("internal_error", "Internal server error"),
    503: ("upstream_provider_rate_limit", "Sorry, the upstream model provider is currently experiencing high demand."),
}
_ZAI: _Kinds = {
    400: ("1210", "Invalid API parameter, please check the documentation."),
    401: ("1000", "Authentication Failed"),
    429: ("1302", "Rate limit reached for requests"),
    500: ("1234", "Network error, please contact customer service."),
    503: ("1305", "The service may be temporarily overloaded, please try again later"),
}
_OLLAMA: _Kinds = {
    400: ("invalid_request_error", "invalid request"),
    401: ("api_error", "Unauthorized"),
    404: ("not_found_error", "model not found"),
    500: ("api_error", "internal server error"),
    503: ("api_error", "server busy, please try again.  maximum pending requests exceeded"),
}
KINDS: Mapping[Surface, _Kinds] = {
    Surface.OPENAI: _OPENAI,
    Surface.AZURE: AZURE_KINDS,
    Surface.GITHUB: _GITHUB,
    Surface.COPILOT: _COPILOT,
    Surface.ZAI: _ZAI,
    Surface.OLLAMA: _OLLAMA,
}
"""Statuses as the sheets have them. Where a sheet has only the status or the code, the words are ours."""

_TYPES = frozenset({"invalid_request_error", "server_error", "api_error", "not_found_error"})
_TYPE_OF = {"rate_limit_exceeded": "tokens", "insufficient_quota": "insufficient_quota"}
_TOO_LONG = frozenset({"context_length_exceeded", "model_max_prompt_tokens_exceeded", "tokens_limit_reached", "1261"})
_TOO_LONG_WORDS = ("maximum context length", "exceeded max context length", "exceeds the available context")
_FILTERED = frozenset({"content_filter", "1301"})
_PLAIN = (rules.COPILOT_EDITOR, rules.COPILOT_TOKEN)
_FILTER_RESULT = {"hate": {"filtered": True, "severity": "high"}, "violence": {"filtered": False, "severity": "safe"}}


@dataclass(frozen=True, slots=True)
class ChatRefusal(Refusal):
    """A refusal and the surface that gives it, which decides about the form of its body."""

    surface: Surface = Surface.OPENAI


def refuse(surface: Surface, rule: Rule, kind: str, message: str, path: str = "$") -> ChatRefusal:
    """The usual refusal of a request that asks for something wrong: 400. `path` is the `param` of the body.

    Copilot and GitHub Models give such a refusal a code of their own, Z.ai also words of its own.
    """
    if surface in (Surface.COPILOT, Surface.GITHUB, Surface.ZAI):
        kind, usual = KINDS[surface][400]
        message = usual if surface is Surface.ZAI else message
    elif surface is Surface.OLLAMA:
        kind = "invalid_request_error"
    return ChatRefusal(rule, 400, kind, message, path if path.startswith("$") else f"$.{path}", surface=surface)


def error_meaning(status: int, kind: str | None, message: str | None) -> ErrorMeaning | None:
    """What only the kind or the words tell: a prompt that is too long, a filtered one, a dead token under 200."""
    lowered = (message or "").lower()
    if kind in _TOO_LONG or (status == 400 and any(words in lowered for words in _TOO_LONG_WORDS)):
        return "context-limit"
    if is_oversized(status, message):
        return "oversized"
    if kind in _FILTERED:
        return "content-filter"
    if status == 200 and kind == "401":
        return "authentication"
    return None


def render_refusal(refusal: Refusal, surface: Surface, seed: str) -> Rendered:
    """The refusal as its surface answers it; one that does not name a surface is given by `surface`.

    Z.ai and Ollama were never seen to say how long to wait.
    """
    if isinstance(refusal, ChatRefusal):
        surface = refusal.surface
    if refusal.rule in _PLAIN or (refusal.rule is rules.NOT_FOUND and surface is Surface.OLLAMA):
        text = WireEvent(f"{refusal.message}\n".encode(), "body")
        return Rendered(refusal.status, headers(surface, seed, "text/plain; charset=utf-8"), (text,))
    head = json_headers(surface, seed)
    if refusal.retry_after is not None and surface not in (Surface.ZAI, Surface.OLLAMA):
        head["retry-after"] = f"{refusal.retry_after:g}"
    return Rendered(refusal.status, head, (body_event(_body(refusal, surface)),))


def error_event(surface: Surface, kind: str, message: str) -> WireEvent:
    """The event that reports an error after the stream began: a chunk that has nothing but the error."""
    status = 500 if kind in ("server_error", "api_error") else 400
    return chunk_event({"error": _error(surface, kind, message, status, None)})


def _body(refusal: Refusal, surface: Surface) -> JSON:
    if refusal.rule is rules.ZAI_ROUTE:
        return {"code": int(refusal.kind), "msg": refusal.message, "success": False}
    param = refusal.path.removeprefix("$").removeprefix(".") or None
    return {"error": _error(surface, refusal.kind, refusal.message, refusal.status, param)}


def _error(surface: Surface, kind: str, message: str, status: int, param: str | None) -> dict[str, Any]:
    match surface:
        case Surface.GITHUB:
            return {"code": kind, "message": message, "details": message} | _filter(kind)
        case Surface.COPILOT:
            return {"message": message, "code": kind}
        case Surface.ZAI:
            return {"code": kind, "message": message}
        case Surface.OLLAMA:
            return {"message": message, "type": kind, "param": None, "code": None}
        case Surface.AZURE if kind in AZURE_CODES:
            return {"code": kind, "message": message}
        case _:
            filtered = _filter(kind) if surface is Surface.AZURE else {}
            return _openai_error(kind, message, status, param) | filtered


def _openai_error(kind: str, message: str, status: int, param: str | None) -> dict[str, Any]:
    if kind in _TYPES:
        return {"message": message, "type": kind, "param": param, "code": None}
    other = "server_error" if status >= 500 else "invalid_request_error"
    return {"message": message, "type": _TYPE_OF.get(kind, other), "param": param, "code": kind}


def _filter(kind: str) -> dict[str, Any]:
    if kind != "content_filter":
        return {}
    return {"innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": _FILTER_RESULT}}
