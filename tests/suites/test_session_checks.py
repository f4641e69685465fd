"""Checks of which session is open, and of taking one up again: a run as it should be, and with one thing wrong."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from turnproof.judge.view import View
from turnproof.messages import Message
from turnproof.run.transcript import SessionInForce, TurnEnded

from .cases import Case, decide, good_runs_hold
from .stored_runs import Change, besides, body, ended, event, in_force, sent, stepped, view_of, with_history


def case(name: str, scenario: str, bad: Change, message: str, code: str, pointer: str) -> Case:
    return Case(f"sessions/{name}", partial(view_of, scenario), bad, message, code, pointer)


def without_calls(found: Any) -> None:
    """The call and its result are gone, and every text is still there."""
    call, result = found["messages"][3:5]
    del call["content"][1]
    found["messages"].remove(result)


def without_results(found: Any) -> None:
    del found["messages"][4]


def another_id(found: Any) -> None:
    """The result is under an id that no call has."""
    found["messages"][4]["content"][0]["tool_use_id"] = "toolu_other"


def told_twice(found: Any) -> None:
    found["messages"][0]["content"].insert(0, {"type": "text", "text": "You keep a greenhouse log."})


def only_the_last(found: Any) -> None:
    found["messages"] = found["messages"][-1:]


def shown_again(text: str) -> Change:
    return lambda view: ended(2, shown=text + view.transcript.of(TurnEnded)[2].shown)(view)


def cannot(name: str) -> Change:
    """The agent does not say that it can do something."""

    def change(view: View) -> View:
        can = view.transcript.of(SessionInForce)[0].can
        return event(SessionInForce, 2, can=tuple(one for one in can if one != name))(view)

    return change


SHED = "The password of the shed is marigold."
PUMP = "The pump is louder than it was."

CASES = [
    case(
        "has-an-id",
        "resumed",
        in_force(0, None),
        "expected the id of the session, after a turn that was answered;",
        "missing",
        "/3/session",
    ),
    case(
        "id-stays-through-its-turns",
        "resumed",
        in_force(1, "other-1"),
        'got "other-1"',
        "changed",
        "/4/session",
    ),
    case(
        "new-session-is-another-one",
        "deleted",
        in_force(1, "first"),
        'got the session "first"',
        "reused",
        "/4/session",
    ),
    case(
        "sessions-stay-apart",
        "resumed_in_place",
        sent(1, *besides(PUMP, SHED)),
        'got the text "The password of the shed is marigold." of another session',
        "foreign-text",
        "/messages/0/content/0/text",
    ),
    case(
        "local-history-is-the-open-sessions",
        "resumed_in_place",
        with_history(1, lambda messages: (Message.user(SHED), *messages)),
        'got the text "The password of the shed is marigold." of another session',
        "foreign-text",
        "/session/0/parts/0/text",
    ),
    case(
        "resume-brings-back-what-was-said",
        "resumed",
        sent(2, "Good morning, gardener of nine beds.", "Good morning."),
        'expected "Good morning, gardener of nine beds." among the messages,',
        "missing",
        "/messages",
    ),
    case(
        "resume-keeps-the-id",
        "resumed",
        stepped(2, now="other-1"),
        'got "other-1"',
        "wrong-session",
        "/0/now",
    ),
    case(
        "resume-restores-calls-and-results",
        "resumed",
        body(2, without_calls),
        'expected the calls of the tools ["read_sensor"];',
        "calls-missing",
        "/messages",
    ),
    case(
        "resumed-history-is-no-new-output",
        "resumed",
        shown_again("Bed 3 is moist enough."),
        'expected only what the model answered in the turn, ["Gardener, as you',
        "shown-again",
        "/2/shown",
    ),
    case(
        "resume-restores-local-history",
        "resumed",
        with_history(2, lambda messages: messages[2:]),
        'expected "Call me the gardener of beds one to nine." among the messages;',
        "missing",
        "/session",
    ),
    case(
        "system-text-is-sent-after-resume",
        "resumed",
        body(2, lambda found: found.pop("system") and None),
        'expected the system text "You keep a greenhouse log.";',
        "missing",
        "",
    ),
    case(
        "system-text-is-sent-once",
        "resumed",
        body(1, told_twice),
        'expected the system text "You keep a greenhouse log." once;',
        "wrong-count",
        "/messages/0/content/0/text",
    ),
    case(
        "tools-are-there-after-resume",
        "resumed",
        body(2, lambda found: found.pop("tools") and None),
        "got a request with the tools []",
        "missing",
        "",
    ),
    case(
        "model-stays-the-one-asked-for",
        "resumed",
        body(2, lambda found: found.update(model="claude-haiku-4-5")),
        'got "claude-haiku-4-5"',
        "changed",
        "/model",
    ),
    case(
        "unknown-id-is-refused",
        "unknown",
        stepped(1, outcome="done", now="other-1"),
        'got the open session "other-1"',
        "accepted",
        "/0/outcome",
    ),
    case(
        "refused-resume-changes-nothing",
        "unknown",
        in_force(1, "other-1"),
        'got "other-1"',
        "session-changed",
        "/4/session",
    ),
    case(
        "opening-falls-back",
        "opened_unknown",
        stepped(0, outcome="refused", error="ResumeError", message="there is no session [nobody]", typed=True),
        'got `ResumeError` with the message "there is no session [nobody]"',
        "refused",
        "/0/error",
    ),
    case(
        "continue-takes-the-last-updated",
        "continued_in_place",
        in_force(2, "first"),
        'expected the session "second";',
        "wrong-session",
        "/6/session",
    ),
    case(
        "continue-stays-in-its-folder",
        "continued_elsewhere",
        in_force(1, "first"),
        'got the session "first" of another folder',
        "other-folder",
        "/4/session",
    ),
    case(
        "damaged-session-is-no-empty-one",
        "damaged",
        body(4, only_the_last),
        'got messages with the texts ["Is everything in order?"]',
        "empty",
        "/messages",
    ),
    case(
        "capabilities-are-what-is-claimed",
        "resumed",
        cannot("can_load"),
        'got ["can_list", "can_continue_last", "can_delete", "can_fork"]',
        "missing",
        "/4/can",
    ),
]


test_a_good_run_holds_and_a_spoilt_one_is_found = good_runs_hold(CASES)


REFUSED: dict[str, Any] = {"outcome": "refused", "error": "KeyError", "message": "'first'"}


@pytest.mark.parametrize(
    ("name", "scenario", "bad", "code"),
    [
        ("id-stays-through-its-turns", "resumed", in_force(1, None), "changed"),
        (
            "resume-brings-back-what-was-said",
            "resumed",
            sent(2, *besides("What did I", "How moist is bed 3?")),
            "twice",
        ),
        ("resume-keeps-the-id", "resumed", in_force(2, "other-1"), "changed"),
        ("resume-restores-calls-and-results", "resumed", body(2, without_results), "results-missing"),
        ("resume-restores-calls-and-results", "resumed", body(2, another_id), "unpaired"),
        (
            "system-text-is-sent-once",
            "resumed",
            body(1, lambda found: found.pop("system") and None, nth=1),
            "wrong-count",
        ),
        ("unknown-id-is-refused", "unknown", stepped(1, error="KeyError", typed=False), "unknown-error"),
        ("refused-resume-changes-nothing", "unknown", stepped(1, now=None), "session-changed"),
        ("refused-resume-changes-nothing", "unknown", body(1, only_the_last), "text-missing"),
        ("opening-falls-back", "opened_unknown", ended(0, outcome="error"), "no-answer"),
        ("opening-falls-back", "opened_unknown", in_force(0, "nobody"), "unknown-id-adopted"),
        ("continue-takes-the-last-updated", "continued_in_place", stepped(2, 2, **REFUSED), "refused"),
        ("continue-stays-in-its-folder", "continued_elsewhere", stepped(2, **REFUSED), "refused"),
        ("continue-stays-in-its-folder", "continued_elsewhere", in_force(2, "first"), "other-folder"),
        ("damaged-session-is-no-empty-one", "damaged", stepped(4, 1, **REFUSED), "unknown-error"),
        (
            "capabilities-are-what-is-claimed",
            "resumed",
            event(SessionInForce, 0, unknown=("can_resume",)),
            "unknown-name",
        ),
        ("capabilities-are-what-is-claimed", "resumed", stepped(2, unsupported=True, **REFUSED), "unsupported"),
    ],
)
def test_each_other_way_to_get_it_wrong_is_found(name: str, scenario: str, bad: Change, code: str) -> None:
    decide(Case(f"sessions/{name}", partial(view_of, scenario), bad, code=code))
