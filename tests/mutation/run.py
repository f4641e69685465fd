"""All mutants of some files, judged side by side; what is learned from the first speeds up the later ones."""

from __future__ import annotations

import gc
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TypeVar

from turnproof.certify.scenarios import suite_scenarios
from turnproof.requirements import load_suite

from .examine import Control, Examiner, Fate, Outcome, Scene, Trial
from .forks import Alive, Lost, forked
from .mutant import Mutant
from .sources import Snapshot

R = TypeVar("R")

SILENCE = 60.0
"""Seconds that a mutant may spend on one scenario, which takes a fraction of one."""


class MutationRun:
    """Judges the mutants of a package by the adapters in it; `told` hears how far the preparation is.

    `depth` is that of the certification; `only` limits its scenarios, for tests.
    """

    def __init__(
        self,
        package: str,
        folder: Path,
        adapters: Sequence[str],
        *,
        depth: str = "quick",
        jobs: int = 2,
        only: Sequence[str] = (),
        told: Callable[[str], None] = lambda what: None,
    ) -> None:
        self._folder = folder
        self._jobs = jobs
        self._told = told
        self._snapshot = Snapshot(package, folder)
        suite = load_suite()
        deep = [one for one in suite_scenarios(suite) if depth == "full" or one.depth == "quick"]
        self._examiner = Examiner(self._snapshot, suite, [one for one in deep if not only or one.name in only])
        self._kills: Counter[str] = Counter()
        for adapter in adapters:
            self._examiner.controls[adapter] = self._control(adapter)
        gc.collect()
        gc.freeze()  # forks share what nobody looks at

    def judged(self, mutants: Iterable[Mutant], *, seconds: float | None = None) -> Iterator[tuple[Mutant, Outcome]]:
        """Each mutant as soon as its fate is known; after so many seconds no other is begun."""
        ends = math.inf if seconds is None else time.monotonic() + seconds
        unreached: list[Mutant] = []

        def begun() -> Iterator[Mutant]:
            for mutant in mutants:
                if time.monotonic() >= ends:
                    return
                if self._reached(mutant):
                    yield mutant
                else:
                    unreached.append(mutant)

        for mutant, outcome in forked(begun(), self._outcome, jobs=self._jobs, silence=SILENCE):
            if isinstance(outcome, Lost):
                yield mutant, Outcome(Fate.TIMED_OUT) if outcome.hung else Outcome(Fate.KILLED, by="process")
            else:
                self._kills[outcome.scenario] += 1
                yield mutant, outcome
        yield from ((mutant, Outcome(Fate.UNREACHED)) for mutant in unreached)

    def _outcome(self, mutant: Mutant, alive: Alive) -> Outcome:
        trial = Trial(self._module(mutant), mutant.source, self._reached(mutant))
        return self._examiner.outcome(trial, alive)

    def _module(self, mutant: Mutant) -> str:
        return self._snapshot.module_name(self._folder / mutant.file)

    def _reached(self, mutant: Mutant) -> dict[str, list[str]]:
        """The scenarios that can notice the mutant, for each adapter. Early come those of a quick certification, then
        those that have killed the most for their time, and among equals the short ones."""
        module, found = self._module(mutant), {}
        for control in self._examiner.controls.values():
            order = {
                name: (scene.depth != "quick", -(self._kills[name] + 1) / scene.seconds)
                for name, scene in control.scenes.items()
            }
            found[control.adapter] = sorted(control.reached(module, mutant.lines), key=order.__getitem__)
        return {adapter: names for adapter, names in found.items() if names}

    def _control(self, adapter: str) -> Control:
        ((_, survey),) = self._all(iter([adapter]), lambda name, _: self._examiner.survey(name))
        _import(survey.needs)
        scenes: dict[str, Scene] = {}
        names = list(survey.keys)
        # One goes ahead: what it had to import, the others find there.
        for some in (names[:1], names[1:]):
            for name, scene in self._all(some, lambda name, _: self._examiner.scene(adapter, name, survey.keys[name])):
                scenes[name] = scene
                self._told(f"{adapter}: {name}")
                _import(scene.modules)
        return Control(adapter, survey, scenes)

    def _all(self, names: Iterable[str], work: Callable[[str, Alive], R]) -> Iterator[tuple[str, R]]:
        for name, result in forked(iter(names), work, jobs=self._jobs, silence=SILENCE):
            if isinstance(result, Lost):
                raise RuntimeError(f"the unchanged adapter was lost in {name!r}: nothing can be judged")
            yield name, result


def _import(modules: Iterable[str]) -> None:
    for name in modules:
        if name not in sys.modules:
            with suppress(Exception):  # what is no module by itself, or not here: each fork imports it again
                import_module(name)
