"""`SessionHistory`: the one copy of a conversation that counts.

Nobody else's list is ever aliased: what comes in is copied, and what goes out is a copy, save for `messages_ref`.
Messages themselves are frozen, so copies are shallow and a snapshot keeps the same message objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .._base.counts import counted
from ..messages import Message


class SessionHistory:
    """An ordered list of messages that knows whether it changed.

    Every mutation sets `dirty` and moves `version` on; `clear()` and `mark_saved()` reset `dirty`. Not
    synchronised: a session changes it from one turn at a time.
    """

    __slots__ = ("_dirty", "_messages", "_version")

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self._messages = _checked(messages)
        self._dirty = False
        self._version = 0

    def append(self, message: Message) -> None:
        """Put one message at the end."""
        self._messages.extend(_checked((message,)))
        self._touch()

    def replace(self, messages: Iterable[Message]) -> None:
        """Hold a copy of these messages instead of the present ones."""
        self._messages = _checked(messages)
        self._touch()

    def pop_last(self) -> Message | None:
        """Take the last message out and return it; None, and no change, when there is none."""
        if not self._messages:
            return None
        self._touch()
        return self._messages.pop()

    def clear(self) -> None:
        """Forget everything; what is left has nothing to save, so `dirty` is reset."""
        self._messages = []
        self._touch()
        self._dirty = False

    def mark_saved(self) -> None:
        """Reset `dirty`: the present content is stored elsewhere."""
        self._dirty = False

    @property
    def dirty(self) -> bool:
        """Whether anything changed since the history was made, cleared or saved."""
        return self._dirty

    @property
    def version(self) -> int:
        """Grows with every mutation: equal versions of one history mean equal content."""
        return self._version

    @property
    def messages(self) -> list[Message]:
        """A copy that the caller may change."""
        return list(self._messages)

    @property
    def messages_ref(self) -> Sequence[Message]:
        """The only uncopied view: for reading, until the next mutation."""
        return self._messages

    @property
    def last(self) -> Message | None:
        """The last message, or None."""
        return self._messages[-1] if self._messages else None

    def slice(self, start: int, end: int | None = None) -> list[Message]:
        """A copy of the messages from `start` up to, not including, `end`, by Python's slice rules."""
        return self._messages[start:end]

    def snapshot(self) -> list[Message]:
        """All messages as they are now; `replace(snapshot)` brings back the same message objects."""
        return list(self._messages)

    def __len__(self) -> int:
        return len(self._messages)

    def __bool__(self) -> bool:
        return bool(self._messages)

    def __repr__(self) -> str:
        return f"SessionHistory({counted(len(self._messages), 'message')}, dirty={self._dirty})"

    def _touch(self) -> None:
        self._dirty = True
        self._version += 1


def _checked(messages: Iterable[Message]) -> list[Message]:
    checked = list(messages)
    for index, message in enumerate(checked):
        if not isinstance(message, Message):
            raise TypeError(f"a history holds Message objects, got {type(message).__name__} at index {index}")
    return checked
