"""Checks of collected histories."""

from __future__ import annotations

from msgspec.structs import replace

from turnproof.run.transcript import (
    TurnEnded,
)

from .build import changed_request, spoilt
from .cases import Case, good_runs_hold
from .conversations import collected

CASES = [
    Case(
        "gc/pairs-stay-whole",
        collected,
        changed_request(lambda body: body["messages"].pop(2) and None, 4),
        'a result for the call "toolu_2"',
        "no-result",
        "/messages",
    ),
    Case(
        "gc/pairs-stay-whole",
        collected,
        changed_request(lambda body: body["messages"].pop(1) and None, 4),
        'the call "toolu_2" in front of its result',
        "no-call",
        "/messages",
    ),
    Case(
        "gc/first-message-is-the-users",
        collected,
        changed_request(lambda body: body["messages"].pop(0) and None, 4),
        'a first message of role "user"; got "model"',
        "role",
        "/messages",
    ),
    Case(
        "gc/next-turn-is-answered",
        collected,
        lambda view: spoilt(view, TurnEnded, lambda event: replace(event, outcome="error"), 2),
        'expected the outcome "answer"; got "error"',
        "outcome",
    ),
    Case(
        "gc/removed-history-stays-removed",
        collected,
        changed_request(lambda body: body["messages"].insert(0, {"role": "user", "content": "How is bed 3?"}), 4),
        "How is bed 3?",
        "sent",
        "/messages/0/content",
    ),
    Case(
        "gc/system-and-tools-stay-in-force",
        collected,
        changed_request(lambda body: body.pop("tools") and None, 4),
        "read_sensor",
        "tool-missing",
        "",
    ),
]


test_a_good_run_holds_and_a_spoilt_one_is_found = good_runs_hold(CASES)
