"""Whether a silent worker hangs, or waits for a processor that others have. Linux alone tells.

The system counts for each thread how long it was ready to run and had no processor. That time is not the run's own:
a run hangs only when it was silent for so long while it could have gone on.
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from .process_group import descendants

SOON = 3.0
"""Seconds of silence after which a starved machine is reported."""

MOST = 10
"""A run that waits for a processor is given up after so many times its limit."""

_SHARE = 0.5
"""The part of the time spent waiting from which on a machine counts as starved."""


class Starved(Exception):
    """The machine has too little processor time for a run."""


class Patience:
    """Measures a silence that has begun `already` seconds ago, all of which counts as the run's own time."""

    def __init__(self, process: int, already: float = 0.0) -> None:
        self._process = process
        self._already = already
        self._began = time.monotonic()
        self._before = _waits(process)

    @property
    def silence(self) -> float:
        """Seconds without a word."""
        return self._already + time.monotonic() - self._began

    @property
    def waited(self) -> float:
        """Seconds for which the thread of the worker and its children that waited longest had no processor."""
        return max((now - self._before.get(task, 0.0) for task, now in _waits(self._process).items()), default=0.0)

    def starved(self) -> str:
        """What is wrong with the machine, once it is clear; empty otherwise."""
        silence, waited = self.silence, self.waited
        if silence < SOON or waited < _SHARE * silence:
            return ""
        return f"this machine is starved: for {waited:.1f} of {silence:.1f} s a run waited for a processor"


def own_wait() -> float:
    """Seconds for which the main thread of this process has had no processor so far; 0 where the system does not
    tell."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/schedstat").read_text().split()[1]) / 1e9
    return 0.0


def _waits(process: int) -> dict[str, float]:
    """How long each thread of a process and its descendants has waited so far."""
    found: dict[str, float] = {}
    for one in (process, *descendants(process)):
        for task in Path(f"/proc/{one}/task").glob("*/schedstat"):
            with contextlib.suppress(OSError, ValueError, IndexError):
                found[task.parent.name] = int(task.read_text().split()[1]) / 1e9
    return found
