"""`ObserverGate`: observers that can be left behind."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from ..observer import Observers, SessionObserver


class ObserverGate(Observers):
    """Passes everything on until it is closed, and nothing afterwards, whatever thread still calls.

    A turn whose provider ignores its cancellation cannot be ended from outside; what it does later must at least reach
    nobody who has gone home.
    """

    def __init__(self, observers: Sequence[SessionObserver] = ()) -> None:
        super().__init__(observers)
        # An observer may close its own gate, so the lock lets its holder in again.
        self._passing = threading.RLock()
        self._closed = False

    def close(self, timeout: float) -> None:
        """Let nothing through any more. Waits for an observer that is being told, `timeout` seconds at the most."""
        self._closed = True
        if self._passing.acquire(timeout=timeout):
            self._passing.release()

    def _notify(self, call: Callable[[SessionObserver], None]) -> None:
        with self._passing:
            if not self._closed:
                super()._notify(call)
