"""`CancelToken`: one signal that a turn should stop, safe to share between threads."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator

from .errors import Cancelled


class CancelToken:
    """Set once, seen by everybody who waits, asks, or registered a callback.

    `cancel()` is idempotent and thread-safe; callbacks run in the thread that cancels, once each, in the order
    of registration, and an exception in one neither stops the others nor reaches the canceller.
    """

    __slots__ = ("_callbacks", "_event", "_lock")

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel()` has been called."""
        return self._event.is_set()

    def cancel(self) -> None:
        """Ask everything that watches this token to stop."""
        with self._lock:
            if self._event.is_set():
                return
            self._event.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            _run(callback)

    def wait(self, timeout: float | None = None) -> bool:
        """Sleep until cancelled or until `timeout` seconds are over; True if cancelled."""
        return self._event.wait(timeout)

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Run `callback` on cancellation, at once if that has already happened. Returns a function that unregisters."""
        with self._lock:
            if not self._event.is_set():
                self._callbacks.append(callback)
                return lambda: self._forget(callback)
        _run(callback)
        return lambda: None

    def raise_if_cancelled(self) -> None:
        """Raise `Cancelled` if the token is set."""
        if self.is_cancelled:
            raise Cancelled("the turn was cancelled")

    @contextlib.contextmanager
    def interrupting(self) -> Iterator[None]:
        """For coroutines: inside, cancelling the token, from whatever thread, cancels the running task.

        The block is then left at the `await` it was in, without an exception, so that what had arrived can be
        returned after it. A task that is cancelled for another reason raises `asyncio.CancelledError` as ever.
        Raises `Cancelled` at once if the token is set already.
        """
        self.raise_if_cancelled()
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        if task is None:
            raise RuntimeError("interrupting() needs a task: use it in a coroutine")
        inside, interrupted = True, False

        def interrupt() -> None:
            nonlocal interrupted
            # Runs in the loop's thread, as the task does: what is true here stays true until the task goes on.
            if inside:
                interrupted = task.cancel()

        def fire() -> None:
            loop.call_soon_threadsafe(interrupt)

        forget = self.on_cancel(fire)
        try:
            yield
        except asyncio.CancelledError:
            if not interrupted or task.uncancel():
                raise
        finally:
            inside = False
            forget()

    def _forget(self, callback: Callable[[], None]) -> None:
        with self._lock:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

    def __repr__(self) -> str:
        return f"CancelToken(is_cancelled={self.is_cancelled})"


def _run(callback: Callable[[], None]) -> None:
    try:
        callback()
    except Exception:  # one listener's fault must not keep the others from stopping
        import logging

        logging.getLogger(__name__).exception("a cancellation callback failed")
