"""How progress is shown: live on a terminal, in a few plain lines everywhere else."""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.text import Text

from .._base.counts import counted
from ..judge.verdict import Status
from ._inline_text import LOOKS, one_line
from .progress_rate import Pace, in_words, time_text

_RUNNING = 4
"""So many of the things that run now are shown."""
_REFRESH = 8
_BAR = 60
"""Columns of the bar, where there are as many."""
_QUIET, _BETWEEN, _OFTEN, _SHARE = 10.0, 5.0, 30.0, 0.1
"""Without a terminal: seconds before anything is said, and between two lines at least; then a line after so many
seconds, or this share of all there is to do."""


@dataclass
class State:
    """What has been told so far. `things` are counted; none of them are known as long as `total` is 0."""

    command: str
    pace: Pace
    started: float
    things: str = "runs"
    done: int = 0
    total: int = 0
    now: str = ""
    running: dict[str, None] = field(default_factory=dict)
    counts: Counter[Status] = field(default_factory=Counter)
    workers: int | None = None

    def place(self, now: float) -> str:
        """On how many workers of a cluster, and how many things a second; empty without a cluster."""
        if self.workers is None:
            return ""
        rate = self.pace.rate(now)
        return f" on {counted(self.workers, 'worker')}" + (f", {rate:.1f} a second" if rate is not None else "")

    def times(self, now: float) -> str:
        """Time gone by, and time left where that is known."""
        left = self.pace.left(now, self.done, self.total) if self.total else None
        times = time_text(now - self.started)
        return times if left is None or self.done == self.total else f"{times}, {in_words(left)}"

    def at_work(self) -> list[str]:
        """What runs now."""
        return list(self.running) or ([self.now] if self.now else [])


def is_live(file: TextIO) -> bool:
    """Whether lines can be written over: a terminal that is more than a printer."""
    return file.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")


class Lines:
    """Without a terminal: nothing of what is short, then a line now and then, and one at the end."""

    def __init__(self, state: State, clock: Callable[[], float], file: TextIO) -> None:
        self._state, self._clock, self._file = state, clock, file
        self._last, self._share, self._things = state.started, 0.0, ""
        self._turn = threading.Lock()

    def changed(self) -> None:
        with self._turn:
            self._changed()

    def _changed(self) -> None:
        state, now = self._state, self._clock()
        if now - state.started < _QUIET or now - self._last < _BETWEEN or not state.total:
            return
        share = state.done / state.total
        fresh = self._things != state.things
        if fresh or share - self._share >= _SHARE or now - self._last >= _OFTEN:
            self._last, self._share, self._things = now, share, state.things
            counts_text = f"{state.done} of {state.total} {state.things}{state.place(now)}"
            self._say(f"{counts_text}, {state.times(now)}{_state_text(state)}")

    def close(self, *, whole: bool) -> None:
        if self._things:
            end = "done" if whole else f"stopped at {self._state.done} of {self._state.total} {self._state.things}"
            self._say(f"{end} after {time_text(self._clock() - self._state.started)}")
            self._things = ""

    def _say(self, words: str) -> None:
        name = f"{self._state.command}: " if self._state.command else ""
        print(f"{name}{words}", file=self._file, flush=True)


def _state_text(state: State) -> str:
    counts = [f"{count} {LOOKS[status].word}" for status in Status if (count := state.counts[status])]
    return f" ({', '.join(counts)})" if counts else ""


class LiveDisplay:
    """On a terminal: a bar with numbers and times, the verdicts so far, and what runs now; gone when it is over."""

    def __init__(
        self, state: State, lock: threading.RLock, clock: Callable[[], float], file: TextIO, *, ticks: bool
    ) -> None:
        self._state, self._lock, self._clock, self._ticks = state, lock, clock, ticks
        self._console = Console(
            file=file, markup=False, highlight=False, emoji=False, no_color="NO_COLOR" in os.environ or None
        )
        self._live: Live | None = None
        self._last_refresh = 0.0
        # Not the state's lock: that one is taken while the display draws, which holds a lock of its own.
        self._turn = threading.Lock()

    def changed(self) -> None:
        with self._turn:
            if self._live is None:
                self._live = self._started()
            if not self._ticks and self._clock() - self._last_refresh >= 1 / _REFRESH:
                self._last_refresh = self._clock()
                self._live.refresh()

    def _started(self) -> Live:
        # stdout is for data: only what is talk may pass above the bar.
        live = Live(
            self,
            console=self._console,
            transient=True,
            auto_refresh=self._ticks,
            refresh_per_second=_REFRESH,
            redirect_stdout=False,
            redirect_stderr=self._console.file is sys.stderr,
        )
        live.start()
        return live

    def close(self, *, whole: bool) -> None:
        with self._turn:
            live, self._live = self._live, None
            if live is not None:
                live.stop()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        with self._lock:
            state = self._state
            now, at_work, width = self._clock(), state.at_work(), options.max_width
            count = f"{state.done}/{state.total} {state.things}" if state.total else state.things
            head = Text.assemble(
                (state.command, "bold"), "  ", count, state.place(now), "  ", (state.times(now), "dim")
            )
            done, total = state.done, state.total
            counts = [(LOOKS[status], number) for status in Status if (number := state.counts[status])]
        head.no_wrap, head.overflow = True, "ellipsis"
        yield head
        if total and (room := min(_BAR, width - 2)) > 0:
            yield Padding(ProgressBar(total, done, width=room), (0, 0, 0, 2), expand=False)
        if counts:
            line = Text("  ", no_wrap=True, overflow="ellipsis")
            for look, number in counts:
                line.append(f"{look.symbol} {number} {look.word}  ", style=look.colour)
            yield line
        for what in at_work[:_RUNNING]:
            yield Text(f"  {one_line(what)}", style="dim", no_wrap=True, overflow="ellipsis")
        if len(at_work) > _RUNNING:
            yield Text(f"  and {len(at_work) - _RUNNING} more", style="dim")
