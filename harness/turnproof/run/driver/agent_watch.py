"""Who watches the agents of a session in a run: one from the start, and one more from each step on."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from msgspec.structs import replace

from ...subject import AgentEvent, AgentState
from ..transcript import AgentsWatched
from .run_session import RunSession

SETTLED_WITHIN = 1.0
"""Seconds that the events of a step may take when it is over."""

_LOOK = 0.005
"""Seconds between two looks whether they have come."""


class AgentWatch:
    """Connects, and records what is told."""

    def __init__(self, run: RunSession) -> None:
        self._run = run
        self._lock = threading.Lock()
        self._labels: dict[str, str] = {}
        self._told: list[AgentEvent] = []
        self._reported = 0
        self._late: list[tuple[int, list[AgentEvent]]] = []

    def report(self, after: str) -> None:
        """Record what was told since the last time, and connect once more."""
        if not self._run.job.scenario.watched:
            return
        try:
            if after == "open":
                now = self._connect(self._told)
            else:
                self._settle()
                with self._lock:
                    at, mine = len(self._told), list[AgentEvent]()
                    self._late.append((at, mine))
                now = self._connect(mine)
        except Exception as error:
            self._run.refused("watch_agents", error)
            return
        with self._lock:
            events = tuple(self._told[self._reported :])
            self._reported += len(events)
            differing = sum(self._told[at:] != told for at, told in self._late)
        self._run.recorder.event(
            AgentsWatched(
                after=after,
                events=tuple(map(self._event, events)),
                now=tuple(map(self._state, now)),
                differing=differing,
                turn=max(self._run.recorder.turn, 0),
            )
        )

    def _connect(self, told: list[AgentEvent]) -> Sequence[AgentState]:
        """Watch from now on; what is told goes into the list."""
        watch = self._run.session.watch_agents
        assert watch is not None

        def take(event: AgentEvent) -> None:
            if not isinstance(event, AgentEvent):
                raise TypeError(f"watch_agents() tells a {type(event).__name__} instead of an AgentEvent")
            with self._lock:
                told.append(event)

        states = watch(self._run.handle, take)
        for state in states:
            if not isinstance(state, AgentState):
                raise TypeError(f"watch_agents() returned a {type(state).__name__} instead of an AgentState")
        return states

    def _settle(self) -> None:
        """Wait until the turn of the step is told to be over, and everybody who watches knows."""
        until = time.monotonic() + SETTLED_WITHIN
        while time.monotonic() < until:
            with self._lock:
                new = self._told[self._reported :]
                if any(event.kind == "completed" for event in new) and all(
                    len(self._told) - at == len(told) for at, told in self._late
                ):
                    return
            time.sleep(_LOOK)

    def _label(self, agent: str) -> str:
        return self._labels.setdefault(agent, f"agent {len(self._labels)}")

    def _event(self, event: AgentEvent) -> AgentEvent:
        parent = None if event.parent is None else self._label(event.parent)
        return replace(event, agent=self._label(event.agent), parent=parent)

    def _state(self, state: AgentState) -> AgentState:
        parent = None if state.parent is None else self._label(state.parent)
        return replace(state, agent=self._label(state.agent), parent=parent)
