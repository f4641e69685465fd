"""What became of each mutant: a judgement over runs that were made already.

A mutant is caught when the requirement it names is violated in its broken runs, on every path it breaks, while the
same runs of the control held it. What looks like that and is not is told apart: a run that crashed detects nothing,
and a mutant whose runs equal the control's never broke anything.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from ...errors import HarnessError
from ...judge.requirements import REGISTRY, Level, Requirement
from ...judge.verdict import Status, Verdict
from ...judge.view import View
from ...run.driver.mutation import Mutant
from ...run.transcript import Failed, RunKey
from ...subject import Subject
from .decide import Claimed, decide

MOST_OTHERS = 5
"""Requirements that a mutant may trip besides its own before that is worth a remark."""


class Outcome(StrEnum):
    """What became of a mutant."""

    CAUGHT = "caught"
    SURVIVED = "survived"
    CRASHED = "crashed"
    NEVER_RAN = "never-ran"
    NO_CONTROL = "no-control"
    FAULT = "fault"
    NOT_CLAIMED = "not-claimed"


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One mutant of the matrix.

    `detail` says what was seen, or why it does not count. `paths` has, for each path it was run on, `caught`,
    `missed`, `equal` (to the control) or `unmeasured` (the control did not hold the requirement there). `trips` are
    the other requirements that were violated, though the control did not violate them.
    """

    mutant: str
    seam: str
    breaks: str
    expected: str
    outcome: Outcome
    detail: str = ""
    paths: dict[str, str] = {}
    trips: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    runs: int = 0


Verdicts = Mapping[tuple[str, str], Verdict]
"""Verdicts by requirement and path (`stateless`, `legacy` or `parity`)."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What every mutant of one subject is judged with: the requirements it claims, and its control's runs."""

    subject: Subject
    requirements: tuple[Requirement, ...]
    control: Mapping[RunKey, View]

    def judge(self, views: Iterable[View]) -> Verdicts:
        """The verdict of every requirement on every path that the views have, parity where they have both.

        Raises HarnessError when a check falls over.
        """
        every = list(views)
        paths: list[str] = sorted({view.key.path for view in every})
        both = ["parity"] if len(paths) == 2 else []
        claimed = Claimed.of_subject(self.subject, ())
        return {
            (requirement.id, path): decide(requirement, path, every, claimed)
            for requirement in self.requirements
            for path in (paths + both if REGISTRY[requirement.id].aspect is not None else paths)
        }


