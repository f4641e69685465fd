"""A request in neutral form, read from its bytes alone.

`parse` refuses only what cannot be read as a request of this API: another address or method, a body that is not
JSON, a mandatory field missing, a value of the wrong type. A wrong key is named before any of these, as the
service does.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from ..base import Call, HttpRequest, Operation, Refusal, Rule, World
from ..base_dialect import UnreadableRequest, call_or_refusal
from . import headers, rules
from .request import Malformed, call_of

_decode = msgspec.json.Decoder().decode
_MODEL = re.compile(r"/v1/models/([^/]+)")


def parse(request: HttpRequest, world: World) -> Call | Refusal:
    """The request as a `Call`, or the first refusal the API would give for something that is none."""

    def read() -> Call:
        try:
            return _call(request)
        except Malformed as error:
            raise _invalid(rules.MALFORMED_BODY, error.message, error.path) from None

    return call_or_refusal(read, _unreadable, headers.refusals(request, world))


def _unreadable(reason: str | None) -> Refusal:
    message = (
        "The request body is nested too deeply" if reason is None else f"The request body cannot be read: {reason}"
    )
    return _invalid(rules.MALFORMED_BODY, message, "$").refusal


def _call(request: HttpRequest) -> Call:
    operation, model = _operation(request)
    if operation not in ("generate", "count_tokens"):
        return Call(operation, model=model)
    body = _body(request.body)
    mandatory = ("model", "messages", "max_tokens") if operation == "generate" else ("model", "messages")
    for field in mandatory:
        if field not in body:
            raise _invalid(rules.MISSING_FIELD, f"{field}: Field required", f"$.{field}")
    if operation == "generate" and type(body["max_tokens"]) is not int:
        raise _invalid(rules.MALFORMED_BODY, "max_tokens: Input should be a valid integer", "$.max_tokens")
    return call_of(operation, body, rules.NAME)


def _operation(request: HttpRequest) -> tuple[Operation, str | None]:
    path = request.path.rstrip("/")
    if model := _MODEL.fullmatch(path):
        return _expect(request, "GET", "get_model"), model[1]
    match path:
        case "/v1/messages":
            return _expect(request, "POST", "generate"), None
        case "/v1/messages/count_tokens":
            return _expect(request, "POST", "count_tokens"), None
        case "/v1/models":
            return _expect(request, "GET", "list_models"), None
    raise UnreadableRequest(Refusal(rules.NOT_FOUND, 404, "not_found_error", "Not Found"))


def _expect(request: HttpRequest, method: str, operation: Operation) -> Operation:
    if request.method.upper() != method:
        raise UnreadableRequest(Refusal(rules.METHOD_NOT_ALLOWED, 405, "invalid_request_error", "Method Not Allowed"))
    return operation


def _invalid(rule: Rule, message: str, path: str) -> UnreadableRequest:
    return UnreadableRequest(Refusal(rule, 400, "invalid_request_error", message, path))


def _body(data: bytes) -> dict[str, Any]:
    try:
        body = _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _invalid(rules.MALFORMED_JSON, f"The request body is not valid JSON: {error}", "$") from None
    if not isinstance(body, dict):
        raise _invalid(rules.MALFORMED_BODY, "Input should be a valid dictionary", "$")
    return body
