"""Checks of tools that go on in the background."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import FunctionCall, Message, ToolResult
from turnproof.run.transcript import HistorySnapshot, ToolWentOn, TurnEnded
from turnproof.scenarios.model import ToolScript

from .build import RunBuilder, scripted, spoilt
from .cases import Case, good_runs_hold, status
from .conversations import THREE
from .test_history_checks import uncalled

GOES_ON, KEEPS_RESULTS = "tools/slow-tools-go-on-in-the-background", "tools/background-results-are-kept"
SURVEY = FunctionCall("toolu_1", "survey", {})
DONE = ToolResult("toolu_1", "survey", "Two beds are dry.")


def surveying() -> View:
    """A survey goes on behind its turn."""
    results = {"survey": ToolScript("Two beds are dry.")}
    builder = RunBuilder(
        scripted([SURVEY], ["It goes on."], user="Survey.", results=results, background="survey"),
        name="tools/background",
    )
    builder.turn("Survey.").call(SURVEY).results(ToolResult("toolu_1", "survey", {"task": "m3"})).call("It goes on.")
    text = builder.history[-1].text
    builder.add(TurnEnded(outcome="answer", shown=text, text=text, turn=0))
    builder.add(ToolWentOn(name="survey", results=(DONE,), turn=0))
    return uncalled(builder.snapshot().view())


def went(**fields: object) -> Callable[[View], View]:
    return lambda view: spoilt(view, ToolWentOn, lambda event: replace(event, **fields))


def with_result_in_history(view: View) -> View:
    """The result came into the history as well, when the tool returned."""
    return spoilt(view, HistorySnapshot, lambda one: replace(one, messages=(*one.messages, Message.tool(DONE))))


CASES = [
    Case(GOES_ON, surveying, went(waited=True), "went on until the tool returned", "waits"),
    Case(GOES_ON, surveying, went(cancelled=True), "that its token was set", "cancelled"),
    Case(
        GOES_ON,
        surveying,
        lambda view: spoilt(view, TurnEnded, lambda event: replace(event, outcome="error")),
        "error",
        "turn-failed",
    ),
    Case(GOES_ON, surveying, with_result_in_history, "expected 1 result of the call", "result-count", "/session"),
    Case(KEEPS_RESULTS, surveying, went(results=()), "a result of the call", "lost"),
    Case(KEEPS_RESULTS, surveying, went(results=(replace(DONE, call_id="toolu_2"),)), "toolu_2", "lost"),
    Case(KEEPS_RESULTS, surveying, went(results=(replace(DONE, result="done"),)), "Two beds are dry.", "other-result"),
]


test_a_tool_in_the_background_holds_and_a_spoilt_one_is_named = good_runs_hold(CASES)


def test_a_result_may_be_wrapped() -> None:
    wrapped = went(results=(replace(DONE, result={"output": "Two beds are dry."}),))(surveying())
    assert status(KEEPS_RESULTS, wrapped) is Status.HELD


@pytest.mark.parametrize("requirement", [GOES_ON, KEEPS_RESULTS])
def test_a_turn_without_such_a_tool_decides_nothing(requirement: str) -> None:
    builder = RunBuilder(scripted([THREE], user="Hi."), name="tools/background").turn("Hi.").call(THREE).end()
    assert status(requirement, uncalled(builder.view())) is Status.INCONCLUSIVE
