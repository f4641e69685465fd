"""How far a command has come, told on stderr: live on a terminal, in a few plain lines everywhere else.

Every command tells it in the same way:

    with progress("certify") as told:
        told.stage("runs")
        told.begun("anthropic tools/one")                  # this runs now
        told(1, 200, "anthropic tools/one")                # so many of so many are done, this was the last of them
        told.count(Status.HELD)                            # a verdict fell

Whatever ends the `with`, an interrupt too, leaves the terminal as it was.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self, TextIO

from ..judge.verdict import Status
from ..run.driver.run_place import PlaceReports
from .progress_display import Lines, LiveDisplay, State, is_live
from .progress_rate import Pace


class Telling(Protocol):
    """What an engine needs of a progress: it may be told anything, from any thread."""

    def __call__(self, done: int, total: int, what: str) -> None:
        """So many of so many are done; `what` is the one that has just ended, or the one that is at work."""

    def started(self, what: str) -> None:
        """This runs from now on, until it is told as done under the same name."""

    def stage(self, things: str) -> None:
        """From here on these things are counted, from nothing."""

    def count(self, status: Status) -> None:
        """A verdict fell."""

    def workers(self, count: int) -> None:
        """So many workers of a cluster make the runs from now on."""


class Silence:
    """Tells nobody."""

    def __call__(self, done: int, total: int, what: str) -> None: ...

    def started(self, what: str) -> None: ...

    def stage(self, things: str) -> None: ...

    def count(self, status: Status) -> None: ...

    def workers(self, count: int) -> None: ...


class Progress:
    """The progress of one command, shown from the first thing that is told until the `with` ends."""

    def __init__(self, command: str, *, ticks: bool, file: TextIO, clock: Callable[[], float]) -> None:
        self._clock = clock
        now = clock()
        self.state = State(command, Pace(now), now)
        self._lock = threading.RLock()
        self._show: LiveDisplay | Lines
        if is_live(file):
            self._show = LiveDisplay(self.state, self._lock, clock, file, ticks=ticks)
        else:
            self._show = Lines(self.state, clock, file)
        self._over = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A run that was under way may still be told of when everybody has left.
        self._over = True
        self._show.close(whole=kind is None)

    def __call__(self, done: int, total: int, what: str) -> None:
        """So many of so many are done; `what` is the one that has just ended, or the one that is at work."""
        with self._lock:
            state = self.state
            if what in state.running:
                del state.running[what]
            else:
                state.now = what
            if done < state.done:  # another row of the same things
                state.pace = Pace(self._clock())
            if done != state.done:
                state.pace.mark(self._clock(), done)
            state.done, state.total = done, total
        self._changed()

    def started(self, what: str) -> None:
        """This runs from now on, until it is told as done under the same name."""
        with self._lock:
            self.state.running[what] = None
        self._changed()

    def stage(self, things: str) -> None:
        """From here on these things are counted, from nothing."""
        with self._lock:
            state = self.state
            state.things, state.done, state.total, state.now = things, 0, 0, ""
            state.running.clear()
            state.pace = Pace(self._clock())
        self._changed()

    def workers(self, count: int) -> None:
        """So many workers of a cluster make the runs from now on."""
        with self._lock:
            self.state.workers = count
        self._changed()

    def count(self, status: Status) -> None:
        """A verdict fell."""
        with self._lock:
            self.state.counts[status] += 1

    def _changed(self) -> None:
        if not self._over:
            self._show.changed()


def progress(
    command: str = "",
    *,
    ticks: bool = True,
    file: TextIO | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Progress:
    """The progress of a command, on stderr unless another `file` is given.

    With `ticks` the clock on the screen goes on between what is told, by a thread of its own; a command that measures
    the CPU time of its process does without.
    """
    return Progress(command, ticks=ticks, file=file or sys.stderr, clock=clock)


def place_reports(tracker: Telling) -> PlaceReports:
    """What a command shows of the place that makes its runs."""
    return PlaceReports(starved=report_starved, workers=tracker.workers, dashboard=report_dashboard)


def report_starved(words: str) -> None:
    """Tell that the machine has too little processor time for the runs, and what helps."""
    print(f"{words}. Runs wait and go on; fewer programs beside this one, or -j 1, make them quicker", file=sys.stderr)


def report_dashboard(address: str) -> None:
    """Tell where the dashboard of the cluster is that makes the runs."""
    if address:
        print(f"the cluster's dashboard: {address}", file=sys.stderr)
