"""Checks of children that are under way while their parent or other children are."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from msgspec.structs import replace

from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import FunctionCall, Message, ToolResult
from turnproof.run.transcript import Cancelled, ChildEnded, TurnEnded, WireRequest, WireResponse
from turnproof.scenarios.model import Cut, Turn

from .build import RunBuilder, body_with, scripted, spoilt
from .cases import Case, good_runs_hold, status
from .conversations import THREE
from .test_history_checks import uncalled
from .test_subagent_checks import childs, only_the_last, said_as_well

TOOL, STOPPED, APART, AT_ONCE, OUTLIVES = (
    f"subagents/{name}"
    for name in (
        "a-tool-can-ask-a-child",
        "a-cancelled-parent-stops-its-child",
        "children-at-once-stay-apart",
        "children-work-at-once",
        "a-child-can-outlive-a-turn",
    )
)
ASKING = FunctionCall("toolu_1", "ask_helper", {})
POTS, CANS = childs("Count the pots.", "Twelve pots."), childs("Count the cans.", "Seven cans.")
MORE_POTS, MORE_CANS = childs("How many pots are cracked?", "Two pots."), childs("How many cans leak?", "No can leaks.")


def call_child(
    builder: RunBuilder,
    turn: int,
    number: int,
    script: Turn,
    earlier: Sequence[Message] = (),
    *,
    cut: int | None = None,
) -> list[Message]:
    """A request of a child that others go on beside, and what the child holds after it."""
    parents, at = builder.history, len(builder.events)
    builder.history = [*earlier, *map(Message.user, [str(script.user[0].text)])]  # type: ignore[union-attr]
    builder.call(*(part.part for part in script.rounds[0].parts), cut=cut, returns=cut is None)
    seen = [event for event in builder.events[at:] if isinstance(event, WireRequest | WireResponse)]
    builder.events[at:] = [
        replace(event, turn=turn, call=-1, **({"child": number} if isinstance(event, WireRequest) else {}))
        for event in seen
    ]
    messages, builder.history = builder.history, parents
    return messages


def ended(turn: int, number: int, text: str, outcome: str = "answer") -> ChildEnded:
    return ChildEnded(child=number, outcome=outcome, text=text, asked=True, turn=turn)  # type: ignore[arg-type]


def siblings() -> View:
    """Two children at the same time, twice, ahead of the parent's second and third turn."""
    builder = RunBuilder(
        scripted([THREE], user="How is bed 3?"),
        scripted(["It is."], user="Good?", children=(POTS, CANS)),
        scripted(["Yes."], user="Sure?", children=(MORE_POTS, MORE_CANS)),
        name="subagents/at_once",
    )
    builder.turn("How is bed 3?").call(THREE).end()
    histories: list[list[Message]] = [[], []]
    for turn, (scripts, question, answer) in enumerate(
        (((POTS, CANS), "Good?", "It is."), ((MORE_POTS, MORE_CANS), "Sure?", "Yes.")), 1
    ):
        for number, script in enumerate(scripts):
            histories[number] = call_child(builder, turn, number, script, histories[number])
        builder.add(*(ended(turn, number, histories[number][-1].text) for number in (0, 1)))
        builder.operated("children")
        builder.turn(question).call(answer).end()
    return uncalled(builder.view())


def by_tool() -> View:
    """A tool of the second turn asks a child."""
    builder = RunBuilder(
        scripted([THREE], user="How is bed 3?"),
        scripted([ASKING], ["There is."], user="Is there room?", child=POTS, child_tool="ask_helper"),
        name="subagents/by_tool",
    )
    builder.turn("How is bed 3?").call(THREE).end()
    builder.turn("Is there room?").call(ASKING)
    call_child(builder, 1, 0, POTS)
    builder.results(ToolResult("toolu_1", "ask_helper", "Twelve pots.")).call("There is.")
    builder.add(ended(1, 0, "Twelve pots."))
    return uncalled(builder.end().view())


def cancelled() -> View:
    """The turn whose tool asks a child is cancelled in the middle of the child's answer."""
    cut = Cut("child", after="text:1")
    builder = RunBuilder(
        scripted([ASKING], user="Is there room?", child=POTS, child_tool="ask_helper", cancel=cut, expect="cancelled"),
        name="subagents/cancelled_parent",
    )
    builder.turn("Is there room?").call(ASKING)
    builder.add(Cancelled(at="child text:1 of round 0", turn=0))
    call_child(builder, 0, 0, POTS, cut=3)
    builder.add(ended(0, 0, "Twelve", "cancelled"))
    builder.results(ToolResult("toolu_1", "ask_helper", "cancelled", is_error=True))
    return uncalled(builder.end("cancelled").view())


def outliving() -> View:
    """A child works all through the second turn of its parent."""
    builder = RunBuilder(
        scripted([THREE], user="How is bed 3?"),
        scripted(["It is."], user="Good?", child=POTS, child_outlives=True),
        name="subagents/outlives",
    )
    builder.turn("How is bed 3?").call(THREE).end()
    call_child(builder, 1, 0, POTS)
    builder.turn("Good?").call("It is.").end()
    builder.add(ended(1, 0, "Twelve pots.")).snapshot("child")
    return uncalled(builder.view())


def request_of(child: int | None, nth: int, change: Callable[..., object]) -> Callable[[View], View]:
    """Another request of a child, or of the parent (None)."""

    def spoil(view: View) -> View:
        requests = [event for event in view.transcript.events if isinstance(event, WireRequest)]
        indexes = [number for number, event in enumerate(requests) if event.child == child]
        return spoilt(view, WireRequest, body_with(change), indexes[nth])

    return spoil


