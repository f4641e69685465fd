"""Error answers: what stands for which status, the error body of each surface, the error event.

The `kind` of a refusal is the error's `code` where it has one, else its `type`: that is what tells errors apart here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...messages import JSON
from ..base import NO_HEADERS, ErrorMeaning, Refusal, Rendered, WireEvent
from ..openai_common import AZURE_CODES, AZURE_KINDS, is_oversized
from ..tables import ErrorKinds, load_errors
from . import rules
from .framing import MESSAGES
from .surfaces import Surface
from .writing import body_event, json_line, request_id, sse

COPILOT_BAD_REQUEST = "invalid_request_body"
"""The code that Copilot puts on whatever is wrong with a request (openai-chat.md §6, microsoft/vscode#321977)."""

_TABLES = load_errors(__package__)
KINDS: ErrorKinds = _TABLES["openai"]
KINDS_OF: Mapping[Surface, ErrorKinds] = {
    Surface.OPENAI: KINDS,
    Surface.COPILOT: KINDS,
    Surface.AZURE: {**KINDS, **AZURE_KINDS},
    Surface.XAI: _TABLES["xai"],
    Surface.OPENROUTER: _TABLES["openrouter"],
    Surface.LLAMACPP: _TABLES["llamacpp"],
}

_TYPES = frozenset({"invalid_request_error", "not_found_error", "permission_error", "server_error"})
_PLAIN = frozenset({rules.MISSING_EDITOR.id})
_COPILOT = frozenset({COPILOT_BAD_REQUEST, "unauthorized"})
_TYPE_OF: Mapping[int, str] = {429: "tokens", 403: "permission_error"}


_MEANINGS: Mapping[str, ErrorMeaning] = {
    "context_length_exceeded": "context-limit",
    "model_max_prompt_tokens_exceeded": "context-limit",
    "content_filter": "content-filter",
    "invalid_prompt": "content-filter",
    "rate_limit_exceeded": "rate-limit",
    "server_is_overloaded": "overloaded",
    "exceed_context_size_error": "context-limit",
    "image_content_policy_violation": "content-filter",
    "RateLimitReached": "rate-limit",
}


def error_meaning(
    status: int, kind: str | None, message: str | None, surface: Surface = Surface.OPENAI
) -> ErrorMeaning | None:
    """The code says it, also of a response that failed under status 200; else the words of a prompt too long.

    OpenRouter has one code for every request that is wrong (`invalid_prompt`), xAI answers a wrong key with 400.
    """
    if is_oversized(status, message):
        return "oversized"
    if surface is Surface.XAI and (message or "").startswith("Incorrect API key provided"):
        return "authentication"
    if surface is Surface.OPENROUTER and kind == "invalid_prompt":
        kind = None
    if (known := _MEANINGS.get(kind or "")) is not None:
        return known
    words = ("exceeds the context window", "maximum context length", "prompt token count of")
    if status == 400 and any(word in (message or "").lower() for word in words):
        return "context-limit"
    return None


def error_body(
    kind: str, message: str, status: int, param: str | None, surface: Surface = Surface.OPENAI
) -> dict[str, JSON]:
    """The body of an error answer, in the form of the surface."""
    match surface:
        case Surface.XAI:
            return {"code": kind, "error": message}
        case Surface.OPENROUTER:
            return {"error": {"code": int(kind) if kind.isdecimal() else kind, "message": message}, "metadata": None}
        case Surface.LLAMACPP:
            return {"error": {"code": status, "message": message, "type": kind}}
        case Surface.AZURE if kind in AZURE_CODES:
            return {"error": {"code": kind, "message": message}}
        case _:
            return {"error": error_object(kind, message, status, param)}


def error_object(kind: str, message: str, status: int, param: str | None) -> dict[str, JSON]:
    """The error as OpenAI's body has it: type and code by what `kind` is."""
    if kind in _COPILOT:
        return {"message": message, "code": kind}
    by_status = _TYPE_OF.get(status) or ("server_error" if status >= 500 else "invalid_request_error")
    coded = kind not in _TYPES
    return {"message": message, "type": by_status if coded else kind, "param": param, "code": kind if coded else None}


def render_refusal(refusal: Refusal, seed: str, surface: Surface = Surface.OPENAI) -> Rendered:
    """The refusal as the surface answers it."""
    headers = {"content-type": "application/json", "x-request-id": request_id(seed)}
    if refusal.retry_after is not None:
        headers["retry-after"] = f"{refusal.retry_after:g}"
    if refusal.rule.id in _PLAIN:
        headers["content-type"] = "text/plain; charset=utf-8"
        return Rendered(refusal.status, headers, (_plain(refusal.message),))
    if refusal.status == 401 and surface is Surface.OPENAI:
        headers["www-authenticate"] = 'Bearer realm="OpenAI API"'
    body = error_body(refusal.kind, refusal.message, refusal.status, param_of(refusal.path), surface)
    return Rendered(refusal.status, headers, (body_event(body),))


def param_of(path: str) -> str | None:
    """The `param` that a path below the body stands for; None for the body as a whole, and for headers."""
    return path.removeprefix("$.") if path.startswith("$.") else None


def _plain(message: str) -> WireEvent:
    return WireEvent(message.encode(), "body")


def error_event(
    kind: str, message: str, headers: Mapping[str, str] = NO_HEADERS, surface: Surface = Surface.OPENAI
) -> WireEvent:
    """The event that reports an error after the stream began (openai 3.54, `ResponseErrorEvent`)."""
    if headers.get("content-type") == MESSAGES:
        status = next((status for status, (usual, _) in KINDS_OF[surface].items() if usual == kind), 500)
        error = error_object(kind, message, status, None)
        return WireEvent(json_line({"type": "error", "status": status, "error": error}), "error")
    event: dict[str, Any] = {"type": "error", "code": kind, "message": message, "param": None, "sequence_number": 0}
    return sse("error", event, "error")
