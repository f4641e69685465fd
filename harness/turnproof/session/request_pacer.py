"""`RequestPacer`: a minimum time between two requests, so that a provider's limit is kept instead of hit."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from ..cancel import CancelToken
from ..errors import Cancelled, UsageError
from .retry import Sleep


class RequestPacer:
    """Lets a request through every `interval` seconds of `clock`, the first one at once.

    Sessions (and their subagents) that share a provider's limit share one pacer: it may be used from any thread, and
    requests go in the order in which they came.
    """

    def __init__(self, interval: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        if not interval >= 0:
            raise UsageError(f"an interval between requests is a number of seconds from 0 up, got {interval!r}")
        self._interval = interval
        self._clock = clock
        self._lock = threading.Lock()
        self._next = float("-inf")

    def wait(self, token: CancelToken, sleep: Sleep) -> None:
        """Return when the next request may be made. Raises Cancelled, and uses up no turn, if the token is set first.

        `sleep` is not called where there is nothing to wait for.
        """
        with self._lock:
            now = self._clock()
            at = max(now, self._next)
            self._next = at + self._interval
        if at > now and sleep(at - now, token):
            self._give_back(at)
            raise Cancelled("the turn was cancelled while its request waited for the pacer")

    def _give_back(self, at: float) -> None:
        with self._lock:
            # Only the last place in the queue can be given back: those behind have been told when to go.
            if self._next == at + self._interval:
                self._next = at
