"""Signals and what must not be cut in two by them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, NoReturn

_HELD_BACK: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Holds Ctrl-C and the like back until the block is left. Only the main thread is ever interrupted by one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: dict[int, None] = {}

    def note(number: int, frame: FrameType | None) -> None:
        came[number] = None

    # Not by the thread's signal mask: another thread would take the signal, and Python's handler run here all the same.
    # A handler that Python has not installed, and so could not put back, is left alone.
    before = {number: signal.signal(number, note) for number in _HELD_BACK if signal.getsignal(number) is not None}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for held_back in came:
            signal.raise_signal(held_back)


@contextmanager
def exit_on_sigterm() -> Iterator[None]:
    """Inside, SIGTERM raises SystemExit(143) in the main thread, so that what is open is left in order and saved.

    For the main thread of a program that has no handler of its own; the former handler is back afterwards.
    """

    def leave(number: int, frame: FrameType | None) -> NoReturn:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
