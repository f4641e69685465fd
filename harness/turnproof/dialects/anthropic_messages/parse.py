"""A request in neutral form, read from its bytes alone.

`parse` refuses only what cannot be read as a request of this API: another address or method, a body that is not
JSON, a mandatory field missing, a value of the wrong type. A wrong key is named before any of these, as the
service does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from ...errors import PayloadError
from ...messages import JSON, FunctionCall, Message, Part, Role, Text, ToolResult, ToolSchema
from ..base import Call, HttpRequest, Operation, Refusal, Rule, World
from . import headers, rules
from .blocks import Unreadable, mark_of, part_of

_decode = msgspec.json.Decoder().decode
_ROLES: dict[str, Role] = {"user": "user", "assistant": "model", "system": "system"}
_CONVERSATION = frozenset({"model", "messages", "system", "tools", "stream"})
_KINDS: dict[str, tuple[type, str]] = {
    "stop_sequences": (list, "list"),
    **dict.fromkeys(("cache_control", "metadata", "output_config", "thinking", "tool_choice"), (dict, "dictionary")),
}
"""What the fields hold that are read further on."""
_MODEL = re.compile(r"/v1/models/([^/]+)")


class _Refused(Exception):
    def __init__(self, rule: Rule, status: int, kind: str, message: str, path: str = "$") -> None:
        super().__init__(message)
        self.refusal = Refusal(rule, status, kind, message, path)


def parse(request: HttpRequest, world: World) -> Call | Refusal:
    """The request as a `Call`, or the first refusal the API would give for something that is none."""
    try:
        return _call(request)
    except _Refused as refused:
        refusal = refused.refusal
    except RecursionError:
        refusal = _invalid(rules.MALFORMED_BODY, "The request body is nested too deeply", "$").refusal
    except PayloadError as error:
        refusal = _invalid(rules.MALFORMED_BODY, f"The request body cannot be read: {error.reason}", "$").refusal
    first = next((each for each in headers.refusals(request, world) if each.enforced), None)
    return first or refusal


def _call(request: HttpRequest) -> Call:
    operation, model = _operation(request)
    if operation not in ("generate", "count_tokens"):
        return Call(operation, model=model)
    body = _body(request.body)
    mandatory = ("model", "messages", "max_tokens") if operation == "generate" else ("model", "messages")
    for field in mandatory:
        if field not in body:
            raise _invalid(rules.MISSING_FIELD, f"{field}: Field required", f"$.{field}")
    _require(body["model"], str, "model", "string")
    if operation == "generate" and type(body["max_tokens"]) is not int:
        raise _invalid(rules.MALFORMED_BODY, "max_tokens: Input should be a valid integer", "$.max_tokens")
    for field, (kind, expected) in _KINDS.items():
        if body.get(field) is not None:
            _require(body[field], kind, field, expected)
    return Call(
        operation=operation,
        model=body["model"],
        stream=body.get("stream") is True,
        system=_system(body.get("system"), body["model"]),
        tools=_tools(body.get("tools")),
        messages=_messages(body["messages"], body["model"]),
        body=body,
        settings={key: value for key, value in body.items() if key not in _CONVERSATION},
    )


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
    raise _Refused(rules.NOT_FOUND, 404, "not_found_error", "Not Found")


def _expect(request: HttpRequest, method: str, operation: Operation) -> Operation:
    if request.method.upper() != method:
        raise _Refused(rules.METHOD_NOT_ALLOWED, 405, "invalid_request_error", "Method Not Allowed")
    return operation


def _invalid(rule: Rule, message: str, path: str) -> _Refused:
    return _Refused(rule, 400, "invalid_request_error", message, path)


def _require(value: JSON, kind: type, where: str, expected: str) -> None:
    if not isinstance(value, kind):
        raise _invalid(rules.MALFORMED_BODY, f"{where}: Input should be a valid {expected}", f"$.{where}")


def _body(data: bytes) -> dict[str, Any]:
    try:
        body = _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _invalid(rules.MALFORMED_JSON, f"The request body is not valid JSON: {error}", "$") from None
    if not isinstance(body, dict):
        raise _invalid(rules.MALFORMED_BODY, "Input should be a valid dictionary", "$")
    return body


def _system(system: JSON, model: str) -> tuple[Part, ...]:
    if system is None:
        return ()
    if isinstance(system, str):
        return (Text(system),)
    _require(system, list, "system", "list")
    return tuple(_part(block, "system", n, model, {}) for n, block in enumerate(system))


def _tools(tools: JSON) -> tuple[ToolSchema, ...]:
    if tools is None:
        return ()
    _require(tools, list, "tools", "list")
    return tuple(_tool(tool, n) for n, tool in enumerate(tools))


def _tool(tool: JSON, n: int) -> ToolSchema:
    _require(tool, dict, f"tools.{n}", "dictionary")
    _require_mark(tool, f"tools.{n}")
    kind = tool.get("type") or "custom"
    name = tool.get("name", kind)
    _require(name, str, f"tools.{n}.name", "string")
    if kind != "custom":
        # A tool of the service itself: all of its definition is what it is.
        return ToolSchema(
            name, "", {key: value for key, value in tool.items() if key != "cache_control"}, mark_of(tool)
        )
    description = tool.get("description") or ""
    _require(description, str, f"tools.{n}.custom.description", "string")
    schema = tool.get("input_schema", {})
    _require(schema, dict, f"tools.{n}.custom.input_schema", "dictionary")
    return ToolSchema(name, description, schema, mark_of(tool))


def _messages(messages: JSON, model: str) -> tuple[Message, ...]:
    _require(messages, list, "messages", "list")
    found: list[Message] = []
    names: dict[str, str] = {}
    for n, message in enumerate(messages):
        where = f"messages.{n}"
        if type(message) is not dict:
            _require(message, dict, where, "dictionary")
        spoken = message.get("role")
        role = _ROLES.get(spoken) if isinstance(spoken, str) else None
        if role is None:
            allowed = "Input should be 'user', 'assistant' or 'system'"
            raise _invalid(rules.MALFORMED_BODY, f"{where}.role: {allowed}", f"$.{where}.role")
        content = message.get("content", [])
        if isinstance(content, str):
            found.append(Message(role, (Text(content),) if content else (), where))
            continue
        if type(content) is not list:
            _require(content, list, f"{where}.content", "list")
        parts = tuple([_part(block, f"{where}.content", m, model, names) for m, block in enumerate(content)])
        if role == "user":
            found.extend(_split_results(parts, where))
            continue
        for part in parts:
            if isinstance(part, FunctionCall):
                names[part.id] = part.name
        found.append(Message(role, parts, where))
    return tuple(found)


def _part(block: JSON, where: str, number: int, model: str, names: Mapping[str, str]) -> Part:
    try:
        if type(block) is dict:
            _require_mark(block, f"{where}.{number}")
            return part_of(block, model, names)
    except Unreadable as error:
        spot = f"{where}.{number}.{block.get('type')}.{error.where}"
        message = f"{spot}: Input should be a valid {error.expected}"
        raise _invalid(rules.MALFORMED_BODY, message, f"$.{spot}") from None
    spot = f"{where}.{number}"
    raise _invalid(rules.MALFORMED_BODY, f"{spot}: Input should be a valid dictionary", f"$.{spot}")


def _require_mark(thing: Mapping[str, Any], where: str) -> None:
    if (mark := thing.get("cache_control")) is not None:
        _require(mark, dict, f"{where}.cache_control", "dictionary")


def _split_results(parts: tuple[Part, ...], where: str) -> list[Message]:
    """A user message in runs of results and of everything else, in the order of the wire."""
    results = [isinstance(part, ToolResult) for part in parts]
    if not any(results):
        return [Message("user", parts, where)]
    if all(results):
        return [Message("tool", parts, where)]
    found: list[Message] = []
    start = 0
    for n in range(1, len(parts) + 1):
        if n == len(parts) or results[n] != results[start]:
            found.append(Message("tool" if results[start] else "user", parts[start:n], f"{where}.{start}"))
            start = n
    return found
