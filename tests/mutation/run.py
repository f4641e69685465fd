"""All mutants of some files, judged side by side; what is learned from the first speeds up the later ones."""

from __future__ import annotations

import gc
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import TypeAlias, TypeVar

from turnproof._base.depth import DEFAULT_DEPTH, Depth
from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.judge.requirements import load_suite
from turnproof.run.transcript import RunKey

from .examine import Control, Examiner, Fate, Outcome, Scene, Trial
from .forks import Alive, ForkLoss, forked
from .mutant import Mutant
from .own_tests import OwnTests, Reach
from .sources import Snapshot

T = TypeVar("T")
R = TypeVar("R")

Plan: TypeAlias = Mapping[str, Sequence[str]]
"""The scenarios to run with a mutant on each adapter."""

SILENCE = 60.0
"""Seconds that a mutant may spend on one scenario or test, which takes a fraction of one."""

PATIENCE = 16
"""The scenarios on each adapter, the likeliest to notice first, after which the adapter's own tests have a look. Of the
mutants that a certification notices it has noticed 95 % by then, and one that nothing notices has cost a tenth."""


class MutationRun:
    """Judges the mutants of a package by the adapters in it, and by their own tests, as pytest names them.

    `depth` is that of the certification; `only` limits its scenarios, for tests. `told` hears how far the preparation
    is.
    """

    def __init__(
        self,
        package: str,
        folder: Path,
        adapters: Sequence[str],
        tests: Sequence[str],
        *,
        depth: Depth = DEFAULT_DEPTH,
        jobs: int = 2,
        only: Sequence[str] = (),
        notify: Callable[[str], None] = lambda what: None,
    ) -> None:
        self._folder = folder
        self._jobs = jobs
        self._notify = notify
        self._snapshot = Snapshot(package, folder)
        suite = load_suite()
        deep = [one for one in suite_scenarios(suite) if one.is_in(depth)]
        self._examiner = Examiner(self._snapshot, suite, [one for one in deep if not only or one.name in only])
        self._kills: Counter[str] = Counter()
        for adapter in adapters:
            self._examiner.controls[adapter] = self._control(adapter)
        self._own = OwnTests(self._snapshot, tests)
        self._reach = self._what_tests_reach()
        gc.collect()
        gc.freeze()  # forks share what nobody looks at

    def judged(self, mutants: Iterable[Mutant], *, seconds: float | None = None) -> Iterator[tuple[Mutant, Outcome]]:
        """Each mutant as soon as its fate is known. After so many seconds nothing more is begun, and what is undecided
        by then is left out."""
        ends = math.inf if seconds is None else time.monotonic() + seconds

        def until_deadline(some: Iterable[T]) -> Iterator[T]:
            return takewhile(lambda _: time.monotonic() < ends, some)

        rest: dict[Mutant, Plan] = {}

        def first(mutant: Mutant) -> Plan:
            plan = self._plan(mutant)
            rest[mutant] = _some(plan, slice(PATIENCE, None))
            return _some(plan, slice(PATIENCE))

        lived = []
        for mutant, outcome in self._certified((one, first(one)) for one in until_deadline(mutants)):
            if outcome.fate.lives:
                lived.append((mutant, outcome.fate))
            else:
                yield mutant, outcome
        missed = []
        for (mutant, fate), failed in self._all(until_deadline(lived), self._failed):
            if isinstance(failed, ForkLoss):
                yield mutant, Outcome(Fate.TESTED, by="timeout" if failed.hung else "process")
            elif failed:
                yield mutant, Outcome(Fate.TESTED, by=failed)
            elif rest[mutant]:
                missed.append(mutant)
            else:
                yield mutant, Outcome(fate)
        yield from self._certified((one, rest[one]) for one in until_deadline(missed))

    def _certified(self, planned: Iterable[tuple[Mutant, Plan]]) -> Iterator[tuple[Mutant, Outcome]]:
        """What becomes of each mutant in its scenarios."""
        unreached: list[Mutant] = []

        def reached() -> Iterator[tuple[Mutant, Plan]]:
            for mutant, plan in planned:
                if plan:
                    yield mutant, plan
                else:
                    unreached.append(mutant)

        for (mutant, _), outcome in self._all(reached(), self._outcome):
            if isinstance(outcome, ForkLoss):
                yield mutant, Outcome(Fate.TIMED_OUT) if outcome.hung else Outcome(Fate.KILLED, by="process")
            else:
                self._kills[outcome.scenario] += 1
                yield mutant, outcome
        yield from ((mutant, Outcome(Fate.UNREACHED)) for mutant in unreached)

    def _outcome(self, planned: tuple[Mutant, Plan], alive: Alive) -> Outcome:
        mutant, plan = planned
        return self._examiner.outcome(Trial(self._module(mutant), mutant.source, plan), alive)

    def _failed(self, lived: tuple[Mutant, Fate], alive: Alive) -> str:
        mutant, _ = lived
        module = self._module(mutant)
        return self._own.failed(module, mutant.source, self._reach.of(module, mutant.lines), alive)

    def _module(self, mutant: Mutant) -> str:
        return self._snapshot.module_name(self._folder / mutant.file)

    def _plan(self, mutant: Mutant) -> Plan:
        """The scenarios that can notice the mutant, for each adapter. Early come those of a quick certification, then
        those that have killed the most for their time, and among equals the short ones."""
        module, found = self._module(mutant), {}
        for control in self._examiner.controls.values():
            order = {
                name: (scene.depth != DEFAULT_DEPTH, -(self._kills[name] + 1) / scene.seconds)
                for name, scene in control.scenes.items()
            }
            found[control.adapter] = sorted(control.reached(module, mutant.lines), key=order.__getitem__)
        return _some(found, slice(None))

    def _control(self, adapter: str) -> Control:
        ((_, survey),) = self._unharmed([adapter], lambda name, _: self._examiner.survey(name))
        _import(survey.needs)
        scenes: dict[str, Scene] = {}
        names = list(survey.keys)
        # One goes ahead: what it had to import, the others find there.
        for some in (names[:1], names[1:]):
            scene = partial(self._scene, adapter, survey.keys)
            for name, seen in self._unharmed(some, scene):
                scenes[name] = seen
                self._notify(f"{adapter}: {name}")
                _import(seen.modules)
        return Control(adapter, survey, scenes)

    def _scene(self, adapter: str, keys: Mapping[str, Sequence[RunKey]], name: str, alive: Alive) -> Scene:
        return self._examiner.scene(adapter, name, keys[name])

    def _what_tests_reach(self) -> Reach:
        self._notify("the adapters' own tests")
        ((_, reach),) = self._unharmed(["the adapters' own tests"], lambda _, alive: self._own.reach(alive))
        if not reach.breadth:
            raise RuntimeError("no test of the unchanged adapters passes: nothing can be judged by them")
        _import(reach.imported)
        return reach

    def _all(self, tasks: Iterable[T], work: Callable[[T, Alive], R]) -> Iterator[tuple[T, R | ForkLoss]]:
        return forked(iter(tasks), work, jobs=self._jobs, silence=SILENCE)

    def _unharmed(self, tasks: Iterable[T], work: Callable[[T, Alive], R]) -> Iterator[tuple[T, R]]:
        for task, result in self._all(tasks, work):
            if isinstance(result, ForkLoss):
                raise RuntimeError(f"the unchanged adapter was lost in {str(task)!r}: nothing can be judged")
            yield task, result


def _some(plan: Plan, which: slice) -> Plan:
    return {adapter: names[which] for adapter, names in plan.items() if names[which]}


def _import(modules: Iterable[str]) -> None:
    for name in modules:
        if name not in sys.modules:
            with suppress(Exception):  # what is no module by itself, or not here: each fork imports it again
                import_module(name)
