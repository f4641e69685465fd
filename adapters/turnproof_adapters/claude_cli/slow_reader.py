"""Whoever is slow to take an answer's lines must not let the program ask for another one that nobody wants."""

from __future__ import annotations

from .._child_process import Child
from .answer_outline import Outline
from .lines import StreamEvent, decode_line


class SlowReaderGuard:
    """Kills the program, in the thread that reads its lines, at the end of an answer behind which it would not wait."""

    def __init__(self, child: Child, tools: frozenset[str]) -> None:
        self._child = child
        self._tools = tools
        self._said = Outline(tools)

    def hear(self, data: bytes) -> None:
        """One line. What cannot be read is the affair of whoever takes it."""
        if b'"stream_event"' not in data:
            return
        try:
            line = decode_line(data)
        except (ValueError, RecursionError):
            return
        if not isinstance(line, StreamEvent) or line.parent_tool_use_id is not None:
            return
        if line.event.type == "message_start":
            self._said = Outline(self._tools)
        self._said.feed(line.event)
        if self._said.is_followed_up:
            self._child.kill()
