"""One run of the program, spoken to line by line.

It is told the conversation so far, message by message: a user's is taken without an answer and confirmed, an
assistant's is taken as it is, in this order because the next line is written when the last one is confirmed. The last
message is the one it asks the model to answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from turnproof.errors import TransportError
from turnproof.messages import ToolSchema

from .._child_process import Child
from ..anthropic.wire import Event
from . import tools as offered
from .answer_outline import Outline
from .failures import typed_error
from .lines import Assistant, ProgramRequest, Result, StreamEvent, decode_line
from .pipe import Pipe, user_line


class ProgramRun:
    """A conversation with a fresh process. Raises ProviderError for whatever goes wrong with it."""

    def __init__(self, pipe: Pipe, model: str, tools: Sequence[ToolSchema]) -> None:
        self._pipe = pipe
        self._model = model
        self._tools = tools
        self._names = frozenset(offered.wire_name(tool.name) for tool in tools)
        pipe.child.watch = SlowReaderGuard(pipe.child, self._names).hear
        self._lines = pipe.lines(self._reply)

    def begin(self, wire: Sequence[dict[str, Any]]) -> None:
        """Tell it the conversation, and ask for an answer to the last message.

        The program asks for the tools before it answers anything.
        """
        self._pipe.open(self._lines)
        for message in wire[:-1]:
            self._tell(message)
        self._ask(wire[-1])

    def _tell(self, message: dict[str, Any]) -> None:
        """A message that was said before."""
        if message["role"] == "assistant":
            # Of a model that it does not know to be the same the program keeps no thinking.
            self._pipe.write(user_line({**message, "model": self._model}))
            return
        self._pipe.write({**user_line(message), "shouldQuery": False})
        for line in self._lines:
            if isinstance(line, Result):
                if line.is_error:
                    raise typed_error(line, None, self._pipe.secret)
                return
        raise self._pipe.child.loss()

    def _ask(self, message: dict[str, Any]) -> None:
        """The message to be answered."""
        self._pipe.write(user_line(message), asks=True)

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
                raise typed_error(line, refused, self._pipe.secret)
        if not finished:
            raise self._pipe.child.loss()
        # The guard has ended it, and what followed may not have arrived: it says nothing more.
        yield Event(type="message_stop")

    def _reply(self, number: str, request: ProgramRequest) -> None:
        if request.subtype == "mcp_message":
            self._pipe.reply(number, {"mcp_response": offered.answer_mcp_request(self._tools, request.message)})
        elif request.subtype != "can_use_tool":
            # As for that one: asked as soon as the first call is there, and any answer could break off those that
            # follow it.
            self._pipe.refuse(number, request)


class SlowReaderGuard:
    """Kills the program, in the thread that reads its lines, at the end of an answer behind which it would not wait."""

    def __init__(self, child: Child, tools: frozenset[str]) -> None:
        self._child = child
        self._tools = tools
        self._outline = Outline(tools)

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
            self._outline = Outline(self._tools)
        self._outline.feed(line.event)
        if self._outline.is_followed_up:
            self._child.kill()
