"""What the system tells of a process that was started a moment ago.

Whoever starts a process goes on as soon as a program is being loaded into it. Its command line and environment are
empty then, and its name is that of whoever has started it, until the program is there: on a busy machine that takes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import psutil

T = TypeVar("T")

PATIENCE = 5.0
"""Seconds that a program has to be there."""

_PAUSE = 0.005


def as_soon_as_written(one: psutil.Process, read: Callable[[], T]) -> T:
    """What `read` says of the process, once its program is there. Raises psutil.Error for one that is gone."""
    until = time.monotonic() + PATIENCE
    while not (found := read()) and _is_starting(one) and time.monotonic() < until:
        time.sleep(_PAUSE)
    return found or read()  # it may have come between the two looks


def _is_starting(one: psutil.Process) -> bool:
    """Whether a program is being loaded into it. Threads of the system's own have none, and one that has ended has no
    more."""
    import psutil

    return one.status() != psutil.STATUS_ZOMBIE and bool(one.exe()) and not one.cmdline()
