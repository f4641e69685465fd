"""The form in which two requests of this API are one request: what cassettes match on.

Whatever the service does not tell apart is made equal: contents of one role are one, texts may come in pieces, thinking
and signatures may be left out, ids may be missing, and it does not matter whether a managed cache holds a part of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, groupby
from operator import itemgetter

from msgspec.structs import replace

from ...messages import JSON, FunctionCall, Message, Part, Text, Thought, ToolResult, thaw, to_builtins
from ..base import Call
from ..request_form import build_form, part_form


def request_form(call: Call) -> JSON:
    """The form of a request: its messages as turns, without thinking, signatures and ids."""
    return build_form(call, _turns(call.messages)) | {"action": call.action}


def _turns(messages: Sequence[Message]) -> list[JSON]:
    """The turns as `[side, parts]`, with each call and result under the number of the call."""
    calls = count()
    numbers: dict[str, int] = {}
    row: list[tuple[str, JSON]] = []
    for message in messages:
        side = "model" if message.role == "model" else "user"
        for part in _part_forms(message.parts, numbers, calls):
            _append(row, side, part)
    joined: list[tuple[str, JSON]] = []
    for side, part in row:
        # A blank piece is part of the text around it; only what is blank as a whole says nothing.
        if not isinstance(part, str) or part.strip():
            _append(joined, side, part)
    return [[side, [part for _, part in turn]] for side, turn in groupby(joined, key=itemgetter(0))]


def _part_forms(parts: Sequence[Part], numbers: dict[str, int], calls: Iterator[int]) -> Iterator[JSON]:
    for part in parts:
        match part:
            case Text(text=text):
                yield text
            case Thought():
                pass
            case FunctionCall(id=call_id, name=name, args=args):
                numbers[call_id] = next(calls)
                yield {"call": numbers[call_id], "name": name, "args": thaw(args)}
            case ToolResult(call_id=call_id, name=name, result=result, attachments=attachments):
                attached = [to_builtins(replace(each, provider_data=None)) for each in attachments]
                number = numbers.get(call_id)
                yield {"answers": number, "name": name, "result": thaw(result), "attachments": attached}
            case _:
                yield part_form(part)


def _append(row: list[tuple[str, JSON]], side: str, part: JSON) -> None:
    """Put a part behind what this side has said; texts of one side are one text."""
    if isinstance(part, str) and row and row[-1][0] == side and isinstance(row[-1][1], str):
        row[-1] = side, row[-1][1] + part
    else:
        row.append((side, part))
