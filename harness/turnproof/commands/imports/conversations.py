"""Exchanges of one client in order, put together to the conversations that they are steps of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec

from ...messages import FunctionCall, Message, Text, ToolResult
from .apis import ReadExchange

Key: TypeAlias = tuple[object, ...]


@dataclass(slots=True)
class Conversation:
    """Exchanges of which each goes on where the one before it ended; the last one holds all that was said."""

    steps: list[ReadExchange] = field(default_factory=list)

    @property
    def last(self) -> ReadExchange:
        return self.steps[-1]

    @property
    def messages(self) -> tuple[Message, ...]:
        """All that was said, the last answer included."""
        answered = Message("model", self.last.answer.parts) if not self.last.failed else None
        return (*self.last.call.messages, *((answered,) if answered is not None else ()))

    @property
    def answered_at(self) -> dict[int, ReadExchange]:
        """The exchange that brought each recorded message of the model, by its place in `messages`."""
        return {len(step.call.messages): step for step in self.steps if not step.failed}

    def continues_with(self, step: ReadExchange) -> bool:
        """Whether an exchange goes on with this conversation, or asks for its last answer once more."""
        before, now = self.last.call, step.call
        if step.dialect is not self.last.dialect or not begins_with(now.messages, before.messages):
            return False
        if len(now.messages) == len(before.messages):
            return self.last.failed  # another attempt
        return self.last.failed or now.messages[len(before.messages)].role == "model"

    def add(self, step: ReadExchange) -> None:
        """Go on with it. A failure that was tried again is no step of the conversation."""
        if self.steps and self.last.failed:
            self.steps.pop()
        self.steps.append(step)


def conversations(exchanges: Iterable[ReadExchange]) -> list[Conversation]:
    """The conversations, in the order in which they began. The newest one that an exchange can go on with is taken."""
    found: list[Conversation] = []
    for step in exchanges:
        conversation = next((one for one in reversed(found) if one.continues_with(step)), None)
        if conversation is None:
            conversation = Conversation()
            found.append(conversation)
        conversation.add(step)
    return found


def begins_with(messages: Sequence[Message], earlier: Sequence[Message]) -> bool:
    """Whether a conversation says at first what an earlier one said."""
    return len(messages) >= len(earlier) and all(
        _key(one) == _key(other) for one, other in zip(messages, earlier, strict=False)
    )


def _key(message: Message) -> Key:
    """What a message says, apart from marks, ids and the form of its blocks."""
    texts = "".join(part.text for part in message.parts if isinstance(part, Text)).split()
    calls = tuple(
        (part.name, msgspec.json.encode(part.args, order="sorted"))
        for part in message.parts
        if isinstance(part, FunctionCall)
    )
    results = tuple(
        msgspec.json.encode(part.result, order="sorted") for part in message.parts if isinstance(part, ToolResult)
    )
    return (message.role, tuple(texts), calls, results)
