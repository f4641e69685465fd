"""Checks that compare the paths: outcome, requests, history."""

from __future__ import annotations

from msgspec.structs import replace

from turnproof.judge.verdict import Status
from turnproof.messages import Message
from turnproof.run.transcript import (
    HistorySnapshot,
    TurnEnded,
    WireRequest,
)

from .build import spoilt
from .cases import Case, good_runs_hold, status
from .conversations import plain

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
