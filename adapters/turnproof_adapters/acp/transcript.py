"""What a session's updates say, as messages: those of a turn, and those that a loaded session is told again with."""

from __future__ import annotations

import re

from turnproof.messages import Message, Part, Role, Text, Thought, ToolResult

from .calls import Calls, Shown, Update, text_of

_ROLES: dict[str, Role] = {
    "user_message_chunk": "user",
    "agent_message_chunk": "model",
    "agent_thought_chunk": "model",
}


CANCELLED = "cancelled"
"""The result of a call that the cancel of its turn has left without one."""

UNKNOWN = "its result is not known"
"""The result of a call of which the program has shown none: it was ended while the call ran."""


class Transcript:
    """Messages that grow with each update. A call is part of the message it was made in, its result follows."""

    def __init__(self, calls: Calls, noise: re.Pattern[str] | None = None) -> None:
        """`noise` is what is no part of the user's words, wherever it stands in them."""
        self._calls = calls
        self._noise = noise
        self._lacking = UNKNOWN
        self._messages: list[tuple[Role, str | None, list[Part | Shown]]] = []
        self._answered: set[str] = set()

    def feed(self, update: Update) -> None:
        """Take an update. What is no part of a conversation is passed over."""
        kind = str(update.get("sessionUpdate"))
        if kind in _ROLES:
            text = text_of(update.get("content"))
            if text and self._noise is not None and kind == "user_message_chunk":
                text = self._noise.sub("", text)
            if text:
                self.say(_ROLES[kind], Thought(text) if kind == "agent_thought_chunk" else Text(text), _id(update))
        elif kind in ("tool_call", "tool_call_update"):
            shown = self._calls.update(update)
            if shown is not None:
                self.call(shown)

    def say(self, role: Role, part: Part, message_id: str | None = None) -> None:
        """Words of a message: more of the last part, if they are of its kind."""
        parts = self._parts(role, message_id)
        last = parts[-1] if parts else None
        if isinstance(last, Text) and isinstance(part, Text):
            parts[-1] = Text(last.text + part.text)
        elif isinstance(last, Thought) and isinstance(part, Thought):
            parts[-1] = Thought(last.text + part.text)
        else:
            parts.append(part)

    def call(self, shown: Shown) -> None:
        """A call as it stands, and its result if there is one."""
        if not any(shown in parts for _, _, parts in self._messages):
            # Whose message it is in is not said.
            self._parts("model", None, anyone=True).append(shown)
        if shown.ended and shown.id not in self._answered:
            self._answered.add(shown.id)
            self._parts("tool", None).append(shown)

    def drop_words(self) -> None:
        """Forget the words of the message that is being said: it is told anew."""
        if self._messages and self._messages[-1][0] == "model":
            parts = self._messages[-1][2]
            parts[:] = [part for part in parts if isinstance(part, Shown)]
            if not parts:
                self._messages.pop()

    def break_off(self) -> None:
        """The turn was cancelled: a call that was not shown to its end is none."""
        for role, _, parts in self._messages:
            if role == "model":
                parts[:] = [part for part in parts if not isinstance(part, Shown) or part.is_announced]
        self._lacking = CANCELLED

    def messages(self) -> list[Message]:
        """All so far. A call whose result was not shown is answered by that."""
        result: list[Message] = []
        lacking: list[ToolResult] = []
        for role, _, parts in self._messages:
            if lacking and role != "tool":
                result.append(Message("tool", tuple(lacking)))
            own_parts = [part.result() if isinstance(part, Shown) and role == "tool" else part for part in parts]
            message_parts = [part.call() if isinstance(part, Shown) else part for part in own_parts]
            if role == "tool":
                message_parts += lacking
            if message_parts:
                result.append(Message(role, tuple(message_parts)))
            lacking = [self._unanswered(part) for part in parts if isinstance(part, Shown) and self._lacks(role, part)]
        return [*result, Message("tool", tuple(lacking))] if lacking else result

    def _lacks(self, role: Role, shown: Shown) -> bool:
        return role == "model" and shown.id not in self._answered

    def _unanswered(self, shown: Shown) -> ToolResult:
        return ToolResult(shown.id, shown.name, self._lacking, is_error=True)

    def _parts(self, role: Role, message_id: str | None, *, anyone: bool = False) -> list[Part | Shown]:
        if self._messages:
            last, known, parts = self._messages[-1]
            same = known is None or message_id is None or known == message_id
            if last == role and (same or anyone):
                return parts
        self._messages.append((role, message_id, []))
        return self._messages[-1][2]


def _id(update: Update) -> str | None:
    found = update.get("messageId")
    return found if isinstance(found, str) else None
