"""What is not held, for readers with little room: in the order of its weight, paths of one requirement together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..judge.finding import Finding
from ..judge.run_log import AdapterLine, RequirementLine, ResultLine, Run
from ..judge.undecided_words import what_to_do, why_undecided
from ..judge.verdict import Status, Verdict
from ..run.tracebacks import Raised, format_frame
from ._inline_text import one_line
from .certification import reproduce, show_alone
from .finding_groups import Group, groups, location, root_in_words, scenarios, word_rows
from .html import anchor

SHOWN = (Status.VIOLATED, Status.INCONCLUSIVE, Status.KNOWN_ISSUE)
"""What a reader has to know of, heaviest first."""


@dataclass(frozen=True)
class Failure:
    """A requirement that an adapter does not hold on these paths, all with the same status, a verdict for each."""

    run: Run
    adapter: AdapterLine
    requirement: RequirementLine
    paths: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    reproduce: str

    @property
    def status(self) -> Status:
        """What all its verdicts say."""
        return self.verdicts[0].status

    @property
    def name(self) -> str:
        """`tools/results-answer-every-call [legacy, parity]`, with its level where that is not MUST."""
        should = "" if self.requirement.level == "MUST" else ", SHOULD"
        return f"{self.requirement.id} [{', '.join(self.paths)}]{should}"

    @property
    def findings(self) -> list[Finding]:
        """What was found on all its paths, as far as the log has it."""
        return [finding for verdict in self.verdicts for finding in verdict.findings]

    @property
    def total(self) -> int:
        """How many findings there were in all."""
        return sum(verdict.total for verdict in self.verdicts)

    @cached_property
    def groups(self) -> list[Group]:
        """The findings by root and kind."""
        return groups(self.findings, self.run.templates)

    @cached_property
    def scenarios(self) -> list[str]:
        """Every scenario in which something was found, with how often."""
        failing: Counter[str] = Counter()
        for verdict in self.verdicts:
            failing.update(verdict.failing)
        return scenarios(failing)

    @property
    def message(self) -> str:
        """All of it in a sentence."""
        return self.run.message(self.verdicts[0])


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
    return Failure(
        run,
        adapter,
        run.requirements[first.requirement],
        tuple(line.path for line in lines),
        tuple(line.verdict for line in lines),
        reproduce(run, adapter, first.requirement, (line.verdict for line in lines)),
    )


def explanation(failure: Failure, page: Path | None) -> Iterator[tuple[str, str]]:
    """A failure in full: what each line is about, and the line. `page` is the index.html that tells the whole story."""
    requirement = failure.requirement
    yield "requirement", requirement.title
    yield from _reasons(failure)
    for number, group in enumerate(failure.groups):
        if number:
            yield "", ""
        yield from group_rows(group)
    if failure.scenarios:
        yield "scenarios", ", ".join(failure.scenarios)
    if failure.status is Status.VIOLATED and requirement.reason:
        yield "why", requirement.reason
    explained = any(verdict.undecided for verdict in failure.verdicts)
    yield from advice(failure.status, requirement, explained=explained)
    yield "reproduce", failure.reproduce
    folder = "" if page is None or str(page.parent) == "reports" else str(page.parent)
    if failure.status is Status.VIOLATED and (
        alone := show_alone(failure.run, failure.adapter, requirement.id, folder)
    ):
        yield "show it alone", alone
    if page is not None:
        yield "report", f"{page}#{anchor(failure.adapter.name, requirement.id)}"


def advice(status: Status, requirement: RequirementLine, *, explained: bool = False) -> Iterator[tuple[str, str]]:
    """What to do about a status: a label and a text each. With `explained` the reasons why it is undecided say it."""
    match status:
        case Status.VIOLATED:
            if requirement.provider:
                yield "what the API does", requirement.provider
            if requirement.code:
                yield "likely cause", requirement.code
        case Status.KNOWN_ISSUE:
            yield "what to do", "mend it before the day on which the known issue ends, then take the known issue out"
        case Status.INCONCLUSIVE if not explained:
            yield "what to do", "fix the cause, then run it again: undecided is never a pass"


def reasons_of(verdict: Verdict) -> Iterator[tuple[str, str]]:
    """Why a verdict could not be decided, each reason with what to do about it."""
    for reason in verdict.undecided:
        yield why_undecided(reason), what_to_do(reason)


def _reasons(failure: Failure) -> Iterator[tuple[str, str]]:
    """Why it could not be decided, or how it was accepted."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for path, verdict in zip(failure.paths, failure.verdicts, strict=True):
        for pair in reasons_of(verdict):
            reasons.setdefault(pair, []).append(path)
    for (why, do), paths in reasons.items():
        yield f"on {', '.join(paths)}", why
        yield "what to do", do
    for path, verdict in zip(failure.paths, failure.verdicts, strict=True):
        if verdict.message and not (verdict.empty and verdict.undecided):
            yield f"on {path}", one_line(verdict.message)
        for line in verdict.detail.splitlines()[:_EXCERPT]:
            yield "", one_line(line)


_EXCERPT = 6
"""Lines beside a reason that an explanation shows."""


def group_rows(group: Group) -> Iterator[tuple[str, str]]:
    """A group of findings: what is wrong, both sides, and where. Of many the first, and how many there are."""
    words = group.words
    if group.root:
        yield "cause", root_in_words(group.root)
    yield from word_rows(words.title, words.expected, words.got)
    where = location(group.first.place)
    more = len(group.findings) - 1
    yield "where", f"{where} (and {more} more)" if more else where
    if group.raised is not None:
        yield from raised_lines(group.raised)


def raised_lines(raised: Raised) -> Iterator[tuple[str, str]]:
    """An exception, and the deepest line of the subject's own code that it went through."""
    yield "raised", one_line(raised.title)
    if (frame := raised.own_frame) is not None:
        yield "", format_frame(frame)
