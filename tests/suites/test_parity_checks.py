"""Checks that compare the paths: outcome, requests, history."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from turnproof.dialects.base import ReplyPart
from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import FinishReason, Message, Text, ToolResult
from turnproof.run.transcript import (
    HistorySnapshot,
    Response,
    TurnEnded,
    WireRequest,
)
from turnproof.scenarios.model import Cut

from .build import RunBuilder, error, response_with, scripted, spoilt
from .cases import Case, good_runs_hold, status
from .conversations import READ, plain, read

CASES = [
    Case(
        "parity/same-outcome-of-each-turn",
        plain,
        lambda view: spoilt(view, TurnEnded, lambda event: replace(event, outcome="error")),
        'expected the outcome "answer"; got "error"',
        "outcome",
        "/1/outcome",
    ),
    Case(
        "parity/same-number-of-requests",
        plain,
        lambda view: spoilt(view, WireRequest, lambda event: replace(event, operation="count_tokens"), 1),
        "expected 1 requests, one for each round; got 0 requests",
        "count",
    ),
    Case(
        "parity/same-history-after-each-turn",
        lambda: plain(path="legacy"),
        lambda view: spoilt(view, HistorySnapshot, lambda event: replace(event, messages=event.messages[:1]), 1),
        "as in the session's history",
        "copies-differ",
        "/provider",
    ),
]


test_a_good_run_holds_and_a_spoilt_one_is_found = good_runs_hold(CASES)


def test_a_stateless_history_that_lacks_the_answer_is_found() -> None:
    view = spoilt(plain(), HistorySnapshot, lambda event: replace(event, messages=(Message.user("How is bed 3?"),)))
    assert status("parity/same-history-after-each-turn", view) is Status.VIOLATED


def cut_in_a_call(
    finish: FinishReason = FinishReason.UNKNOWN,
    calls: FinishReason = FinishReason.UNKNOWN,
    raised: str = "TransportError",
) -> View:
    """The output limit cuts a call, which becomes an error; the next turn's answers have these finish reasons."""
    cut = ReplyPart(read(), ('{"bed": "3", ', '"lit'), broken=True)
    turns = (scripted([cut], user="Read!"), scripted([read()], ["Yes."], user="Sure?"))
    builder = RunBuilder(*turns, tools=(READ,)).turn("Read!").call(cut, finish=FinishReason.MAX_TOKENS).end()
    builder = builder.turn("Sure?").call(read()).results(ToolResult(read().id, READ.name, "41 %"))
    view = builder.call("Yes.").end().view()
    failed = error(raised, typed=raised != "ValueError")
    view = spoilt(view, Response, response_with(finish_reason=calls), 1)
    view = spoilt(view, Response, response_with(finish_reason=finish), 2)
    view = spoilt(view, Response, lambda event: replace(failed, turn=event.turn, call=event.call))
    return spoilt(view, TurnEnded, lambda event: replace(event, outcome="error"))


@pytest.mark.parametrize("calls", [FinishReason.UNKNOWN, FinishReason.TOOL_USE])
def test_a_cut_call_may_be_an_error_where_no_finish_reason_tells_of_the_limit(calls: FinishReason) -> None:
    assert status("parity/same-outcome-of-each-turn", cut_in_a_call(calls=calls)) is Status.HELD


@pytest.mark.parametrize(
    "view",
    [cut_in_a_call(FinishReason.STOP), cut_in_a_call(raised="ValueError")],
    ids=["an adapter that tells reasons", "an error without a type"],
)
def test_any_other_error_in_place_of_a_cut_answer_is_found(view: View) -> None:
    assert status("parity/same-outcome-of-each-turn", view) is Status.VIOLATED


@pytest.mark.parametrize(("events", "found"), [(99, Status.INCONCLUSIVE), (5, Status.VIOLATED)])
def test_an_answer_that_was_whole_before_the_cancel_may_be_returned_as_one(events: int, found: Status) -> None:
    text = ReplyPart(Text("Monday: dry."), ("Monday: ", "dry."))
    turn = scripted([text], user="Recite.", cancel=Cut("event", after="usage:1"), expect="cancelled")
    view = RunBuilder(turn).turn("Recite.").call(text, cut=events).end("cancelled").view()
    view = spoilt(view, Response, response_with(finish_reason=FinishReason.STOP))
    view = spoilt(view, TurnEnded, lambda event: replace(event, outcome="answer"))
    assert status("parity/same-outcome-of-each-turn", view) is found
