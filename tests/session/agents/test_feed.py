"""Events of agents, for who is there from the start and for who connects late."""

from __future__ import annotations

import logging

import pytest

from turnproof.errors import Cancelled, UsageError
from turnproof.messages import Message
from turnproof.session.agents import AgentFeed
from turnproof.subject import AgentEvent, AgentState

QUESTION = Message.user("Is bed 3 dry?")


def kinds(events: list[AgentEvent]) -> list[tuple[str, str]]:
    return [(event.agent, event.kind) for event in events]


def test_who_connects_first_is_told_of_each_agent_and_of_its_turns() -> None:
    feed, events = AgentFeed(), list[AgentEvent]()
    agents, _ = feed.watch(events.append)
    assert agents == ()
    feed.add("main")
    child = feed.add("bed3", "main")
    child.on_turn_began(QUESTION)
    child.on_turn_ended(RuntimeError("no water"))
    feed.remove("bed3")
    assert events == [
        AgentEvent("created", "main"),
        AgentEvent("created", "bed3", parent="main"),
        AgentEvent("changed", "bed3", activity="working"),
        AgentEvent("completed", "bed3", ending="error"),
        AgentEvent("removed", "bed3"),
    ]


def test_who_connects_late_gets_what_is_and_then_the_same_events() -> None:
    feed, early, late = AgentFeed(), list[AgentEvent](), list[AgentEvent]()
    feed.watch(early.append)
    feed.add("main")
    feed.add("bed3", "main").on_turn_began(QUESTION)
    agents, forget = feed.watch(late.append)
    assert agents == (AgentState("main"), AgentState("bed3", "main", "working"))
    feed.add("bed4", "main")
    forget()
    feed.add("bed5", "main")
    assert kinds(late) == [("bed4", "created")]
    assert kinds(early)[-2:] == [("bed4", "created"), ("bed5", "created")]


def test_a_turn_that_is_cancelled_before_it_has_begun_is_told_of_as_cancelled() -> None:
    feed, events = AgentFeed(), list[AgentEvent]()
    main = feed.add("main")
    feed.watch(events.append)
    main.on_turn_ended(Cancelled("stopped"))
    assert events == [AgentEvent("completed", "main", ending="cancelled")]


def test_an_agent_that_is_gone_is_not_told_of_any_more() -> None:
    feed, events = AgentFeed(), list[AgentEvent]()
    main = feed.add("main")
    main.on_turn_began(QUESTION)
    feed.remove("main")
    feed.watch(events.append)
    main.on_turn_ended(RuntimeError())
    feed.remove("main")
    assert events == []


def test_an_observer_that_raises_hides_nothing_from_others(caplog: pytest.LogCaptureFixture) -> None:
    feed, events = AgentFeed(), list[AgentEvent]()

    def fail(event: AgentEvent) -> None:
        raise ValueError("broken pipe")

    feed.watch(fail)
    feed.watch(events.append)
    with caplog.at_level(logging.ERROR):
        feed.add("main")
    assert kinds(events) == [("main", "created")]
    assert "an observer of agents" in caplog.text


@pytest.mark.parametrize(("agent", "parent", "reason"), [("main", None, "already"), ("bed3", "man", "no agent 'man'")])
def test_ids_that_are_taken_or_unknown_are_refused(agent: str, parent: str | None, reason: str) -> None:
    feed = AgentFeed()
    feed.add("main")
    with pytest.raises(UsageError, match=reason):
        feed.add(agent, parent)


def test_an_id_that_is_free_is_nobodys() -> None:
    feed = AgentFeed()
    feed.add("agent-1")
    assert feed.free_id() == "agent-2"
