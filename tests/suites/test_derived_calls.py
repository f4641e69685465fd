"""Calls that are derived: they are those that would have been shown, and accuse nobody whom these would not accuse."""

from __future__ import annotations

from operator import attrgetter

import pytest
from msgspec.structs import replace

from turnproof.judge.verdict import Status
from turnproof.judge.view import View, derived
from turnproof.run.transcript import (
    CallBegan,
    Chunk,
    Failed,
    FunctionCallDetected,
    LateCallback,
    Response,
    Thinking,
    UsageUpdate,
)

from . import (
    test_cancellation_checks,
    test_core_checks,
    test_error_checks,
    test_handoff_checks,
    test_other_checks,
    test_tool_checks,
)
from .cases import Case, points_to_something, suite

MODULES = (
    test_cancellation_checks,
    test_core_checks,
    test_error_checks,
    test_handoff_checks,
    test_other_checks,
    test_tool_checks,
)

CASES = [
    case
    for module in MODULES
    for cases in vars(module).values()
    if isinstance(cases, list)
    for case in cases
    if isinstance(case, Case)
    and suite().catalogue[case.id].subject == "adapter"
    and suite().registry[case.id].needs in ("history", "usage")
]


def closed(view: View) -> View:
    """The same run of a session that shows the wire, its history and how its turns end, and nothing of its calls."""
    shown = (CallBegan, Response, Chunk, Thinking, FunctionCallDetected, UsageUpdate, LateCallback)
    events = []
    for event in view.transcript.events:
        if isinstance(event, shown) or event.probe or (isinstance(event, Failed) and event.scope == "call"):
            continue
        events.append(event)
    return View(replace(view.transcript, events=tuple(events)), view.dialect, view.scenario)


def judged(case: Case, view: View) -> Status | None:
    """What the requirement's check says of the derived calls; None where it had nothing to compare."""
    needs = suite().registry[case.id].needs
    found = derived(closed(view), usage=needs == "usage")
    verdict = case.verdict(found)
    for finding in verdict.findings:
        points_to_something(finding, found)
    return None if verdict.compared_nothing else verdict.status


@pytest.mark.parametrize("case", CASES, ids=attrgetter("id"))
def test_a_good_session_is_accused_of_nothing_by_its_derived_calls(case: Case) -> None:
    assert judged(case, case.good()) in (Status.HELD, None)


@pytest.mark.parametrize("case", CASES, ids=attrgetter("id", "said"))
def test_what_is_wrong_outside_of_a_call_is_found_without_it(case: Case) -> None:
    good = case.good()
    bad = case.bad(good)
    # From outside, an id that went back as the provider's own was mapped and mapped back.
    seen = case.id != "tools/call-ids-are-kept"
    if seen and closed(bad).transcript.events != closed(good).transcript.events:
        assert judged(case, bad) in (Status.VIOLATED, None)
