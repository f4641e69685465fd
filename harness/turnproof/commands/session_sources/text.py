"""How sessions are shown: a table, a conversation in few lines, and JSON with a version."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from ..._base.counts import counted
from ..._base.printable import one_line
from ...messages import FunctionCall, Message, Text, Thought, ToolResult, to_builtins
from ...sessions import SessionCapabilities, SessionInfo
from .source import abilities

LIST_SCHEMA = "turnproof.sessions/1"
INFO_SCHEMA = "turnproof.session-info/1"

_LONGEST = 400
"""So many characters of a part are shown."""


def print_list(infos: Sequence[SessionInfo]) -> None:
    """A row for each, with the number by which it can be named. Behind a pipe one row is one line."""
    from rich.table import Table
    from rich.text import Text as Cell

    from ...report.terminal import console_for

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("#", "id", "updated", "cwd", "title", "problem"):
        table.add_column(column, overflow="fold")
    for number, info in enumerate(infos, 1):
        cells = (str(number), info.session_id, _time(info), info.cwd, info.title or "", info.problem or "")
        table.add_row(*(Cell(one_line(cell)) for cell in cells))
    console_for(sys.stdout, plain_width=2000).print(table)


def print_info(info: SessionInfo, can: SessionCapabilities, messages: Sequence[Message]) -> None:
    """What the list says, what can be done, and the conversation."""
    facts = {
        "session": info.session_id,
        "updated": _time(info),
        "cwd": info.cwd,
        "title": info.title or "",
        "problem": info.problem or "",
        "can": ", ".join(abilities(can)) or "nothing",
    }
    for name, value in facts.items():
        if value:
            print(f"{name:8} {one_line(value)}")
    if messages:
        print()
    for message in messages:
        for line in _lines(message):
            print(line)


def list_json(infos: Sequence[SessionInfo]) -> str:
    """The list for programs."""
    return _json({"schema": LIST_SCHEMA, "sessions": [_plain(info) for info in infos]})


def info_json(info: SessionInfo, can: SessionCapabilities, messages: Sequence[Message] | None) -> str:
    """A session in full, for programs; `messages` is null where the conversation could not be told."""
    documents = None if messages is None else [to_builtins(message) for message in messages]
    return _json(
        {
            "schema": INFO_SCHEMA,
            "session": _plain(info),
            "capabilities": msgspec.to_builtins(can),
            "messages": documents,
        }
    )


def _json(value: Any) -> str:
    # Not msgspec's encoder: what agents say may hold halves of surrogate pairs, which are escaped here.
    return json.dumps(value, indent=2) + "\n"


def _plain(info: SessionInfo) -> Any:
    return msgspec.to_builtins(info)


def _time(info: SessionInfo) -> str:
    return f"{info.updated_at:%Y-%m-%d %H:%M}Z" if info.updated_at else ""


def _lines(message: Message) -> Iterator[str]:
    for part in message.parts:
        match part:
            case Text():
                yield f"{message.role}: {_short(part.text)}"
            case FunctionCall():
                yield f"{message.role}: calls {one_line(part.name)} {_short(json.dumps(to_builtins(part.args)))}"
            case ToolResult():
                result = part.result if isinstance(part.result, str) else json.dumps(to_builtins(part.result))
                failed = " failed" if part.is_error else ""
                yield f"{message.role}: {one_line(part.name)}{failed}: {_short(result)}"
            case Thought():
                yield f"{message.role}: (thought, {counted(len(part.text), 'character')})"
            case _:
                yield f"{message.role}: ({type(part).__name__})"


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} … {counted(len(line) - _LONGEST, 'character')} more"
