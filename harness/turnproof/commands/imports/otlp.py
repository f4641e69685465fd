"""Traces by the OpenTelemetry conventions for generative AI, in OTLP's JSON form, with what was said in them.

A trace has no bytes of requests or answers: what comes of it are the words, and no recorded answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from ...messages import FileRef, FunctionCall, Message, Part, Role, Text, Thought, ToolResult, ToolSchema
from .exchanges import TracedCall
from .located import Place

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


def is_trace(data: Any) -> bool:
    """Whether parsed JSON is a trace."""
    return isinstance(data, dict) and "resourceSpans" in data


def read_trace(data: Any, file: str) -> Iterator[TracedCall]:
    """The calls of models in a trace, in the order in which they began. Raises UsageError with the spot that is not as
    OTLP has it."""
    spans = [
        span
        for resource in Place(data, file).at("resourceSpans").items()
        for scope in resource.at("scopeSpans").items()
        for span in scope.at("spans").items()
    ]
    for span in sorted(spans, key=_began):
        attributes = _attributes(span)
        if attributes.get("gen_ai.operation.name") in _CALLS:
            yield _call(span, attributes | _event_attributes(span))


def _began(span: Place) -> int:
    began = span.get("startTimeUnixNano")
    return int(str(began.value)) if began is not None and str(began.value).isdigit() else 0


def _attributes(place: Place) -> dict[str, Any]:
    listed = place.get("attributes")
    pairs = listed.items() if listed is not None else ()
    return {pair.at("key").text(): _value(pair.at("value").value) for pair in pairs}


def _event_attributes(span: Place) -> dict[str, Any]:
    """What was said stands in an event of the span where an application wants it apart from the figures."""
    found: dict[str, Any] = {}
    events = span.get("events")
    for event in events.items() if events is not None else ():
        found |= _attributes(event)
    return found


def _value(value: Any) -> Any:
    """A value of OTLP's JSON form: `{stringValue: ...}`, and lists and maps of such."""
    match value:
        case {"arrayValue": {"values": [*items]}}:
            return [_value(item) for item in items]
        case {"kvlistValue": {"values": [*pairs]}}:
            return {pair["key"]: _value(pair.get("value")) for pair in pairs}
        case {"intValue": number}:
            return int(number)
        case dict() if len(value) == 1:
            return next(iter(value.values()))
        case _:
            return None


def _call(span: Place, attributes: Mapping[str, Any]) -> TracedCall:
    began = _began(span)
    outputs = _messages(attributes.get(OUTPUT), span, OUTPUT)
    port = attributes.get("server.port")
    host = str(attributes.get("server.address") or "")
    return TracedCall(
        where=f"{span.file}: {span.path}",
        provider=str(attributes.get("gen_ai.provider.name") or attributes.get("gen_ai.system") or ""),
        host=f"{host}:{port}" if host and port not in (None, 443) else host,
        model=str(attributes.get("gen_ai.request.model") or ""),
        day=datetime.fromtimestamp(began / 1e9, UTC).date().isoformat() if began else "",
        system="\n".join(part.text for part in _parts(_json(attributes.get(SYSTEM)), span, SYSTEM) if _is_text(part)),
        tools=tuple(_tools(_json(attributes.get(TOOLS)))),
        messages=tuple(_messages(attributes.get(INPUT), span, INPUT)),
        answer=outputs[0] if outputs else None,
    )


def _is_text(part: Part) -> bool:
    return isinstance(part, Text)


def _json(value: Any) -> Any:
    """Structured attributes: a list, or its JSON as a string where the SDK takes no structures."""
    if not isinstance(value, str):
        return value or []
    try:
        return msgspec.json.decode(value)
    except msgspec.DecodeError:
        return []


def _messages(value: Any, span: Place, name: str) -> list[Message]:
    found = []
    for message in Place(_json(value), span.file, f"{span.path} attribute {name}: $").items():
        word = message.at("role").text()
        if word not in _ROLES:
            raise message.problem(f"has the role {word!r}; known: {', '.join(_ROLES)}")
        parts = _parts(message.at("parts").value, message, "parts")
        results = [part for part in parts if isinstance(part, ToolResult)]
        found.append(Message("tool" if results else _ROLES[word], tuple(results or parts)))
    return found


def _parts(value: Any, place: Place, name: str) -> list[Any]:
    items = Place(value, place.file, f"{place.path}.{name}").items()
    return [part for item in items if (part := _part(item.value)) is not None]


def _part(part: Any) -> Part | None:
    """A part; None for one whose content a trace does not have."""
    match part:
        case {"type": "text", "content": str() as text}:
            return Text(text)
        case {"type": "reasoning", "content": str() as text}:
            return Thought(text)
        case {"type": "tool_call", "name": str() as name}:
            arguments = part.get("arguments")
            if isinstance(arguments, str):
                arguments = _json(arguments)
            return FunctionCall(str(part.get("id") or ""), name, arguments if isinstance(arguments, dict) else {})
        case {"type": "tool_call_response"}:
            result = part["response"] if "response" in part else part.get("result")
            return ToolResult(str(part.get("id") or ""), str(part.get("name") or ""), result)
        case {"type": "uri", "uri": str() as uri}:
            return FileRef(str(part.get("mime_type") or "application/octet-stream"), uri)
        case _:
            return None


def _tools(value: Any) -> Iterator[ToolSchema]:
    for tool in value if isinstance(value, list) else ():
        if isinstance(tool, dict) and isinstance(tool.get("name"), str):
            parameters = tool.get("parameters")
            yield ToolSchema(
                tool["name"], str(tool.get("description") or ""), parameters if isinstance(parameters, dict) else {}
            )
