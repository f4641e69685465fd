"""What the suite of requirements says of a mutant: a certification in one process, ended by the first violation.

First the control, the adapter as it is, is run scenario by scenario, each in a fork of its own: what held, and which
lines of the adapter the scenario came by. A mutant then runs the scenarios that come by the line it changes, and no
others, since in those it is the adapter as it is; those of a quick certification first, then those of a full one,
each as a quick one would run it. Swept points are left aside.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Self, TypeAlias

import msgspec
from coverage import Coverage

from turnproof._base.depth import DEFAULT_DEPTH
from turnproof.commands.certify.kill_matrix import Bench
from turnproof.commands.certify.plan import plan
from turnproof.dialects import dialect
from turnproof.errors import HarnessError
from turnproof.judge.requirements import Suite
from turnproof.judge.verdict import Status, Verdict
from turnproof.judge.view import View
from turnproof.provider import Capabilities
from turnproof.run.bindings import resolve_subject
from turnproof.run.driver import Runner, RunSpec
from turnproof.run.transcript import RunKey
from turnproof.scenarios import Scenario
from turnproof.subject import Subject

from .forks import Alive
from .sources import Snapshot

Place: TypeAlias = tuple[str, str]
"""A requirement, and the path (or `parity`) on which it is judged."""

Lines: TypeAlias = Mapping[str, frozenset[int]]
"""The lines that were run, by module."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What a certification of the unchanged adapter would run, by scenario; what it claims, the modules that it says it
    needs, and the lines of its own that importing it runs."""

    claims: Capabilities
    needs: Sequence[str]
    keys: Mapping[str, Sequence[RunKey]]
    imported: Lines


@dataclass(frozen=True, slots=True)
class Scene:
    """One scenario of the unchanged adapter: what was seen, where something was compared, and the lines it came by.

    `depth` is that of a certification that runs it; `modules` is all that was imported by the end of it, `seconds` the
    time that it took of the processor.
    """

    depth: str
    seen: Mapping[Place, Status]
    lines: Lines
    modules: frozenset[str]
    seconds: float


@dataclass(frozen=True, slots=True)
class Control:
    """The unchanged adapter."""

    adapter: str
    survey: Survey
    scenes: Mapping[str, Scene]

    def reached(self, module: str, lines: range) -> list[str]:
        """The scenarios that come by one of these lines; all of them for lines that are run on import."""
        if not self.survey.imported.get(module, frozenset()).isdisjoint(lines):
            return list(self.scenes)
        return [
            name for name, scene in self.scenes.items() if not scene.lines.get(module, frozenset()).isdisjoint(lines)
        ]


_BAD = (Status.VIOLATED, Status.INCONCLUSIVE)


class Fate(StrEnum):
    """What became of a mutant.

    `killed` and `timed-out` are a certification's, and `tested` is a test's of the adapter, of what the likeliest
    scenarios had let live. `survived` is what neither noticed, in any scenario; `unreached`, that none comes by.
    """

    KILLED = "killed"
    TIMED_OUT = "timed-out"
    TESTED = "tested"
    SURVIVED = "survived"
    UNREACHED = "unreached"

    @property
    def lives(self) -> bool:
        """Whether nothing noticed it."""
        return self in (Fate.SURVIVED, Fate.UNREACHED)


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of a mutant: by which requirement, on which path, in which scenario, and what was said of it.

    `depth` is that of the certification that it takes. `by` is empty where it survived; `import`, `check` or `process`
    where the adapter could not be imported, a check fell over, or the process died, which ends a certification as well;
    and a test where one noticed it, or what became of all of them (`collection`, `process`, `timeout`).
    """

    fate: Fate
    by: str = ""
    path: str = ""
    scenario: str = ""
    depth: str = ""
    message: str = ""
    adapter: str = ""
    scenarios: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Trial:
    """A mutant's source, and the scenarios to run with it on each adapter, in this order."""

    module: str
    source: str
    scenarios: Mapping[str, Sequence[str]]


