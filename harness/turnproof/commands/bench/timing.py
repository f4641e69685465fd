"""CPU time, interleaved: in every round every case has its turns, in shuffled order.

CPU is that of the whole process, so that an adapter that works in a thread or an event loop of its own hides nothing;
the server is another process. A case's time in a round is the median of its turns, and the best of its rounds is what
it takes where nothing disturbs it. A ratio comes from quotients of the same round, in which both sides met the same
disturbances.
"""

from __future__ import annotations

import gc
import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import process_time_ns
from typing import Protocol, runtime_checkable

from ..._base.counts import counted
from .callers import Caller, Kind

_BUDGET = 60e6
"""Nanoseconds of CPU that a case may take in a round, within these numbers of turns."""
_FEWEST, _MOST = 3, 30
_LONG = 500e6
"""Nanoseconds from which on a turn is a round."""


@dataclass(frozen=True, slots=True)
class Series:
    """A time in milliseconds: the best, and one for each round."""

    best: float
    rounds: tuple[float, ...]


@runtime_checkable
class TimedElsewhere(Protocol):
    """A caller in a process of its own, which says itself what its turns took there."""

    def run_turns(self, turns: int, *, streamed: bool) -> Sequence[tuple[int, int]]:
        """So many turns: nanoseconds of CPU of each, in all and to the first piece."""


@dataclass(slots=True)
class Case:
    """One caller doing one thing over a history of one length. `whole` and `first` collect a median a round, in ms.

    `first` is the time to the first piece of a streamed answer. A case that fails takes no further part.
    """

    kind: Kind
    name: str
    messages: int
    caller: Caller
    whole: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    turns: int = 1
    failure: Exception | None = None

    def __str__(self) -> str:
        return f"{self.kind}, {self.name}, {counted(self.messages, 'message')}"

    @property
    def streamed(self) -> bool:
        """Whether its turns are streamed."""
        return self.kind in ("stream", "long-stream")

    def run_turns(self, turns: int) -> Sequence[tuple[int, int]]:
        """So many turns; see `turn`."""
        if isinstance(self.caller, TimedElsewhere):
            return self.caller.run_turns(turns, streamed=self.streamed)
        return [self.turn() for _ in range(turns)]

    def turn(self) -> tuple[int, int]:
        """One turn: nanoseconds of CPU in all, and to the first piece (0 where nothing is streamed)."""
        self.caller.ready()
        if not self.streamed:
            start = process_time_ns()
            self.caller.ask()
            return process_time_ns() - start, 0
        first_piece = _FirstPiece()
        start = process_time_ns()
        self.caller.stream(first_piece)
        return process_time_ns() - start, first_piece.at - start

    def warm_up(self) -> None:
        """Two turns that do not count; the second one says how many there can be in a round. One is enough to say that
        there can be no more than one."""
        [(total, _)] = self.run_turns(1)
        if total < _LONG:
            [(total, _)] = self.run_turns(1)
        self.turns = 1 if total >= _LONG else min(_MOST, max(_FEWEST, int(_BUDGET / max(total, 1))))

    def round(self) -> None:
        """A round of turns."""
        gc.collect()
        durations = self.run_turns(self.turns)
        self.whole.append(statistics.median(total for total, _ in durations) / 1e6)
        if self.streamed:
            self.first.append(statistics.median(first for _, first in durations) / 1e6)


class _FirstPiece:
    """A listener that notes when it was first told anything, and does no more."""

    __slots__ = ("at",)

    def __init__(self) -> None:
        self.at = 0

    def __call__(self, piece: str) -> None:
        if not self.at:
            self.at = process_time_ns()


def measure(
    cases: Sequence[Case], rounds: int, progress: Callable[[int, int, str], None], *, warm_up: bool = True
) -> None:
    """Let every case have its rounds. The garbage collector works as ever, on what the case at hand makes alone.

    Without a warm-up each round is a single turn: for what takes so long that it warms itself up.
    """
    gc.collect()
    # The histories of all cases are alive at once, which no user's are: nobody pays for going through the others'.
    gc.freeze()
    try:
        _rounds(cases, rounds, progress, warm_up=warm_up)
    finally:
        gc.unfreeze()


def _rounds(cases: Sequence[Case], rounds: int, progress: Callable[[int, int, str], None], *, warm_up: bool) -> None:
    done, total = 0, (rounds + warm_up) * len(cases)
    order, shuffle = list(cases), random.Random(0).shuffle
    for number in range(0 if warm_up else 1, rounds + 1):
        shuffle(order)
        for case in order:
            done += 1
            progress(done, total, str(case))
            if case.failure is not None:
                continue
            try:
                case.round() if number else case.warm_up()
            except Exception as error:  # whatever somebody's adapter raises ends its case alone
                case.failure = error


def series(rounds: Sequence[float]) -> Series:
    """The times of all rounds, and the best."""
    return Series(min(rounds), tuple(rounds))


def slope(long: Sequence[float], short: Sequence[float], steps: int) -> Series:
    """What one step of the way from the short to the long thing takes."""
    rounds = tuple((more - less) / steps for more, less in zip(long, short, strict=True))
    # The best long one and the best short one need not be of the same round.
    return Series((min(long) - min(short)) / steps, rounds)
