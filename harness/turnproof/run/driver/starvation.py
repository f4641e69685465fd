"""Whether a silent worker hangs, or waits for a processor that others have. Linux alone tells.

The system counts for each thread how long it was ready to run and had no processor. That time is not the run's own:
a run hangs only when it was silent for so long while it could have gone on. A run of several programs goes on in one
after the other, and in the thread that serves it: what they wait for a processor adds up.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection
from itertools import chain

from .process_group import descendants, read_fields, threads_of

SOON = 3.0
"""Seconds of silence after which a starved machine is reported."""

MOST = 10
"""A run that waits for a processor is given up after so many times its limit."""

LEAST = 2
"""The same for a run behind one that was given up: a machine that has no time for a suite is not waited for in each of
its runs."""

_SHARE = 0.5
"""The part of the time spent waiting from which on a machine counts as starved."""


class Starved(Exception):
    """The machine has too little processor time for a run."""


class Patience:
    """Measures a silence that has begun `already` seconds ago, all of which counts as the run's own time.

    `process` is the worker; `serving` are threads of this process that answer it, by their native ids. `waited` has the
    seconds for which the run had no processor, as of the last look: of the threads of the worker, of its children and
    of those that serve it, the one that waited longest in each span between two looks.
    """

    def __init__(self, process: int, already: float = 0.0, serving: Collection[int] = ()) -> None:
        self._process = process
        self._serving = serving
        self._already = already
        self._began = time.monotonic()
        self._before = _waits(process, serving)
        self.waited = 0.0

    @property
    def silence(self) -> float:
        """Seconds without a word."""
        return self._already + time.monotonic() - self._began

    def look(self) -> None:
        """Add what was waited since the last look. What a thread waited that has ended since then is not counted."""
        now = _waits(self._process, self._serving)
        longest = max((waited - self._before.get(task, 0.0) for task, waited in now.items()), default=0.0)
        self.waited = min(self.waited + max(longest, 0.0), self.silence)
        self._before = now

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
        return int(read_fields("/proc/self/schedstat")[1]) / 1e9
    return 0.0


def _waits(process: int, serving: Collection[int]) -> dict[str, float]:
    """How long each thread of a process and its descendants has waited so far, and each of these threads of our own."""
    found: dict[str, float] = {}
    theirs = ((str(one), thread) for one in (process, *descendants(process)) for thread in threads_of(one))
    ours = (("self", str(thread)) for thread in serving)
    for owner, thread in chain(theirs, ours):
        with contextlib.suppress(OSError, ValueError, IndexError):
            found[thread] = int(read_fields(f"/proc/{owner}/task/{thread}/schedstat")[1]) / 1e9
    return found
