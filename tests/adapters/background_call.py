"""Calls in threads of their own, watched and cancelled from the test's."""

from __future__ import annotations

import gc
import select
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Generic, TypeVar
from unittest.mock import patch

from turnproof.cancel import CancelToken

from .scripted_server import LIMIT, Exchange

T = TypeVar("T")


class BackgroundCall(Generic[T]):
    """A call in a thread of its own. The test watches and cancels it from its own thread."""

    def __init__(self, call: Callable[[CancelToken], T]) -> None:
        self.token = CancelToken()
        self._outcome: list[T | BaseException] = []
        self._thread = threading.Thread(target=self._run, args=(call,), daemon=True)
        self._thread.start()

    def _run(self, call: Callable[[CancelToken], T]) -> None:
        try:
            self._outcome.append(call(self.token))
        except BaseException as error:
            self._outcome.append(error)

    @property
    def is_alive(self) -> bool:
        """Whether the call goes on."""
        return self._thread.is_alive()

    @property
    def is_reading(self) -> bool:
        """Whether the call waits for bytes at this moment."""
        return self.frames[:1] == ["read"]

    def wait_until_reading(self, after: Callable[[], object] = lambda: True) -> None:
        """Wait until `after` is true and the call waits for bytes: it has processed everything that arrived before."""
        # In this order: a call that reads before `after` is true may be in the read that makes it true.
        wait_until(lambda: bool(after()) and self.is_reading)

    @property
    def frames(self) -> list[str]:
        """Names of the functions that the call is in, the innermost first."""
        # On Python 3.11 a garbage collection in the midst of this can deadlock the whole process (cpython gh-106883).
        gc.disable()
        try:
            frame = sys._current_frames().get(self._thread.ident or 0)
        finally:
            gc.enable()
        names = []
        try:
            while frame is not None:
                names.append(frame.f_code.co_name)
                frame = frame.f_back
        except AttributeError:  # the function has returned meanwhile, and its frame holds something else by now
            return []
        return names

    def result(self) -> T | BaseException:
        self._thread.join(LIMIT)
        assert self._outcome, "the call did not return"
        return self._outcome[0]


def write_and_hold(*pieces: bytes) -> tuple[Callable[[Exchange], None], threading.Event]:
    """A script that writes these pieces of a stream and then holds still, and the event that says it does."""
    stall = threading.Event()

    def script(exchange: Exchange) -> None:
        if pieces:
            exchange.stream_head()
            exchange.chunk(b"".join(pieces))
        stall.set()
        exchange.wait_for_hangup()

    return script, stall


def behind_another(
    call: Callable[[CancelToken], T], held: threading.Event
) -> tuple[BackgroundCall[T], BackgroundCall[T]]:
    """Two calls: the first one gets as far as the event says, the second one waits for what the first has begun."""
    first = BackgroundCall(call)
    assert held.wait(LIMIT)
    second = BackgroundCall(call)
    wait_until(lambda: "_wait" in second.frames)
    return first, second


def wait_until(condition: Callable[[], bool]) -> None:
    waited = threading.Event()
    for _ in range(int(LIMIT * 100)):
        if condition():
            return
        waited.wait(0.01)
    raise AssertionError("it did not happen")


@contextmanager
def full_listener() -> Iterator[str]:
    """An address that accepts no more connections: the next one hangs while connecting, for as long as it takes."""
    patient = patch("turnproof_adapters._http.CONNECT_TIMEOUT", LIMIT)
    with patient, closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = []
        try:
            for _ in range(8):
                each = socket.socket()
                each.setblocking(False)
                each.connect_ex(listener.getsockname())
                waiting.append(each)
            # The first of them has been let in, and fills the queue.
            assert select.select([listener], [], [], LIMIT)[0]
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            for each in waiting:
                each.close()
