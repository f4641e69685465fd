"""A request in neutral form, whichever surface it came by. No key is looked at: a wrong one is as good as none."""

from __future__ import annotations

from typing import Any

from ...errors import PayloadError
from ..base import Call, HttpRequest, Refusal, World
from ..lenient_reading import json_of
from . import messages, native_requests, rules
from .errors import refuse
from .surfaces import Address, OllamaCall, Surface, address, surface_of


def parse(request: HttpRequest, world: World) -> Call | Refusal:
    """The request as an `OllamaCall`, or why it cannot be read as one."""
    found = address(request)
    if found is None:
        return refuse(surface_of(request), rules.NOT_FOUND, "404 page not found", status=404)
    if request.method.upper() == "GET":
        return OllamaCall(found.operation, surface=found.surface, verb=found.verb)
    body = json_of(request.body)
    if not isinstance(body, dict):
        empty = not request.body.strip() and found.surface is Surface.NATIVE
        rule, words = (rules.MISSING_BODY, "missing request body") if empty else (rules.UNREADABLE_BODY, "invalid JSON")
        return refuse(found.surface, rule, words)
    try:
        return _read(found, body)
    except native_requests.Unreadable as error:
        return refuse(found.surface, error.rule, error.message, error.path)
    except (RecursionError, PayloadError):
        return refuse(found.surface, rules.UNREADABLE_BODY, "invalid JSON: exceeded max depth")


def _read(found: Address, body: dict[str, Any]) -> Call | Refusal:
    match found.verb:
        case "messages":
            return messages.read(body)
        case "generate":
            return native_requests.generate(body)
        case "chat":
            call = native_requests.chat(body)
            return call if call.model else refuse(Surface.NATIVE, rules.MISSING_MODEL, "model is required", "$.model")
        case _:
            named = native_requests.field(body, "model", str, "model") or native_requests.field(
                body, "name", str, "name"
            )
            if not named:
                return refuse(Surface.NATIVE, rules.MISSING_MODEL, "model is required", "$.model")
            return OllamaCall(found.operation, model=named, body=body, surface=found.surface, verb=found.verb)
