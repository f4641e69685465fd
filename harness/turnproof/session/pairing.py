"""Tool calls and their results belong together: every call is answered right behind the message that made it.

Providers refuse a conversation in which that does not hold, and then refuse every later request too. Histories
from elsewhere (an old file, another framework, a crash between call and result) are therefore made valid once, in
the history itself, so that what is stored, saved and sent is the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..messages import Message, MessageIds, Part, ToolResult, new_message_id

UNANSWERED = "no result was recorded for this call"
"""What the model is told about a call whose result is missing."""


def is_paired(messages: Sequence[Message]) -> bool:
    """Whether each call is answered, in call order, by the one tool message behind it, with no result left over."""
    waiting: list[str] = []
    for message in messages:
        answered = [result.call_id for result in message.results]
        if message.role == "tool":
            if answered != waiting or not waiting or len(answered) != len(message.parts):
                return False
        elif answered or waiting:
            return False
        waiting = [call.id for call in message.calls] if message.role == "model" else []
    return not waiting


def repair(messages: Sequence[Message], ids: MessageIds = new_message_id) -> list[Message]:
    """The same conversation with every call answered and no result without its call.

    Results that stand in the wrong place move up behind their call; a missing one becomes an error result; an
    orphan, or a second answer to the same call, goes. Everything else stays in order. Messages that need no change
    stay the same objects, and a changed one keeps its id.
    """
    if is_paired(messages):
        return list(messages)
    answers = _Answers(messages)
    repaired: list[Message] = []
    for index, message in enumerate(messages):
        if not message.results:
            repaired.append(message)
        elif rest := tuple(part for part in message.parts if not isinstance(part, ToolResult)):
            repaired.append(_apart(message, rest, ids))
        if message.role == "model" and message.calls:
            repaired.append(answers.to(index, ids))
    return repaired


class _Answers:
    """Which result answers which call: the latest message that asks under an id is the one that gets the result."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        self._found: dict[tuple[int, int], ToolResult] = {}
        self._carrier: dict[int, Message] = {}
        waiting: dict[str, list[tuple[int, int]]] = {}
        for index, message in enumerate(messages):
            if message.role == "model":
                asked: dict[str, list[tuple[int, int]]] = {}
                for position, call in enumerate(message.calls):
                    asked.setdefault(call.id, []).append((index, position))
                waiting.update(asked)
            for result in message.results:
                if slots := waiting.get(result.call_id):
                    slot = slots.pop(0)
                    self._found[slot] = result
                    if message.role == "tool":
                        self._carrier.setdefault(slot[0], message)

    def to(self, index: int, ids: MessageIds) -> Message:
        """The tool message that answers all calls of the message at `index`."""
        results = tuple(
            self._found.get((index, position)) or ToolResult(call.id, call.name, UNANSWERED, is_error=True)
            for position, call in enumerate(self._messages[index].calls)
        )
        carrier = self._carrier.pop(index, None)
        if carrier is None or carrier in self._carrier.values():
            # One tool message carried the results of several messages' calls: one of them alone keeps its id.
            return Message("tool", results, ids())
        return carrier if carrier.parts == results else Message("tool", results, carrier.message_id)


def _apart(message: Message, rest: tuple[Part, ...], ids: MessageIds) -> Message:
    """What else a message held beside results. In a tool message it came from the user's side of the conversation."""
    if message.role == "tool":
        return Message("user", rest, ids())
    return Message(message.role, rest, message.message_id)
