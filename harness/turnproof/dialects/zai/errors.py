"""Error answers of the service, in their three shapes, what its codes mean, and answers read back with them.

Which refusal comes in which shape is as pasted in public issues: trouble with the key, the rate and the plan without
a type; a wrong route under status 200; the rest in Anthropic's envelope, whose message may be wrapped together with
the code (`[1210][...]`, at times with the request's id in a third pair of brackets).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...messages import JSON
from ..anthropic_messages.read import read_answer
from ..anthropic_messages.writing import body_event, sse
from ..base import NO_HEADERS, ErrorMeaning, Refusal, Rendered, WireAnswer, WireEvent
from ..lenient_reading import word
from ..seeded_random import HEX, seeded_number, seeded_word
from ..tables import load_errors
from .rules import NAME

TYPES: Mapping[int, str] = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}
"""The type in Anthropic's envelope: seen for 429, inferred for the others."""

KINDS = load_errors(__package__)["zai"]

_PLAIN = frozenset({"401", "1000", "1001", "1002", "1003", "1004", "1302", "1303", "1304", "1305", "1308", "1310"})
"""Codes of the gateway, whose errors have no type."""

_MEANINGS: Mapping[str, ErrorMeaning] = {
    **dict.fromkeys(("401", "1000", "1001", "1002", "1003", "1004"), "authentication"),
    "1261": "context-limit",
    "1301": "content-filter",
    "1305": "overloaded",
}
_WRAPPED = re.compile(r"\[\d+\]\[(.*?)\](?:\[[^\[\]]*\])?", re.DOTALL)


def error_meaning(status: int, kind: str | None, message: str | None) -> ErrorMeaning | None:
    """What a code means where its status alone says something else or too little."""
    return _MEANINGS.get(kind or "")


def request_id(seed: str) -> str:
    """The id of a request, in error bodies: a date and more."""
    return f"20260901{seeded_word(HEX, 24, seed, 'request')}"


def route_error(code: int, message: str) -> JSON:
    """The third shape, which comes with status 200."""
    return {"code": code, "msg": message, "success": False}


def render_refusal(refusal: Refusal, seed: str) -> Rendered:
    """The refusal as the service answers it. It names no time to wait by itself: only a scripted fault does."""
    headers = {"content-type": "application/json"}
    if refusal.retry_after is not None:
        headers["retry-after"] = f"{refusal.retry_after:g}"
    return Rendered(refusal.status, headers, (body_event(_body(refusal, seed)),))


def _body(refusal: Refusal, seed: str) -> JSON:
    if refusal.status == 200:
        return route_error(int(refusal.kind), refusal.message)
    if not refusal.kind:
        return {"error": refusal.message}
    if refusal.kind in _PLAIN:
        return {"error": {"code": refusal.kind, "message": refusal.message}, "request_id": request_id(seed)}
    message = _wrapped(refusal.kind, refusal.message, seed) if refusal.kind.isdigit() else refusal.message
    return _envelope(refusal.kind, message, refusal.status) | {"request_id": request_id(seed)}


def _envelope(kind: str, message: str, status: int) -> dict[str, Any]:
    usual = TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")
    error = {"type": usual, "code": kind} if kind.isdigit() else {"type": kind or usual}
    return {"type": "error", "error": error | {"message": message}}


def _wrapped(code: str, message: str, seed: str) -> str:
    match seeded_number(seed, "wrapped", code) % 3:
        case 0:
            return message
        case 1:
            return f"[{code}][{message}]"
        case _:
            return f"[{code}][{message}][{request_id(seed)}]"


def error_event(kind: str, message: str, headers: Mapping[str, str] = NO_HEADERS) -> WireEvent:
    """The event that reports an error after the stream began."""
    status = next((status for status, known in KINDS.items() if known[0] == kind), 500)
    return sse("error", _envelope(kind, message, status), 0, "error")


def error_of(document: Mapping[str, Any], status: int) -> tuple[str | None, str | None] | None:
    """What a document complains of, in any of the shapes: its code (or its type) and its message, unwrapped."""
    match document:
        case {"error": dict(error)}:
            return word(error.get("code")) or word(error.get("type")), _unwrapped(word(error.get("message")))
        case {"error": str(message)}:
            return "", message
        case {"success": False, "code": code}:
            return str(code), word(document.get("msg"))
    return None if status < 400 else (None, None)


def _unwrapped(message: str | None) -> str | None:
    found = _WRAPPED.fullmatch(message or "")
    return found[1] if found else message


def read_response(status: int, headers: Mapping[str, str], body: bytes) -> WireAnswer:
    """The answer in neutral form; never raises."""
    return read_answer(status, headers, body, NAME, error_of)