def child_end(nth: int = 0, **fields: object) -> Callable[[View], View]:
    return lambda view: spoilt(view, ChildEnded, lambda event: replace(event, **fields), nth)


def turn_end(outcome: str, nth: int) -> Callable[[View], View]:
    return lambda view: spoilt(view, TurnEnded, lambda event: replace(event, outcome=outcome), nth)


def kept_open(view: View) -> View:
    responses = [event for event in view.transcript.events if isinstance(event, WireResponse)]
    nth = next(number for number, event in enumerate(responses) if event.held)
    return spoilt(view, WireResponse, lambda event: replace(event, released="limit", ended="completed"), nth)


def asked_again(view: View) -> View:
    """The child asks once more, with the answer that it is given."""
    events = list(view.transcript.events)
    request = next(event for event in events if isinstance(event, WireRequest) and event.child == 0)
    at = next(n for n, event in enumerate(events) if isinstance(event, WireResponse) and event.held)
    again = (replace(request, exchange=9), replace(events[at], exchange=9, held=False, released=None))
    events[at + 1 : at + 1] = again
    return View(replace(view.transcript, events=tuple(events)), view.dialect, view.scenario)


def waited(view: View) -> View:
    """The answer to the child waited for the parent for as long as it may."""
    responses = [event for event in view.transcript.events if isinstance(event, WireResponse)]
    exchange = next(event.exchange for event in view.transcript.of(WireRequest) if event.child == 0)
    nth = next(number for number, event in enumerate(responses) if event.exchange == exchange)
    return spoilt(view, WireResponse, lambda event: replace(event, released="limit"), nth)


CASES = [
    Case(APART, siblings, request_of(0, 0, said_as_well("Count the cans.")),
         'got the text "Count the cans." of another child', "foreign-text", "/messages/0/content/1/text"),
    Case(APART, siblings, request_of(1, 1, said_as_well("Twelve pots.")), 'the text "Twelve pots."', "foreign-text"),
    Case(APART, siblings, request_of(0, 1, only_the_last), "expected", "missing", "/messages"),
    Case(APART, siblings, child_end(1, text="Twelve pots."), 'expected the text "Seven cans."', "other-answer"),
    Case(APART, siblings, child_end(1, outcome="error", error="OSError", message="in use"), "in use", "failed"),
    Case(AT_ONCE, siblings, child_end(1, asked=False), "no request of child 1", "waits"),
    Case(TOOL, by_tool, child_end(outcome="error", error="OSError", message="in use"), "in use", "failed"),
    Case(TOOL, by_tool, child_end(text=""), 'expected the text "Twelve pots."', "other-answer"),
    Case(TOOL, by_tool, request_of(0, 0, said_as_well("Is there room?")), "Is there room?", "foreign-text"),
    Case(TOOL, by_tool, request_of(None, 2, lambda b: b["messages"][-1]["content"][0].update(content="ok")),
         'expected "Twelve pots." in a result', "result-missing", "/messages"),
    Case(STOPPED, cancelled, kept_open, "kept open until", "goes-on"),
    Case(STOPPED, cancelled, asked_again, "got a request", "asks-on"),
    Case(STOPPED, cancelled, turn_end("answer", 0), 'ended with "answer"', "parent-goes-on"),
    Case(OUTLIVES, outliving, waited, "as long as the child waited", "parent-waits"),
    Case(OUTLIVES, outliving, turn_end("error", 1), 'ended with "error"', "parent-failed"),
    Case(OUTLIVES, outliving, child_end(outcome="cancelled"), "ended with cancelled", "failed"),
    Case(OUTLIVES, outliving, child_end(text="Twelve"), 'expected the text "Twelve pots."', "other-answer"),
    Case(OUTLIVES, outliving, request_of(None, 1, said_as_well("Count the pots.")), "Count the pots.", "foreign-text"),
]  # fmt: skip


test_a_good_run_with_children_beside_others_holds_and_a_spoilt_one_is_named = good_runs_hold(CASES)


@pytest.mark.parametrize("requirement", [TOOL, STOPPED, APART, AT_ONCE, OUTLIVES])
def test_a_session_that_has_no_child_beside_others_decides_nothing(requirement: str) -> None:
    name = next(case.good().key.scenario for case in CASES if case.id == requirement)
    builder = RunBuilder(scripted([THREE], user="Hi."), name=name).turn("Hi.").call(THREE).end()
    assert status(requirement, uncalled(builder.view())) is Status.INCONCLUSIVE


def test_a_child_that_answered_a_tool_may_say_so_again() -> None:
    """What it answered stands in its parent's history as the tool's result; it is the child's own all the same."""
    builder = RunBuilder(
        scripted([ASKING], ["There is."], user="Is there room?", child=POTS, child_tool="ask_helper"),
        scripted(["It is."], user="Good?", child=MORE_POTS),
        name="subagents/by_tool",
    )
    builder.turn("Is there room?").call(ASKING)
    child_history = call_child(builder, 0, 0, POTS)
    builder.results(ToolResult("toolu_1", "ask_helper", "Twelve pots.")).call("There is.")
    builder.add(ended(0, 0, "Twelve pots.")).end()
    parents, at = builder.history, len(builder.events)
    builder.history = [*child_history, Message.user("How many pots are cracked?")]
    builder.call("Two pots.")
    builder.events[at:] = [replace(event, turn=1) for event in builder.events[at:]]
    builder.history = parents
    view = uncalled(builder.operated("child").turn("Good?").call("It is.").end().view())
    assert status("subagents/child-begins-empty", view) is Status.HELD
    assert status("subagents/child-keeps-its-own", view) is Status.HELD
