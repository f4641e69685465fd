"""`turnproof mutants`: break an adapter or a session on purpose, in every way that suites know; see what notices.

The control, the subject unbroken, runs the same scenarios. Mutants that hang have a runner of their own, where nobody
waits long for them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase

import msgspec

from ... import __version__
from ..._base.canonical import canonical
from ..._base.counts import counted
from ..._base.exit_codes import Exit
from ..._base.folder_lock import locked
from ..._base.suggestions import did_you_mean
from ..._base.whole_files import write_whole
from ...dialects import dialect
from ...errors import CatalogueError
from ...judge.requirements import Requirement, Suite, in_words, load_suite
from ...judge.requirements.scenario_index import SIDES
from ...judge.view import View
from ...provider import Path
from ...report.progress import Telling, place_reports, progress, report_starved
from ...run.bindings import resolve_subject
from ...run.driver import Runner, RunSpec
from ...run.driver.mutation import Mutant, all_mutants, mutant_named
from ...run.driver.run_place import RunPlace
from ...run.evidence import digest
from ...run.places import run_place
from ...run.transcript import RunKey, Transcript
from ...scenarios.model import Scenario
from ...subject import Subject, SubjectKind
from .decide import lacking_for, spelled
from .kill_matrix import Bench, Judge, Matrix, Outcome, Row, median_others, not_claimed_row, standings
from .kill_matrix_reports import matrix_page, print_matrix
from .options import MutantsOptions
from .resumable_place import ResumablePlace
from .run_store import MadeWith, RunStore
from .scenarios import suite_scenarios

HANG_LIMIT = 8.0
"""Seconds that a mutant made to hang is waited for: longer than the emulator holds a stream."""

_CAUGHT_NOT = (Outcome.SURVIVED, Outcome.CRASHED, Outcome.NEVER_RAN, Outcome.NO_CONTROL)


@dataclass(frozen=True, slots=True)
class Trial:
    """A mutant, by the name it can be found under, and the runs it is to break. `left_out` says why there are none."""

    name: str
    mutant: Mutant
    runs: tuple[RunSpec, ...] = ()
    left_out: str = ""


def mutants(options: MutantsOptions) -> int:
    """Run the mutants, print the kill matrix (or JSON), write it as `mutants.json` and `mutants.html`; the exit code.

    0 when every mutant was caught; 1 for a survivor, a crash, a mutant that never broke anything, or a control that
    does not hold; 2 when a check or the harness failed on one; 3 when nothing was measured. Raises UsageError for
    subjects and mutants that do not exist, for mutants that do not fit the suite, and where another command writes into
    the same folder.
    """
    began, started = datetime.now(UTC), time.monotonic()
    suite = load_suite()
    subject = resolve_subject(options.adapter)
    selection = select(options.only)
    if not options.only:
        selection = {name: mutant for name, mutant in selection.items() if not _misplaced(mutant, suite, subject.kind)}
    trials = plan(options.adapter, subject, suite, suite_scenarios(suite), selection)
    with locked(options.out):
        stored_runs = _run_store(options, suite, subject) if options.resume else None
        with progress("mutants") as tracker:
            runs = Runs(tracker)
            runs.make(options, subject, trials, stored_runs)
        matrix = _matrix(options, suite, subject, trials, runs, began, started)
        text = msgspec.json.format(canonical(matrix), indent=2).decode()
        write_whole(options.out / "mutants.json", text + "\n")
        write_whole(options.out / "mutants.html", matrix_page(matrix))
        if stored_runs is not None:
            stored_runs.remove()
    if stored_runs is not None:
        print(f"resumed: {counted(runs.taken_over, 'run')} taken over", file=sys.stderr)
    if options.json:
        print(text)
    else:
        print_matrix(matrix, sys.stdout)
    return matrix.exit_code


def _matrix(
    options: MutantsOptions,
    suite: Suite,
    subject: Subject,
    trials: Sequence[Trial],
    runs: Runs,
    began: datetime,
    started: float,
) -> Matrix:
    """What caught which mutant. The command began at `began`, which is `started` on the monotonic clock."""
    requirements = tuple(
        one for one in suite.requirements if one.concerns(subject.kind) and not one.lacks(subject.claims())
    )
    judge = Judge(Bench(subject, requirements, runs.control))
    rows = tuple(
        judge.row(trial.mutant, runs.broken[trial.name])
        if trial.runs
        else not_claimed_row(trial.mutant, trial.left_out)
        for trial in trials
    )
    control = judge.violations(runs.control)
    return Matrix(
        turnproof=__version__,
        adapter=subject.name,
        dialect=subject.dialect,
        model=subject.model,
        seed=options.seed,
        started=began.isoformat(timespec="seconds"),
        only=options.only,
        duration_s=round(time.monotonic() - started, 3),
        exit_code=exit_code(rows, control),
        counts={str(one): count for one in Outcome if (count := sum(row.outcome is one for row in rows))},
        control=control,
        mutants=rows,
        requirements=standings(_within_reach(requirements, rows, subject.kind), rows),
        median_others=median_others(rows),
    )


RUNS_FOLDER = "mutants.kept"
"""The folder of runs that `--resume` goes on with; it goes when the matrix is there."""


def _run_store(options: MutantsOptions, suite: Suite, subject: Subject) -> RunStore:
    foreign = [name.partition(":")[0] for name in options.only if ":" in name]
    return RunStore(options.out / RUNS_FOLDER, MadeWith.here(suite, [subject], options.seed, foreign))


def select(only: Sequence[str]) -> dict[str, Mutant]:
    """The mutants asked for, by name: all, or those whose names match; anybody's own as `module:attribute`.

    Raises CatalogueError for a name or pattern that matches none.
    """
    if not only:
        return dict(all_mutants())
    found: dict[str, Mutant] = {}
    for pattern in only:
        if ":" in pattern:
            found[pattern] = mutant_named(pattern)
            continue
        known = all_mutants()
        matching = {name: mutant for name, mutant in known.items() if fnmatchcase(name, pattern)}
        if not matching:
            raise CatalogueError(f"no mutant matches {pattern!r}{did_you_mean(pattern, known)}")
        found |= matching
    return found


def plan(
    spec: str, subject: Subject, suite: Suite, scenarios: Sequence[Scenario], mutants_by_name: Mapping[str, Mutant]
) -> list[Trial]:
    """The runs of each mutant: its scenarios, on its paths, in every mode, as far as the subject claims them.

    Raises CatalogueError for a mutant that names no requirement of the suite, or no scenario.
    """
    trials = []
    for name, mutant in mutants_by_name.items():
        requirement = suite.catalogue[mutant.caught_by]
        named = [one for one in scenarios if any(fnmatchcase(one.name, glob) for glob in mutant.scenarios)]
        if not named:
            raise CatalogueError(f"mutant {name!r}: no scenario matches {' or '.join(mutant.scenarios)!r}")
        fitting = [one for one in named if not lacking_for(one, subject.claims(), subject.operations)] or named
        chained = subject.claims().claims("chain") and not mutant.chains
        on = [path for path in subject.paths if path in mutant.paths and path in requirement.paths]
        on = [path for path in on if not (chained and path == "legacy")]
        if (
            why := _misplaced(mutant, suite, subject.kind)
            or _unfit(mutant, requirement, subject, fitting, on)
            or _unseen(suite, requirement, subject)
        ):
            trials.append(Trial(name, mutant, left_out=why))
            continue
        specs = [RunSpec(spec, scenario, key, name) for scenario in fitting for key in run_keys(subject, scenario, on)]
        trials.append(Trial(name, mutant, tuple(_first_mode(specs) if mutant.fails == "hangs" else specs)))
    return trials


def _within_reach(requirements: Iterable[Requirement], rows: Iterable[Row], kind: SubjectKind) -> list[Requirement]:
    """The requirements that mutants of this kind of subject are there to prove: of a session, its own."""
    named = {row.expected for row in rows}
    return [one for one in requirements if kind == "adapter" or one.subject == kind or one.id in named]


def _misplaced(mutant: Mutant, suite: Suite, kind: SubjectKind) -> str:
    """Why a mutant is not for a subject of this kind; empty where it is.

    Sessions are broken as sessions. Of an adapter the session is broken too, where an adapter is judged by what its
    session does.
    """
    broken: SubjectKind = mutant.seam if mutant.seam in ("session", "agent") else "adapter"
    if kind != "adapter" and broken != kind:
        return f"it breaks {broken}s: name one instead of {_A[kind]}"
    required = suite.catalogue[mutant.caught_by].subject
    if kind == "adapter" and (required != "adapter" or broken == "agent"):
        by = required if required != "adapter" else broken
        return f"it is caught by what is required of {by}s: name one instead of an adapter"
    return ""


_A: dict[SubjectKind, str] = {"adapter": "an adapter", "session": "a session", "agent": "an agent"}


def _unfit(
    mutant: Mutant, requirement: Requirement, subject: Subject, scenarios: Iterable[Scenario], on: Sequence[Path]
) -> str:
    """What the subject has not got, and the mutant needs to break anything or to be caught; empty where it has it."""
    claims = subject.claims()
    lacking = [feature for feature in (*requirement.capability, *mutant.capability) if not claims.claims(feature)]
    lacking += [spelled(name) for name in requirement.operations if name not in subject.operations]
    for scenario in scenarios:
        lacking += lacking_for(scenario, claims, subject.operations)
    if lacking or not on:
        return in_words(dict.fromkeys(lacking) or [f"the {' or '.join(mutant.paths)} path"], subject.kind)
    return ""


def _unseen(suite: Suite, requirement: Requirement, subject: Subject) -> str:
    """That no run shows what has to catch a mutant on this wire API; empty where one does, or nobody knows."""
    shown = suite.shown
    if shown is None:
        return ""
    elsewhere = any(shown.scenarios(requirement.id, name) for name in shown.dialects)
    here = any(shown.scenarios(requirement.id, subject.dialect, side) for side in SIDES)
    return "" if here or not elsewhere else f"no run shows {requirement.id} on {subject.dialect}"


def exit_code(rows: Iterable[Row], control: Mapping[str, str]) -> Exit:
    """What the rows, and the MUSTs that the control violates, deserve."""
    outcomes = {row.outcome for row in rows}
    if Outcome.FAULT in outcomes:
        return Exit.FAULT
    if control or outcomes & set(_CAUGHT_NOT):
        return Exit.VIOLATIONS
    return Exit.OK if Outcome.CAUGHT in outcomes else Exit.UNDECIDED


def run_keys(subject: Subject, scenario: Scenario, paths: Sequence[Path]) -> Iterator[RunKey]:
    """The runs of a scenario on some paths, in each of its modes that the subject claims.

    A legacy run beside a stateless one is made twice, as in a certification.
    """
    for mode in scenario.modes_with(subject.claims().streaming):
        for path in paths:
            yield RunKey(scenario.name, path, mode)
            if path == "legacy" and len(subject.paths) == 2:
                yield RunKey(scenario.name, path, mode, repeat=1)


def _first_mode(specs: Sequence[RunSpec]) -> list[RunSpec]:
    """One run a path: each run of a mutant that hangs costs the whole time limit."""
    return [spec for spec in specs if spec.key.mode == specs[0].key.mode and spec.key.repeat == 0]


@dataclass(slots=True)
class Runs:
    """All runs that were made: the control's by key, the mutants' by name and key."""

    progress: Telling
    done: int = 0
    total: int = 0
    control: dict[RunKey, View] = field(default_factory=dict)
    broken: dict[str, dict[RunKey, View]] = field(default_factory=dict)
    taken_over: int = 0

    def make(
        self, options: MutantsOptions, subject: Subject, trials: Sequence[Trial], stored_runs: RunStore | None = None
    ) -> None:
        """Make every run of the trials, and of the control on all its paths where they take place; keep them in
        `stored_runs`.

        Mutants that hang are run on this machine, wherever the others are.
        """
        broken = [spec for trial in trials if trial.mutant.fails != "hangs" for spec in trial.runs]
        hanging = [spec for trial in trials if trial.mutant.fails == "hangs" for spec in trial.runs]
        scenes = {spec.scenario.name: spec.scenario for spec in broken}
        keys = {key: scene for scene in scenes.values() for key in run_keys(subject, scene, subject.paths)}
        keys |= {spec.key: spec.scenario for spec in hanging}
        control = [RunSpec(options.adapter, scenario, key) for key, scenario in keys.items()]
        self.total = len(control) + len(broken) + len(hanging)
        place = run_place(
            options.cluster,
            {options.adapter: subject},
            jobs=options.jobs,
            seed=options.seed,
            mutants=[trial.name for trial in trials],
            limits=options.limits,
            reports=place_reports(self.progress),
        )
        with self._resumable(place, stored_runs) as found:
            found.run_all((*control, *broken), self.add_run, on_begin=lambda spec: self.progress.started(_name(spec)))
        if hanging:
            self._make_hanging(options, hanging, stored_runs)

    def _make_hanging(self, options: MutantsOptions, hanging: Sequence[RunSpec], stored_runs: RunStore | None) -> None:
        runner = Runner(
            jobs=1, seed=options.seed, time_limit=HANG_LIMIT, limits=options.limits, on_starved=report_starved
        )
        with self._resumable(runner, stored_runs) as place:
            # The short limit counts from a worker's second run on: only then is its SDK imported for sure. The
            # first is no control: on a busy machine it may be silent for that long without hanging.
            for spec in hanging:
                if not (isinstance(place, ResumablePlace) and place.has(spec)):
                    runner.run(replace(spec, mutant=None))
                self.add_run(spec, place.run(spec))

    @contextmanager
    def _resumable(self, place: RunPlace, stored_runs: RunStore | None) -> Iterator[RunPlace]:
        """The place, opened. With `stored_runs` it keeps each run that it makes, and makes none that is kept
        already."""
        if stored_runs is None:
            with place as found:
                yield found
            return
        with ResumablePlace(place, stored_runs) as resumable:
            try:
                yield resumable
            finally:
                self.taken_over += resumable.taken_over

    def add_run(self, spec: RunSpec, transcript: Transcript) -> None:
        """Take a run in."""
        self.done += 1
        self.progress(self.done, self.total, _name(spec))
        view = View(transcript, dialect(transcript.dialect), spec.scenario, digest(transcript))
        runs = self.control if spec.mutant is None else self.broken.setdefault(spec.mutant, {})
        runs[spec.key] = view


def _name(spec: RunSpec) -> str:
    return f"{spec.mutant or 'control'} {spec.key}"
