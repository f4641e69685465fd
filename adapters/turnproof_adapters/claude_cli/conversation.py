"""A run of the program that holds a conversation: it is asked for one answer after another, and keeps them itself.

It makes no call before it is allowed to, and asks for that while the model still speaks. It is left waiting until the
results are there: then all calls are allowed, each is answered at once, and the program asks the model again by itself.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

from turnproof.errors import ProviderError, TransportError
from turnproof.messages import ToolSchema

from .._interrupt import current_cut
from .._program import GRACE
from ..anthropic.wire import Event
from . import tools as offered
from .answer_outline import Outline, outlined
from .lines import ProgramRequest, Result, StreamEvent, User
from .pipe import Pipe
from .program_run import ProgramRun

_MOST_OF_A_FAILURE = 5_000
"""Characters that a failed call may have said; the program cuts at twice as many units of UTF-16."""


class Conversation(ProgramRun):
    """A process that is kept. After an answer it `rests`, or has ended: then it is of no further use.

    `events` are those of the answer that `begin` or `go_on` has asked for.
    """

    def __init__(self, pipe: Pipe, model: str, tools: Sequence[ToolSchema]) -> None:
        super().__init__(pipe, model, tools)
        self.rests = False
        self._wire_messages: Sequence[dict[str, Any]] = ()
        self._outline = Outline(self._names)
        self._permissions: dict[str, tuple[str, dict[str, Any]]] = {}
        self._results: dict[str, dict[str, Any]] = {}
        # Also where nobody ends it: a provider may be dropped.
        weakref.finalize(self, pipe.child.kill)

    def begin(self, wire: Sequence[dict[str, Any]]) -> None:
        """Tell it the conversation, and ask for an answer to the last message."""
        self._wire_messages = wire
        super().begin(wire)

    def can_go_on_to(self, wire: Sequence[dict[str, Any]]) -> bool:
        """Whether this is the conversation that it holds, and one message more, which it can be told as it is."""
        if not self.rests or self._pipe.child.has_ended:
            return False
        *earlier_messages, answer, following = wire if len(wire) > 1 else (*wire, {}, {})
        if earlier_messages != self._wire_messages or outlined(answer) != self._outline.blocks:
            return False
        if not self._outline.calls:
            return True
        return (
            all(map(_can_be_told, following["content"]))
            and list(map(_call, following["content"])) == self._outline.calls
        )

    def go_on(self, wire: Sequence[dict[str, Any]]) -> None:
        """Ask for an answer to the last message: what the user says, or the results of all calls."""
        self.rests = False
        self._pipe.child.take_up()
        self._wire_messages = wire
        if self._outline.calls:
            self._give({_call(block): block for block in wire[-1]["content"]})
        else:
            self._ask(wire[-1])

    def events(self) -> Iterator[Event]:
        """The events of the answer's stream, as for `ProgramRun`. Behind them it rests, or has ended."""
        self._outline, self._permissions = Outline(self._names), {}
        for event in super().events():
            self._outline.feed(event)
            yield event
        with contextlib.suppress(ProviderError):
            self.rests = not self._outline.is_followed_up and self._waits()
        if not self.rests:
            self.end()

    def end(self) -> None:
        """End the process."""
        self.rests = False
        self._pipe.child.end(grace=0)

    def leave(self) -> None:
        """The call that was made of it is over. It is ended where it does not rest, or where the call was cut."""
        self._pipe.child.belong_to(None)
        cut = current_cut()
        if not self.rests or (cut is not None and cut.fired):
            self.end()

    def _waits(self) -> bool:
        """Whether it waits to be allowed the calls, or for its user: then wait until it has told of its turn's end."""
        if self._outline.calls:
            return list(self._permissions) == self._outline.calls
        child = self._pipe.child
        usual, child.silence = child.silence, min(child.silence, GRACE)
        for line in self._lines:
            if isinstance(line, StreamEvent | Result):
                child.silence = usual
                return isinstance(line, Result) and not line.is_error
        return False

    def _give(self, results: dict[str, dict[str, Any]]) -> None:
        """Have all calls made, one by one: results go out in the order in which they come."""
        self._results = results
        permissions, self._permissions = self._permissions, {}
        for call, (number, arguments) in permissions.items():
            self._pipe.reply(number, {"behavior": "allow", "updatedInput": arguments})
            self._wait_for_result(call)
        if self._results:
            raise TransportError("claude goes on without the results of all calls")

    def _wait_for_result(self, call: str) -> None:
        for line in self._lines:
            if isinstance(line, User) and not isinstance(line.message.content, str):
                if any(block.get("tool_use_id") == call for block in line.message.content):
                    return
            elif isinstance(line, StreamEvent | Result):
                raise TransportError("claude goes on without the results of all calls")
        raise self._pipe.child.loss()

    def _reply(self, number: str, request: ProgramRequest) -> None:
        match request.subtype, request.message.get("method"):
            case "can_use_tool", _:
                self._permissions[request.tool_use_id] = number, request.input
            case "mcp_message", "tools/call":
                self._answer_call(number, request.message)
            case "mcp_message", _:
                self._pipe.reply(
                    number, {"mcp_response": offered.answer_mcp_request(self._tools, request.message, offered.HINTS)}
                )
            case _:
                self._pipe.refuse(number, request)

    def _answer_call(self, number: str, message: dict[str, Any]) -> None:
        call = message.get("params", {}).get("_meta", {}).get(offered.CALL_ID)
        result = self._results.pop(call, None)
        if result is None:
            raise TransportError(f"claude makes a call that nobody asked for: {call!r}")
        text = result["content"]
        tool_reply: dict[str, Any] = {"content": [{"type": "text", "text": text}]}
        # A failure is told by its content alone. Else the program takes a string from here as it is (the protocol's
        # first version has it), where it would make a list of blocks of the other.
        tool_reply |= {"isError": True} if "is_error" in result else {"toolResult": text}
        # With the last result the program has all that it needs to ask the model.
        last = not self._results
        self._pipe.reply(
            number, {"mcp_response": {"jsonrpc": "2.0", "id": message["id"], "result": tool_reply}}, asks=last
        )


def _can_be_told(block: dict[str, Any]) -> bool:
    """Whether the model gets this, if it is a result, as it is. For a blank one the program has words of its own, it
    adds some to images, and it trims and cuts what a failed call says."""
    content = block.get("content")
    if not isinstance(content, str) or not content.strip():
        return False
    trimmed = content.strip().strip("\ufeff")  # a blank to the program, and none to Python
    return "is_error" not in block or (len(content) <= _MOST_OF_A_FAILURE and trimmed == content)


def _call(block: dict[str, Any]) -> str:
    """The id of the call that a block answers; empty for one that is no result."""
    return str(block.get("tool_use_id", ""))
