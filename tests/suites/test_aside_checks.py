"""Checks of what is said beside the usual course of turns, on the wire and in snapshots alone."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import Message, Text
from turnproof.run.transcript import Cancelled, HistorySnapshot, Interjected, Refused, TurnEnded, WireRequest
from turnproof.scenarios.model import Cut, Injection, Interjection

from .build import RunBuilder, body_with, scripted, spoilt
from .cases import Case, good_runs_hold
from .conversations import THREE
from .test_history_checks import ended, uncalled, with_history

INTERJECTION = "Only bed 3."
INJECTION = Injection("/beds", "3 beds")


def interrupted() -> View:
    """An answer of which two pieces were shown, what the user said then, and the answer to that."""
    cut = Cut("event", after="text:2")
    script = replace(scripted([THREE], ["It is."], user="Tell me."), interject=Interjection(INTERJECTION, cut))
    builder = RunBuilder(script, name="history/interjected").turn("Tell me.")
    builder.add(Interjected(at="event", text=INTERJECTION, turn=0)).call(THREE, cut=5)
    builder.events = [event for event in builder.events if not isinstance(event, Cancelled)]
    builder.history.append(Message.user(INTERJECTION))
    return uncalled(builder.call("It is.").end().view())


def told_of_a_command() -> View:
    script = replace(scripted([THREE], user="How many?"), inject=INJECTION)
    builder = RunBuilder(script, name="history/command_injected")
    builder.operated("inject", history=[Message.user("/beds\n3 beds")])
    return uncalled(builder.turn("How many?").call(THREE).end().view())


def without_the_aside(body: dict[str, Any]) -> dict[str, Any]:
    for message in body["messages"]:
        message["content"] = [block for block in message["content"] if block.get("text") != INTERJECTION]
    body["messages"] = [message for message in body["messages"] if message["content"]]
    return body


def refused(view: View) -> View:
    events = (*view.transcript.events[:1], Refused(operation="interject", error="E", message="not now", turn=0))
    return View(replace(view.transcript, events=(*events, *view.transcript.events[1:])), view.dialect, view.scenario)


def without(text: str) -> Any:
    return lambda messages: tuple(message for message in messages if text not in message.text)


INTERJECTED = "history/interjection-is-answered"
INJECTED = "history/command-outcomes-are-held"

CASES = [
    Case(
        INTERJECTED,
        interrupted,
        lambda view: spoilt(view, WireRequest, body_with(without_the_aside), 1),
        "a request without it",
        "not-sent",
        "/messages",
    ),
    Case(
        INTERJECTED,
        interrupted,
        with_history(without(INTERJECTION)),
        'the user\'s texts ["Tell me."]',
        "not-held",
        "/session",
    ),
    Case(INTERJECTED, interrupted, with_history(without("Bed 3 is")), "another answer", "shown-not-held", "/session"),
    Case(INTERJECTED, interrupted, ended(outcome="cancelled"), 'with "cancelled"', "not-answered", "/2/outcome"),
    Case(INTERJECTED, interrupted, refused, "not now", "refused", "/1/error"),
    Case(
        INJECTED, told_of_a_command, with_history(lambda messages: ()), "a history without it", "not-held", "/session"
    ),
    Case(
        INJECTED,
        told_of_a_command,
        lambda view: spoilt(view, WireRequest, body_with(lambda body: body["messages"][0]["content"].pop(0) and None)),
        "a request without it",
        "not-sent",
    ),
]


test_a_kept_requirement_holds_and_a_broken_one_is_named = good_runs_hold(CASES)


@pytest.mark.parametrize("requirement", [INTERJECTED, INJECTED])
def test_turns_in_which_nothing_of_the_kind_is_said_decide_nothing(requirement: str) -> None:
    builder = RunBuilder(scripted([THREE], user="Hi."), name="history/made").turn("Hi.").call(THREE).end()
    view = uncalled(builder.view())
    assert Case(requirement, lambda: view, lambda view: view).verdict(view).status is Status.INCONCLUSIVE


def test_a_session_may_tell_of_a_command_in_any_form() -> None:
    def as_two(messages: tuple[Message, ...]) -> tuple[Message, ...]:
        return (Message.user(Text("/beds"), Text("It says: 3 beds.")), *messages[1:])

    view = spoilt(told_of_a_command(), HistorySnapshot, lambda event: replace(event, messages=as_two(event.messages)))
    assert Case(INJECTED, lambda: view, lambda view: view).verdict(view).status is Status.HELD


def test_a_turn_that_never_ended_is_no_answer() -> None:
    view = spoilt(interrupted(), TurnEnded, lambda event: None)
    verdict = Case(INTERJECTED, lambda: view, lambda view: view).verdict(view)
    assert (verdict.status, verdict.findings[0].code) == (Status.VIOLATED, f"{INTERJECTED}/not-answered")
