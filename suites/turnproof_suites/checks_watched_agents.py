"""Events of a session's agents: each agent and each of its turns is told of, and who connects late sees what is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace

from turnproof.judge.finding import Compared, Finding, Place
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import TurnView, View
from turnproof.run.transcript import AgentsWatched
from turnproof.subject import AgentEvent, AgentState

from .steps import Step, steps


@dataclass
class Watched:
    """What was told of the agents in one step: the step, the event of the run, and the agents as told before it."""

    turn: TurnView
    event: AgentsWatched
    before: Mapping[str, AgentState]
    step: Step | None = None
    agents: dict[str, AgentState] = field(default_factory=dict)

    def at(self, *tokens: str | int) -> Place:
        """The place of it, or of a part of it."""
        return self.turn.at_event(self.event, *tokens)

    @property
    def created(self) -> list[AgentEvent]:
        """The agents that were created in it."""
        return [event for event in self.event.events if event.kind == "created"]


def watched(view: View) -> Iterator[Watched]:
    """The steps in which agents were watched, in order."""
    known: dict[str, AgentState] = {}
    for turn in view.turns:
        own_steps = [step for step in steps(view) if step.turn is turn]
        for event in turn.events:
            if not isinstance(event, AgentsWatched):
                continue
            step = next((one for one in own_steps if one.kind == event.after), None)
            found = Watched(turn, event, dict(known), step)
            known = {state.agent: state for state in event.now} if event.after == "open" else known
            for one in event.events:
                known = _after(known, one)
            found.agents = dict(known)
            yield found


def _after(known: Mapping[str, AgentState], event: AgentEvent) -> dict[str, AgentState]:
    """The agents after an event."""
    states = dict(known)
    match event.kind:
        case "created":
            states[event.agent] = AgentState(event.agent, event.parent)
        case "removed":
            states.pop(event.agent, None)
        case _ if event.agent in states:
            activity = "idle" if event.kind == "completed" else event.activity
            states[event.agent] = replace(states[event.agent], activity=activity)
    return states


_NOT_CREATED = finding(
    "subagents/events-tell-of-each-agent/not-created",
    "No event tells of a new child.",
    "an event `created` of an agent with a parent",
    "events of the kinds {observed}",
)
_SAME_ID = finding(
    "subagents/events-tell-of-each-agent/same-id",
    "A new agent has the id of another one.",
    "an id of its own",
    "the id of {observed}",
)
_UNKNOWN_AGENT = finding(
    "subagents/events-tell-of-each-agent/unknown",
    "An event is about an agent that no event and no snapshot has named.",
    "one of the agents {expected}",
    "an event of {observed}",
)
_NO_PARENT = finding(
    "subagents/events-tell-of-each-agent/other-parent",
    "A new child does not have the session that has it as its parent.",
    "the parent {expected}",
    "{observed}",
)


@check("subagents/events-tell-of-each-agent", needs="wire")
def events_tell_of_each_agent(view: View) -> Findings:
    """Each child is created once, with an id of its own and its parent's, ahead of every other event of it."""
    lead, has_child = "", False
    for one in watched(view):
        known = set(one.before) | ({state.agent for state in one.event.now} if one.event.after == "open" else set())
        wrong: list[Finding] = []
        for number, event in enumerate(one.event.events):
            if event.kind == "created" and event.agent in known:
                wrong.append(_SAME_ID(one.at("events", number, "agent"), observed=event.agent))
            elif event.kind != "created" and event.agent not in known:
                place = one.at("events", number, "agent")
                wrong.append(_UNKNOWN_AGENT(place, expected=sorted(known), observed=event.agent))
            known.add(event.agent)
        if one.event.after == "turn" and not lead:
            lead = next((event.agent for event in one.event.events if _ends_a_turn_of_the_session(one, event)), "")
        if one.event.after == "child" and not has_child and one.step is not None:
            has_child = True
            children = [event for event in one.created if event.parent is not None]
            if not children:
                kinds = [event.kind for event in one.event.events]
                wrong.append(_NOT_CREATED(one.at("events") if kinds else one.at(), observed=kinds))
            elif lead and all(event.parent != lead for event in children):
                number = one.event.events.index(children[0])
                wrong.append(_NO_PARENT(one.at("events", number, "parent"), expected=lead, observed=children[0].parent))
        yield from wrong
        if has_child and not wrong:
            yield Compared("steps in which agents were watched")


def _ends_a_turn_of_the_session(one: Watched, event: AgentEvent) -> bool:
    """Whether it ends a turn of an agent without a parent, as far as is known."""
    state = one.agents.get(event.agent)
    return event.kind == "completed" and (state is None or state.parent is None)


