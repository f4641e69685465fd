"""What is not held, for readers with little room: in the order of its weight, paths that say the same together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..runlog import AdapterLine, RequirementLine, ResultLine, Run
from ..verdict import Status, Verdict
from ._text import one_line, printable
from .certification import reproduce
from .html import anchor

SHOWN = (Status.VIOLATED, Status.INCONCLUSIVE, Status.KNOWN_ISSUE)
"""What a reader has to know of, heaviest first."""

_EXCERPT = 6
"""Lines of a diff that an explanation shows."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A requirement that an adapter does not hold on these paths, all with the same status; the first path's words."""

    adapter: AdapterLine
    requirement: RequirementLine
    paths: tuple[str, ...]
    verdict: Verdict
    reproduce: str

    @property
    def name(self) -> str:
        """`tools/results-answer-every-call [legacy, parity]`, with its level where that is not MUST."""
        should = "" if self.requirement.level == "MUST" else ", SHOULD"
        return f"{self.requirement.id} [{', '.join(self.paths)}]{should}"

    @property
    def said(self) -> str:
        """What was seen, behind the run it was seen in."""
        return f"{self.verdict.where}: {self.verdict.message}" if self.verdict.where else self.verdict.message


def failures(run: Run, status: Status) -> list[Failure]:
    """The requirements that are not held with this status: each MUST before each SHOULD, otherwise as they were run."""
    found: dict[tuple[str, str], list[ResultLine]] = {}
    for line in run.results:
        if line.verdict.status is status:
            found.setdefault((line.adapter, line.requirement), []).append(line)
    every = [_failure(run, lines) for lines in found.values()]
    return sorted(every, key=lambda failure: failure.requirement.level != "MUST")


def _failure(run: Run, lines: list[ResultLine]) -> Failure:
    first = lines[0]
    adapter = run.adapters[first.adapter]
    paths = tuple(line.path for line in lines)
    command = reproduce(run, adapter, first.requirement)
    return Failure(adapter, run.requirements[first.requirement], paths, first.verdict, command)


def explanation(failure: Failure, page: Path | None) -> Iterator[tuple[str, str]]:
    """A failure in full: what each line is about, and the line. `page` is the index.html that tells the whole story."""
    requirement, verdict = failure.requirement, failure.verdict
    yield "is to be", requirement.title
    yield "was seen", failure.said
    for row in excerpt(verdict.detail):
        yield "", row
    if requirement.reason:
        yield "matters", requirement.reason
    if requirement.provider:
        yield "the provider", requirement.provider
    if requirement.code:
        yield "your code", requirement.code
    yield "again", failure.reproduce
    if page is not None:
        yield "all of it", f"{page}#{anchor(failure.adapter.name, requirement.id)}"


def excerpt(detail: str) -> list[str]:
    """The lines of a detail that tell most: those that differ, where it is a diff; otherwise the first."""
    rows = [one_line(row) if row.strip() else "" for row in printable(detail).splitlines()]
    told = [row for row in rows if row]
    differing = [row for row in told if row.startswith(("+", "-"))]
    chosen = differing or told
    more = len(chosen) - _EXCERPT
    return chosen if more <= 0 else [*chosen[:_EXCERPT], f"… {more} lines more"]
