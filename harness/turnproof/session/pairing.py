"""Tool calls and their results belong together: every call is answered right behind the message that made it.

Providers refuse a conversation in which that does not hold, and then refuse every later request too. Histories
from elsewhere (an old file, another framework, a crash between call and result) are therefore made valid once, in
the history itself, so that what is stored, saved and sent is the same.
"""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Sequence

from ..messages import Message, MessageIds, Part, ToolResult, new_message_id

_log = logging.getLogger(__name__)

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

    Results that stand in the wrong place move behind their call, also from in front of it; a missing one becomes an
    error result; an orphan, or a second answer to the same call, goes, and the log says so. Everything else stays in
    order. Messages that need no change stay the same objects, and a changed one keeps its id.
    """
    if is_paired(messages):
        return list(messages)
    answers = _Answers(messages)
    if answers.left_over:
        message, result = answers.left_over[0]
        template = "results left out, for they answer no call: %d, the first for %r in message %r"
        _log.warning(template, len(answers.left_over), result.call_id, message.message_id)
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
        self.left_over: list[tuple[Message, ToolResult]] = []
        waiting: dict[str, deque[tuple[int, int]]] = {}
        first: dict[str, deque[tuple[int, int]]] = {}
        early: list[tuple[Message, ToolResult]] = []
        for index, message in enumerate(messages):
            if message.role == "model":
                calls_by_id: dict[str, deque[tuple[int, int]]] = {}
                for position, call in enumerate(message.calls):
                    calls_by_id.setdefault(call.id, deque()).append((index, position))
                waiting.update(calls_by_id)
                for call_id, slots in calls_by_id.items():
                    first.setdefault(call_id, slots)
            for result in message.results:
                # What came before anybody asked under its id may still answer the first who does.
                unasked = early if result.call_id not in first else self.left_over
                self._assign(message, result, waiting, otherwise=unasked)
        for message, result in early:
            self._assign(message, result, first, otherwise=self.left_over)
        self._carries = Counter(self._carrier.values())

    def _assign(
        self,
        message: Message,
        result: ToolResult,
        waiting: dict[str, deque[tuple[int, int]]],
        *,
        otherwise: list[tuple[Message, ToolResult]],
    ) -> None:
        """Let a result answer the call that waits for it, if one does."""
        slots = waiting.get(result.call_id)
        if not slots:
            otherwise.append((message, result))
            return
        slot = slots.popleft()
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
        if carrier is not None:
            self._carries[carrier] -= 1
        if carrier is None or self._carries[carrier]:
            # One tool message carried the results of several messages' calls: one of them alone keeps its id.
            return Message("tool", results, ids())
        return carrier if carrier.parts == results else Message("tool", results, carrier.message_id)


def _apart(message: Message, rest: tuple[Part, ...], ids: MessageIds) -> Message:
    """What else a message held beside results. In a tool message it came from the user's side of the conversation."""
    if message.role == "tool":
        return Message("user", rest, ids())
    return Message(message.role, rest, message.message_id)
