"""Checks of the events of a session's agents."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.run.transcript import AgentsWatched
from turnproof.subject import AgentEvent, AgentState

from .build import RunBuilder, scripted, spoilt
from .cases import Case, good_runs_hold, status
from .conversations import THREE
from .test_history_checks import uncalled
from .test_subagent_checks import childs, in_between

AGENT, TURN, LATE = (
    f"subagents/{name}"
    for name in ("events-tell-of-each-agent", "events-tell-of-each-turn", "who-connects-late-sees-the-agents")
)
MAIN, CHILD = AgentState("agent 0"), AgentState("agent 1", "agent 0")


def turn_of(agent: str) -> tuple[AgentEvent, ...]:
    return AgentEvent("changed", agent, activity="working"), AgentEvent("completed", agent, ending="answer")


def watched() -> View:
    """A turn, one of a child, and another one, all of them watched."""
    builder = RunBuilder(
        scripted([THREE], user="How is bed 3?"),
        scripted(["It is."], user="Good?", child=childs("Count the pots.", "Twelve pots.")),
        name="subagents/watched",
    )
    builder.add(AgentsWatched(after="open", now=(MAIN,), turn=0))
    builder.turn("How is bed 3?").call(THREE).end()
    builder.add(AgentsWatched(after="turn", events=turn_of("agent 0"), now=(MAIN,), turn=0))
    in_between(builder, builder.scenario.turns[1], [])
    created = AgentEvent("created", "agent 1", parent="agent 0")
    builder.add(AgentsWatched(after="child", events=(created, *turn_of("agent 1")), now=(MAIN, CHILD), turn=1))
    builder.turn("Good?").call("It is.").end()
    builder.add(AgentsWatched(after="turn", events=turn_of("agent 0"), now=(MAIN, CHILD), turn=1))
    return uncalled(builder.view())


def with_events(nth: int, change: Callable[[tuple[AgentEvent, ...]], tuple[AgentEvent, ...]]) -> Callable[[View], View]:
    """Other events: of the first turn (1), the child (2), and the second turn (3)."""
    return lambda view: spoilt(view, AgentsWatched, lambda one: replace(one, events=change(one.events)), nth)


def seen(nth: int, **fields: object) -> Callable[[View], View]:
    return lambda view: spoilt(view, AgentsWatched, lambda one: replace(one, **fields), nth)


def without(kind: str) -> Callable[[tuple[AgentEvent, ...]], tuple[AgentEvent, ...]]:
    return lambda events: tuple(event for event in events if event.kind != kind)


def ending(word: str) -> Callable[[tuple[AgentEvent, ...]], tuple[AgentEvent, ...]]:
    return lambda events: tuple(replace(one, ending=word) if one.kind == "completed" else one for one in events)


CASES = [
    Case(AGENT, watched, with_events(2, lambda events: ()), "got events of the kinds []", "not-created"),
    Case(AGENT, watched, with_events(2, without("created")), 'got an event of "agent 1"', "unknown"),
    Case(
        AGENT,
        watched,
        with_events(2, lambda all_: (replace(all_[0], agent="agent 0"), *all_[1:])),
        "id of its own",
        "same-id",
    ),
    Case(
        AGENT,
        watched,
        with_events(2, lambda all_: (replace(all_[0], parent="agent 7"), *all_[1:])),
        "agent 7",
        "other-parent",
    ),
    Case(TURN, watched, with_events(3, without("completed")), "expected 1 event", "not-completed"),
    Case(TURN, watched, with_events(2, ending("error")), 'expected the ending "answer"', "other-ending"),
    Case(TURN, watched, with_events(3, without("changed")), "activity `working`", "not-working"),
    Case(LATE, watched, seen(3, now=(MAIN,)), 'expected the agent "agent 1"', "missing"),
    Case(LATE, watched, seen(1, now=(MAIN, CHILD)), "agent 1", "extra"),
    Case(LATE, watched, seen(3, now=(MAIN, replace(CHILD, activity="working"))), "working", "other-state"),
    Case(LATE, watched, seen(3, differing=1), "other events for 1", "other-events"),
]


test_events_that_tell_what_happens_hold_and_others_are_named = good_runs_hold(CASES)


def test_agents_that_a_framework_has_of_its_own_are_nobodys_business() -> None:
    """An agent that routes questions works within the turn, and another one below the child."""
    router = AgentEvent("created", "agent 8", parent="agent 0")
    below = AgentEvent("created", "agent 9", parent="agent 1")
    own = [AgentState("agent 8", "agent 0"), AgentState("agent 9", "agent 1")]
    view = with_events(1, lambda events: (events[0], router, *turn_of("agent 8"), events[1]))(watched())
    view = with_events(2, lambda events: (*events[:2], below, *turn_of("agent 9"), events[2]))(view)
    for nth, states in ((1, (MAIN, own[0])), (2, (MAIN, own[0], CHILD, own[1])), (3, (MAIN, own[0], CHILD, own[1]))):
        view = seen(nth, now=states)(view)
    assert {one: status(one, view) for one in (AGENT, TURN, LATE)} == dict.fromkeys((AGENT, TURN, LATE), Status.HELD)


@pytest.mark.parametrize("requirement", [AGENT, TURN, LATE])
def test_a_run_that_nobody_watched_decides_nothing(requirement: str) -> None:
    builder = RunBuilder(scripted([THREE], user="Hi."), name="subagents/watched").turn("Hi.").call(THREE).end()
    assert status(requirement, uncalled(builder.view())) is Status.INCONCLUSIVE
