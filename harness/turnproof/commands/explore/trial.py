"""One scenario on one subject: run down every path in every mode, and judged like any other scenario.

Nothing new is judged by. The suites' own checks decide, and what differs between the paths is what `turnproof compare`
would call an undeclared difference: whatever is found can be seen again with `certify` and `compare`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from msgspec import UNSET

from ..._base.settings import KnownIssue
from ...dialects import dialect
from ...errors import HarnessError
from ...judge.known_issues import accept_findings
from ...judge.parity import Found, compare_views, violations
from ...judge.requirements import REGISTRY, Requirement, judge_parity
from ...judge.verdict import Status, Verdict
from ...judge.verdict_words import details_of, message_of
from ...judge.view import View
from ...judge.view.diff import show
from ...provider import PATHS, Difference, Path
from ...run.driver import RunSpec
from ...run.driver.run_place import RunPlace
from ...run.transcript import RunKey, Transcript
from ...scenarios import Scenario
from ...subject import Subject
from ..certify.decide import Claimed, decide
from ..certify.resumable_place import ResumablePlace

_BAD = (Status.VIOLATED, Status.INCONCLUSIVE)


@dataclass(frozen=True, slots=True)
class Failure:
    """What is wrong with the runs of one scenario.

    `what` is the id of a requirement, or the name of an undeclared difference between the paths; `path` is where it
    shows. `status` is `violated`, or `inconclusive` where nobody could decide.
    """

    kind: Literal["requirement", "difference"]
    what: str
    path: str
    status: Status
    message: str
    where: str = ""
    detail: str = ""

    @property
    def key(self) -> tuple[str, Status]:
        """What two failures have in common that are the same one, in whatever scenario and on whatever path."""
        return self.what, self.status


class ScenarioTrial:
    """Tries scenarios on the subject that `runner` knows as `spec`.

    `requirements` are those to judge by, `excused` the differences between the paths that are meant, `accepted` the
    known issues of this subject. `path` limits everything to one path.
    """

    def __init__(
        self,
        runner: RunPlace,
        spec: str,
        subject: Subject,
        requirements: Iterable[Requirement],
        *,
        excused: Sequence[Difference] = (),
        accepted: Sequence[KnownIssue] = (),
        path: Path | None = None,
    ) -> None:
        self.subject = subject
        self.runs = 0
        self._runner = runner
        self._spec = spec
        self._claimed = Claimed.of_subject(subject, ())
        self._requirements = [one for one in requirements if _applies(one, subject)]
        self._excused = excused
        self._accepted = accepted
        self._paths = [one for one in PATHS if one in subject.paths and path in (None, one)]

    def failures(self, scenario: Scenario) -> tuple[Failure, ...]:
        """Everything that is wrong with this scenario's runs, what is violated first.

        Raises HarnessError where it is turnproof that failed.
        """
        views = self._run(scenario, self._paths)
        found = [failure for path in self._paths for failure in self._failures_on_path(path, views)]
        if len(self._paths) == len(PATHS):
            found += self._unequal(scenario, views)
        return tuple(sorted(found, key=lambda failure: _BAD.index(failure.status)))

    def shows(self, scenario: Scenario, failure: Failure) -> bool:
        """Whether this scenario's runs show that failure too. Only what can tell is run and judged."""
        if failure.path == "parity":
            found = self._unequal(scenario, self._run(scenario, self._paths), failure.what)
        else:
            path = next(path for path in self._paths if path == failure.path)
            found = self._failures_on_path(path, self._run(scenario, [path]), failure.what)
        return any(one.key == failure.key for one in found)

    def prepare(self, scenarios: Iterable[Scenario]) -> None:
        """Make the first runs of these scenarios, where they are kept until they are asked for; else do nothing."""
        if isinstance(self._runner, ResumablePlace):
            self._runner.prepare(
                RunSpec(self._spec, scenario, key) for scenario in scenarios for key in _keys(scenario, self._paths)
            )

    # -- runs -------------------------------------------------------------------------------------------------

    def _run(self, scenario: Scenario, paths: Iterable[Path], repeat: int = 0) -> list[View]:
        """A run for each mode and path, in this order."""
        keys = _keys(scenario, paths, repeat)
        views: dict[RunKey, View] = {}
        wire = dialect(self.subject.dialect)

        def judge_run(spec: RunSpec, transcript: Transcript) -> None:
            views[spec.key] = View(transcript, wire, scenario)

        self._runner.run_all([RunSpec(self._spec, scenario, key) for key in keys], judge_run)
        self.runs += len(keys)
        for view in views.values():
            if view.transcript.end.how == "harness-fault":
                raise HarnessError(f"{view.key}: {view.transcript.end.detail}")
        return [views[key] for key in keys]

    # -- judging ----------------------------------------------------------------------------------------------

    def _failures_on_path(self, path: Path, views: Sequence[View], only: str | None = None) -> list[Failure]:
        """What one path does wrong."""
        return [
            failure
            for requirement in self._requirements
            if only in (None, requirement.id)
            for failure in self._failure(requirement, path, decide(requirement, path, views, self._claimed))
        ]

    def _unequal(self, scenario: Scenario, views: Sequence[View], only: str | None = None) -> list[Failure]:
        """How the paths differ. A second run of the legacy path, which tells noise, is made only where they do."""
        stateless, legacy = ([view for view in views if view.key.path == path] for path in PATHS)
        if not self._apart(stateless, legacy, legacy, only):
            return []
        return self._apart(stateless, legacy, self._run(scenario, ["legacy"], repeat=1), only)

    def _apart(
        self, stateless: Sequence[View], legacy: Sequence[View], again: Sequence[View], only: str | None
    ) -> list[Failure]:
        found: dict[str, Failure] = {}
        for requirement in self._requirements:
            if only in (None, requirement.id):
                verdict = judge_parity(requirement, stateless, legacy, again, declared=self.subject.declared)
                for failure in self._failure(requirement, "parity", verdict) if verdict is not None else ():
                    found[failure.what] = failure
        # Where the session changes to the other path, each run has been on both.
        alone = not any("save-load-other-path" in turn.before for view in stateless for turn in view.scenario.turns)
        for left, right, second in zip(stateless, legacy, again, strict=True) if alone else ():
            for one in violations(compare_views(left, right, second), self._excused):
                if only in (None, one.name):
                    found.setdefault(one.name, _difference(one, left))
        return list(found.values())

    def _failure(self, requirement: Requirement, path: str, verdict: Verdict) -> tuple[Failure, ...]:
        known = [issue for issue in self._accepted if (issue.requirement, issue.path) == (requirement.id, path)]
        verdict = accept_findings(verdict, known)
        entirely = any(issue.codes is None for issue in known)
        if verdict.status not in _BAD or verdict.compared_nothing or entirely:
            return ()
        templates = REGISTRY.templates
        place = message_of(verdict, templates), verdict.where, details_of(verdict, templates)
        return (Failure("requirement", requirement.id, path, verdict.status, *place),)


def _keys(scenario: Scenario, paths: Iterable[Path], repeat: int = 0) -> list[RunKey]:
    on = list(paths)
    return [RunKey(scenario.name, path, mode, repeat) for mode in scenario.modes for path in on]


def _applies(requirement: Requirement, subject: Subject) -> bool:
    """Whether the subject is judged by it, claims what it needs, and can do what has to be done to see it."""
    able = set(requirement.operations) <= subject.operations
    return able and requirement.concerns(subject.kind) and not requirement.lacks(subject.claims())


def _difference(difference: Found, view: View) -> Failure:
    left, right = ("nothing" if side is UNSET else show(side) for side in (difference.left, difference.right))
    message = f"{difference.place}, {difference.aspect} {difference.path}: stateless has {left}, legacy {right}"
    return Failure(
        "difference", difference.name, "parity", Status.VIOLATED, message, f"{view.key.scenario}/{view.key.mode}"
    )
