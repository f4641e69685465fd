"""What the system tells of a process in the moments of its beginning and its end.

Whoever starts a process goes on as soon as a program is being loaded into it. Its command line and environment are
empty then, and its name is that of whoever has started it, until the program is there: on a busy machine that takes.
One that has ended is there for as long as whoever has started it does not take leave of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import psutil

T = TypeVar("T")

PATIENCE = 5.0
"""Seconds that a program has to be there."""

_PAUSE = 0.002


def as_soon_as_written(process: psutil.Process, read: Callable[[], T]) -> T:
    """What `read` says of the process, once its program is there. Raises psutil.Error for one that is gone."""
    until = time.monotonic() + PATIENCE
    while not (found := read()) and _is_starting(process) and time.monotonic() < until:
        time.sleep(_PAUSE)
    return found or read()  # it may have come between the two looks


def runs(process: psutil.Process, *but: str) -> bool:
    """Whether it has not ended, and is in none of these states of psutil's."""
    import psutil

    try:
        return bool(process.is_running() and process.status() not in (psutil.STATUS_ZOMBIE, *but))
    except psutil.Error:
        return False


def still_running(these: Iterable[psutil.Process], seconds: float, *but: str) -> list[psutil.Process]:
    """Wait until none of these runs any more, or is in one of these states; those that still are not, so much later.

    None is waited for as a child is: how it ended is for whoever has started it to hear.
    """
    until = time.monotonic() + seconds
    while (left := [process for process in these if runs(process, *but)]) and time.monotonic() < until:
        time.sleep(_PAUSE)
    return left


def _is_starting(process: psutil.Process) -> bool:
    """Whether a program is being loaded into it. Threads of the system's own have none, and one that has ended has no
    more."""
    import psutil

    return process.status() != psutil.STATUS_ZOMBIE and bool(process.exe()) and not process.cmdline()
