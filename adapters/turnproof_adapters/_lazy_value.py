"""A value that is made when it is needed, by one thread at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from turnproof.cancel import CancelToken

T = TypeVar("T")


class LazyValue(Generic[T]):
    """Holds a value that takes a request to make: an access token, a project.

    While one thread makes it the others wait, each until it is made or its own turn is cancelled. Where it could not be
    made, the next one tries: whose cancel it was is nobody else's affair.
    """

    def __init__(self, value: T | None = None) -> None:
        self.value = value
        self._lock = threading.Lock()
        self._making = False
        self._waiting: list[threading.Event] = []

    def get(self, is_good: Callable[[T], bool], make: Callable[[], T], token: CancelToken | None) -> T:
        """The value, as long as it is good, else a new one. Raises what making it raises, and Cancelled once the token
        is set."""
        while True:
            with self._lock:
                if (value := self.value) is not None and is_good(value):
                    return value
                if not self._making:
                    self._making = True
                    break
                ready = threading.Event()
                self._waiting.append(ready)
            _wait(ready, token)
        try:
            value = make()
            self.value = value
            return value
        finally:
            with self._lock:
                self._making = False
                waiting, self._waiting = self._waiting, []
            for each in waiting:
                each.set()


def _wait(ready: threading.Event, token: CancelToken | None) -> None:
    forget = token.on_cancel(ready.set) if token is not None else None
    ready.wait()
    if forget is not None:
        forget()
    if token is not None:
        token.raise_if_cancelled()
