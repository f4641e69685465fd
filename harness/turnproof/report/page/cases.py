"""What is not held: one adapter and one requirement, with what was found on each path and the runs it was found in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ...judge.finding import Finding
from ...judge.run_log import AdapterLine, RequirementLine, ResultLine, Run
from ...judge.undecided_words import what_to_do, why_undecided
from ...judge.verdict import Status, Verdict, worst
from ...run.evidence import EvidenceStore
from ..certification import Certification, reproduce, show_alone
from ..failures import SHOWN
from ..finding_groups import scenarios
from ..html import anchor
from ..limits import SCENES_OF_A_CASE, SCENES_OF_A_PAGE
from .conversation import Scene, Scenes
from .occurrences import Kind, Kinds
from .transcripts import Transcripts


@dataclass(frozen=True, slots=True)
class Seen:
    """What was found on one path, of `total` findings in all; `kept` says how many of them the log has.

    `message` and `detail` say why there is no verdict, or how it was accepted. `scenarios` are all that fail.
    `undecided` are the reasons why nothing was decided, each with what to do about it; `empty` says that no run had
    anything to compare.
    """

    path: str
    status: Status
    message: str
    detail: str
    kinds: tuple[Kind, ...]
    total: int
    kept: int
    scenarios: tuple[str, ...]
    rests_on: str
    evidence: tuple[str, ...]
    undecided: tuple[tuple[str, str], ...] = ()
    empty: bool = False


@dataclass(frozen=True, slots=True)
class SceneLink:
    """A run that something was found in: told here, or at `id`, or (too many) not on this page, with an empty id."""

    name: str
    scene: Scene | None
    id: str


@dataclass(frozen=True, slots=True)
class Case:
    """A requirement that an adapter does not hold on some path."""

    adapter: str
    id: str
    status: Status
    claim: str
    seen: tuple[Seen, ...]
    reproduce: str
    alone: str
    scenes: tuple[SceneLink, ...]

    @property
    def summary(self) -> str:
        """In a line: what is known of the cause, else the first finding; or why it is undecided."""
        kinds = [kind for seen in self.seen for kind in seen.kinds if not kind.accepted]
        first = next((kind for kind in kinds if kind.cause), kinds[0] if kinds else None)
        if first is None:
            whys = [seen.undecided[0][0] if seen.undecided else seen.message for seen in self.seen]
            return next(filter(None, whys), "")
        words = first.words
        sides = "; ".join(
            filter(None, (words.expected and f"expected {words.expected}", words.got and f"got {words.got}"))
        )
        return " ".join(filter(None, (words.title, f"Cause: {first.cause}." if first.cause else sides)))


class Cases:
    """Makes the cases of a run, and tells the runs that something was found in, as many as a page can bear."""

    def __init__(self, run: Run, report: Certification, store: EvidenceStore) -> None:
        self._run = run
        self._report = report
        self._transcripts = {name: Transcripts(run, name, store) for name in run.adapters}
        self._scenes = {name: Scenes(found) for name, found in self._transcripts.items()}
        self._kinds = Kinds(run)
        self._scenes_shown = 0
        self._first: dict[tuple[str, str], str] = {}

    def case(self, adapter: AdapterLine, requirement: RequirementLine, lines: Sequence[ResultLine]) -> Case | None:
        """The case of an adapter and a requirement; None where every path holds it, or does not claim it."""
        shown = [line for line in lines if line.verdict.status in SHOWN]
        if not shown:
            return None
        return Case(
            adapter=adapter.name,
            id=anchor(adapter.name, requirement.id),
            status=worst(line.verdict.status for line in shown),
            claim=self._report.adapters[adapter.name].claim,
            seen=tuple(self._seen(adapter.name, line) for line in shown),
            reproduce=reproduce(self._run, adapter, requirement.id),
            alone=show_alone(self._run, adapter, requirement.id),
            scenes=tuple(self._links(adapter.name, requirement.id, shown)),
        )

    def _seen(self, adapter: str, line: ResultLine) -> Seen:
        verdict, transcripts = line.verdict, self._transcripts[adapter]
        known = verdict.status is Status.KNOWN_ISSUE
        failing = tuple(scenarios(verdict.failing))
        kinds = [
            *self._kinds.of(verdict.findings, transcripts, accepted=known),
            *self._kinds.of(verdict.accepted, transcripts, accepted=True),
        ]
        if len(kinds) == 1 and failing:  # the scenarios of those that the log has not kept are its own, too
            kinds = [replace(kinds[0], scenarios=failing)]
        return Seen(
            path=line.path,
            status=verdict.status,
            message=verdict.message,
            detail=verdict.detail,
            kinds=tuple(kinds),
            total=verdict.total + len(verdict.accepted),
            kept=len(verdict.findings) + len(verdict.accepted),
            scenarios=failing,
            rests_on=str(verdict.rests_on) if verdict.rests_on is not None else "",
            evidence=verdict.evidence,
            undecided=tuple((why_undecided(one), what_to_do(one)) for one in verdict.undecided),
            empty=verdict.empty,
        )

    def _links(self, adapter: str, requirement: str, lines: Sequence[ResultLine]) -> Iterator[SceneLink]:
        """The runs that these verdicts speak of, both paths of one scenario and mode together."""
        scenes = self._scenes[adapter]
        findings = [finding for line in lines for finding in _findings(line.verdict)]
        keys: dict[str, str] = {}
        for finding in _first_of_each(findings):
            if finding.place.run:
                keys.setdefault(scenes.name_of(finding.place.run), finding.place.run)
        for name, key in list(keys.items())[:SCENES_OF_A_CASE]:
            first = self._first.get((adapter, name), "")
            if self._scenes_shown >= SCENES_OF_A_PAGE:
                yield SceneLink(name, None, first)
                continue
            # The first telling of a run has an address of its own; each later one belongs to its case.
            id = anchor(adapter, requirement, "run", name) if first else anchor(adapter, "run", name)
            self._first.setdefault((adapter, name), id)
            self._scenes_shown += 1
            yield SceneLink(name, scenes.of(key, [finding.place for finding in findings], id), id)


def _findings(verdict: Verdict) -> tuple[Finding, ...]:
    return (*verdict.findings, *verdict.accepted)


def _first_of_each(findings: Sequence[Finding]) -> list[Finding]:
    """The first finding of each path, then that of each further kind."""
    paths = {finding.place.path: finding for finding in reversed(findings)}
    kinds = {(finding.root, finding.code): finding for finding in reversed(findings)}
    return [*reversed(paths.values()), *reversed(kinds.values())]