class Examiner:
    """Everything that is the same for all mutants. Each method is for a fork of its own."""

    def __init__(self, snapshot: Snapshot, suite: Suite, scenarios: Iterable[Scenario]) -> None:
        self._snapshot = snapshot
        self._suite = suite
        self._scenarios = {scenario.name: scenario for scenario in scenarios}
        self.controls: dict[str, Control] = {}

    def survey(self, adapter: str) -> Survey:
        """What there is to run."""
        self._snapshot.install()
        with _Traced(self._snapshot) as traced:
            subject = resolve_subject(adapter)
        needs = [package.replace("-", "_") for package in subject.packages]
        return Survey(subject.claims(), needs, self._keys(adapter, subject), traced.lines)

    def scene(self, adapter: str, name: str, keys: Sequence[RunKey]) -> Scene:
        """The unchanged adapter in one scenario."""
        began = time.process_time()
        self._snapshot.install()
        with _Traced(self._snapshot) as traced:
            subject = resolve_subject(adapter)
            with Runner(in_process=True) as runner:
                verdicts = self._judged(subject, name, self._views(runner, adapter, name, keys))
        seen = {place: verdict.status for place, verdict in verdicts.items()}
        return Scene(
            self._scenarios[name].depth, seen, traced.lines, frozenset(sys.modules), time.process_time() - began
        )

    def outcome(self, trial: Trial, alive: Alive) -> Outcome:
        """What becomes of a mutant."""
        began = time.process_time()
        self._snapshot.change(trial.module, trial.source)
        self._snapshot.install()
        scenario_count, found = 0, None
        for adapter, scenarios in trial.scenarios.items():
            for found in self._certified(self.controls[adapter], scenarios):
                scenario_count += 1
                alive()
                if found is not None:
                    break
            if found is not None:
                break
        outcome = found or Outcome(Fate.SURVIVED)
        depth = self._scenarios[outcome.scenario].depth if outcome.scenario else ""
        return msgspec.structs.replace(
            outcome, depth=depth, scenarios=scenario_count, seconds=round(time.process_time() - began, 3)
        )

    def _certified(self, control: Control, scenarios: Sequence[str]) -> Iterator[Outcome | None]:
        """What is noticed in each scenario, and in all of them together."""
        kill = partial(Outcome, Fate.KILLED, adapter=control.adapter)
        try:
            subject = resolve_subject(control.adapter)
            claims = subject.claims()
        except Exception as error:
            yield kill(by="import", message=str(error))
            return
        keys = control.survey.keys if claims == control.survey.claims else self._keys(control.adapter, subject)
        held_places = {
            place
            for name, scene in control.scenes.items()
            for place, status in scene.seen.items()
            if status is Status.HELD and name not in scenarios
        }
        with Runner(in_process=True) as runner:
            for name in scenarios:
                runs = keys.get(name, ())
                try:
                    verdicts = self._judged(subject, name, self._views(runner, control.adapter, name, runs))
                    worse = _worse(control.scenes[name].seen, verdicts)
                    if worse and all(verdicts[place].status is Status.INCONCLUSIVE for place in worse):
                        # What could not be decided on a busy machine may be decided now.
                        verdicts = self._judged(subject, name, self._views(runner, control.adapter, name, runs))
                        worse = _worse(control.scenes[name].seen, verdicts)
                except HarnessError as error:
                    yield kill(by="check", scenario=name, message=str(error))
                    continue
                held_places |= {place for place, verdict in verdicts.items() if verdict.status is Status.HELD}
                first = next(iter(worse), None)
                yield first and kill(by=first[0], path=first[1], scenario=name, message=verdicts[first].message)
        lost_places = [
            place
            for scene in control.scenes.values()
            for place, status in scene.seen.items()
            if status is Status.HELD and place not in held_places and not self._suite.catalogue[place[0]].lacks(claims)
        ]
        if lost_places:
            yield kill(by=lost_places[0][0], path=lost_places[0][1], message="nothing is left to compare")

    def _keys(self, adapter: str, subject: Subject) -> Mapping[str, Sequence[RunKey]]:
        alike = [msgspec.structs.replace(scenario, depth=DEFAULT_DEPTH) for scenario in self._scenarios.values()]
        keys: dict[str, list[RunKey]] = {}
        for run in plan({adapter: subject}, self._suite, alike, self._suite.requirements).runs:
            keys.setdefault(run.scenario.name, []).append(run.key)
        return keys

    def _views(self, runner: Runner, adapter: str, name: str, keys: Iterable[RunKey]) -> list[View]:
        scenario = self._scenarios[name]
        transcripts = [runner.run(RunSpec(adapter, scenario, key)) for key in keys]
        return [View(transcript, dialect(transcript.dialect), scenario) for transcript in transcripts]

    def _judged(self, subject: Subject, name: str, views: Sequence[View]) -> dict[Place, Verdict]:
        """The verdicts of these runs, less those that found nothing to compare."""
        claims = subject.claims()
        requirements = tuple(
            one
            for one in self._suite.requirements
            if one.concerns(subject.kind) and one.looks_at(name) and not one.lacks(claims)
        )
        verdicts = Bench(subject, requirements, {}).judge(views)
        return {place: verdict for place, verdict in verdicts.items() if not verdict.compared_nothing}


def _worse(before: Mapping[Place, Status], now: Mapping[Place, Verdict]) -> list[Place]:
    """Where the control was not accused, and now is; or was judged, and now cannot be."""
    found = [(place, verdict.status) for place, verdict in now.items() if verdict.status in _BAD]
    new = [(place, status) for place, status in found if before.get(place) is not status]
    return [place for place, _ in sorted(new, key=lambda one: _BAD.index(one[1]))]


class _Traced:
    """The lines of a snapshot's modules that are run meanwhile, in any thread."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._modules = snapshot.files
        self._coverage = Coverage(data_file=None, config_file=False, include=list(snapshot.files))

    def __enter__(self) -> Self:
        self._coverage.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._coverage.stop()

    @property
    def lines(self) -> Lines:
        data = self._coverage.get_data()
        return {name: frozenset(data.lines(file) or ()) for file, name in self._modules.items()}
