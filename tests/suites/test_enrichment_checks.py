"""Checks of what hooks make of the user's messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.scenarios.model import TextChange

from .build import RunBuilder, changed_request, scripted
from .cases import Case, good_runs_hold, status
from .conversations import THREE
from .test_history_checks import uncalled

IN_ORDER, ONCE = "history/prompts-are-enriched-in-order", "history/prompts-are-enriched-once"
CHANGES = (TextChange(40, replaces="[pump]", by="pump 2"), TextChange(20, adds="Bed 3 has [pump]."))


SOURCED = "Good?\n\nName your source."


def sourced() -> View:
    """Two turns with a hint."""
    builder = RunBuilder(
        scripted([THREE], user="How is bed 3?"), scripted(["It is."], user="Good?"), name="history/enriched"
    )
    builder.scenario = replace(builder.scenario, enrichers=(TextChange(30, adds="Name your source."),))
    builder.turn("How is bed 3?\n\nName your source.").call(THREE).end()
    return uncalled(builder.turn(SOURCED).call("It is.").end().view())


def enriched() -> View:
    """Two turns whose messages are enriched."""
    builder = RunBuilder(
        scripted([THREE], user="How is bed 3?"), scripted(["It is."], user="Good?"), name="history/enriched"
    )
    builder.scenario = replace(builder.scenario, enrichers=CHANGES)
    builder.turn("How is bed 3?\n\nBed 3 has pump 2.").call(THREE).end()
    builder.turn("Good?\n\nBed 3 has pump 2.").call("It is.").end()
    return uncalled(builder.view())


def saying(text: str) -> Callable[[Any], None]:
    """The newest message of the user is this."""
    return lambda body: body["messages"][-1].update(content=[{"type": "text", "text": text}])


CASES = [
    Case(IN_ORDER, enriched, changed_request(saying("Good?\n\nBed 3 has [pump]."), 1), "[pump]", "other-text"),
    Case(IN_ORDER, enriched, changed_request(saying("Good?"), 1), "Good?", "other-text", "/messages"),
    Case(
        ONCE, sourced, changed_request(saying(f"{SOURCED}\n\n{SOURCED}"), 1), "Name your source.", "again", "/messages"
    ),
]


test_enriched_messages_hold_and_others_are_named = good_runs_hold(CASES)


@pytest.mark.parametrize("requirement", [IN_ORDER, ONCE])
def test_a_scenario_without_hooks_decides_nothing(requirement: str) -> None:
    builder = RunBuilder(scripted([THREE], user="Hi."), name="history/enriched").turn("Hi.").call(THREE).end()
    assert status(requirement, uncalled(builder.view())) is Status.INCONCLUSIVE
