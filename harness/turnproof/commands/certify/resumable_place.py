"""A place for runs that keeps what it has made, so that a command which was interrupted makes none of it again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from types import TracebackType
from typing import Self

from ...run.driver import RunSpec
from ...run.driver.run_place import Progress, RunPlace
from ...run.emulation import Emulation
from ...run.transcript import Transcript
from ...subject import Subject
from .run_store import RunStore, run_name


class ResumablePlace(RunPlace):
    """Makes runs in another place and keeps them; what is kept already is not made.

    A run that is asked for a second time is another one: what may fail by chance is tried again, and not looked up.
    `emulation` is what answers, where it is asked what its service has issued.
    """

    def __init__(self, place: RunPlace, runs: RunStore, emulation: Emulation | None = None) -> None:
        self.taken_over = 0
        """Runs that an interrupted command had made."""
        self._place = place
        self._runs = runs
        self._emulation = emulation
        self._run_counts: Counter[str] = Counter()
        self._new_names: set[str] = set()

    def __enter__(self) -> Self:
        self._place.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._place.__exit__(kind, error, trace)

    def warm(self, modules: Iterable[str]) -> None:
        self._place.warm(modules)

    def subject(self, name: str) -> Subject:
        return self._place.subject(name)

    def has(self, spec: RunSpec) -> bool:
        """Whether the run that is asked for next is kept already."""
        return self._runs.find(self._next_name(spec)) is not None

    def make_runs(self, specs: Iterable[RunSpec], progress: Progress) -> None:
        """All runs: `done` is called for those that are kept, and then for the others in the order they end."""
        names: dict[int, str] = {}
        missing: list[RunSpec] = []
        for spec in specs:
            name = self._next_name(spec)
            self._run_counts[run_name(spec)] += 1
            transcript = self._runs.find(name)
            if transcript is None:
                names[id(spec)] = name
                missing.append(spec)
                continue
            self.taken_over += name not in self._new_names
            if self._emulation is not None:
                self._emulation.add_issued(spec, self._runs.issued(name))
            progress.done(spec, transcript)

        def keep(spec: RunSpec, transcript: Transcript) -> None:
            self._keep(names[id(spec)], spec, transcript)
            progress.done(spec, transcript)

        if missing:
            self._place.make_runs(missing, replace(progress, done=keep))

    def prepare(self, specs: Iterable[RunSpec]) -> None:
        """Make runs that will be asked for, as far as they are not kept: many at a time go quicker."""
        names = {id(spec): (self._next_name(spec), spec) for spec in specs}
        missing = [spec for name, spec in names.values() if self._runs.find(name) is None]

        def keep(spec: RunSpec, transcript: Transcript) -> None:
            self._keep(names[id(spec)][0], spec, transcript)

        if missing:
            self._place.run_all(missing, keep)

    def _next_name(self, spec: RunSpec) -> str:
        first = run_name(spec)
        number = self._run_counts[first]
        return run_name(spec, number) if number else first

    def _keep(self, name: str, spec: RunSpec, transcript: Transcript) -> None:
        self._new_names.add(name)
        if self._emulation is None:
            self._runs.add(name, transcript)
            return
        issued = self._emulation.issued(spec)
        self._emulation.add_issued(spec, issued)
        self._runs.add(name, transcript, issued)
