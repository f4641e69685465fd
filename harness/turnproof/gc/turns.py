"""Where a history may be cut: only between turns, and never between a call and its result."""

from __future__ import annotations

from collections.abc import Sequence

from ..messages import Message


def turn_starts(messages: Sequence[Message]) -> list[int]:
    """Indexes at which turns begin: user messages with text.

    Everything up to the next such message belongs to the turn: answers, tool messages, instructions in
    mid-conversation, and user messages that hold nothing but files.
    """
    return [index for index, message in enumerate(messages) if message.role == "user" and message.text]


def splits_a_pair(messages: Sequence[Message], at: int) -> bool:
    """Whether a call stands before `at` and its result at or behind it."""
    asked = {call.id for message in messages[:at] for call in message.calls}
    for message in messages[at:]:
        if any(result.call_id in asked for result in message.results):
            return True
        # From here on the id means the newer call.
        asked.difference_update(call.id for call in message.calls)
    return False
