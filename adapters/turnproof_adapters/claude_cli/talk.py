"""One run of the program, spoken to line by line.

It is told the conversation so far, message by message: a user's is taken without an answer and confirmed, an
assistant's is taken as it is, in this order because the next line is written when the last one is confirmed. The last
message is the one it asks the model to answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from turnproof.errors import TransportError
from turnproof.messages import ToolSchema

from .._child import Child
from .._errors import scrubbed
from ..anthropic.wire import Event
from . import tools as offered
from .failures import failure
from .lines import Asked, Assistant, ControlRequest, ControlResponse, Line, Result, StreamEvent, decode_line

_encode = msgspec.json.Encoder().encode


class Talk:
    """A conversation with a fresh process. Raises ProviderError for whatever goes wrong with it."""

    def __init__(self, child: Child, model: str, tools: Sequence[ToolSchema], secret: str) -> None:
        self._child = child
        self._model = model
        self._tools = tools
        self._secret = secret
        self._lines = self._read()

    def open(self) -> None:
        """Begin. The program asks for the tools before it answers anything."""
        self._write({"type": "control_request", "request_id": "open", "request": {"subtype": "initialize"}})
        for line in self._lines:
            if isinstance(line, ControlResponse) and line.response.request_id == "open":
                if line.response.subtype != "success":
                    raise TransportError(f"claude could not begin: {scrubbed(line.response.error or '', self._secret)}")
                return
        raise self._child.lost()

    def tell(self, message: dict[str, Any]) -> None:
        """A message that was said before."""
        if message["role"] == "assistant":
            # Of a model that it does not know to be the same the program keeps no thinking.
            self._write(_said({**message, "model": self._model}))
            return
        self._write({**_said(message), "shouldQuery": False})
        for line in self._lines:
            if isinstance(line, Result):
                if line.is_error:
                    raise failure(line, None, self._secret)
                return
        raise self._child.lost()

    def ask(self, message: dict[str, Any]) -> None:
        """The message to be answered."""
        self._write(_said(message), asks=True)

    def events(self) -> Iterator[Event]:
        """The events of the answer's stream, as the API sent them. Raises ProviderError where it tells of a failure.

        A stream that broke off the program ends in its own name, without a stop reason. Why it broke off it has said
        before, and a result follows; where it has not, it may ask once more.
        """
        finished, refused = False, None
        for line in self._lines:
            if line.parent_tool_use_id is not None:
                continue
            if isinstance(line, StreamEvent):
                event = line.event
                finished = finished or (event.delta is not None and event.delta.stop_reason is not None)
                if event.type == "message_stop" and not finished:
                    if refused is None:
                        raise TransportError("the stream of the answer broke off")
                    continue
                yield event
                if event.type == "message_stop":
                    return
            elif isinstance(line, Assistant) and line.is_api_error_message:
                refused = line
            elif isinstance(line, Result):
                raise failure(line, refused, self._secret)
        raise self._child.lost()

    # -- lines ----------------------------------------------------------------------------------------------------

    def _write(self, line: dict[str, Any], *, asks: bool = False) -> None:
        self._child.write(_encode(line), asks=asks)

    def _read(self) -> Iterator[Line]:
        for data in self._child.lines():
            try:
                line = decode_line(data)
            except (ValueError, RecursionError):
                if self._child.broke_off:
                    raise self._child.lost() from None
                shown = scrubbed(data[:200].decode("utf-8", "replace"), self._secret)
                raise TransportError(f"claude wrote a line that is none of its protocol: {shown}") from None
            if isinstance(line, ControlRequest):
                self._reply(line.request_id, line.request)
            else:
                yield line

    def _reply(self, number: str, asked: Asked) -> None:
        if asked.subtype == "mcp_message":
            said: dict[str, Any] = {"mcp_response": offered.answer(self._tools, asked.message)}
        elif asked.subtype == "can_use_tool":
            return  # asked as soon as the first call is there; any answer could break off those that follow it
        else:
            refused = {"subtype": "error", "request_id": number, "error": f"{asked.subtype} is not known here"}
            self._write({"type": "control_response", "response": refused})
            return
        response = {"subtype": "success", "request_id": number, "response": said}
        self._write({"type": "control_response", "response": response})


def _said(message: dict[str, Any]) -> dict[str, Any]:
    return {"type": message["role"], "message": message, "session_id": "", "parent_tool_use_id": None}
