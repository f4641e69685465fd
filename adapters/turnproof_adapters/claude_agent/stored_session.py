"""A session as the program has stored it: a file of lines, each of which names the one before it.

The file only grows, so that a line stands behind its parent, and the last one is where the session is. Calls of one
answer branch: the result of each hangs on the line of its call, and only one of them is an ancestor of what follows.
Lines that cannot be read are passed over, and so are those that are no messages.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from .._decoding import decode_json
from ..claude_cli.lines import ProgramMessage


class Stored(msgspec.Struct, frozen=True, rename="camel"):
    """One line that has an id: a message, or what the program puts between messages."""

    type: str
    uuid: str
    parent_uuid: str | None = None
    timestamp: str = ""
    cwd: str = ""
    is_sidechain: bool = False
    is_meta: bool = False
    is_api_error_message: bool = False
    message: ProgramMessage | None = None

    @property
    def is_message(self) -> bool:
        """Whether it is a message of the session itself."""
        return self.message is not None and self.type in ("user", "assistant") and not self.is_sidechain


_line = msgspec.json.Decoder(Stored)
_any = msgspec.json.Decoder(dict[str, Any])


@dataclass(frozen=True)
class StoredSession:
    """The lines of a file that could be read."""

    lines: tuple[Stored, ...]

    @property
    def messages(self) -> list[ProgramMessage]:
        """The messages of the session, oldest first, without what the program said in its own name."""
        return [
            line.message
            for line in _branch(self.lines)
            if line.message is not None and not line.is_meta and not line.is_api_error_message
        ]

    @property
    def cwd(self) -> str:
        """The folder that the session was begun in; empty where that is not known."""
        return next((line.cwd for line in self.lines if line.cwd), "")

    @property
    def updated_at(self) -> datetime | None:
        """When something was last said."""
        times = (_time(line.timestamp) for line in reversed(self.lines) if line.is_message)
        return next((time for time in times if time is not None), None)


def read(path: Path) -> StoredSession:
    """The session in a file. Raises OSError where it cannot be read."""
    return StoredSession(tuple(line for _, line in _lines(path)))


def cut(path: Path, uuid: str) -> bool:
    """Take out the line of this id and all that stands behind it, for good. Whether there is any message left."""
    has_message = False
    for start, line in _lines(path):
        if line.uuid == uuid:
            os.truncate(path, start)
            return has_message
        has_message = has_message or line.is_message
    return has_message


def copy(path: Path, target: Path, session_id: str) -> None:
    """Copy a session to a new file under another id, as the program does: the lines with an id, and keeping that."""
    part = target.with_suffix(".part")
    try:
        with path.open("rb") as source, part.open("wb") as out:
            for data in source:
                try:
                    line = decode_json(_any, data)
                except (ValueError, RecursionError):
                    continue
                if "uuid" in line:
                    out.write(msgspec.json.encode({**line, "sessionId": session_id}) + b"\n")
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _lines(path: Path) -> Iterator[tuple[int, Stored]]:
    start = 0
    with path.open("rb") as file:
        for data in file:
            if b'"uuid"' in data:
                with contextlib.suppress(ValueError, RecursionError):
                    yield start, decode_json(_line, data)
            start += len(data)


def _branch(lines: tuple[Stored, ...]) -> list[Stored]:
    """The messages from the first to the last one, with all pieces of their answers, and the results of all calls."""
    places = {line.uuid: place for place, line in enumerate(lines)}
    ancestors: set[str] = set()
    here = next((place for place in reversed(range(len(lines))) if lines[place].is_message), -1)
    while here >= 0 and lines[here].uuid not in ancestors:
        ancestors.add(lines[here].uuid)
        parent = lines[here].parent_uuid
        # Where it cannot be read, the program takes the line before, and so loses no more than that.
        here = -1 if parent is None else places.get(parent, here - 1)
    answers = {line.message.id for line in lines if line.uuid in ancestors and line.message and line.message.id}
    branch_ids: set[str] = set()
    found = []
    for line in lines:
        belongs = line.uuid in ancestors
        if line.type == "assistant":
            belongs = belongs or (line.message is not None and line.message.id in answers)
        elif _holds_results(line):
            belongs = belongs or line.parent_uuid in branch_ids
        if belongs and line.is_message:
            branch_ids.add(line.uuid)
            found.append(line)
    return found


def _holds_results(line: Stored) -> bool:
    if line.message is None or isinstance(line.message.content, str):
        return False
    return any(block.get("type") == "tool_result" for block in line.message.content)


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
