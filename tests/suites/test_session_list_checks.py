"""Checks of lists, forks and deletions of sessions: a run as it should be, and with one thing wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pytest
from msgspec.structs import replace

from turnproof.judge.view import View
from turnproof.run.transcript import SessionListed, SessionStepped, WireRequest

from .cases import Case, decide, good_runs_hold
from .stored_runs import Change, besides, body, in_force, inserted, sent, stepped, view_of

PROJECT, ELSEWHERE, NOWHERE, EVERYWHERE = range(4)
"""The lists of the scenario `listed`, all of them before its last turn."""


def case(name: str, scenario: str, bad: Change, message: str, code: str, pointer: str) -> Case:
    return Case(f"sessions/{name}", partial(view_of, scenario), bad, message, code, pointer)


def listed(nth: int, change: Callable[[list[SessionListed]], Sequence[SessionListed]]) -> Change:
    """Other entries in a list."""

    def spoil(view: View) -> View:
        found = [one for one in view.transcript.of(SessionStepped) if one.turn == 3][nth]
        return stepped(3, nth, listed=tuple(change(list(found.listed))))(view)

    return spoil


def untold(entries: list[SessionListed]) -> list[SessionListed]:
    return [replace(entries[0], age=None), *entries[1:]]


def as_old_as_each_other_is(entries: list[SessionListed]) -> list[SessionListed]:
    return [replace(one, age=len(entries) - 1 - (one.age or 0)) for one in entries]


def asking(view: View) -> View:
    """The model is asked while a list is made."""
    request = view.transcript.of(WireRequest)[0]
    return inserted(SessionStepped, 2, replace(request, exchange=99, extra=True), nth=2)(view)


PUMPKINS = "Pumpkins would need more room."
GATE = "The gate squeaks."

CASES = [
    case(
        "list-has-every-session",
        "listed",
        listed(EVERYWHERE, lambda entries: entries[1:]),
        'got a list of ["second", "third"]',
        "missing",
        "/3/listed",
    ),
    case(
        "list-is-of-the-folder-asked-for",
        "listed",
        listed(PROJECT, lambda entries: [*entries, SessionListed(session="third", cwd="elsewhere", age=0)]),
        'got the session "third" of another folder',
        "other-folder",
        "/0/listed/2",
    ),
    case(
        "list-tells-when",
        "listed",
        listed(EVERYWHERE, untold),
        'expected a time for the session "first";',
        "missing",
        "/3/listed/0",
    ),
    case(
        "listing-changes-nothing",
        "listed",
        stepped(3, PROJECT, now="second"),
        'got "second"',
        "session-changed",
        "/0/now",
    ),
    case(
        "listing-asks-no-model",
        "deleted",
        asking,
        'got one to "/v1/messages"',
        "model-asked",
        "",
    ),
    case(
        "fork-has-an-id-of-its-own",
        "forked",
        stepped(1, returned="first"),
        'expected an id other than "first", that of the origin;',
        "no-own-id",
        "/0/returned",
    ),
    case(
        "fork-knows-what-was-said",
        "forked",
        sent(1, "Tomatoes and beans it is.", "So it is."),
        'expected "Tomatoes and beans it is." among the messages, in the order',
        "text-missing",
        "/messages",
    ),
    case(
        "fork-leaves-its-origin-alone",
        "forked",
        sent(2, *besides("What do we grow?", PUMPKINS)),
        'got the text "Pumpkins would need more room." of the fork "branch"',
        "foreign-text",
        "/messages/2/content/0/text",
    ),
    case(
        "deleted-session-is-gone",
        "deleted",
        stepped(2, 3, outcome="done", now="first"),
        'expected an error for the deleted session "first";',
        "resumed",
        "/3/outcome",
    ),
    case(
        "deleting-leaves-the-others",
        "deleted",
        sent(2, GATE, "Good day."),
        'expected "The gate squeaks." among the messages, in the order of the',
        "text-missing",
        "/messages",
    ),
    case(
        "deleting-an-unknown-one-is-refused",
        "deleted",
        stepped(2, 0, outcome="done"),
        "expected an error;",
        "accepted",
        "/0/outcome",
    ),
]


test_a_good_run_holds_and_a_spoilt_one_is_found = good_runs_hold(CASES)


@pytest.mark.parametrize(
    ("name", "scenario", "bad", "code"),
    [
        ("list-has-every-session", "listed", listed(PROJECT, lambda entries: entries[:1]), "missing"),
        ("list-has-every-session", "listed", listed(ELSEWHERE, lambda entries: entries * 2), "twice"),
        (
            "list-is-of-the-folder-asked-for",
            "listed",
            listed(NOWHERE, lambda _: [SessionListed(session="first")]),
            "other-folder",
        ),
        (
            "list-is-of-the-folder-asked-for",
            "listed",
            listed(NOWHERE, lambda _: [SessionListed(session="other-1", cwd="project")]),
            "other-folder",
        ),
        ("list-tells-when", "listed", listed(PROJECT, as_old_as_each_other_is), "wrong-newest"),
        ("fork-has-an-id-of-its-own", "forked", stepped(1, returned=None), "no-own-id"),
        ("fork-has-an-id-of-its-own", "forked", in_force(1, "first"), "wrong-session"),
        (
            "fork-has-an-id-of-its-own",
            "forked",
            stepped(1, outcome="refused", error="KeyError", returned=None),
            "refused",
        ),
        ("deleted-session-is-gone", "deleted", stepped(2, 2, listed=(SessionListed(session="first"),)), "listed"),
        ("deleted-session-is-gone", "deleted", stepped(2, 1, outcome="refused", error="KeyError"), "refused"),
        ("deleting-leaves-the-others", "deleted", in_force(2, "other-1"), "session-changed"),
        (
            "deleting-leaves-the-others",
            "deleted",
            body(2, lambda found: found["messages"].pop(1) and None),
            "text-missing",
        ),
    ],
)
def test_each_other_way_to_get_it_wrong_is_found(name: str, scenario: str, bad: Change, code: str) -> None:
    decide(Case(f"sessions/{name}", partial(view_of, scenario), bad, code=code))
