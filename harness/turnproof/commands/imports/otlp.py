"""Traces by the OpenTelemetry conventions for generative AI, in OTLP's JSON form, with the messages in them.

A trace has no bytes of requests or answers: the scenario made of it has the words, and no recorded answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ...errors import UsageError
from ...messages import FileRef, FunctionCall, Message, Part, Role, Text, Thought, ToolResult, ToolSchema
from .exchanges import TracedCall, Unreadable
from .typed_values import typed

INPUT = "gen_ai.input.messages"
OUTPUT = "gen_ai.output.messages"
SYSTEM = "gen_ai.system_instructions"
TOOLS = "gen_ai.tool.definitions"

_CALLS = ("chat", "generate_content", "text_completion")
_ROLES: Mapping[str, Role] = {
    "assistant": "model",
    "model": "model",
    "user": "user",
    "tool": "tool",
    "system": "system",
}


class _Attribute(msgspec.Struct):
    key: str
    value: Any = None


class _Event(msgspec.Struct):
    attributes: list[_Attribute] = []


class _Span(msgspec.Struct, rename="camel"):
    start_time_unix_nano: str | int = 0
    attributes: list[_Attribute] = []
    events: list[_Event] = []

    @property
    def began(self) -> int:
        """Nanoseconds since 1970; 0 where the span does not say."""
        text = str(self.start_time_unix_nano)
        return int(text) if text.isdecimal() else 0


class _Scope(msgspec.Struct):
    spans: list[_Span] = []


class _Resource(msgspec.Struct, rename="camel"):
    scope_spans: list[_Scope] = []


class _Trace(msgspec.Struct, rename="camel"):
    resource_spans: list[_Resource]


class _Message(msgspec.Struct):
    role: str
    parts: list[dict[str, Any]] = []


def is_trace(data: Any) -> bool:
    """Whether parsed JSON is a trace."""
    return isinstance(data, dict) and "resourceSpans" in data


def read_trace(data: Any, file: str) -> Iterator[TracedCall | Unreadable]:
    """The calls of models in a trace, in the order in which they began.

    A call whose messages cannot be read (exporters cut long attributes) is `Unreadable`. Raises UsageError with the
    path of what is not as OTLP has it.
    """
    found = [
        (f"{file}: $.resourceSpans[{a}].scopeSpans[{b}].spans[{c}]", span)
        for a, resource in enumerate(typed(data, _Trace, file).resource_spans)
        for b, scope in enumerate(resource.scope_spans)
        for c, span in enumerate(scope.spans)
    ]
    for where, span in sorted(found, key=lambda one: one[1].began):
        # The messages are in an event of the span where an application wants them apart from the figures.
        listed = [*span.attributes, *(one for event in span.events for one in event.attributes)]
        attributes = {one.key: _value(one.value) for one in listed}
        if attributes.get("gen_ai.operation.name") in _CALLS:
            try:
                yield _call(where, attributes)
            except UsageError as error:
                yield Unreadable(str(error))


def _value(value: Any) -> Any:
    """A value of OTLP's JSON form: `{stringValue: ...}`, and lists and maps of such."""
    match value:
        case {"arrayValue": {"values": [*items]}}:
            return [_value(item) for item in items]
        case {"kvlistValue": {"values": [*pairs]}}:
            return {
                pair["key"]: _value(pair.get("value")) for pair in pairs if isinstance(pair, dict) and "key" in pair
            }
        case {"intValue": int() | str() as number}:
            return int(number) if str(number).lstrip("-").isdecimal() else None
        case dict() if len(value) == 1:
            return next(iter(value.values()))
        case _:
            return None


def _call(where: str, attributes: Mapping[str, Any]) -> TracedCall:
    outputs = _messages(attributes, OUTPUT, where)
    system = (_part(part) for part in _structured(attributes, SYSTEM, where, list[dict[str, Any]]))
    return TracedCall(
        where=where,
        system="\n".join(part.text for part in system if isinstance(part, Text)),
        tools=tuple(map(_tool, _structured(attributes, TOOLS, where, list[dict[str, Any]]))),
        messages=tuple(_messages(attributes, INPUT, where)),
        answer=outputs[0] if outputs else None,
    )


def _structured(attributes: Mapping[str, Any], name: str, where: str, kind: Any) -> Any:
    """A structured attribute: a list, or its JSON as a string where the SDK takes no structures; empty if missing."""
    value = attributes.get(name) or []
    place = f"{where} attribute {name}"
    if not isinstance(value, str):
        return typed(value, kind, place)
    try:
        return msgspec.json.decode(value, type=kind)
    except msgspec.DecodeError as error:
        raise UsageError(f"{place} cannot be read, the exporter may have cut it: {error}") from error


def _messages(attributes: Mapping[str, Any], name: str, where: str) -> list[Message]:
    found = []
    for number, message in enumerate(_structured(attributes, name, where, list[_Message])):
        if message.role not in _ROLES:
            known = ", ".join(_ROLES)
            raise UsageError(f"{where} attribute {name}: $[{number}].role is {message.role!r}; known: {known}")
        parts = [part for each in message.parts if (part := _part(each)) is not None]
        results = [part for part in parts if isinstance(part, ToolResult)]
        found.append(Message("tool" if results else _ROLES[message.role], tuple(results or parts)))
    return found


def _part(part: Mapping[str, Any]) -> Part | None:
    """A part; None for one whose content a trace does not have."""
    match part:
        case {"type": "text", "content": str() as text}:
            return Text(text)
        case {"type": "reasoning", "content": str() as text}:
            return Thought(text)
        case {"type": "tool_call", "name": str() as name}:
            return FunctionCall(str(part.get("id") or ""), name, _arguments(part.get("arguments")))
        case {"type": "tool_call_response"}:
            result = part["response"] if "response" in part else part.get("result")
            return ToolResult(str(part.get("id") or ""), str(part.get("name") or ""), result)
        case {"type": "uri", "uri": str() as uri}:
            return FileRef(str(part.get("mime_type") or "application/octet-stream"), uri)
        case _:
            return None


def _arguments(value: Any) -> dict[str, Any]:
    """The arguments of a call, an object or its JSON. What is neither was no call that a tool could answer."""
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except msgspec.DecodeError:
            return {}
    return value if isinstance(value, dict) else {}


def _tool(tool: Mapping[str, Any]) -> ToolSchema:
    parameters = tool.get("parameters")
    schema = parameters if isinstance(parameters, dict) else {}
    return ToolSchema(str(tool.get("name") or ""), str(tool.get("description") or ""), schema)
