"""Checks of children, on the wire and in the parent's snapshots alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import Message, Text
from turnproof.run.transcript import HistorySnapshot, Refused, TurnEnded, WireRequest
from turnproof.scenarios.model import Fault, Turn

from .build import RunBuilder, body_with, error, scripted, spoilt
from .cases import Case, good_runs_hold
from .conversations import THREE, read, result
from .test_history_checks import uncalled
from .test_operation_checks import now_held, refused

FAILING = "subagents/failing-child-leaves-its-parent"
EMPTY, PARENT, CHILD = (
    f"subagents/{name}" for name in ("child-begins-empty", "parent-is-untouched", "child-keeps-its-own")
)


def childs(text: str, answer: str) -> Turn:
    return scripted([answer], user=text)


def family() -> View:
    """Three turns of a parent, the first with a tool; its child speaks before the second and the third."""
    builder = RunBuilder(
        scripted([read()], [THREE], user="How is bed 3?"),
        scripted(["It is."], user="Good?", child=childs("Count the pots.", "Twelve pots.")),
        scripted(["Yes."], user="Sure?", child=childs("How many are cracked?", "Two of them.")),
        name="subagents/made",
    )
    builder.turn("How is bed 3?").call(read()).results(result()).call(THREE).end()
    child: list[Message] = []
    for question, answer, turn in (
        ("Good?", "It is.", builder.scenario.turns[1]),
        ("Sure?", "Yes.", builder.scenario.turns[2]),
    ):
        child = in_between(builder, turn, child)
        builder.turn(question).call(answer).end()
    return uncalled(builder.view())


def in_between(builder: RunBuilder, turn: Turn, child: list[Message]) -> list[Message]:
    """A turn of the child, recorded as part of the turn that follows it."""
    assert turn.child is not None
    parents, at = builder.history, len(builder.events)
    builder.history = [*child, Message("user", turn.child.user)]
    builder.call(*(part.part for part in turn.child.rounds[0].parts))
    index = builder.scenario.turns.index(turn)
    builder.events[at:] = [replace(event, turn=index) for event in builder.events[at:]]
    child, builder.history = builder.history, parents
    builder.operated("child")
    return child


def said_as_well(text: str) -> Callable[[Any], None]:
    return lambda body: body["messages"][0]["content"].append({"type": "text", "text": text})


def only_the_last(body: dict[str, Any]) -> None:
    body["messages"] = body["messages"][-1:]


def sent(nth: int, change: Callable[[Any], None]) -> Callable[[View], View]:
    """Another request: 0 and 1 are the parent's first turn, 2 and 4 the child's, 3 and 5 the parent's again."""
    return lambda view: spoilt(view, WireRequest, body_with(change), nth)


def told_nothing(body: dict[str, Any]) -> None:
    body["messages"][-1]["content"] = [{"type": "text", "text": "Hi."}]


def child_refused(view: View) -> View:
    first = next(one for one in view.transcript.of(HistorySnapshot) if one.after == "child")
    event = replace(refused("child"), turn=first.turn)
    at = view.transcript.events.index(first)
    events = (*view.transcript.events[:at], event, *view.transcript.events[at:])
    return View(replace(view.transcript, events=events), view.dialect, view.scenario)


def failing() -> View:
    """The first turn of the child is refused; the parent goes on."""
    task = replace(childs("Count the pots.", "Twelve pots."), faults=(Fault("status", status=400),), expect="error")
    builder = RunBuilder(
        scripted([THREE], user="How is bed 3?"),
        scripted(["It is."], user="Good?", child=task),
        name="subagents/failing_child",
    )
    builder.turn("How is bed 3?").call(THREE).end()
    parents, at = builder.history, len(builder.events)
    builder.history = [Message.user("Count the pots.")]
    builder.refused(400, error("InvalidRequestError", status=400))
    builder.events[at:] = [replace(event, turn=1) for event in builder.events[at:]]
    builder.history = parents
    builder.operated("child", refused("child"))
    builder.turn("Good?").call("It is.").end()
    return uncalled(builder.view())


def swallowed(view: View) -> View:
    return spoilt(view, Refused, lambda event: None)


CASES = [
    Case(FAILING, failing, swallowed, "the status 400", "lost", ""),
    Case(
        FAILING,
        failing,
        lambda view: spoilt(view, TurnEnded, lambda event: replace(event, outcome="error"), 1),
        'a turn that ended with "error"',
        "parent-failed",
    ),
    Case(
        EMPTY,
        family,
        sent(2, said_as_well("How is bed 3?")),
        'got the text "How is bed 3?" of its parent',
        "foreign-text",
        "/messages/0/content/1/text",
    ),
    Case(
        EMPTY,
        family,
        sent(4, said_as_well("It came out at 41 %")),
        'got the text "41 %" of its parent',
        "foreign-text",
        "/messages/0/content/1/text",
    ),
    Case(EMPTY, family, sent(2, told_nothing), 'got messages with the texts ["Hi."]', "prompt-missing", "/messages"),
    Case(EMPTY, family, child_refused, 'got `IndexError` with the message "no such turn"', "refused", "/0/error"),
    Case(
        PARENT,
        family,
        sent(3, said_as_well("Count the pots.")),
        'got the text "Count the pots." of its child',
        "foreign-text",
        "/messages/0/content/1/text",
    ),
    Case(PARENT, family, sent(5, only_the_last), 'got messages with the texts ["Sure?"]', "missing", "/messages"),
    Case(
        PARENT,
        family,
        now_held(lambda m: [*m, Message.user(Text("Count."))], "child"),
        'got {"parts": [{"part": "text", "text": "Count."}], "role": "user"}',
        "history-changed",
        "/operations/child/4",
    ),
    Case(
        CHILD,
        family,
        sent(4, only_the_last),
        'got messages with the texts ["How many are cracked?"]',
        "missing",
        "/messages",
    ),
]


test_a_good_family_holds_and_a_spoilt_one_is_named = good_runs_hold(CASES)


@pytest.mark.parametrize("requirement", [EMPTY, PARENT, CHILD, FAILING])
def test_a_session_that_has_no_child_decides_nothing(requirement: str) -> None:
    builder = RunBuilder(scripted([THREE], user="Hi."), name="subagents/made").turn("Hi.").call(THREE).end()
    view = uncalled(builder.view())
    assert Case(requirement, lambda: view, lambda view: view).verdict(view).status is Status.INCONCLUSIVE
