"""One at a time, first come first served."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ...cancel import CancelToken
from ...errors import UsageError

_tickets: ContextVar[tuple[threading.Event, ...]] = ContextVar("held", default=())
"""The tickets with which the caller, or whoever it works for, has been let in anywhere."""


class Fifo:
    """Lets threads through one by one, in the order in which they came.

    Whoever is inside and comes again would wait for itself for ever, also from a thread that works for it: that raises
    UsageError. (A tool's thread has the context of its turn; so has any other that is started with a copy.)
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._lock = threading.Lock()
        self._line: deque[threading.Event] = deque()

    @property
    def waiting(self) -> int:
        """How many wait to be let in."""
        return max(0, len(self._line) - 1)

    def refuse_from_inside(self) -> None:
        """Raise UsageError if the caller works for whoever is inside."""
        tickets = _tickets.get()
        with self._lock:
            if self._line and any(ticket is self._line[0] for ticket in tickets):
                raise UsageError(f"{self._what} cannot be used from inside one of its own turns: return from it first")

    @contextmanager
    def turn(self, token: CancelToken | None = None, *, timeout: float | None = None) -> Iterator[None]:
        """Wait, and be alone inside.

        Raises Cancelled if the token is set before it is this caller's turn, and TimeoutError after so many seconds.
        """
        self.refuse_from_inside()
        ticket = threading.Event()
        with self._lock:
            self._line.append(ticket)
            if len(self._line) == 1:
                ticket.set()
        forget = token.on_cancel(ticket.set) if token else lambda: None
        try:
            in_time = ticket.wait(timeout)
            forget()
            if token:
                token.raise_if_cancelled()
            if not in_time:
                raise TimeoutError(f"{self._what} was still busy after {timeout} seconds")
            inside = _tickets.set((*_tickets.get(), ticket))
            try:
                yield
            finally:
                _tickets.reset(inside)
        finally:
            forget()
            self._leave(ticket)

    def _leave(self, ticket: threading.Event) -> None:
        with self._lock:
            first = self._line[0] is ticket
            self._line.remove(ticket)
            if first and self._line:
                self._line[0].set()
