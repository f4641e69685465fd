"""The program's lines, in both directions, as data."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import msgspec

from turnproof.errors import TransportError

from .._child_process import Child, ChildLost
from .._errors import hide_secret
from .failures import typed_error
from .lines import ControlRequest, ControlResponse, Line, ProgramRequest, Result, decode_line

Reply: TypeAlias = Callable[[str, ProgramRequest], None]
"""Takes a question of the program's with its number, and answers it or not."""

_encode = msgspec.json.Encoder().encode


class Pipe:
    """A process that is spoken to. Lines may be written from several threads, and are read by one.

    Raises ProviderError for a process that is lost, and for what is no line. `secret` is shown in no error.
    """

    def __init__(self, child: Child, secret: str) -> None:
        self.child = child
        self.secret = secret
        self._writing = threading.Lock()

    def open(self, lines: Iterator[Line]) -> None:
        """Begin. Whatever the program asks meanwhile is asked by way of `lines`."""
        self.write({"type": "control_request", "request_id": "open", "request": {"subtype": "initialize"}})
        for line in lines:
            if isinstance(line, ControlResponse) and line.response.request_id == "open":
                if line.response.subtype != "success":
                    raise TransportError(
                        f"claude could not begin: {hide_secret(line.response.error or '', self.secret)}"
                    )
                return
            if isinstance(line, Result) and line.is_error:
                raise typed_error(line, None, self.secret)
        raise self.child.loss()

    def write(self, line: dict[str, Any], *, asks: bool = False) -> None:
        """Write a line; for `asks` see `Child.write`. That the program is gone is found by whoever reads its lines,
        behind the last of them: that one may say why."""
        data = _encode(line)
        with self._writing:
            try:
                self.child.write(data, asks=asks)
            except ChildLost:
                if not self.child.has_ended:  # it does not read
                    raise

    def reply(self, number: str, response: dict[str, Any], *, asks: bool = False) -> None:
        """Answer a question of the program's; for `asks` see `Child.write`."""
        success = {"subtype": "success", "request_id": number, "response": response}
        self.write({"type": "control_response", "response": success}, asks=asks)

    def refuse(self, number: str, request: ProgramRequest) -> None:
        """Say that a question of the program's cannot be answered here."""
        refused = {"subtype": "error", "request_id": number, "error": f"{request.subtype} is not known here"}
        self.write({"type": "control_response", "response": refused})

    def lines(self, reply: Reply) -> Iterator[Line]:
        """The program's lines to the end of its output, without its questions: those go to `reply`."""
        for data in self.child.lines():
            try:
                line = decode_line(data)
            except (ValueError, RecursionError):
                if self.child.broke_off:
                    raise self.child.loss() from None
                shown = hide_secret(data[:200].decode("utf-8", "replace"), self.secret)
                raise TransportError(f"claude wrote a line that is none of its protocol: {shown}") from None
            if isinstance(line, ControlRequest):
                reply(line.request_id, line.request)
            else:
                yield line


def user_line(message: dict[str, Any]) -> dict[str, Any]:
    """The line for a message. What a user says is no command to the program, whatever it begins with."""
    line = {"type": message["role"], "message": message, "session_id": "", "parent_tool_use_id": None}
    return line | {"text_not_typed": True} if message["role"] == "user" else line
