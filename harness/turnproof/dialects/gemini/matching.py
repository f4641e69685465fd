"""The form in which two requests of this API are one request: what cassettes match on.

Whatever the service does not tell apart is made equal: contents of one role are one, texts may come in pieces, thinking
and signatures may be left out, ids may be missing, and it does not matter whether a managed cache holds a part of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from msgspec.structs import replace

from ...messages import JSON, FunctionCall, Message, Part, Text, Thought, ToolResult, thaw, to_builtins
from ..base import Call


def match_form(call: Call) -> JSON:
    """Model, system text, tools by name and schema, and messages; no marks, no signatures, no settings."""
    return {
        "operation": call.operation,
        "action": call.action,
        "model": call.model,
        "system": "\n".join(part.text for part in call.system if isinstance(part, Text)),
        "tools": sorted(
            ([tool.name, tool.description, thaw(tool.parameters)] for tool in call.tools), key=lambda tool: str(tool[0])
        ),
        "messages": _turns(call.messages),
    }


def _turns(messages: Sequence[Message]) -> list[JSON]:
    """The turns as `[side, parts]`, with each call and result under the number of the call."""
    calls = count()
    numbers: dict[str, int] = {}
    turns: list[tuple[str, list[JSON]]] = []
    for message in messages:
        side = "model" if message.role == "model" else "user"
        said = list(_said(message.parts, numbers, calls))
        if not said:
            continue
        if not turns or turns[-1][0] != side:
            turns.append((side, []))
        for part in said:
            _append(turns[-1][1], part)
    return [[side, parts] for side, parts in turns]


def _said(parts: Sequence[Part], numbers: dict[str, int], calls: Iterator[int]) -> Iterator[JSON]:
    for part in parts:
        match part:
            case Text(text=text):
                if text.strip():
                    yield text
            case Thought():
                pass
            case FunctionCall(id=call_id, name=name, args=args):
                numbers[call_id] = next(calls)
                yield {"call": numbers[call_id], "name": name, "args": thaw(args)}
            case ToolResult(call_id=call_id, name=name, result=result, attachments=attachments):
                attached = [to_builtins(replace(each, provider_data=None)) for each in attachments]
                answered = numbers.get(call_id)
                yield {"answers": answered, "name": name, "result": thaw(result), "attachments": attached}
            case _:
                yield to_builtins(replace(part, provider_data=None, cache=None))


def _append(parts: list[JSON], part: JSON) -> None:
    if isinstance(part, str) and parts and isinstance(parts[-1], str):
        parts[-1] += part
    else:
        parts.append(part)
