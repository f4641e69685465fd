"""Sessions whose events tell something else of their agents than what happens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from turnproof.subject import AgentEvent, AgentState

from ._mutant import suite_mutant
from ._session import BrokenSession

OnEvent = Callable[[AgentEvent], None]


class _Watched(BrokenSession):
    """Tells of its agents in another way."""

    def watch_agents(self, on_event: OnEvent) -> Sequence[AgentState]:
        """The inner session's agents, with its events as `change_event` has them."""

        def tell(event: AgentEvent) -> None:
            changed = self.change_event(event)
            if changed is not None:
                on_event(changed)

        return self.shown(self.do("watch_agents", tell))

    def change_event(self, event: AgentEvent) -> AgentEvent | None:
        """Another event, or none."""
        return event

    def shown(self, states: Sequence[AgentState]) -> Sequence[AgentState]:
        """Other agents to who connects."""
        return states


@suite_mutant("agents-come-unannounced")
class AgentsComeUnannounced(_Watched):
    """Nobody is told that an agent was created."""

    def change_event(self, event: AgentEvent) -> AgentEvent | None:
        return None if event.kind == "created" else event


@suite_mutant("agents-have-no-parent")
class AgentsHaveNoParent(_Watched):
    """A child is told of as if nobody had it."""

    def change_event(self, event: AgentEvent) -> AgentEvent:
        return replace(event, parent=None)

    def shown(self, states: Sequence[AgentState]) -> Sequence[AgentState]:
        return [replace(state, parent=None) for state in states]


@suite_mutant("agents-share-an-id")
class AgentsShareAnId(_Watched):
    """A child goes by the id of its parent."""

    def change_event(self, event: AgentEvent) -> AgentEvent:
        return replace(event, agent="main", parent=None if event.parent is None else "main")

    def shown(self, states: Sequence[AgentState]) -> Sequence[AgentState]:
        return [replace(state, agent="main", parent=None) for state in states[:1]]


@suite_mutant("agents-never-complete")
class AgentsNeverComplete(_Watched):
    """The end of a turn is told of as a change to `idle` alone."""

    def change_event(self, event: AgentEvent) -> AgentEvent:
        return AgentEvent("changed", event.agent) if event.kind == "completed" else event


@suite_mutant("agents-always-succeed")
class AgentsAlwaysSucceed(_Watched):
    """A turn that failed is told of as one with an answer."""

    def change_event(self, event: AgentEvent) -> AgentEvent:
        return replace(event, ending="answer") if event.ending == "error" else event


@suite_mutant("agents-work-unseen")
class AgentsWorkUnseen(_Watched):
    """Nobody is told that a turn has begun."""

    def change_event(self, event: AgentEvent) -> AgentEvent | None:
        return None if event.kind == "changed" else event


@suite_mutant("snapshot-without-children")
class SnapshotWithoutChildren(_Watched):
    """Who connects late sees no child."""

    def shown(self, states: Sequence[AgentState]) -> Sequence[AgentState]:
        return [state for state in states if state.parent is None]


@suite_mutant("snapshot-of-agents-at-work")
class SnapshotOfAgentsAtWork(_Watched):
    """Who connects late sees every child at work, whatever it does."""

    def shown(self, states: Sequence[AgentState]) -> Sequence[AgentState]:
        return [replace(state, activity="working") if state.parent is not None else state for state in states]


@suite_mutant("late-watchers-are-told-nothing")
class LateWatchersAreToldNothing(_Watched):
    """Only who connects first is told of events."""

    watching = 0

    def watch_agents(self, on_event: OnEvent) -> Sequence[AgentState]:
        self.watching += 1
        return super().watch_agents(on_event if self.watching == 1 else lambda event: None)
