"""Checks of cancellation."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.dialects.base import Evidence, ReplyPart
from turnproof.judge.requirements import judge
from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import FinishReason, FunctionCall, ProviderResponse, Text, Thought, TokenUsage
from turnproof.run.transcript import (
    CallBegan,
    Cancelled,
    Chunk,
    Failed,
    FunctionCallDetected,
    Response,
    TurnEnded,
    UsageUpdate,
    WireRequest,
    WireResponse,
)
from turnproof.scenarios.model import Cut

from .build import RunBuilder, body_with, error, response_with, scripted, spoilt
from .cases import Case, good_runs_hold, points_to_something, suite
from .conversations import (
    THREE,
    cancelled,
    cancelled_batch,
    cancelled_early,
    cancelled_in_arguments,
    cancelled_in_backoff,
    cancelled_in_tools,
)

CALL = FunctionCall(id="toolu_1", name="read_sensor")


def released(how: str, ended: str = "completed", late: int = 0) -> Any:
    change = {"released": how, "ended": ended, "events_after_cancel": late}
    return lambda view: spoilt(view, WireResponse, lambda event: replace(event, **change))


def raised(view: View) -> View:
    return spoilt(
        view, Response, lambda event: replace(error("ReadError", typed=False), turn=event.turn, call=event.call)
    )


def sent_anyway(view: View) -> View:
    """The request of the next turn, or of the attempt before, is sent once the token is set."""
    request = next(event for event in view.transcript.events if isinstance(event, WireRequest))
    at = next(n for n, event in enumerate(view.transcript.events) if isinstance(event, TurnEnded))
    events = view.transcript.events
    return View(
        replace(view.transcript, events=(*events[:at], replace(request, turn=0), *events[at:])),
        view.dialect,
        view.scenario,
    )


def called_early(view: View) -> View:
    """A call is made, and a request sent, in the turn that was cancelled before its start."""
    moved = [
        replace(event, turn=0) if event.turn == 1 and event.call == 0 else event for event in view.transcript.events
    ]
    return View(replace(view.transcript, events=tuple(moved)), view.dialect, view.scenario)


def announced(view: View) -> View:
    at = next(n for n, event in enumerate(view.transcript.events) if isinstance(event, Response))
    events = view.transcript.events
    found = FunctionCallDetected(function_call=CALL, turn=0, call=0)
    return View(replace(view.transcript, events=(*events[:at], found, *events[at:])), view.dialect, view.scenario)


def next_body(change: Any) -> Any:
    return lambda view: spoilt(view, WireRequest, body_with(change), 1)


def noticed(body: Any) -> None:
    body["messages"][1]["content"].append({"type": "text", "text": "[interrupted by the user]"})


def cancelled_in_text_after_thinking() -> View:
    """Cancelled in the text behind signed thinking, which the response keeps."""
    thought = ReplyPart(Thought("I must look."), ("I must ", "look."))
    builder = RunBuilder(
        scripted([thought, THREE], cancel=Cut("event", after="text:1"), expect="cancelled"),
        name="cancel/after_thinking",
        options={"thinking": {"budget_tokens": 1024}},
    )
    view = builder.turn("Recite.").call(thought, THREE, cut=9).end("cancelled").view()
    parts = (Thought("I must look."), *view.calls[0].response.parts)  # type: ignore[union-attr]
    return spoilt(view, Response, response_with(parts=parts))


def cancelled_on_a_piece() -> View:
    """Cancelled in the callback of the first piece, while the second had arrived."""
    builder = RunBuilder(
        scripted([THREE], cancel=Cut("event", after="text:2", on_piece=1), expect="cancelled"),
        name="cancel/in_one_write",
    )
    view = builder.turn("Recite.").call(THREE, cut=5).end("cancelled").view()
    view = spoilt(view, Chunk, lambda event: None, 1)
    return moved_behind(spoilt(view, Response, response_with(parts=(Text("Bed 3 "),))), Cancelled, Chunk)


def moved_behind(view: View, moved: type, other: type) -> View:
    events = list(view.transcript.events)
    event = events.pop(next(n for n, one in enumerate(events) if isinstance(one, moved)))
    events.insert(next(n for n, one in enumerate(events) if isinstance(one, other)) + 1, event)
    return View(replace(view.transcript, events=tuple(events)), view.dialect, view.scenario)


def passed_on_afterwards(view: View) -> View:
    events = view.transcript.events
    at = next(n for n, event in enumerate(events) if isinstance(event, Cancelled))
    late = Chunk(text="is ", turn=0, call=0)
    return View(
        replace(view.transcript, events=(*events[: at + 1], late, *events[at + 1 :])), view.dialect, view.scenario
    )


def cut_into_letters(view: View) -> View:
    """The piece in whose callback the token is set is the first half of an event."""
    halved = spoilt(view, Chunk, lambda event: replace(event, text="Bed"))
    events = halved.transcript.events
    at = next(n for n, event in enumerate(events) if isinstance(event, Cancelled))
    rest = Chunk(text=" 3 ", turn=0, call=0)
    return View(
        replace(view.transcript, events=(*events[: at + 1], rest, *events[at + 1 :])), view.dialect, view.scenario
    )


def test_an_adapter_may_finish_the_event_that_it_has_cut_into_pieces() -> None:
    requirement = suite().catalogue["cancellation/no-piece-after-the-cancel"]
    assert judge(requirement, "stateless", [cut_into_letters(cancelled_on_a_piece())]).status is Status.HELD


CASES = [
    Case(
        "cancellation/thinking-is-kept",
        cancelled_in_text_after_thinking,
        lambda view: spoilt(view, Response, response_with(parts=(Text("Bed 3 "),))),
        'the thinking "I must look."',
        "lost",
        "/parts",
    ),
    Case(
        "cancellation/no-piece-after-the-cancel",
        cancelled_on_a_piece,
        passed_on_afterwards,
        'the piece "is "',
        "passed-on",
        "/1/text",
    ),
    Case("cancellation/returns-a-cancelled-response", cancelled, raised, "ReadError", "raised", "/error"),
    Case(
        "cancellation/partial-text-is-kept",
        cancelled,
        lambda view: spoilt(view, Response, response_with(parts=())),
        'expected the text "Bed 3 is "; got ""',
        "not-as-shown",
        "",
    ),
    Case(
        "cancellation/no-calls-are-left-behind",
        cancelled,
        lambda view: spoilt(view, Response, response_with(parts=(Text("Bed 3 is "), CALL))),
        "read_sensor",
        "left",
        "/parts/1",
    ),
    Case(
        "cancellation/half-calls-are-not-announced",
        cancelled_in_arguments,
        announced,
        "its arguments were cut off",
        "announced",
        "/3/function_call",
    ),
    Case(
        "cancellation/usage-is-kept",
        cancelled,
        lambda view: spoilt(view, Response, response_with(usage=TokenUsage())),
        "as `prompt_tokens`; got 0 (and 1 more)",
        "lower",
        "/usage",
    ),
    Case(
        "cancellation/connection-is-closed",
        cancelled,
        released("call-returned"),
        "left its connection open",
        "left-open",
    ),
    Case("cancellation/silence-is-no-obstacle", cancelled, released("limit"), "had no effect", "waited"),
    Case(
        "cancellation/server-is-not-drained",
        cancelled,
        released("call-returned", late=40),
        "at most 8 more events; got 40",
        "read-on",
    ),
    Case("cancellation/before-the-start-sends-nothing", cancelled_early, called_early, "/v1/messages", "sent", ""),
    Case("cancellation/back-off-can-be-cancelled", cancelled_in_backoff, sent_anyway, "another request", "sent", ""),
    Case(
        "cancellation/batch-calls-can-be-cancelled",
        cancelled_batch,
        released("call-returned"),
        "went on waiting",
        "waited",
    ),
    Case(
        "cancellation/history-serves-the-next-turn",
        cancelled,
        next_body(lambda body: body["messages"].pop(0) and None),
        "Recite the log.",
        "user-text-missing",
    ),
    Case(
        "cancellation/partial-text-reaches-the-next-turn",
        cancelled,
        next_body(lambda body: body["messages"].pop(1) and None),
        'the model\'s text "Bed 3 is "',
        "missing",
    ),
    Case(
        "cancellation/nothing-is-invented",
        cancelled,
        next_body(noticed),
        "interrupted",
        "invented",
        "/messages/1/content",
    ),
    Case(
        "cancellation/running-tools-are-answered",
        cancelled_in_tools,
        next_body(lambda body: body["messages"].pop(2) and None),
        'the call "toolu_1"',
        "missing",
        "/messages",
    ),
]


test_the_good_run_holds_and_the_spoilt_one_does_not = good_runs_hold(CASES)


def status(name: str, view: View) -> Status:
    return judge(suite().catalogue[f"cancellation/{name}"], "stateless", [view]).status


def codes(name: str, view: View) -> list[str]:
    """The last part of the code of each finding."""
    found = judge(suite().catalogue[f"cancellation/{name}"], "stateless", [view]).findings
    for one in found:
        points_to_something(one, view)
    return [one.code.rpartition("/")[2] for one in found]


def test_an_answer_that_looks_whole_is_no_cancelled_response() -> None:
    view = spoilt(cancelled(), Response, response_with(finish_reason=FinishReason.STOP))
    assert codes("returns-a-cancelled-response", view) == ["wrong-finish"]


def refused_afterwards(view: View, evidence: Evidence) -> View:
    """The API refuses the request of the turn after the cancelled one."""
    rule = {
        "rule": "anthropic-messages/roles",
        "evidence": str(evidence),
        "status": 400,
        "kind": "invalid_request_error",
        "message": "messages.1: wrong role",
        "path": "$.messages[1].role",
        "enforced": True,
    }
    return spoilt(view, WireRequest, lambda event: replace(event, findings=(rule,)), 1)


def test_a_refused_request_after_a_cancel_names_the_rule_and_its_place() -> None:
    view = refused_afterwards(cancelled(), Evidence.DOCUMENTED)
    verdict = judge(suite().catalogue["cancellation/history-serves-the-next-turn"], "stateless", [view])
    (found,) = verdict.findings
    assert found.code.endswith("/refused")
    assert found.rule is not None
    assert (found.rule.id, found.place.pointer) == ("anthropic-messages/roles", "/messages/1/role")
    assert "messages.1: wrong role" in suite().registry.message(verdict)


def test_a_cancelled_turn_that_failed_leaves_nothing_for_the_next_request() -> None:
    requirement = suite().catalogue["cancellation/history-serves-the-next-turn"]
    shorter = next_body(lambda body: {**body, "messages": body["messages"][-1:]})(cancelled())
    assert judge(requirement, "stateless", [shorter]).status is Status.VIOLATED
    failed = spoilt(shorter, TurnEnded, lambda event: replace(event, outcome="error"))
    assert judge(requirement, "stateless", [failed]).status is Status.INCONCLUSIVE


def test_a_session_that_knows_the_window_may_leave_out_the_cancelled_turn() -> None:
    requirement = suite().catalogue["cancellation/history-serves-the-next-turn"]
    shorter = next_body(lambda body: {**body, "messages": body["messages"][-1:]})(cancelled())
    shortened = spoilt(shorter, CallBegan, lambda event: replace(event, messages=event.messages[-1:]), 1)
    assert judge(requirement, "stateless", [shortened]).status is Status.VIOLATED
    shortened.scenario = replace(shortened.scenario, options={"context_tokens": 300})
    assert judge(requirement, "stateless", [shortened]).status is Status.INCONCLUSIVE
    shorter.scenario = replace(shorter.scenario, options={"context_tokens": 300})
    assert judge(requirement, "stateless", [shorter]).status is Status.VIOLATED


def test_a_rule_that_is_only_inferred_accuses_nobody() -> None:
    view = refused_afterwards(cancelled(), Evidence.INFERRED)
    assert status("history-serves-the-next-turn", view) is Status.INCONCLUSIVE


def test_a_batch_call_that_raises_on_a_cancel_is_told_from_one_that_looks_whole() -> None:
    whole = spoilt(cancelled_batch(), Response, response_with(finish_reason=FinishReason.STOP))
    assert codes("batch-calls-can-be-cancelled", raised(cancelled_batch())) == ["raised"]
    assert codes("batch-calls-can-be-cancelled", whole) == ["wrong-finish"]
    silent = spoilt(cancelled_batch(), Response, lambda event: None)
    assert codes("batch-calls-can-be-cancelled", silent) == ["no-response"]


def test_a_session_that_looks_at_the_token_itself_says_nothing_of_the_adapter() -> None:
    shielded = spoilt(spoilt(cancelled_early(), CallBegan, lambda event: None, 1), Failed, lambda event: None)
    found = Case("cancellation/before-the-start-sends-nothing", cancelled_early, called_early).verdict(shielded)
    assert (found.status, found.compared_nothing) == (Status.INCONCLUSIVE, True)


@pytest.mark.parametrize("mode", ["stream", "batch"])
def test_a_call_with_a_set_token_sends_nothing_and_ends_as_cancelled(mode: str) -> None:
    name = "before-the-start-sends-nothing" if mode == "stream" else "batch-calls-can-be-cancelled"

    def again(ended: Failed | Response) -> View:
        return (
            RunBuilder(scripted(["Yes."]), mode=mode)
            .turn("Hi.")
            .call("Yes.")
            .end()
            .called_with_a_set_token(ended)
            .view()
        )

    answer = ProviderResponse((Text("Yes."),), TokenUsage(), FinishReason.STOP)
    stopped = ProviderResponse((), TokenUsage(), FinishReason.CANCELLED)
    for ended in (error("Cancelled"), error("Stopped", "Cancelled"), Response(response=stopped)):
        found = judge(suite().catalogue[f"cancellation/{name}"], "stateless", [again(ended)])
        assert (found.status, len(found.compared)) == (Status.HELD, 1)
    assert codes(name, again(error("TransportError"))) == ["went-on"]
    assert codes(name, again(Response(response=answer))) == ["went-on"]
    sent = (
        RunBuilder(scripted(["Yes."]), mode=mode).turn("Hi.").call("Yes.").end().call("Yes.", probe="cancelled").view()
    )
    assert codes(name, sent) == ["sent"]


def test_an_adapter_that_kept_more_than_was_shown_is_told_apart_from_one_that_kept_less() -> None:
    more = spoilt(cancelled(), Response, response_with(parts=(Text("Bed 3 is moist."),)))
    assert codes("partial-text-is-kept", more) == ["not-as-shown", "not-on-the-wire"]


def test_usage_is_measured_on_the_wire_where_no_update_came() -> None:
    silent = spoilt(cancelled(), UsageUpdate, lambda event: None)
    assert status("usage-is-kept", silent) is Status.HELD
    zero = spoilt(silent, Response, response_with(usage=TokenUsage()))
    assert codes("usage-is-kept", zero) == ["prompt-missing"]


def test_updates_that_say_nothing_are_no_figures_that_could_be_kept() -> None:
    blank = spoilt(cancelled(), UsageUpdate, lambda event: replace(event, usage=TokenUsage()))
    zero = spoilt(blank, Response, response_with(usage=TokenUsage()))
    assert codes("usage-is-kept", zero) == ["prompt-missing"], "the wire had some"


def test_trailing_blanks_of_a_partial_answer_may_be_trimmed() -> None:
    def trimmed(body: Any) -> None:
        body["messages"][1]["content"][0]["text"] = "Bed 3 is"

    assert status("partial-text-reaches-the-next-turn", next_body(trimmed)(cancelled())) is Status.HELD
    assert status("nothing-is-invented", next_body(trimmed)(cancelled())) is Status.HELD


def test_a_hold_that_only_the_limit_ended_is_a_matter_of_promptness_alone() -> None:
    assert status("connection-is-closed", released("limit")(cancelled())) is Status.INCONCLUSIVE
