"""Requests to the server's own API in neutral form: `/api/chat` and `/api/generate`.

The server reads them with Go's JSON decoder: what is missing or null is empty, unknown fields are ignored, and only a
value of the wrong type is refused. The words of that refusal are close to Go's.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping
from typing import Any

from ...messages import JSON, FunctionCall, InlineData, Message, Part, Role, Text, Thought, ToolResult, ToolSchema
from ..base import Rule
from ..pictures import UNNAMED_IMAGE
from . import rules
from .pairing import Pairing
from .surfaces import OllamaCall, Surface

_CONVERSATION = frozenset({"images", "messages", "model", "prompt", "stream", "system", "tools"})
_ROLES: Mapping[str, Role] = {"system": "system", "assistant": "model"}
_TYPES: Mapping[type, str] = {
    str: "string",
    dict: "object",
    list: "array",
    bool: "bool",
    int: "number",
    float: "number",
}


class Unreadable(Exception):
    """A value has another type than its field. `rule` is the one it breaks, `path` where."""

    def __init__(self, message: str, path: str, rule: Rule = rules.UNREADABLE_BODY) -> None:
        super().__init__(message)
        self.message, self.path, self.rule = message, path, rule


def chat(body: Mapping[str, Any]) -> OllamaCall:
    """A call of `/api/chat`. Instructions in front of the conversation are the call's system texts."""
    raw_messages = field(body, "messages", list, "messages") or []
    tools = field(body, "tools", list, "tools") or []
    messages = _messages(raw_messages)
    head = next((n for n, message in enumerate(messages) if message.role != "system"), len(messages))
    return OllamaCall(
        operation="generate",
        model=field(body, "model", str, "model") or "",
        stream=body.get("stream") is not False,
        system=tuple(part for message in messages[:head] for part in message.parts),
        tools=tuple(_tool(tool, n) for n, tool in enumerate(tools)),
        messages=tuple(messages[head:]),
        body=body,
        settings=_settings(body),
        surface=Surface.NATIVE,
        verb="chat",
    )


def generate(body: Mapping[str, Any]) -> OllamaCall:
    """A call of `/api/generate`: one prompt, perhaps with images, and perhaps a system text."""
    prompt, system = (field(body, name, str, name) or "" for name in ("prompt", "system"))
    parts = (*((Text(prompt),) if prompt else ()), *_images(body, "images"))
    return OllamaCall(
        operation="generate",
        model=field(body, "model", str, "model") or "",
        stream=body.get("stream") is not False,
        system=(Text(system),) if system else (),
        messages=(Message("user", parts, "prompt"),) if parts else (),
        body=body,
        settings=_settings(body),
        surface=Surface.NATIVE,
        verb="generate",
    )


def field(thing: Mapping[str, Any], name: str, kind: type, where: str) -> Any:
    """A member of this type, or None where it is missing or null. Raises Unreadable for any other."""
    value = thing.get(name)
    if value is None or isinstance(value, kind):
        return value
    raise _mistyped(value, where, _TYPES[kind])


def _mistyped(value: JSON, where: str, go_type: str, rule: Rule = rules.UNREADABLE_BODY) -> Unreadable:
    type_name = _TYPES.get(type(value), "value")
    return Unreadable(
        f"json: cannot unmarshal {type_name} into Go struct field {where} of type {go_type}", f"$.{where}", rule
    )


def _settings(body: Mapping[str, Any]) -> dict[str, Any]:
    field(body, "options", dict, "options")
    return {key: value for key, value in body.items() if key not in _CONVERSATION}


def _messages(raw_messages: list[Any]) -> list[Message]:
    """The messages; results of neighbouring tool messages are one message, as they are in neutral form."""
    found: list[Message] = []
    pairing = Pairing()
    for n, message in enumerate(raw_messages):
        where = f"messages.{n}"
        if not isinstance(message, dict):
            raise _mistyped(message, where, "api.Message")
        role = (field(message, "role", str, f"{where}.role") or "").lower()
        if role == "tool":
            result = pairing.with_call_id(_result(message, where))
            before = found.pop().parts if found and found[-1].role == "tool" else ()
            found.append(Message("tool", (*before, result), where))
        else:
            own_role = _ROLES.get(role, "user")
            calls = _calls(message, where)
            continues = bool(calls) and bool(found) and found[-1].role == "model"
            paired_calls = pairing.add_calls(n, calls, continues=continues)
            found.append(Message(own_role, (*_parts(message, where), *paired_calls), where))
    return found


def _parts(message: Mapping[str, Any], where: str) -> tuple[Part, ...]:
    """The thinking, text and images of a message, which has a field for each. Its calls come after them."""
    thinking = field(message, "thinking", str, f"{where}.thinking")
    content = field(message, "content", str, f"{where}.content")
    return (
        *((Thought(thinking),) if thinking else ()),
        *((Text(content),) if content else ()),
        *_images(message, f"{where}.images"),
    )


def _calls(message: Mapping[str, Any], where: str) -> list[FunctionCall]:
    calls = field(message, "tool_calls", list, f"{where}.tool_calls") or []
    return [_call(each, f"{where}.tool_calls.{k}") for k, each in enumerate(calls)]


def _images(thing: Mapping[str, Any], where: str) -> tuple[InlineData, ...]:
    found = []
    for n, encoded in enumerate(field(thing, "images", list, where) or ()):
        if not isinstance(encoded, str):
            raise _mistyped(encoded, f"{where}.{n}", "api.ImageData")
        try:
            found.append(InlineData(UNNAMED_IMAGE, b64decode(encoded, validate=True)))
        except (Base64Error, ValueError):
            raise Unreadable("illegal base64 data at input byte 0", f"$.{where}.{n}") from None
    return tuple(found)


def _call(call: JSON, where: str) -> FunctionCall:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        raise _mistyped(call, where, "api.ToolCall")
    arguments = function.get("arguments")
    if not isinstance(arguments, dict | None):
        go_type = "api.ToolCallFunctionArguments"
        raise _mistyped(arguments, f"{where}.function.arguments", go_type, rules.ARGUMENTS_NOT_AN_OBJECT)
    name = field(function, "name", str, f"{where}.function.name") or ""
    return FunctionCall(field(call, "id", str, f"{where}.id") or "", name, arguments or {})


def _result(message: Mapping[str, Any], where: str) -> ToolResult:
    return ToolResult(
        field(message, "tool_call_id", str, f"{where}.tool_call_id") or "",
        field(message, "tool_name", str, f"{where}.tool_name") or "",
        field(message, "content", str, f"{where}.content"),
        attachments=_images(message, f"{where}.images"),
    )


def _tool(tool: JSON, n: int) -> ToolSchema:
    where = f"tools.{n}"
    function = tool.get("function") if isinstance(tool, dict) else None
    if not isinstance(function, dict):
        raise _mistyped(tool, where, "api.Tool")
    name, description = (field(function, key, str, f"{where}.function.{key}") or "" for key in ("name", "description"))
    return ToolSchema(name, description, field(function, "parameters", dict, f"{where}.function.parameters") or {})
