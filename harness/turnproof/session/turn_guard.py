"""`TurnGuard`: what surrounds a turn. One thing at a time, one token of its own, one beginning and one end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..cancel import CancelToken
from ..errors import UsageError
from ..messages import Message
from .history import SessionHistory
from .observer import SessionObserver
from .result import TurnResult
from .retry import Sleep

_GUARDS_IN_USE: ContextVar[tuple[TurnGuard, ...]] = ContextVar("turnproof_guards_in_use", default=())
"""The guards of the sessions that wait for the code that runs here. Tools run in a copy of their turn's context."""


class TurnGuard:
    """Whether something runs in a session, and the way to stop it from another thread."""

    def __init__(self, observer: SessionObserver) -> None:
        self._observer = observer
        self._busy = threading.Lock()
        self._token: CancelToken | None = None

    @property
    def is_processing(self) -> bool:
        """Whether a turn is running."""
        return self._token is not None

    def stop(self) -> bool:
        """Cancel the running turn. False if none is running."""
        token = self._token
        if token is None:
            return False
        token.cancel()
        return True

    @contextmanager
    def exclusively(self) -> Iterator[None]:
        """Keep everything else out. Raises UsageError where something runs already."""
        # Not blocking: a tool or a callback that came back in here would wait for itself for ever.
        if not self._busy.acquire(blocking=False):
            if self in _GUARDS_IN_USE.get():
                raise UsageError(
                    "a turn of this session is running, and it waits for the tool, callback or child that makes this "
                    "call: return from there first, or use another session"
                )
            raise UsageError("a turn of this session is running: wait for it, or stop() it first")
        before = _GUARDS_IN_USE.set((*_GUARDS_IN_USE.get(), self))
        try:
            yield
        finally:
            _GUARDS_IN_USE.reset(before)
            self._busy.release()

    @contextmanager
    def cancellable(self, outer: CancelToken | None) -> Iterator[CancelToken]:
        """A token of the turn's own, so that `stop()` never cancels what else the caller's token stands for."""
        token = CancelToken()
        forget = outer.on_cancel(token.cancel) if outer else lambda: None
        self._token = token
        try:
            yield token
        finally:
            self._token = None
            forget()

    @contextmanager
    def told_of(self, user: Message, history: SessionHistory) -> Iterator[Callable[[TurnResult], None]]:
        """Has the observer told of a turn's beginning and of its one end, which is what it raises unless noted."""
        ends: list[TurnResult | BaseException] = []
        self._observer.on_status("running")
        self._observer.on_turn_began(user)
        try:
            yield ends.append
        except BaseException as error:
            ends.append(error)
            raise
        finally:
            self._observer.on_turn_ended(ends[0])
            self._observer.on_history(history.messages)
            self._observer.on_status("idle")

    def waiting(self, sleep: Sleep) -> Sleep:
        """The same sleep, with the observer told that the turn waits."""

        def wait(seconds: float, token: CancelToken) -> bool:
            self._observer.on_status("waiting")
            try:
                return sleep(seconds, token)
            finally:
                self._observer.on_status("running")

        return wait
