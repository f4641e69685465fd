"""Calls that are derived: they are those that would have been shown, and accuse nobody whom these would not accuse."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from operator import attrgetter

import pytest
from msgspec.structs import replace

from turnproof.judge.requirements import judge
from turnproof.judge.verdict import Status
from turnproof.judge.view import View, derived
from turnproof.judge.view.plain_content import plain as plain_forms
from turnproof.messages import FinishReason, TokenUsage
from turnproof.run import transcript as t

from .build import spoilt
from .cases import Case, points_to_something, suite
from .conversations import broken, cancelled, cut_off, growing, overloaded, pictures, plain, thinking, tools
from .failed_runs import other_words, taken_back

SUBJECTS = (
    "accounting", "cache", "cancellation", "core", "error", "gc", "handoff", "multimodal", "parity", "persistence",
    "recovery", "security", "streaming", "structured", "thinking", "tool",
)  # fmt: skip
MODULES = [import_module(f"{__package__}.test_{subject}_checks") for subject in SUBJECTS]

CASES = [
    case
    for module in MODULES
    for case in module.CASES
    if suite().catalogue[case.id].subject == "adapter" and suite().registry[case.id].needs not in ("wire", "calls")
]


def closed(view: View) -> View:
    """The same run of a session that shows the wire, its history and how its turns end, and nothing of its calls."""
    shown = (t.CallBegan, t.Response, t.Chunk, t.Thinking, t.FunctionCallDetected, t.UsageUpdate, t.LateCallback)
    events = []
    for event in view.transcript.events:
        if isinstance(event, shown) or event.probe or (isinstance(event, t.Failed) and event.scope == "call"):
            continue
        events.append(event)
    return View(replace(view.transcript, events=tuple(events)), view.dialect, view.scenario)


def showing(view: View) -> View:
    """The same run of a session that shows its user all that the callbacks got, and gives its last answers whole."""
    events: list[t.Event] = []
    for event in view.transcript.events:
        last = next((one for one in reversed(view.calls) if one.began.turn == event.turn), None)
        match event:
            case t.Chunk() | t.Thinking() | t.FunctionCallDetected() | t.UsageUpdate() | t.LateCallback():
                events.append(event if event.probe else replace(event, call=-1))
            case t.TurnEnded() if last is not None and last.response is not None:
                shown = "".join(one.text for one in events if isinstance(one, t.Chunk) and one.turn == event.turn)
                events.append(replace(event, answer=last.response, shown=shown))
            case t.CallBegan() | t.Response() | t.Failed(scope="call"):
                pass
            case _ if not event.probe:
                events.append(event)
    return View(replace(view.transcript, events=tuple(events)), view.dialect, view.scenario)


def from_outside(case: Case, view: View) -> View:
    """The run as far as it shows, with what the requirement's check has to be shown."""
    check = suite().registry[case.id]
    return showing(view) if check.shows or check.needs == "answer" else closed(view)


def judged(case: Case, view: View) -> Status | None:
    """What the requirement's check says of the derived calls; None where it had nothing to compare."""
    check = suite().registry[case.id]
    assert check.needs != "wire"
    assert check.needs != "calls"
    found = derived(from_outside(case, view), check.needs, reports_retries="reports_retries" in check.shows)
    verdict = case.verdict(found)
    for finding in verdict.findings:
        points_to_something(finding, found)
    return None if verdict.compared_nothing else verdict.status


@pytest.mark.parametrize("case", CASES, ids=attrgetter("id"))
def test_a_good_session_is_accused_of_nothing_by_its_derived_calls(case: Case) -> None:
    assert judged(case, case.good()) in (Status.HELD, None)


@pytest.mark.parametrize("case", CASES, ids=attrgetter("id", "message"))
def test_what_is_wrong_outside_of_a_call_is_found_without_it(case: Case) -> None:
    good = case.good()
    bad = case.bad(good)
    # From outside, an id that went back as the provider's own was mapped and mapped back.
    seen = case.id != "tools/call-ids-are-kept"
    if seen and from_outside(case, bad).transcript.events != from_outside(case, good).transcript.events:
        assert judged(case, bad) in (Status.VIOLATED, None)


@pytest.mark.parametrize("run", [plain, tools, thinking, pictures, cancelled, growing, overloaded])
def test_a_derived_call_is_the_call_that_was_made(run: Callable[[], View]) -> None:
    view = run()
    found = derived(closed(view)).calls
    assert len(found) == len(view.calls)
    for ours, shown in zip(found, view.calls, strict=True):
        assert ours.knows_messages
        assert (ours.place, ours.began.streamed) == (shown.place, shown.began.streamed)
        assert plain_forms(ours.began.messages) == plain_forms(shown.began.messages)
        assert (ours.began.system, ours.began.tools) == (shown.began.system, shown.began.tools)
        assert ours.came_to_nothing == shown.came_to_nothing
        if shown.response is not None:
            assert ours.response is not None
            assert ours.response.parts == shown.response.parts
            assert "".join(ours.chunks) == "".join(shown.chunks)


