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
from ..tables import ErrorKinds, load_errors
from . import rules
from .surfaces import Surface
from .writing import body_event, chunk_event, headers, json_headers

_TABLES = load_errors(__package__)
KINDS: Mapping[Surface, ErrorKinds] = {
    Surface.OPENAI: _TABLES["openai"],
    Surface.AZURE: AZURE_KINDS,
    Surface.GITHUB: {**AZURE_KINDS, **_TABLES["github"]},
    Surface.COPILOT: _TABLES["copilot"],
    Surface.ZAI: _TABLES["zai"],
    Surface.OLLAMA: _TABLES["ollama"],
}

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
