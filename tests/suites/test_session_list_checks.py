"""Checks of lists, forks and deletions of sessions: a run as it should be, and with one thing wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter

import pytest
from msgspec.structs import replace

from turnproof.transcript import SessionListed, SessionStepped, WireRequest
from turnproof.verdict import Status
from turnproof.view import View

from .cases import Case, decide
from .stored_runs import Change, besides, body, in_force, inserted, ran, sent, status, stepped

PROJECT, ELSEWHERE, NOWHERE, EVERYWHERE = range(4)
"""The lists of the scenario `listed`, all of them before its last turn."""


def case(name: str, scenario: str, bad: Change, said: str) -> Case:
    return Case(f"sessions/{name}", partial(ran, scenario), bad, said)


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
        "list before turn 3: session first is not in the list, which has 2",
    ),
    case(
        "list-is-of-the-folder-asked-for",
        "listed",
        listed(PROJECT, lambda entries: [*entries, SessionListed(session="third", cwd="elsewhere", age=0)]),
        "list before turn 3: the list of 'project' has session third of another folder",
    ),
    case(
        "list-tells-when",
        "listed",
        listed(EVERYWHERE, untold),
        "list before turn 3: the list does not tell when session first was updated",
    ),
    case(
        "listing-changes-nothing",
        "listed",
        stepped(3, PROJECT, now="second"),
        "list before turn 3: third was open, and after the list second is",
    ),
    case(
        "listing-asks-no-model",
        "deleted",
        asking,
        "list before turn 2: for a list of sessions the model was asked 1 times",
    ),
    case(
        "fork-has-an-id-of-its-own",
        "forked",
        stepped(1, returned="first"),
        "fork before turn 1: the fork of first goes by the id of first",
    ),
    case(
        "fork-knows-what-was-said",
        "forked",
        sent(1, "Tomatoes and beans it is.", "So it is."),
        "turn 1: the request in the fork lacks 'Tomatoes and beans it is.' of its origin",
    ),
    case(
        "fork-leaves-its-origin-alone",
        "forked",
        sent(2, *besides("What do we grow?", PUMPKINS)),
        f"turn 2: {PUMPKINS!r} was said in the fork, and is sent in its origin",
    ),
    case(
        "deleted-session-is-gone",
        "deleted",
        stepped(2, 3, outcome="done", now="first"),
        "resume before turn 2: session first was deleted, and it was resumed",
    ),
    case(
        "deleting-leaves-the-others",
        "deleted",
        sent(2, GATE, "Good day."),
        f"turn 2: another session was deleted, and the request lacks {GATE!r}",
    ),
    case(
        "deleting-an-unknown-one-is-refused",
        "deleted",
        stepped(2, 0, outcome="done"),
        "delete before turn 2: a session that there is not was deleted without an error",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=attrgetter("id"))
def test_a_good_run_holds_and_a_spoilt_one_is_found(case: Case) -> None:
    decide(case)


@pytest.mark.parametrize(
    ("name", "scenario", "bad"),
    [
        ("list-has-every-session", "listed", listed(PROJECT, lambda entries: entries[:1])),
        ("list-has-every-session", "listed", listed(ELSEWHERE, lambda entries: entries * 2)),
        ("list-is-of-the-folder-asked-for", "listed", listed(NOWHERE, lambda _: [SessionListed(session="first")])),
        (
            "list-is-of-the-folder-asked-for",
            "listed",
            listed(NOWHERE, lambda _: [SessionListed(session="other-1", cwd="project")]),
        ),
        ("list-tells-when", "listed", listed(PROJECT, as_old_as_each_other_is)),
        ("fork-has-an-id-of-its-own", "forked", stepped(1, returned=None)),
        ("fork-has-an-id-of-its-own", "forked", in_force(1, "first")),
        ("fork-has-an-id-of-its-own", "forked", stepped(1, outcome="refused", error="KeyError", returned=None)),
        ("deleted-session-is-gone", "deleted", stepped(2, 2, listed=(SessionListed(session="first"),))),
        ("deleted-session-is-gone", "deleted", stepped(2, 1, outcome="refused", error="KeyError")),
        ("deleting-leaves-the-others", "deleted", in_force(2, "other-1")),
        ("deleting-leaves-the-others", "deleted", body(2, lambda found: found["messages"].pop(1) and None)),
    ],
)
def test_each_other_way_to_get_it_wrong_is_found(name: str, scenario: str, bad: Change) -> None:
    assert status(name, ran(scenario)) is Status.HELD
    assert status(name, bad(ran(scenario))) is Status.VIOLATED
