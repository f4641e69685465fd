"""One case: a requirement, a run that keeps it, and the smallest change after which it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from operator import attrgetter

import pytest
from msgspec.structs import replace

from turnproof.judge.finding import Finding, resolve
from turnproof.judge.requirements import Suite, judge, load_suite
from turnproof.judge.verdict import Status, Verdict
from turnproof.judge.view import View, document_of
from turnproof.run.transcript import RunEnded


@cache
def suite() -> Suite:
    """The suite under test, loaded once."""
    return load_suite()


@dataclass(frozen=True)
class Case:
    """`bad` spoils the run that `good` makes; `message` are words of what is told of it.

    `code` is the last part of the first finding's code, `pointer` where it points to; empty for what is not looked at.
    """

    id: str
    good: Callable[[], View]
    bad: Callable[[View], View]
    message: str = ""
    code: str = ""
    pointer: str | None = None

    def verdict(self, *views: View) -> Verdict:
        """The verdict of the requirement's own check."""
        return judge(suite().catalogue[self.id], views[0].key.path, views)


def decide(case: Case) -> None:
    """The good run holds and says what was compared; the bad one is violated, and the message says where and what.

    A run that hung is judged without an error, wherever it stopped.
    """
    good = case.good()
    good_verdict = case.verdict(good)
    assert good_verdict.status is Status.HELD, good_verdict
    assert good_verdict.compared
    spoilt = case.bad(good)
    bad = case.verdict(spoilt)
    assert bad.status is Status.VIOLATED, bad
    assert case.message in suite().registry.message(bad)
    assert bad.where == str(good.key)
    first = bad.findings[0]
    assert not case.code or first.code == f"{case.id}/{case.code}"
    if case.pointer is not None:
        assert first.place.pointer == case.pointer, first
    for finding in bad.findings:
        points_to_something(finding, spoilt)
    for hung in hung_runs(good):
        case.verdict(hung)


def hung_runs(view: View) -> Iterator[View]:
    """The run as if it had hung: before all, half way, and before its last event."""
    transcript = view.transcript
    events = [event for event in transcript.events if not isinstance(event, RunEnded)]
    for count in (0, len(events) // 2, len(events) - 1):
        left = (*events[: max(0, count)], replace(transcript.end, how="hung"))
        yield View(replace(transcript, events=left), view.dialect, view.scenario)


def good_runs_hold(cases: Sequence[Case]) -> Callable[[Case], None]:
    """A test of each case, to be given a name in the module that has the cases: `decide`."""

    @pytest.mark.parametrize("case", cases, ids=attrgetter("id"))
    def test(case: Case) -> None:
        decide(case)

    return test


def status(requirement: str, *views: View) -> Status:
    """What the requirement's own check says of these runs."""
    return judge(suite().catalogue[requirement], views[0].key.path, views).status


def findings(requirement: str, *views: View) -> tuple[Finding, ...]:
    """What the requirement's own check finds in these runs."""
    return judge(suite().catalogue[requirement], views[0].key.path, views).findings


def points_to_something(finding: Finding, view: View) -> None:
    """Every place of a finding is there: its document has what the pointer names."""
    for place in (finding.place, *finding.related):
        if place.pointer is not None and place.run == str(view.key):
            document = document_of(view, place)
            assert document is not None, place
            resolve(document, place.pointer)