class Judge:
    """Judges mutants one after the other; the control's verdicts are reached once for each set of runs."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._known: dict[frozenset[RunKey], Verdicts] = {}

    def row(self, mutant: Mutant, mutant_views: Mapping[RunKey, View]) -> Row:
        """What became of a mutant whose runs are `mutant_views`. The control must have a run for each of them."""
        try:
            return self._row(mutant, mutant_views)
        except HarnessError as error:
            return _new_row(mutant, mutant_views, Outcome.FAULT, str(error))

    def violations(self, keys: Iterable[RunKey]) -> dict[str, str]:
        """The MUSTs that the control itself violates in these runs, with what was seen."""
        verdicts = self._control(frozenset(keys))
        musts = {requirement.id for requirement in self._bench.requirements if requirement.level is Level.MUST}
        return {
            f"{name} [{path}]": REGISTRY.message(verdict)
            for (name, path), verdict in verdicts.items()
            if verdict.status is Status.VIOLATED and name in musts
        }

    def _row(self, mutant: Mutant, mutant_views: Mapping[RunKey, View]) -> Row:
        control = {key: self._bench.control[key] for key in self._scene(mutant_views)}
        before = self._control(frozenset(control))
        # Paths that the mutant leaves alone stand in as they are: parity needs both.
        after = self._bench.judge({**control, **mutant_views}.values())
        tripped = [
            place
            for place, verdict in after.items()
            if verdict.status is Status.VIOLATED and before[place].status is not Status.VIOLATED
        ]
        paths = {path: self._path(mutant, path, mutant_views, before, after) for path in sorted(_paths(mutant_views))}
        outcome, detail = self._outcome(mutant, mutant_views, paths, before, after)
        return msgspec.structs.replace(
            _new_row(mutant, mutant_views, outcome, detail),
            paths=paths,
            trips=tuple(dict.fromkeys(name for name, _ in tripped if name != mutant.caught_by)),
        )

    def _scene(self, mutant_views: Mapping[RunKey, View]) -> list[RunKey]:
        scenarios = {key.scenario for key in mutant_views}
        modes = {key.mode for key in mutant_views}
        return [key for key in self._bench.control if key.scenario in scenarios and key.mode in modes]

    def _control(self, keys: frozenset[RunKey]) -> Verdicts:
        if keys not in self._known:
            self._known[keys] = self._bench.judge(self._bench.control[key] for key in sorted(keys))
        return self._known[keys]

    def _path(
        self, mutant: Mutant, path: str, mutant_views: Mapping[RunKey, View], before: Verdicts, after: Verdicts
    ) -> str:
        place = mutant.caught_by, path
        # A mutant of one path alone may show in the comparison of both, and only there.
        parity = mutant.caught_by, "parity"
        places = [place, parity] if len(_paths(mutant_views)) == 1 and parity in before else [place]
        measured = [one for one in places if before[one].status is Status.HELD]
        if not measured:
            return "unmeasured"
        own_views = {key: view for key, view in mutant_views.items() if key.path == path}
        if mutant.in_evidence and all(
            view.digest == self._bench.control[key].digest for key, view in own_views.items()
        ):
            return "equal"
        return "caught" if any(after[one].status is Status.VIOLATED for one in measured) else "missed"

    def _outcome(
        self,
        mutant: Mutant,
        mutant_views: Mapping[RunKey, View],
        paths: Mapping[str, str],
        before: Verdicts,
        after: Verdicts,
    ) -> tuple[Outcome, str]:
        verdicts = {path: after[mutant.caught_by, path] for path in paths}
        ours = next((view for view in mutant_views.values() if view.transcript.end.how == "harness-fault"), None)
        if ours is not None:
            return Outcome.FAULT, f"{ours.key}: {ours.transcript.end.detail}"
        if equal := [path for path, how in paths.items() if how == "equal"]:
            return Outcome.NEVER_RAN, _nothing_changed(equal, mutant_views)
        if crash := self._crash(mutant, mutant_views, paths):
            return Outcome.CRASHED, crash
        if missed := [path for path, how in paths.items() if how == "missed"]:
            verdict = verdicts[missed[0]]
            message = REGISTRY.message(verdict)
            return (
                Outcome.SURVIVED,
                f"{missed[0]}: the requirement {verdict.status}{': ' * bool(message)}{message}",
            )
        if "caught" not in paths.values():
            why = before[mutant.caught_by, next(iter(paths))]
            if why.status is Status.NOT_CLAIMED:
                return Outcome.NOT_CLAIMED, why.message
            return Outcome.NO_CONTROL, f"for the control the requirement is {why.status}: {REGISTRY.message(why)}"
        catching_path = next(path for path, how in paths.items() if how == "caught")
        place = catching_path if verdicts[catching_path].status is Status.VIOLATED else "parity"
        return Outcome.CAUGHT, REGISTRY.message(after[mutant.caught_by, place])

    def _crash(self, mutant: Mutant, mutant_views: Mapping[RunKey, View], paths: Mapping[str, str]) -> str:
        """What crashed, if nothing is detected without the runs that did; empty otherwise."""
        if mutant.fails is not None:
            return ""
        crashed = {key: why for key, view in mutant_views.items() if (why := _crash_of(view, self._bench.control[key]))}
        if not crashed:
            return ""
        sound = {key: view for key, view in mutant_views.items() if key not in crashed}
        catching_paths = {path for path, how in paths.items() if how == "caught"}
        if catching_paths and catching_paths <= _paths(sound):
            verdicts = self._bench.judge({**{k: self._bench.control[k] for k in self._scene(sound)}, **sound}.values())
            if all(verdicts[mutant.caught_by, path].status is Status.VIOLATED for path in catching_paths):
                return ""
        key, why = next(iter(crashed.items()))
        return f"{key}: {why}"


def _crash_of(view: View, control: View) -> str:
    """How a run broke down where its control did not; an exception that is no provider error breaks a call down."""
    end = view.transcript.end
    if end.how not in ("completed", control.transcript.end.how):
        return f"the run ended {end.how}: {end.detail}"
    found, known = _untyped(view), _untyped(control)
    return f"{found[-1].error}: {found[-1].message}" if len(found) > len(known) else ""


def _untyped(view: View) -> list[Failed]:
    """Calls that raised something of no known kind; what a session's callback raised is not the adapter's."""
    failed = (event for event in view.transcript.of(Failed) if event.scope == "call")
    return [event for event in failed if not event.typed and not event.from_callback]


def _nothing_changed(paths: Sequence[str], mutant_views: Mapping[RunKey, View]) -> str:
    """Why a mutant counts as one that never ran, and where to look."""
    scenarios = ", ".join(sorted({key.scenario for key in mutant_views}))
    return (
        f"its runs equal the control's ({', '.join(paths)}). Either nothing in {scenarios} is what it changes: name "
        "other scenarios; or runs do not record what it changes, such as most headers (docs/add-a-requirement.md)"
    )


def _paths(runs: Mapping[RunKey, View]) -> set[str]:
    return {key.path for key in runs}


def _new_row(mutant: Mutant, mutant_views: Mapping[RunKey, View], outcome: Outcome, detail: str) -> Row:
    return Row(
        mutant=mutant.name,
        seam=mutant.seam,
        breaks=mutant.breaks,
        expected=mutant.caught_by,
        outcome=outcome,
        detail=detail,
        scenarios=tuple(dict.fromkeys(key.scenario for key in mutant_views)),
        runs=len(mutant_views),
    )


def not_claimed_row(mutant: Mutant, reason: str) -> Row:
    """The row of a mutant that has nothing to break in this adapter."""
    return _new_row(mutant, {}, Outcome.NOT_CLAIMED, reason)


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """The kill matrix of one adapter, as it stands in `mutants.json`.

    `only` are the patterns it was limited to. `control` are the MUSTs that the unbroken adapter violates, which leaves
    their mutants without a control. `requirements` says what the mutants prove of each requirement. `median_others` is
    how many others a caught mutant trips, in the middle of them: a suite that screams says little. `started` is ISO
    8601 in UTC; the runs were all answered by the `backend`.
    """

    schema: str = "turnproof.mutants/1"
    turnproof: str
    adapter: str
    dialect: str
    model: str
    seed: int
    started: str
    backend: str = "emulated"
    only: tuple[str, ...]
    duration_s: float
    exit_code: int
    counts: dict[str, int]
    control: dict[str, str]
    mutants: tuple[Row, ...]
    requirements: dict[str, Standing]
    median_others: float = 0


class Standing(msgspec.Struct, frozen=True):
    """What the mutants prove of one requirement.

    `caught` are those that name it and that it caught, `alone` those of them that no other requirement noticed,
    `tripped` those that it noticed beside the one they name.
    """

    caught: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()
    tripped: tuple[str, ...] = ()


def median_others(rows: Iterable[Row]) -> float:
    """The median of the other requirements that a caught mutant trips; 0 where none was caught."""
    counts = [len(row.trips) for row in rows if row.outcome is Outcome.CAUGHT]
    return statistics.median(counts) if counts else 0


def standings(requirements: Iterable[Requirement], rows: Sequence[Row]) -> dict[str, Standing]:
    """What the rows say of each requirement."""

    def names(holds: Callable[[Row], bool]) -> tuple[str, ...]:
        return tuple(row.mutant for row in rows if holds(row))

    def standing_of(name: str) -> Standing:
        return Standing(
            caught=names(lambda row: row.expected == name and row.outcome is Outcome.CAUGHT),
            alone=names(lambda row: row.expected == name and row.outcome is Outcome.CAUGHT and not row.trips),
            tripped=names(lambda row: name in row.trips),
        )

    return {requirement.id: standing_of(requirement.id) for requirement in requirements}
