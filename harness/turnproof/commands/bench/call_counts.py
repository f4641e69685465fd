"""Counts of a turn, taken from outside: exact, and the same in every run.

The messages that are handed in know when somebody looks at their parts, the list they come in knows what is taken out
of it, and a wrapper around the provider counts its calls. What is compiled may reach into either without being seen
(msgspec encodes a whole message in C); and passing over a list cannot be told from copying it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, SupportsIndex

from ...messages import Message


class CallCounts:
    """What was seen while the provider had control."""

    def __init__(self) -> None:
        self.calls: dict[str, int] = {}
        self.reads = 0
        self._read: set[str] = set()
        self._inside = False

    @property
    def read(self) -> int:
        """How many different watched messages were looked into. A copy of a message counts as that message."""
        return len(self._read)

    def clear(self) -> None:
        """Begin to count anew."""
        self.calls, self.reads = {}, 0
        self._read.clear()

    def messages(self, messages: Sequence[Message]) -> list[Message]:
        """These messages, watched. They keep their ids."""
        watch = self

        class Watched(Message, frozen=True, eq=False, weakref=True):
            def __getattribute__(self, name: str) -> Any:
                if name == "parts" and watch._inside:
                    watch._read.add(self.message_id)
                return super().__getattribute__(name)

        return [Watched(message.role, message.parts, message.message_id) for message in messages]

    def provider(self, provider: Any) -> Any:
        """The provider, watched: every public method of it, and each list of messages that it is given."""
        return _WatchedProvider(provider, self)

    @contextmanager
    def inside(self, method: str) -> Iterator[None]:
        """The provider has control. A call that the provider makes of itself is no call of its user's."""
        self.calls[method] = self.calls.get(method, 0) + 1
        self._inside = True
        try:
            yield
        finally:
            self._inside = False

    def handed(self, value: Any) -> Any:
        """An argument; a list of messages as one that counts."""
        if isinstance(value, list) and value and all(isinstance(item, Message) for item in value):
            return _WatchedList(value, self)
        return value


class _WatchedProvider:
    def __init__(self, provider: Any, watch: CallCounts) -> None:
        self._provider, self._watch = provider, watch

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._provider, name)
        return found if name.startswith("_") or not callable(found) else _watched(found, name, self._watch)


def _watched(method: Callable[..., Any], name: str, watch: CallCounts) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        arguments = [watch.handed(value) for value in args]
        named = {key: watch.handed(value) for key, value in kwargs.items()}
        with watch.inside(name):
            return method(*arguments, **named)

    return call


class _WatchedList(list[Message]):
    """A list that counts what is taken out of it, one by one, as a slice, or as a copy."""

    def __init__(self, messages: list[Message], watch: CallCounts) -> None:
        super().__init__(messages)
        self._watch = watch

    def __iter__(self) -> Iterator[Message]:
        for message in super().__iter__():
            self._watch.reads += 1
            yield message

    def __reversed__(self) -> Iterator[Message]:
        for message in super().__reversed__():
            self._watch.reads += 1
            yield message

    def __getitem__(self, place: SupportsIndex | slice) -> Any:
        found = super().__getitem__(place)
        self._watch.reads += len(found) if isinstance(found, list) else 1
        return found

    def __add__(self, other: Any) -> Any:
        return self.copy() + other

    def __radd__(self, other: Any) -> Any:
        return other + self.copy()

    def copy(self) -> list[Message]:
        self._watch.reads += len(self)
        return super().copy()
