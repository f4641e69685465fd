"""What makes runs: worker processes of this machine, or a cluster. Whoever needs runs sees no difference."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from ...subject import Subject
from ..transcript import Transcript
from .job import RunSpec


@dataclass(frozen=True, slots=True)
class Progress:
    """What is called as runs end and begin, and the event that stops them."""

    done: Callable[[RunSpec, Transcript], None]
    stop: threading.Event | None
    on_begin: Callable[[RunSpec], None]

    @property
    def is_stopped(self) -> bool:
        """Whether no further run is to begin."""
        return self.stop is not None and self.stop.is_set()


@dataclass(frozen=True, slots=True)
class PlaceReports:
    """Where a place reports what happens to it.

    `starved` gets the words when a machine has too little processor time. A cluster reports to `workers` how many
    workers it has, whenever that changes, and once to `dashboard` the address of its dashboard.
    """

    starved: Callable[[str], None] = lambda words: None
    workers: Callable[[int], None] = lambda count: None
    dashboard: Callable[[str], None] = lambda address: None


NO_REPORTS = PlaceReports()


class RunPlace(ABC):
    """Makes runs, while its `with` lasts."""

    @abstractmethod
    def __enter__(self) -> Self: ...

    @abstractmethod
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    @abstractmethod
    def warm(self, modules: Iterable[str]) -> None:
        """Let the worker processes import what the runs will need, while the caller plans."""

    @abstractmethod
    def subject(self, name: str) -> Subject:
        """The adapter, session or agent of that name, resolved once. Raises BindingError."""

    def run_all(
        self,
        specs: Iterable[RunSpec],
        done: Callable[[RunSpec, Transcript], None],
        stop: threading.Event | None = None,
        on_begin: Callable[[RunSpec], None] = lambda spec: None,
    ) -> None:
        """Make all runs; `done` is called for each, from one thread at a time, in the order they end.

        No run begins once `stop` is set. `on_begin` is called for each as it begins, from several threads, where the
        place knows when that is.
        """
        self.make_runs(specs, Progress(done, stop, on_begin))

    @abstractmethod
    def make_runs(self, specs: Iterable[RunSpec], progress: Progress) -> None:
        """What `run_all` promises."""

    def run(self, spec: RunSpec) -> Transcript:
        """Make one run."""
        found: list[Transcript] = []
        self.run_all([spec], lambda _, transcript: found.append(transcript))
        return found[0]