def test_text_that_the_user_saw_twice_is_found_and_blames_no_callback() -> None:
    view = spoilt(
        closed(cut_off("reset")), t.TurnEnded, lambda event: replace(event, shown="Bed 3 is moist.Bed 3 is moist.")
    )
    found = derived(view)
    first, second = found.calls
    assert (first.came_to_nothing, second.attempt) == (True, 1)
    assert (first.chunks, second.chunks) == (("Bed 3 is moist.",), ())
    verdict = judge(suite().catalogue["recovery/text-is-shown-once"], "stateless", [found])
    assert verdict.status is Status.VIOLATED


def test_text_that_was_taken_back_was_shown_of_the_answer_that_broke() -> None:
    found = derived(taken_back())
    first, second = found.calls
    assert (first.came_to_nothing, second.attempt) == (True, 1)
    assert (first.chunks, second.chunks) == (("Bed 3 ",), ("It is moist.",))
    verdict = judge(suite().catalogue["streaming/chunks-make-up-the-text"], "stateless", [found])
    assert verdict.status is Status.HELD


def test_who_gave_up_an_answer_in_other_words_does_not_show() -> None:
    found = derived(other_words())
    _, second = found.calls
    assert second.sent is not None
    assert (second.response, second.failed) == (None, None)
    verdict = judge(suite().catalogue["core/a-good-answer-is-returned"], "stateless", [found])
    assert verdict.status is not Status.VIOLATED


def test_where_no_message_can_be_told_for_an_answer_the_request_alone_is_known() -> None:
    view = spoilt(closed(plain()), t.HistorySnapshot, lambda event: replace(event, messages=event.messages[:1]))
    (first, *_) = derived(view).calls
    assert not first.knows_messages
    assert (first.response, first.failed) == (None, None)
    assert first.sent is not None
    assert first.began.messages == first.sent.messages


def test_usage_is_known_of_the_last_answer_of_a_turn_that_tells_it() -> None:
    shown = tools()
    usage = TokenUsage(7, 8, 15)
    view = closed(shown)
    view_with_report = View(
        replace(
            view.transcript,
            events=(*view.transcript.events[:-1], t.UsageReport(usage=usage, turn=1), view.transcript.end),
        ),
        view.dialect,
        view.scenario,
    )
    known = [call.response.usage for call in derived(view_with_report, "usage").calls if call.response is not None]
    assert known == [usage]
    assert all(call.response is not None for call in derived(view_with_report).calls)


def test_the_answer_to_a_request_behind_the_cancel_is_nobodys() -> None:
    """A session that looks at its token between the pieces of an answer alone asks once more, and shows nothing."""
    view = closed(tools())
    events: list[t.Event] = []
    for event in view.transcript.events:
        if isinstance(event, t.WireRequest) and event.turn == 0 and "tool_result" in str(event.body):
            events.append(t.Cancelled(at="during-tool", turn=0))
        if isinstance(event, t.TurnEnded) and event.turn == 0:
            event = replace(event, outcome="cancelled", shown="")
        events.append(event)
    found = derived(View(replace(view.transcript, events=tuple(events)), view.dialect, view.scenario))
    first_call, late_call, *_ = found.calls
    assert (first_call.response and first_call.response.finish_reason) is FinishReason.UNKNOWN
    assert (late_call.response and late_call.response.finish_reason) is FinishReason.CANCELLED
    verdict = judge(suite().catalogue["streaming/text-is-passed-on-in-pieces"], "stateless", [found])
    assert verdict.status is not Status.VIOLATED


@pytest.mark.parametrize(
    ("finish", "requirement"),
    [
        (FinishReason.MAX_TOKENS, "tools/clipped-calls-are-not-returned"),
        (FinishReason.TOOL_USE, "tools/broken-arguments-never-run"),
    ],
)
def test_a_broken_call_may_be_held_and_never_runs(finish: FinishReason, requirement: str) -> None:
    view = closed(broken(finish))
    (call,) = derived(view).calls
    assert call.answer is not None
    tool_run = t.ToolRun(call_id="", name="read_sensor", args={}, outcome="ok", turn=0)
    run = View(
        replace(view.transcript, events=(*view.transcript.events[:-1], tool_run, view.transcript.end)),
        view.dialect,
        view.scenario,
    )
    needs = suite().catalogue[requirement]
    assert judge(needs, "stateless", [derived(view)]).status is Status.HELD
    verdict = judge(needs, "stateless", [derived(run)])
    assert verdict.status is Status.VIOLATED
    points_to_something(verdict.findings[0], derived(run))
