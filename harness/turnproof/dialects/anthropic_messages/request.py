"""A body of this format as a `Call`: system texts, tools and messages in neutral form, whoever it is sent to.

Nothing is judged here but the JSON types of what has to be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...messages import JSON, FunctionCall, Message, Part, Role, Text, ToolResult, ToolSchema
from ..base import Call, Operation
from .blocks import Issuer, Unreadable, mark_of, part_of

_ROLES: dict[str, Role] = {"user": "user", "assistant": "model", "system": "system"}
_CONVERSATION = frozenset({"model", "messages", "system", "tools", "stream"})
_KINDS: dict[str, tuple[type, str]] = {
    "stop_sequences": (list, "list"),
    **dict.fromkeys(("cache_control", "metadata", "output_config", "thinking", "tool_choice"), (dict, "dictionary")),
}
"""What the fields hold that are read further on."""


class Malformed(Exception):
    """A value has another JSON type than its field allows. The words are those of the Messages API; `path` is where."""

    def __init__(self, message: str, path: str) -> None:
        super().__init__(message)
        self.message = message
        self.path = path


def call_of(operation: Operation, body: Mapping[str, Any], dialect: str) -> Call:
    """The call that a body makes, which has at least `model` and `messages`. Raises Malformed, and PayloadError for
    what no message can hold. `dialect` is whose blocks they are."""
    _require(body["model"], str, "model", "string")
    for field, (kind, expected) in _KINDS.items():
        if body.get(field) is not None:
            _require(body[field], kind, field, expected)
    issuer = Issuer(dialect, body["model"])
    return Call(
        operation=operation,
        model=issuer.model,
        stream=body.get("stream") is True,
        system=_system(body.get("system"), issuer),
        tools=_tools(body.get("tools")),
        messages=_messages(body["messages"], issuer),
        body=body,
        settings={key: value for key, value in body.items() if key not in _CONVERSATION},
    )


def _require(value: JSON, kind: type, where: str, expected: str) -> None:
    if not isinstance(value, kind):
        raise Malformed(f"{where}: Input should be a valid {expected}", f"$.{where}")


def _system(system: JSON, issuer: Issuer) -> tuple[Part, ...]:
    if system is None:
        return ()
    if isinstance(system, str):
        return (Text(system),)
    _require(system, list, "system", "list")
    return tuple(_part(block, "system", n, issuer, {}) for n, block in enumerate(system))


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


def _messages(messages: JSON, issuer: Issuer) -> tuple[Message, ...]:
    _require(messages, list, "messages", "list")
    found: list[Message] = []
    names: dict[str, str] = {}
    for n, message in enumerate(messages):
        where = f"messages.{n}"
        if type(message) is not dict:
            _require(message, dict, where, "dictionary")
        wire_role = message.get("role")
        role = _ROLES.get(wire_role) if isinstance(wire_role, str) else None
        if role is None:
            allowed = "Input should be 'user', 'assistant' or 'system'"
            raise Malformed(f"{where}.role: {allowed}", f"$.{where}.role")
        content = message.get("content", [])
        if isinstance(content, str):
            found.append(Message(role, (Text(content),) if content else (), where))
            continue
        if type(content) is not list:
            _require(content, list, f"{where}.content", "list")
        parts = tuple([_part(block, f"{where}.content", m, issuer, names) for m, block in enumerate(content)])
        if role == "user":
            found.extend(_split_results(parts, where))
            continue
        for part in parts:
            if isinstance(part, FunctionCall):
                names[part.id] = part.name
        found.append(Message(role, parts, where))
    return tuple(found)


def _part(block: JSON, where: str, number: int, issuer: Issuer, names: Mapping[str, str]) -> Part:
    try:
        if type(block) is dict:
            _require_mark(block, f"{where}.{number}")
            return part_of(block, issuer, names)
    except Unreadable as error:
        spot = f"{where}.{number}.{block.get('type')}.{error.where}"
        message = f"{spot}: Input should be a valid {error.expected}"
        raise Malformed(message, f"$.{spot}") from None
    spot = f"{where}.{number}"
    raise Malformed(f"{spot}: Input should be a valid dictionary", f"$.{spot}")


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
