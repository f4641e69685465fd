"""Wire messages as neutral ones.

Instructions in front of everything else are the system text, whichever of their two roles they have; later ones stay
where they are. Each result is a message of its own on the wire; neighbouring ones are one neutral message. Calls of
the old kind (`function_call`, role `function`) have no ids: they get one from their place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...messages import FileRef, FunctionCall, InlineData, Message, Part, Text, ToolResult
from .content import call_of, function_call, parts_of, refusal, text_of, thoughts_of

_INSTRUCTIONS = ("system", "developer")
_POSITIONAL = re.compile(r"#\d+")

WireMessage = Mapping[str, Any]


def is_positional(call_id: str) -> bool:
    """Whether an id was made here from a call's place: it never stood on the wire."""
    return _POSITIONAL.fullmatch(call_id) is not None


def read(messages: Sequence[WireMessage], model: str) -> tuple[tuple[Part, ...], tuple[Message, ...]]:
    """The system text, and the conversation. Each message has its path as its id."""
    leading = next((n for n, each in enumerate(messages) if each.get("role") not in _INSTRUCTIONS), len(messages))
    system = tuple(Text(text_of(each.get("content"))) for each in messages[:leading])
    found: list[Message] = []
    names: dict[str, str] = {}
    called = ""
    for n, message in enumerate(messages[leading:], leading):
        where = f"messages[{n}]"
        match message.get("role"):
            case "system" | "developer":
                found.append(Message("system", tuple(parts_of(message.get("content"), model)), where))
            case "user":
                found.append(Message("user", tuple(parts_of(message.get("content"), model)), where))
            case "assistant":
                parts = tuple(_parts(message, n, model))
                names |= {part.id: part.name for part in parts if isinstance(part, FunctionCall)}
                called = next((part.id for part in parts if isinstance(part, FunctionCall)), "")
                found.append(Message("model", parts, where))
            case "tool" | "function" as role:
                call_id = str(message.get("tool_call_id", "")) if role == "tool" else called
                _append(found, _result(message, call_id, names), where)
            case _:  # Ollama takes any role.
                found.append(Message("user", tuple(parts_of(message.get("content"), model)), where))
    return system, tuple(found)


def _parts(message: WireMessage, n: int, model: str) -> Iterator[Part]:
    yield from thoughts_of(message, model)
    yield from parts_of(message.get("content"), model)
    if isinstance(refused := message.get("refusal"), str):
        yield refusal(refused, model)
    for call in message.get("tool_calls") or ():
        yield call_of(call, model)
    if isinstance(function := message.get("function_call"), dict):
        yield function_call(f"#{n}", function, model)


def _result(message: WireMessage, call_id: str, names: Mapping[str, str]) -> ToolResult:
    content = message.get("content")
    attachments = tuple(part for part in parts_of(content, "") if isinstance(part, InlineData | FileRef))
    name = names.get(call_id) or str(message.get("name") or "")
    return ToolResult(call_id, name, text_of(content), attachments=attachments)


def _append(found: list[Message], result: ToolResult, where: str) -> None:
    last = found[-1] if found else None
    if last is not None and last.role == "tool":
        found[-1] = Message("tool", (*last.parts, result), last.message_id)
    else:
        found.append(Message("tool", (result,), where))
