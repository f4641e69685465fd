"""SIGTERM ends a command as Ctrl-C does: in order, with the reports of what it has so far, and with a word."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Termination:
    """Whether SIGTERM has come."""

    came = False


@contextmanager
def termination_as_interrupt() -> Iterator[Termination]:
    """Inside, the first SIGTERM raises KeyboardInterrupt in the main thread; any other one changes nothing.

    A process that was started with SIGTERM ignored, and a caller in another thread, are left as they are.
    """
    found = Termination()

    def interrupt(number: int, frame: FrameType | None) -> None:
        if not found.came:  # a second one would end the reports that the first one has asked for
            found.came = True
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield found
        return
    signal.signal(signal.SIGTERM, interrupt)
    try:
        yield found
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
