"""Coroutines for callers that are not: one event loop, in a thread of its own, shared by the process.

Shared and long-lived because an HTTP client belongs to the loop it was first used on. The loop starts with the first
awaitable of its first user and stops, its thread joined, when its last user lets go.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import os
import threading
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ..errors import HarnessError, ProviderError


class LoopUser:
    """One provider's hold on the shared loop. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shared: _SharedLoop | None = None

    def result(self, returned: Any) -> Any:
        """What was returned, or, if that can be awaited, what it then gives (or raises)."""
        if not inspect.isawaitable(returned):
            return returned
        if _fresh.get():
            return _in_fresh_loop(returned)
        with self._lock:
            # After a fork the loop that was held is the parent's, and gone here: hold the new one.
            if self._shared is not _shared:
                self._shared = _shared
                self._shared.acquire()
            shared = self._shared
        return shared.run(returned)

    def release(self) -> None:
        """Let go. Calling it twice is harmless; the next awaitable takes hold again."""
        with self._lock:
            shared, self._shared = self._shared, None
        if shared is not None:
            shared.release()


class _SharedLoop:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def acquire(self) -> None:
        with self._lock:
            self._users += 1
            if self._thread is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_serve, args=(self._loop,), name="turnproof-loop", daemon=True)
                self._thread.start()

    def release(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users or self._loop is None or self._thread is None:
                return
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        # Not under the lock: a task that is cancelled by this may let go of its own provider.
        loop.call_soon_threadsafe(loop.stop)
        if thread is not threading.current_thread():
            thread.join()

    def run(self, awaitable: Awaitable[Any]) -> Any:
        loop = self._loop
        assert loop is not None
        if self._thread is threading.current_thread():
            if inspect.iscoroutine(awaitable):
                awaitable.close()
            raise HarnessError("a coroutine adapter was called from its own event loop, which would wait for itself")
        cancelled: list[BaseException] = []
        future = asyncio.run_coroutine_threadsafe(_outcome(awaitable, cancelled), loop)
        try:
            value, fatal = future.result()
        except concurrent.futures.CancelledError:
            # What the future raises has no traceback; the adapter's own exception has the place in its code.
            raise ProviderError("the adapter's coroutine ended by cancelling itself") from next(iter(cancelled), None)
        finally:
            future.cancel()  # for an exception in this thread, as by Ctrl-C; nothing happens to a finished one
        if fatal is not None:
            raise fatal
        return value


async def _outcome(awaitable: Awaitable[Any], cancelled: list[BaseException]) -> tuple[Any, BaseException | None]:
    try:
        return await awaitable, None
    except asyncio.CancelledError as error:
        cancelled.append(error)
        raise
    except (SystemExit, KeyboardInterrupt) as error:
        # Raised in the loop these would end it, and everybody who waits for it would wait for ever.
        return None, error


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


_shared = _SharedLoop()
_fresh: ContextVar[bool] = ContextVar("turnproof_fresh_loops", default=False)


@contextmanager
def in_fresh_loops() -> Iterator[None]:
    """Inside, each awaitable is run in an event loop of its own that ends with it, instead of the shared one."""
    token = _fresh.set(True)
    try:
        yield
    finally:
        _fresh.reset(token)


def _in_fresh_loop(awaitable: Awaitable[Any]) -> Any:
    # In a thread of its own, as the caller's may have a loop running already.
    with concurrent.futures.ThreadPoolExecutor(1, "turnproof-fresh-loop") as thread:
        value, fatal = thread.submit(lambda: asyncio.run(_outcome(awaitable, []))).result()
    if fatal is not None:
        raise fatal
    return value


def _start_afresh() -> None:
    global _shared
    _shared = _SharedLoop()


if hasattr(os, "register_at_fork"):
    # A forked child has the loop's memory but not its thread.
    os.register_at_fork(after_in_child=_start_afresh)
