"""A request in neutral form. Refused is only what cannot be read as a request: a wrong route, under status 200; a
body that is no JSON object; `model` or `messages` missing or of another type. A wrong key is named before a
bad body."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ...errors import PayloadError
from ..anthropic_messages.request import Malformed, call_of
from ..base import Call, HttpRequest, Operation, Refusal, Rule, World
from ..lenient_reading import json_of
from . import rules

BASE_PATH = "/api/anthropic"
"""What stands between the host and the paths of the Messages API: part of the base URL that an SDK is given."""

_MODEL = re.compile(rf"{BASE_PATH}/v1/models/([^/]+)")
_ROUTES: Mapping[tuple[str, str], Operation] = {
    ("POST", f"{BASE_PATH}/v1/messages"): "generate",
    ("POST", f"{BASE_PATH}/v1/messages/count_tokens"): "count_tokens",
    ("GET", f"{BASE_PATH}/v1/models"): "list_models",
}


def parse(request: HttpRequest, world: World) -> Call | Refusal:
    """The request as a `Call`, or the refusal of something that is none. A wrong key is named before a bad body."""
    method, path = request.method.upper(), request.path.rstrip("/")
    if method == "GET" and (model := _MODEL.fullmatch(path)):
        return Call("get_model", model=model[1])
    operation = _ROUTES.get((method, path))
    if operation is None:
        return Refusal(rules.WRONG_ROUTE, 200, "500", "404 NOT_FOUND")
    if operation == "list_models":
        return Call(operation)
    read = _read(operation, request.body)
    if isinstance(read, Call):
        return read
    return next(key_refusals(request, world), read)


def _read(operation: Operation, data: bytes) -> Call | Refusal:
    body = json_of(data)
    if not isinstance(body, dict):
        message = "Invalid API parameter, please check the documentation."
        return Refusal(rules.UNREADABLE_BODY, 400, "1210", message)
    for field in ("model", "messages"):
        if field not in body:
            message = f"The {field} parameter was not received properly."
            return Refusal(rules.MISSING_PARAMETER, 400, "1213", message, f"$.{field}")
    try:
        return call_of(operation, body, rules.NAME)
    except Malformed as error:
        return illegal(rules.ILLEGAL_PARAMETER, error.path.removeprefix("$.").partition(".")[0], error.path)
    except (RecursionError, PayloadError):
        return illegal(rules.ILLEGAL_PARAMETER, "messages", "$")


def illegal(rule: Rule, field: str, path: str) -> Refusal:
    """A parameter that is not what it must be."""
    message = f"The {field} parameter is illegal. Please check the documentation."
    return Refusal(rule, 400, "1214", message, path)


def key_refusals(request: HttpRequest, world: World) -> Iterator[Refusal]:
    """What is wrong with the key, if anything: `x-api-key` or a bearer. No other header is known to be read."""
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    key = request.headers.get("x-api-key") or (bearer.strip() if scheme.lower() == "bearer" else "")
    if not key:
        message = "Authentication parameter not received in Header, unable to authenticate"
        yield Refusal(rules.MISSING_KEY, 401, "1001", message, "authorization")
    elif not world.any_key and key not in world.keys:
        yield Refusal(rules.BAD_KEY, 401, "401", "token expired or incorrect", "authorization")
