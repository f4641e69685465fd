"""`AgentFeed`: what agents there are and what each of them does, for a user interface that may connect at any time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Literal

from msgspec.structs import replace

from ...errors import Cancelled, UsageError
from ...messages import Message
from ...subject import AgentEvent, AgentState
from ..conversation import quietly
from ..observer import SessionObserver
from ..result import TurnResult

OnEvent = Callable[[AgentEvent], None]


class AgentFeed:
    """The agents of one application, by id. Used from any thread.

    Events come one after the other. An observer is told under the feed's lock: it is to take the event and return.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._agents: dict[str, AgentState] = {}
        self._watching: dict[int, OnEvent] = {}
        self._numbers = 0

    def watch(self, on_event: OnEvent) -> tuple[tuple[AgentState, ...], Callable[[], None]]:
        """The agents as they are now, parents first, and a function that ends the watch.

        From this moment on each event is passed on, none twice and none that the snapshot has already.
        """
        with self._lock:
            self._numbers += 1
            number = self._numbers
            self._watching[number] = on_event
            return tuple(self._agents.values()), partial(self._forget, number)

    def add(self, agent: str, parent: str | None = None) -> SessionObserver:
        """A new agent; the observer of its session that passes on its turns.

        Raises UsageError for an id that another agent has, or a parent that there is not.
        """
        with self._lock:
            if agent in self._agents:
                raise UsageError(f"there is an agent {agent!r} already")
            if parent is not None and parent not in self._agents:
                raise UsageError(f"there is no agent {parent!r} that could be the parent of {agent!r}")
            self._agents[agent] = AgentState(agent, parent)
            self._tell(AgentEvent("created", agent, parent=parent))
        return _Turns(partial(self._changed, agent), partial(self._completed, agent))

    def free_id(self) -> str:
        """An id that no agent has."""
        with self._lock:
            return next(name for number in count(1) if (name := f"agent-{number}") not in self._agents)

    def remove(self, agent: str) -> None:
        """The agent is gone for good. Nothing happens for one that there is not."""
        with self._lock:
            if self._agents.pop(agent, None) is not None:
                self._tell(AgentEvent("removed", agent))

    def _changed(self, agent: str) -> None:
        self._moved(agent, "working", AgentEvent("changed", agent, activity="working"))

    def _completed(self, agent: str, ending: Literal["answer", "cancelled", "error"]) -> None:
        self._moved(agent, "idle", AgentEvent("completed", agent, ending=ending))

    def _moved(self, agent: str, activity: Literal["idle", "working"], event: AgentEvent) -> None:
        with self._lock:
            if agent in self._agents:  # and was not removed while its last turn came to an end
                self._agents[agent] = replace(self._agents[agent], activity=activity)
                self._tell(event)

    def _tell(self, event: AgentEvent) -> None:
        for on_event in list(self._watching.values()):
            quietly("an observer of agents", partial(on_event, event))

    def _forget(self, number: int) -> None:
        with self._lock:
            self._watching.pop(number, None)


class _Turns(SessionObserver):
    """Passes on that turns begin and end."""

    def __init__(
        self, changed: Callable[[], None], completed: Callable[[Literal["answer", "cancelled", "error"]], None]
    ) -> None:
        self._changed = changed
        self._completed = completed

    def on_turn_began(self, user: Message) -> None:
        self._changed()

    def on_turn_ended(self, result: TurnResult | BaseException) -> None:
        if isinstance(result, BaseException):
            self._completed("cancelled" if isinstance(result, Cancelled) else "error")
        else:
            self._completed(result.outcome)
