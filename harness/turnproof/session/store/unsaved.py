"""What of a session is not stored yet, found at the cost of what is new."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from ...messages import Message
from ..persistence import Connection, SessionState
from ..session import Session

_FACTS = ("system", "tools", "usage", "budget", "waiting", "cancelled_at", "connection")
"""What is stored beside the messages, and may change at any time."""


@dataclass(frozen=True, slots=True)
class Difference:
    """`changes` is in the words of `Changes`, `added` the session with its new messages alone.

    `facts` and, where the stored messages are not the beginning of the present ones, `messages` are what is stored
    once both are.
    """

    changes: dict[str, Any]
    added: SessionState
    facts: dict[str, Any]
    messages: list[Message] | None


class Stored:
    """What is on the disk of a session's messages, and of what stands beside them: all of it, to begin with."""

    def __init__(self, session: Session, state: SessionState) -> None:
        self._messages = session.history.messages
        self._facts = _facts(state)

    def difference(
        self, session: Session, connection: Connection, first: Message | None = None, *, whole: bool = False
    ) -> Difference:
        """What has become of the session.

        New is what stands behind the stored messages. Where those are not there any more, what stands before `first`
        is a history of its own, among the changes, and new is what begins with it. With `whole` that is so wherever
        anything is new, and nothing is left to add.
        """
        messages, start = session.history.messages_ref, len(self._messages)
        changes: dict[str, Any] = {}
        replaced_history: list[Message] | None = None
        # By identity, and at the speed of a list's comparison: messages are equal only to themselves.
        if messages[:start] == self._messages and not (whole and len(messages) > start):
            added = session.state(start)
        else:
            start = next((at for at, message in enumerate(messages) if message is first), len(messages))
            every = session.state()
            added = replace(every, messages=every.messages[start:], typed=())
            changes |= {"history": every.messages[:start], "typed": every.typed}
            replaced_history = list(every.messages)
        facts = _facts(added) | {"connection": replace(connection, path=session.path)}
        changes |= {name: value for name, value in facts.items() if value != self._facts[name]}
        return Difference(changes, added, facts, replaced_history)

    def mark_stored(self, difference: Difference) -> None:
        """Count a difference as stored."""
        if difference.messages is None:
            self._messages += difference.added.messages
        else:
            self._messages = difference.messages
        self._facts = difference.facts


def _facts(state: SessionState) -> dict[str, Any]:
    return {name: getattr(state, name) for name in _FACTS}
