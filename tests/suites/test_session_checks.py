"""Checks of which session is open, and of taking one up again: a run as it should be, and with one thing wrong."""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import Any

import pytest

from turnproof.messages import Message
from turnproof.transcript import SessionInForce, TurnEnded
from turnproof.verdict import Status
from turnproof.view import View

from .cases import Case, decide
from .stored_runs import Change, besides, body, ended, event, held, in_force, ran, sent, status, stepped


def case(name: str, scenario: str, bad: Change, said: str) -> Case:
    return Case(f"sessions/{name}", partial(ran, scenario), bad, said)


def without_calls(found: Any) -> None:
    """The call and its result are gone, and every text is still there."""
    call, result = found["messages"][3:5]
    del call["content"][1]
    found["messages"].remove(result)


def without_results(found: Any) -> None:
    del found["messages"][4]


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
    case("has-an-id", "resumed", in_force(0, None), "turn 0: the turn was answered, and the agent has told no id"),
    case(
        "id-stays-through-its-turns",
        "resumed",
        in_force(1, "other-1"),
        "turn 1: the session is other-1, and it was first in turn 0",
    ),
    case(
        "new-session-is-another-one",
        "deleted",
        in_force(1, "first"),
        "turn 1: a new session was begun, and what is open is first again",
    ),
    case(
        "sessions-stay-apart",
        "resumed_in_place",
        sent(1, *besides(PUMP, SHED)),
        f"turn 1: the request in session second has {SHED!r} of another session",
    ),
    case(
        "local-history-is-the-open-sessions",
        "resumed_in_place",
        held(1, lambda messages: (Message.user(SHED), *messages)),
        f"turn 1: the history of session second has {SHED!r} of another session",
    ),
    case(
        "resume-brings-back-what-was-said",
        "resumed",
        sent(2, "Good morning, gardener of nine beds.", "Good morning."),
        "turn 2: session first was taken up again, and the request lacks 'Good morning, gardener of nine beds.'",
    ),
    case(
        "resume-keeps-the-id",
        "resumed",
        stepped(2, now="other-1"),
        "open before turn 2: session first was asked for, and what is open is other-1",
    ),
    case(
        "resume-restores-calls-and-results",
        "resumed",
        body(2, without_calls),
        "turn 2: 1 calls were made in session first, and the request has 0 calls and 0 results",
    ),
    case(
        "resumed-history-is-no-new-output",
        "resumed",
        shown_again("Bed 3 is moist enough."),
        "turn 2: of the session that was taken up, 'Bed 3 is moist enough.' is shown as new",
    ),
    case(
        "resume-restores-local-history",
        "resumed",
        held(2, lambda messages: messages[2:]),
        "turn 2: session first was taken up again, and its history lacks 'Call me the gardener of beds one to nine.'",
    ),
    case(
        "system-text-is-sent-after-resume",
        "resumed",
        body(2, lambda found: found.pop("system") and None),
        "turn 2: the request in the session that was taken up lacks 'You keep a greenhouse log.'",
    ),
    case(
        "system-text-is-sent-once",
        "resumed",
        body(1, told_twice),
        "turn 1: the system text stands in the request 2 times",
    ),
    case(
        "tools-are-there-after-resume",
        "resumed",
        body(2, lambda found: found.pop("tools") and None),
        "turn 2: the session was taken up again without the tool 'read_sensor'",
    ),
    case(
        "model-stays-the-one-asked-for",
        "resumed",
        body(2, lambda found: found.update(model="claude-haiku-4-5")),
        "turn 2: 'claude-haiku-4-5' was asked, and the agent was given 'claude-sonnet-4-6'",
    ),
    case(
        "unknown-id-is-refused",
        "unknown",
        stepped(1, outcome="done", now="other-1"),
        "resume before turn 1: an unknown session was resumed without an error; open is other-1",
    ),
    case(
        "refused-resume-changes-nothing",
        "unknown",
        in_force(1, "other-1"),
        "resume before turn 1: a refused resume left other-1 open instead of first",
    ),
    case(
        "opening-falls-back",
        "opened_unknown",
        stepped(0, outcome="refused", error="ResumeError", message="there is no session [nobody]", typed=True),
        "opening failed for want of a session: ResumeError: there is no session [nobody]",
    ),
    case(
        "continue-takes-the-last-updated",
        "continued_in_place",
        in_force(2, "first"),
        "turn 2: second was updated last, and the agent went on with first",
    ),
    case(
        "continue-stays-in-its-folder",
        "continued_elsewhere",
        in_force(1, "first"),
        "turn 1: in another folder the agent went on with session first",
    ),
    case(
        "damaged-session-is-no-empty-one",
        "damaged",
        body(4, only_the_last),
        "turn 4: a damaged session was taken up, and nothing of it is in the request",
    ),
    case(
        "capabilities-are-what-is-claimed",
        "resumed",
        cannot("can_load"),
        "open before turn 2: the binding claims it, and the agent does not say that it can_load",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=attrgetter("id"))
def test_a_good_run_holds_and_a_spoilt_one_is_found(case: Case) -> None:
    decide(case)


REFUSED = {"outcome": "refused", "error": "KeyError", "message": "'first'"}


@pytest.mark.parametrize(
    ("name", "scenario", "bad"),
    [
        ("id-stays-through-its-turns", "resumed", in_force(1, None)),
        ("resume-brings-back-what-was-said", "resumed", sent(2, *besides("What did I", "How moist is bed 3?"))),
        ("resume-keeps-the-id", "resumed", in_force(2, "other-1")),
        ("resume-restores-calls-and-results", "resumed", body(2, without_results)),
        ("system-text-is-sent-once", "resumed", body(1, lambda found: found.pop("system") and None, nth=1)),
        ("unknown-id-is-refused", "unknown", stepped(1, error="KeyError", typed=False)),
        ("refused-resume-changes-nothing", "unknown", stepped(1, now=None)),
        ("refused-resume-changes-nothing", "unknown", body(1, only_the_last)),
        ("opening-falls-back", "opened_unknown", ended(0, outcome="error")),
        ("opening-falls-back", "opened_unknown", in_force(0, "nobody")),
        ("continue-takes-the-last-updated", "continued_in_place", stepped(2, 2, **REFUSED)),
        ("continue-stays-in-its-folder", "continued_elsewhere", stepped(2, **REFUSED)),
        ("continue-stays-in-its-folder", "continued_elsewhere", in_force(2, "first")),
        ("damaged-session-is-no-empty-one", "damaged", stepped(4, 1, **REFUSED)),
        ("capabilities-are-what-is-claimed", "resumed", event(SessionInForce, 0, unknown=("can_resume",))),
        ("capabilities-are-what-is-claimed", "resumed", stepped(2, unsupported=True, **REFUSED)),
    ],
)
def test_each_other_way_to_get_it_wrong_is_found(name: str, scenario: str, bad: Change) -> None:
    assert status(name, ran(scenario)) is Status.HELD
    assert status(name, bad(ran(scenario))) is Status.VIOLATED
