"""Sends one conversation from each party to each other one, and back, and judges every leg of it.

A leg is an ordinary run: the reference session adopts what the legs before it held, byte for byte, signatures included,
and the same checks judge it that judge a certification. The service on the way back is the one that the conversation
began with: it knows what it has signed.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from ... import __version__
from ..._base.counts import counted
from ..._base.folder_lock import locked
from ..._base.whole_files import remove
from ...dialects import dialect
from ...errors import UsageError
from ...judge.requirements import load_suite
from ...judge.view import View
from ...messages import Message
from ...provider import Path as AdapterPath
from ...report.handoff import Handoff, Leg, Party, Route
from ...report.progress import Telling, place_reports, progress
from ...run.bindings import resolve_subject
from ...run.driver import RunSpec
from ...run.driver.limits import NO_LIMITS, Limits
from ...run.driver.run_place import RunPlace
from ...run.emulation import Emulation, Issued
from ...run.evidence import EvidenceStore
from ...run.places import run_place
from ...run.transcript import RunKey, Transcript
from ...scenarios.model import Scenario
from ...subject import Subject
from ..certify.decide import lacking_for
from ..certify.resumable_place import ResumablePlace
from ..certify.run_store import MadeWith, RunStore
from ..certify.scenarios import chosen_scenarios, suite_scenarios
from ..place_options import PlaceOptions
from .leg_verdicts import Judge
from .legs import Stretch, history_after, part_of, places, stretches

JOURNEY = "handoff/journey"
"""The conversation that moves unless another is asked for."""

RUNS_FOLDER = "handoff.kept"
"""The folder of runs that `--resume` goes on with; it goes when the matrix is there."""


@dataclass(frozen=True, slots=True)
class HandoffOptions(PlaceOptions):
    """Everything a matrix of hand-offs depends on.

    adapters:   at least two parties: installed names or `module:attribute`, each perhaps with another model than its
                own (`anthropic=claude-opus-4-8`). One alone is enough if it has two paths.
    scenario:   the conversation, by name or file. It needs three turns: one before the change, one after it, and one
                after the way back.
    after:      after which turns the first change comes, counted from 1; empty means each that leaves two more turns.
    path:       one path of each adapter alone; None for both.
    out:        the folder that gets `handoff.json`, `handoff.md` and the evidence.
    resume:     keeps the runs that it makes in `out` as well.
    in_process: run adapters in this process instead of in workers, for debugging.
    limits:     what the processes of a worker may take.
    """

    adapters: tuple[str, ...]
    scenario: str = JOURNEY
    after: tuple[int, ...] = ()
    path: AdapterPath | None = None
    out: Path | None = None
    in_process: bool = False
    limits: Limits = NO_LIMITS


def hand_over(options: HandoffOptions) -> Handoff:
    """The whole matrix: every ordered pair of parties, a change after each chosen turn.

    With `options.out` the evidence is kept there. Raises BindingError for adapters that do not exist, UsageError for a
    conversation that is too short and for fewer than two parties.
    """
    began = time.monotonic()
    suite = load_suite()
    scenario = _single_scenario(chosen_scenarios(suite_scenarios(suite), (options.scenario,)), options.scenario)
    specs = _specs_by_name(options.adapters)
    subjects = {name: resolve_subject(spec) for name, spec in specs.items()}
    parties, left_out = _parties(subjects, scenario, options)
    requirements = [one for one in suite.requirements if one.subject == "adapter"]
    store = EvidenceStore(options.out / "evidence") if options.out else None
    judge = Judge(subjects, requirements, store)
    journeys = [
        _Journey(begins, goes_to, after)
        for after in _after(options, scenario)
        for begins in parties
        for goes_to in parties
        if begins != goes_to
    ]
    emulation = Emulation()
    stored_runs = None
    with locked(options.out) if options.out else nullcontext(), progress("handoff") as tracker:
        place: RunPlace = run_place(
            options.cluster,
            {spec: subjects[name] for name, spec in specs.items()},
            jobs=options.jobs,
            seed=options.seed,
            in_process=options.in_process,
            responders=emulation,
            limits=options.limits,
            reports=place_reports(tracker),
        )
        if store is not None and options.out is not None:
            remove(options.out, "handoff.json", "handoff.md")
            store.drop_earlier()
        if options.resume and options.out is not None:
            stored_runs = RunStore(options.out / RUNS_FOLDER, MadeWith.here(suite, subjects.values(), options.seed))
            place = ResumablePlace(place, stored_runs, emulation)
        with place as runner:
            travellers = _Travellers(runner, emulation, judge, scenario, specs, subjects, tracker)
            tracker.stage("runs")
            done = 0
            for step in range(_LEGS):
                done = travellers.travel(step, journeys, done)
    if stored_runs is not None and isinstance(place, ResumablePlace):
        stored_runs.remove()
        print(f"resumed: {counted(place.taken_over, 'run')} taken over", file=sys.stderr)
    return Handoff(
        turnproof=__version__,
        scenario=scenario.name,
        seed=options.seed,
        parties=tuple(parties),
        routes=tuple(Route(each.begins, each.goes_to, each.after, tuple(each.legs)) for each in journeys),
        left_out=left_out,
        duration_s=round(time.monotonic() - began, 3),
    )


_LEGS = 3
"""There, and back to where the conversation began: so many legs has a journey."""


@dataclass(slots=True)
class _Journey:
    """A route while it is travelled: its legs so far, what is held by now, and what which service has signed."""

    begins: Party
    goes_to: Party
    after: int
    legs: list[Leg] = field(default_factory=list)
    history: tuple[Message, ...] = ()
    issued: dict[str, Issued] = field(default_factory=dict)
    over: bool = False

    def party(self, step: int) -> Party:
        return self.goes_to if step == 1 else self.begins


@dataclass(frozen=True, slots=True)
class _Travellers:
    """Makes one step of many journeys at a time, so that all worker processes have something to do."""

    runner: RunPlace
    emulation: Emulation
    judge: Judge
    scenario: Scenario
    specs: Mapping[str, str]
    subjects: Mapping[str, Subject]
    tracker: Telling

    def travel(self, step: int, journeys: Sequence[_Journey], before: int) -> int:
        """The next leg of every journey that is not over. Those that have begun alike make their first leg once.

        `before` is the number of runs in earlier legs; returns it with those of this leg. The progress counts the runs
        of all legs, as if no journey ended early.
        """
        waiting: dict[object, list[_Journey]] = {}
        for journey in journeys:
            if not journey.over:
                alike = (journey.begins, journey.after) if step == 0 else id(journey)
                waiting.setdefault(alike, []).append(journey)
        specs = {id(spec): (spec, group) for group in waiting.values() for spec in [self._spec(step, group[0])]}
        done = itertools.count(before + 1)
        after = before + len(specs)
        total = after + (_LEGS - 1 - step) * sum(not journey.over for journey in journeys)

        def arrived(spec: RunSpec, transcript: Transcript) -> None:
            self.tracker(next(done), total, str(spec.key))
            _, group = specs[id(spec)]
            self._arrived(step, spec, transcript, group)

        every = [spec for spec, _ in specs.values()]
        self.runner.run_all(every, arrived, on_begin=lambda spec: self.tracker.started(str(spec.key)))
        return after

    def _spec(self, step: int, journey: _Journey) -> RunSpec:
        party = journey.party(step)
        stretch = self._stretch(step, journey)
        meeting = "" if step == 0 else f"/{journey.goes_to.label}" if step == 2 else f"/{journey.begins.label}"
        name = f"handoff/{self.scenario.name}/{journey.after}-{step + 1}-{party.label}{meeting}"
        claims = self.subjects[party.adapter].claims()
        scenario = part_of(self.scenario, stretch, name, journey.history, claims)
        key = RunKey(scenario=name, path=party.path, mode="stream")
        return RunSpec(self.specs[party.adapter], scenario, key, issued=journey.issued.get(party.dialect, {}))

    def _stretch(self, step: int, journey: _Journey) -> Stretch:
        return stretches(journey.after, len(self.scenario.turns))[step]

    def _arrived(self, step: int, spec: RunSpec, transcript: Transcript, group: Sequence[_Journey]) -> None:
        party = group[0].party(step)
        stretch = self._stretch(step, group[0])
        leg = self.judge.leg(party, stretch, View(transcript, dialect(party.dialect), spec.scenario))
        history = history_after(transcript, f"{step + 1}.")
        issued = self.emulation.issued(spec)
        for journey in group:
            journey.legs.append(leg)
            journey.history = history
            journey.issued = {**journey.issued, party.dialect: issued}
            journey.over = transcript.end.how != "completed" or not history


def _single_scenario(scenarios: Sequence[Scenario], pattern: str) -> Scenario:
    if len(scenarios) != 1:
        raise UsageError(f"{pattern!r} names {counted(len(scenarios), 'scenario')}: a hand-off is of one conversation")
    if not places(scenarios[0]):
        turns = len(scenarios[0].turns)
        raise UsageError(
            f"{scenarios[0].name} has {counted(turns, 'turn')}: a conversation needs three to go there and come back"
        )
    return scenarios[0]


def _specs_by_name(specs: Sequence[str]) -> dict[str, str]:
    """How each adapter is asked for, by its own name; those that share one go by how they are asked for."""
    own = {spec: resolve_subject(spec).name for spec in specs}
    shared = {name for name, count in Counter(own.values()).items() if count > 1}
    return {spec if name in shared else name: spec for spec, name in own.items()}


def _after(options: HandoffOptions, scenario: Scenario) -> list[int]:
    possible = places(scenario)
    if wrong := [after for after in options.after if after not in possible]:
        raise UsageError(f"{scenario.name} can change hands after turn {_spelled(possible)}, not after {wrong[0]}")
    return sorted(set(options.after)) or list(possible)


def _spelled(turns: range) -> str:
    return " or ".join(map(str, turns))


def _parties(
    subjects: Mapping[str, Subject], scenario: Scenario, options: HandoffOptions
) -> tuple[list[Party], dict[str, str]]:
    parties, left_out = list[Party](), dict[str, str]()
    for name, subject in subjects.items():
        if subject.kind != "adapter":
            raise UsageError(f"{name} is no adapter: name the adapters that a conversation is handed to")
        # Thinking is left out of what a model says that does not think.
        lacking = [each for each in lacking_for(scenario, subject.claims(), subject.operations) if each != "thinking"]
        if lacking:
            left_out[name] = f"it does not claim {', '.join(lacking)}"
            continue
        paths = [path for path in subject.paths if options.path in (None, path)]
        if not paths:
            left_out[name] = f"it has no {options.path} path"
        parties += [Party(name, path, subject.dialect, subject.model) for path in paths]
    if len(parties) < 2:
        reasons = "".join(f"; {name}: {reason}" for name, reason in left_out.items())
        raise UsageError(f"a conversation is handed from one party to another: name two adapters{reasons}")
    return parties, left_out