_NOT_WORKING = finding(
    "subagents/events-tell-of-each-turn/not-working",
    "No event tells that an agent works, ahead of the end of its turn.",
    "an event `changed` with the activity `working`",
    "events of the kinds {observed}",
)
_NOT_COMPLETED = finding(
    "subagents/events-tell-of-each-turn/not-completed",
    "The end of a turn is not reported once.",
    "{expected} event `completed`",
    "{observed}",
)
_OTHER_ENDING = finding(
    "subagents/events-tell-of-each-turn/other-ending",
    "The end of a turn is reported as another one.",
    "the ending {expected}",
    "{observed}",
)


@check("subagents/events-tell-of-each-turn", needs="wire")
def events_tell_of_each_turn(view: View) -> Findings:
    """An agent works, and then its turn is completed, once, as it ended."""
    for one in watched(view):
        ending = _ending(one)
        if ending is None:
            continue
        wrong = list(_wrong_turn(one, ending))
        yield from wrong
        if not wrong:
            yield Compared("turns of watched agents")


def _ending(one: Watched) -> str | None:
    """How the turn of the step ended for whom it was spoken to; None for what is no turn."""
    if one.step is None:
        return None
    if one.step.kind == "child":
        return "error" if one.step.refusal is not None else "answer"
    return one.turn.ended.outcome if one.step.kind == "turn" and one.turn.ended is not None else None


def _is_meant(one: Watched, agent: str) -> bool:
    """Whether the step can be the turn of an agent: of the session, or of a child of it. Agents that a framework has
    beside these do what they do."""
    state = one.agents.get(agent)
    if state is None or (one.step is not None and one.step.kind == "turn"):
        return state is None or state.parent is None
    if all(other.parent is None for other in one.agents.values()):
        return True
    parent = one.agents.get(state.parent) if state.parent is not None else None
    return state.parent is not None and (parent is None or parent.parent is None)


def _wrong_turn(one: Watched, ending: str) -> Iterator[Finding]:
    events = one.event.events
    completed = [
        number for number, event in enumerate(events) if event.kind == "completed" and _is_meant(one, event.agent)
    ]
    if len(completed) != 1:
        yield _NOT_COMPLETED(one.at("events") if events else one.at(), expected=1, observed=len(completed))
        return
    last = events[completed[0]]
    if last.ending != ending:
        yield _OTHER_ENDING(one.at("events", completed[0]), expected=ending, observed=last.ending)
    works = (event for event in events[: completed[0]] if event.agent == last.agent and event.activity == "working")
    if next(works, None) is None:
        kinds = [event.kind for event in events]
        yield _NOT_WORKING(one.at("events"), observed=kinds)


_MISSING = finding(
    "subagents/who-connects-late-sees-the-agents/missing",
    "Who connects late does not see an agent.",
    "the agent {expected}",
    "the agents {observed}",
)
_EXTRA = finding(
    "subagents/who-connects-late-sees-the-agents/extra",
    "Who connects late sees an agent that no event has named.",
    "one of the agents {expected}",
    "{observed}",
)
_OTHER_STATE = finding(
    "subagents/who-connects-late-sees-the-agents/other-state",
    "Who connects late sees an agent in another state than the events tell.",
    "{expected}",
    "{observed}",
)
_OTHER_EVENTS = finding(
    "subagents/who-connects-late-sees-the-agents/other-events",
    "Who connected late received other events from then on.",
    "the events that all received",
    "other events for {observed} of those who connected late",
)


@check("subagents/who-connects-late-sees-the-agents", needs="wire")
def who_connects_late_sees_the_agents(view: View) -> Findings:
    """The agents that are returned are those that the events have told of, each in its state."""
    for one in watched(view):
        if one.event.after == "open":
            continue
        wrong = list(_wrong_snapshot(one))
        yield from wrong
        if not wrong:
            yield Compared("agents as somebody sees them who connects late")


def _wrong_snapshot(one: Watched) -> Iterator[Finding]:
    now = {state.agent: (number, state) for number, state in enumerate(one.event.now)}
    for agent, state in one.agents.items():
        if agent not in now:
            yield _MISSING(one.at("now") if now else one.at(), expected=agent, observed=sorted(now))
        elif now[agent][1] != state:
            number, seen = now[agent]
            yield _OTHER_STATE(one.at("now", number), expected=_words(state), observed=_words(seen))
    for agent, (number, _) in now.items():
        if agent not in one.agents:
            yield _EXTRA(one.at("now", number), expected=sorted(one.agents), observed=agent)
    if one.event.differing:
        yield _OTHER_EVENTS(one.at("differing"), observed=one.event.differing)


def _words(state: AgentState) -> str:
    return f"{state.agent}, {state.activity}" + (f", child of {state.parent}" if state.parent is not None else "")
