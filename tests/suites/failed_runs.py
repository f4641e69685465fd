"""Runs with failures, and other failures in their place."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from turnproof.judge.view import View
from turnproof.run.transcript import (
    Chunk,
    Failed,
    TakenBack,
    TurnEnded,
)
from turnproof.scenarios.model import Fault

from .build import DIALECT, RunBuilder, error, scripted, spoilt
from .conversations import THREE
from .test_history_checks import uncalled


def raised(name: str, *bases: str, **fields: Any) -> Any:
    """The first failure is another one."""

    def change(event: Failed) -> Failed:
        return replace(event, error=name, bases=(*bases, "Exception"), **fields)

    return lambda view: spoilt(view, Failed, change)


def changed(**fields: Any) -> Any:
    return lambda view: spoilt(view, Failed, lambda event: replace(event, **fields))


def shown_twice() -> View:
    """A stream that broke after some text, and the attempt that goes well."""
    builder = RunBuilder(scripted([THREE], user="Hi.", faults=(Fault("reset"),)))
    builder.turn("Hi.").call(THREE, fault="reset", returns=False)
    builder.add(Chunk(text="Bed 3 ", turn=0, call=0)).failed(error("TransportError", retryable=True)).retried()
    return builder.call(THREE).end().view()


def other_words(outcome: str = "error") -> View:
    """A stream that broke after some text, and an attempt that says something else; the turn fails or goes on."""
    script = scripted(["Bed 3 is moist."], user="Hi.", faults=(Fault("reset"),))
    builder = RunBuilder(script, name="faults/taken_back")
    builder.turn("Hi.").call("Bed 3 is moist.", fault="reset", returns=False)
    builder.add(Chunk(text="Bed 3 ", turn=0, call=0)).failed(error("TransportError", retryable=True)).retried()
    if outcome == "answer":
        return uncalled(builder.call("It is moist.").end().view())
    builder.call("It is moist.", returns=False).failed(error("Diverged", typed=False))
    builder.add(replace(error("TransportError", retryable=True), scope="turn", turn=0)).take_back()
    builder.add(TurnEnded(outcome="error", shown="Bed 3 ", turn=0)).snapshot()
    return uncalled(builder.view())


def taken_back() -> View:
    """The user is told, and the turn goes on."""
    view = other_words("answer")
    turns = (replace(view.scenario.turns[0], take_back=True),)
    events = [
        each
        for event in view.transcript.events
        for each in ((TakenBack(text="Bed 3 ", turn=0), event) if isinstance(event, TurnEnded) else (event,))
    ]
    return View(replace(view.transcript, events=tuple(events)), DIALECT, replace(view.scenario, turns=turns))
