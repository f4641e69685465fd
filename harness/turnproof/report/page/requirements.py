"""Every requirement as a page of its own: what it asks and why, where each adapter stands, and what was seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..._base.counts import counted
from ...judge.requirements import PROFILES
from ...judge.run_log import AdapterLine, RequirementLine, ResultLine, Run
from ...judge.verdict import Status, Verdict, worst
from ...judge.verdict_words import asked_text
from ..certification import Certification, reproduce
from ..html import anchor
from ..limits import REQUIREMENT_EXAMPLES
from .cases import Case, Cases

CODES = {
    Status.VIOLATED: "v",
    Status.INCONCLUSIVE: "i",
    Status.KNOWN_ISSUE: "k",
    Status.HELD: "h",
    Status.NOT_CLAIMED: "n",
}
"""What the page's script knows a status by."""

WEIGHT = list(Status)
"""Every status, the heaviest first."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One adapter's standing: its overall status, and that of each path with what it rests on.

    `codes` are the overall status and those of the paths, in one string for the filters. `id` is a place for links.
    """

    adapter: str
    id: str
    status: Status
    codes: str
    cells: tuple[tuple[Status | None, str], ...]
    claim: str


@dataclass(frozen=True, slots=True)
class Page:
    """A requirement. `standings` are in the order of the adapters, `cases` what is not held, heaviest first.

    `told` says in words how many stand where, `compared` and `evidence` what a verdict of held rests on, for
    example. `reproduce` measures it again; `caught` are the mutants that it is known to catch, and `lacking` says what
    those lack who do not claim it.
    """

    line: RequirementLine
    id: str
    status: Status
    standings: tuple[Standing, ...]
    told: str
    compared: tuple[str, ...]
    evidence: tuple[str, ...]
    reproduce: str
    cases: tuple[Case, ...]
    caught: tuple[str, ...]
    lacking: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """The pages of a profile."""

    profile: str
    id: str
    pages: tuple[Page, ...]


def groups(
    run: Run, report: Certification, cases: Cases, paths: Sequence[str], caught_mutants: Mapping[str, Sequence[str]]
) -> tuple[Group, ...]:
    """All requirements that this run has a result for, by profile, those with the heaviest status first."""
    if report.broken:
        return ()
    lines: dict[str, list[ResultLine]] = {}
    for line in run.results:
        lines.setdefault(line.requirement, []).append(line)
    maker = _Maker(run, report, cases, paths, caught_mutants)
    pages = [maker.page(one, lines[one.id]) for one in run.requirements.values() if one.id in lines]
    found = {page.line.profile for page in pages}
    order = [*(name for name in PROFILES if name in found), *sorted(found - set(PROFILES))]
    return tuple(Group(name, anchor("profile", name), _of_profile(pages, name)) for name in order)


def _of_profile(pages: Sequence[Page], profile: str) -> tuple[Page, ...]:
    own_pages = [page for page in pages if page.line.profile == profile]
    return tuple(sorted(own_pages, key=lambda page: WEIGHT.index(page.status)))


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes the pages of one run."""

    run: Run
    report: Certification
    cases: Cases
    paths: Sequence[str]
    caught_mutants: Mapping[str, Sequence[str]]

    def page(self, requirement: RequirementLine, lines: Sequence[ResultLine]) -> Page:
        by_adapter: dict[str, list[ResultLine]] = {}
        for line in lines:
            by_adapter.setdefault(line.adapter, []).append(line)
        adapters = [one for one in self.run.adapters.values() if one.name in by_adapter]
        standings = tuple(self._standing(one, requirement, by_adapter[one.name]) for one in adapters)
        cases = [case for one in adapters if (case := self.cases.case(one, requirement, by_adapter[one.name]))]
        held_verdict = next((line.verdict for line in lines if line.verdict.status is Status.HELD), None)
        return Page(
            line=requirement,
            id=anchor(requirement.id),
            status=worst(one.status for one in standings),
            standings=standings,
            told=_standing_text(standings),
            compared=held_verdict.compared[:REQUIREMENT_EXAMPLES] if held_verdict is not None else (),
            evidence=held_verdict.evidence[:REQUIREMENT_EXAMPLES] if held_verdict is not None else (),
            reproduce=reproduce(self.run, adapters[0], requirement.id),
            cases=tuple(sorted(cases, key=lambda case: WEIGHT.index(case.status))),
            caught=tuple(self.caught_mutants.get(requirement.id, ())),
            lacking=tuple(dict.fromkeys(_lacking(lines))),
        )

    def _standing(self, adapter: AdapterLine, requirement: RequirementLine, lines: Sequence[ResultLine]) -> Standing:
        verdicts = {line.path: line.verdict for line in lines}
        status = worst(verdict.status for verdict in verdicts.values())
        codes = [CODES[verdicts[path].status] if path in verdicts else "-" for path in self.paths]
        return Standing(
            adapter=adapter.name,
            id=anchor(adapter.name, requirement.id),
            status=status,
            codes=CODES[status] + "".join(codes),
            cells=tuple(_cell(path, verdicts.get(path), adapter, requirement) for path in self.paths),
            claim=self.report.adapters[adapter.name].claim,
        )


def _lacking(lines: Sequence[ResultLine]) -> Iterator[str]:
    for line in lines:
        if line.verdict.status is Status.NOT_CLAIMED and line.verdict.message:
            yield f"{line.adapter} ({line.path}): {line.verdict.message}"


def _cell(
    path: str, verdict: Verdict | None, adapter: AdapterLine, requirement: RequirementLine
) -> tuple[Status | None, str]:
    """Status, and what there is to say of it in a few words."""
    if verdict is None:
        return None, _why_nothing(path, adapter)
    if verdict.status is Status.HELD:
        return verdict.status, ", ".join(
            filter(None, (f"{len(verdict.compared)} compared", asked_text(verdict, requirement.counts)))
        )
    return verdict.status, verdict.message if verdict.status is Status.NOT_CLAIMED else ""


def _why_nothing(path: str, adapter: AdapterLine) -> str:
    if path == "parity":  # of few requirements there is something to compare
        return ""
    return "not measured" if not adapter.paths or path in adapter.paths else "has no such path"


def _standing_text(standings: Sequence[Standing]) -> str:
    """`held by 18 adapters, violated by garden`."""
    return ", ".join(_by_status(standings))


def _by_status(standings: Sequence[Standing]) -> Iterator[str]:
    for status in Status:
        names = [one.adapter for one in standings if one.status is status]
        if names:
            who = ", ".join(names) if len(names) <= REQUIREMENT_EXAMPLES else counted(len(names), "adapter")
            yield f"{str(status).replace('-', ' ')}: {who}"
