"""Watches the agents of a session during a run: one watcher connects at the start, and one more after each step."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from msgspec.structs import replace

from ...subject import AgentEvent, AgentState
from ..transcript import AgentsWatched
from .run_session import RunSession

SETTLED_WITHIN = 1.0
"""Seconds that the events of a step may take when it is over."""


class AgentWatch:
    """Calls `watch_agents()` of a session, and records the events and states that it reports."""

    def __init__(self, run: RunSession) -> None:
        self._run = run
        self._changed = threading.Condition()
        self._labels: dict[str, str] = {}
        self._events: list[AgentEvent] = []
        self._reported = 0
        self._late: list[tuple[int, list[AgentEvent]]] = []

    def report(self, after: str) -> None:
        """Record the events since the last report, and connect one more watcher."""
        if not self._run.job.scenario.watched:
            return
        try:
            if after == "open":
                now = self._connect(self._events)
            else:
                self._settle()
                with self._changed:
                    at, later_events = len(self._events), list[AgentEvent]()
                    self._late.append((at, later_events))
                now = self._connect(later_events)
        except Exception as error:
            self._run.refused("watch_agents", error)
            return
        with self._changed:
            events = tuple(self._events[self._reported :])
            self._reported += len(events)
            differing = sum(self._events[at:] != expected_events for at, expected_events in self._late)
        self._run.recorder.event(
            AgentsWatched(
                after=after,
                events=tuple(map(self._event, events)),
                now=tuple(map(self._state, now)),
                differing=differing,
                turn=max(self._run.recorder.turn, 0),
            )
        )

    def _connect(self, events: list[AgentEvent]) -> Sequence[AgentState]:
        """Connect a watcher that adds each event to the list; the states of the agents when it connected."""
        watch = self._run.session.watch_agents
        assert watch is not None

        def take(event: AgentEvent) -> None:
            if not isinstance(event, AgentEvent):
                raise TypeError(f"watch_agents() reported a {type(event).__name__} instead of an AgentEvent")
            with self._changed:
                events.append(event)
                self._changed.notify_all()

        states = watch(self._run.handle, take)
        for state in states:
            if not isinstance(state, AgentState):
                raise TypeError(f"watch_agents() returned a {type(state).__name__} instead of an AgentState")
        return states

    def _settle(self) -> None:
        """Wait, at most `SETTLED_WITHIN`, until every watcher has the event that the turn of the step is over."""
        with self._changed:
            self._changed.wait_for(self._is_settled, SETTLED_WITHIN)

    def _is_settled(self) -> bool:
        new = self._events[self._reported :]
        is_over = any(event.kind == "completed" for event in new)
        return is_over and all(len(self._events) - at == len(expected_events) for at, expected_events in self._late)

    def _label(self, agent: str) -> str:
        return self._labels.setdefault(agent, f"agent {len(self._labels)}")

    def _event(self, event: AgentEvent) -> AgentEvent:
        parent = None if event.parent is None else self._label(event.parent)
        return replace(event, agent=self._label(event.agent), parent=parent)

    def _state(self, state: AgentState) -> AgentState:
        parent = None if state.parent is None else self._label(state.parent)
        return replace(state, agent=self._label(state.agent), parent=parent)
