"""A stream that loses its connection is resumed behind the last event that came: no event is missing or comes twice.

The service keeps the events of an answer, each with a position. A connection that brings no new event is the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Generic, TypeAlias, TypeVar

from turnproof.errors import TransportError

from ._calling import Source

E = TypeVar("E")

Position: TypeAlias = int | str
"""What names an event within its stream: a number that grows by 1, or an id without any order."""


class ResumedStream(Generic[E]):
    """The events of a source, and of the ones that go on where it breaks.

    follow:   opens the stream behind the event with this position.
    position: the position of an event; None if it has none.
    is_lost:  whether a stream that ended with this error, or with none, has lost its connection.
    """

    def __init__(
        self,
        source: Source[E],
        follow: Callable[[Position], Source[E]],
        position: Callable[[E], Position | None],
        is_lost: Callable[[Exception | None], bool],
    ) -> None:
        self._source = source
        self._follow = follow
        self._position = position
        self._is_lost = is_lost
        self._known: set[Position] = set()
        self._last: Position | None = None
        self._resumed_behind: Position | None = None

    def close(self) -> None:
        """Hang up."""
        self._source.close()

    def events(self) -> Iterator[E]:
        """The events. Raises what a source raises, and TransportError where events are missing between two of them."""
        while True:
            count, failure = len(self._known), None
            try:
                for event in self._source.events:
                    if self._is_new(event):
                        yield event
            except Exception as error:
                failure = error
            last = self._last
            if last is None or len(self._known) == count or not self._is_lost(failure) or not self._resume(last):
                break
        if failure is not None:
            raise failure

    def _is_new(self, event: E) -> bool:
        position = self._position(event)
        if position is None:
            return True
        if self._resumed_behind is not None:
            if position in self._known:
                return False  # the service sends more than was missing
            self._refuse_gap(self._resumed_behind, position)
            self._resumed_behind = None
        self._known.add(position)
        # A keep-alive may have a number that is out of order.
        is_behind = isinstance(position, int) and isinstance(self._last, int) and position < self._last
        self._last = self._last if is_behind else position
        return True

    def _refuse_gap(self, last: Position, position: Position) -> None:
        if isinstance(position, int) and isinstance(last, int) and position != last + 1:
            raise TransportError(f"the stream was resumed behind event {last}, and goes on with event {position}")

    def _resume(self, last: Position) -> bool:
        """Whether the stream could be opened behind this position."""
        with suppress(Exception):
            self._source.close()
        try:
            self._source = self._follow(last)
        except Exception:
            # What broke the stream is the failure of the call. Who resumes the answer again learns of this one.
            return False
        self._resumed_behind = last
        return True
