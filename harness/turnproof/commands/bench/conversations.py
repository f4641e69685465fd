"""The conversations that are measured: user text, tool call, tool result, answer, about 200 characters each."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import UsageError
from ...messages import FunctionCall, Message, ToolResult, ToolSchema
from ...provider import Conversation

QUESTION = "How moist is bed 3?"
"""The user's new message, the same in every measured turn."""

SYSTEM = "You keep a greenhouse log. " * 8
TOOL = ToolSchema(
    "read_sensor",
    "Read one sensor of a bed",
    {"type": "object", "properties": {"bed": {"type": "string"}, "why": {"type": "string"}}, "required": ["bed"]},
)
_FILL = 'The log of bed – "quoted", with ümlauts and a\nnew line – goes on and on, so that a message has its size. ' * 2


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server answers: a text, whole or in `pieces`."""

    pieces: tuple[str, ...]
    streamed: bool

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(self.pieces)


def _answer(pieces: int, *, streamed: bool) -> Answer:
    # No two pieces are alike: some clients take a repetition for a loop.
    return Answer(tuple(f"piece {number:06d} of it, " for number in range(pieces)), streamed)


DELTAS = 500
"""How many more pieces the long answer has than the short ones."""

WHOLE, SHORT, LONG = _answer(5, streamed=False), _answer(5, streamed=True), _answer(5 + DELTAS, streamed=True)


def conversation(messages: int, *, tools: bool) -> Conversation:
    """A history of so many messages, and the question. Equal in value every time, in message objects of its own."""
    return Conversation((*history(messages, tools=tools), Message.user(QUESTION)), SYSTEM, (TOOL,) if tools else ())


def half(messages: int, *, tools: bool) -> int:
    """How many turns a collection of such a history keeps: half of them, and 0 where there is nothing to collect."""
    return (messages + 2) // 4 // 2 if tools else messages // 2 // 2


_MARK = "goes on and on"
"""Stands in every text of a history, in the same letters however JSON is written."""


def is_sent_whole(body: bytes, talk: Conversation) -> bool:
    """Whether a request has all that is said in a history, told by how often what all texts have in common is in it."""
    marks = sum(str(part).count(_MARK) for message in talk.messages for part in message.parts)
    return body.count(_MARK.encode()) >= marks


def unique_text(number: int) -> str:
    """A text of about 200 characters that no other number has."""
    return f"{number}: {_FILL}"


def history(messages: int, *, tools: bool) -> list[Message]:
    """So many messages, in whole turns: of four messages with a tool, of two without. Raises UsageError if odd."""
    if messages < 2 or messages % 2:
        raise UsageError(f"a history of whole turns has an even number of messages, at least 2: got {messages}")
    messages_so_far: list[Message] = []
    for number in range(0, messages, 4 if tools else 2):
        messages_so_far.append(Message.user(unique_text(number)))
        if tools and number + 4 <= messages:
            id = f"toolu_{number:06d}"
            messages_so_far.append(Message.model(FunctionCall(id, TOOL.name, {"bed": f"{number}", "why": _FILL[:120]})))
            messages_so_far.append(Message.tool(ToolResult(id, TOOL.name, f"{number} % {_FILL[:150]}")))
        messages_so_far.append(Message.model(unique_text(number)))
    return messages_so_far
