"""Error answers: Anthropic's envelope on its surface, an object with one text on the server's own.

A refusal with a kind is one in the envelope; the native API has no kinds, and its refusals an empty one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..anthropic_messages.read import error_of as anthropics_complaint
from ..anthropic_messages.writing import sse
from ..base import NO_HEADERS, ErrorMeaning, Refusal, Rendered, Rule, WireEvent
from ..lenient_reading import word
from ..ndjson import is_ndjson
from ..seeded_random import HEX, seeded_word
from . import rules
from .surfaces import Surface
from .writing import body_event, encode

TYPES: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    503: "overloaded_error",
    529: "overloaded_error",
}
"""The types of the envelope by status, `api_error` for any other (`anthropic/anthropic.go`)."""

_BUSY = "server busy, please try again.  maximum pending requests exceeded"
_WORDS: Mapping[int, str] = {
    400: "invalid request",
    401: "unauthorized",
    403: "access denied",
    404: "model not found",
    429: "too many requests",
    500: "internal server error",
    503: _BUSY,
    529: _BUSY,
}
"""Usual messages: that of 503 is the server's, the others are ours."""

_TOO_LONG = ("exceeds the available context", "exceeded max context length")


def kind_of(surface: Surface, status: int) -> str:
    """The kind of an error under a status; the native API has none."""
    return TYPES.get(status, "api_error") if surface is Surface.MESSAGES else ""


def error_kind(surface: Surface, status: int) -> tuple[str, str]:
    """The kind and a usual message of a status; another status takes the message of its class."""
    return kind_of(surface, status), _WORDS.get(status) or _WORDS[500 if status >= 500 else 400]


def error_meaning(status: int, kind: str | None, message: str | None) -> ErrorMeaning | None:
    """Only the words tell a prompt that does not fit; they come from the runner, or from the cloud."""
    return "context-limit" if status == 400 and any(each in (message or "") for each in _TOO_LONG) else None


def refuse(surface: Surface, rule: Rule, message: str, path: str = "$", status: int = 400) -> Refusal:
    """A refusal as that surface gives it."""
    return Refusal(rule, status, kind_of(surface, status), message, path)


def unknown_model(surface: Surface, model: str) -> Refusal:
    """404, on every route alike but for its envelope."""
    # Only the native API was recorded: what is known of the other surface is no better known for that.
    rule = rules.UNKNOWN_MODEL if surface is Surface.NATIVE else rules.UNKNOWN_MODEL_IN_MESSAGES
    return refuse(surface, rule, f"model '{model}' not found", "$.model", 404)


def render_refusal(refusal: Refusal, seed: str) -> Rendered:
    """The refusal as the server answers it. No header names a time to wait, but for a scripted fault."""
    if refusal.rule is rules.NOT_FOUND:
        return Rendered(404, {"content-type": "text/plain"}, (WireEvent(refusal.message.encode(), "body"),))
    headers = {"content-type": "application/json; charset=utf-8"}
    if refusal.retry_after is not None:
        headers["retry-after"] = f"{refusal.retry_after:g}"
    body: dict[str, Any] = {"error": refusal.message}
    if refusal.kind:
        body = _envelope(refusal.kind, refusal.message) | {"request_id": f"req_{seeded_word(HEX, 24, seed, 'request')}"}
    return Rendered(refusal.status, headers, (body_event(body),))


def _envelope(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


def error_event(kind: str, message: str, headers: Mapping[str, str] = NO_HEADERS) -> WireEvent:
    """The event that reports an error after the stream began: a line of a native stream, an event of the other."""
    if is_ndjson(headers.get("content-type", "")):
        return WireEvent(encode({"error": message}) + b"\n", "error")
    return sse("error", _envelope(kind or "api_error", message), 0, "error")


def error_of(document: Mapping[str, Any], status: int) -> tuple[str | None, str | None] | None:
    """What a document complains of, on either surface."""
    if isinstance(document.get("error"), str):
        return "", word(document["error"])
    return anthropics_complaint(document, status)
