"""Runs of the reference session's agent through the scenarios of `sessions/`, and the changes that spoil them.

What an agent does is taken from a run on real sockets, and not made up; a change is of one event, or of one word.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

import turnproof_suites
from turnproof.agents import AgentBinding
from turnproof.dialects import dialect
from turnproof.judge.requirements import judge
from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import Message
from turnproof.run import transcript as t
from turnproof.run.driver import Runner, RunSpec
from turnproof.scenarios import Scenario, load
from turnproof.session.store.agent import stored_agent
from turnproof_adapters.anthropic.binding import BINDING

from .build import body_with, spoilt
from .cases import suite

SCENARIOS = Path(next(iter(turnproof_suites.__path__))) / "scenarios" / "sessions"

STORED = stored_agent(BINDING)

Change = Callable[[View], View]
E = TypeVar("E", bound=t.Event)


def scenario(name: str) -> Scenario:
    """A scenario of the profile by its file's name."""
    return load(SCENARIOS / f"{name}.yaml")


@cache
def view_of(name: str) -> View:
    """The run of a scenario with the reference session's agent, made once."""
    return run_of(STORED, scenario(name))


def run_of(agent: AgentBinding, script: Scenario) -> View:
    """The run of a scenario with any agent of this process."""
    with Runner(in_process=True, bindings={"agent": agent}) as runner:
        transcript = runner.run(RunSpec("agent", script, t.RunKey(script.name, "stateless")))
    return View(transcript, dialect(transcript.dialect), script)


def after(view: View, *changes: Change) -> View:
    """The run after these changes, one after the other."""
    for change in changes:
        view = change(view)
    return view


# -- what is told of sessions ---------------------------------------------------------------------------------


def event(kind: type[E], turn: int, nth: int = 0, **fields: Any) -> Change:
    """Other fields in the `nth` event of a kind in a turn."""

    def change(view: View) -> View:
        return spoilt(view, kind, lambda one: replace(one, **fields), _index(view, kind, turn, nth))

    return change


def of_all(kind: type[E], **fields: Any) -> Change:
    """Other fields in every event of a kind."""
    return lambda view: spoilt(view, kind, lambda one: replace(one, **fields), every=True)


def stepped(turn: int, nth: int = 0, **fields: Any) -> Change:
    """Something else came of the `nth` step before a turn."""
    return event(t.SessionStepped, turn, nth, **fields)


def in_force(turn: int, session: str | None) -> Change:
    """Another session is open after a turn."""
    return event(t.SessionInForce, turn, session=session)


def ended(turn: int, **fields: Any) -> Change:
    """A turn comes to another end."""
    return event(t.TurnEnded, turn, **fields)


def with_history(turn: int, change: Callable[[tuple[Message, ...]], tuple[Message, ...]], done: str = "turn") -> Change:
    """Something else is held after a turn, or after a step before it."""

    def changed(one: t.HistorySnapshot) -> t.HistorySnapshot:
        expected = one.turn == turn and one.after == done
        return replace(one, messages=tuple(change(one.messages))) if expected else one

    return lambda view: spoilt(view, t.HistorySnapshot, changed, every=True)


# -- what is sent ---------------------------------------------------------------------------------------------


def body(turn: int, change: Callable[[Any], Any], nth: int = 0) -> Change:
    """Another body in the `nth` request of a turn; `change` works in place, or gives another one."""
    return lambda view: spoilt(view, t.WireRequest, body_with(change), _index(view, t.WireRequest, turn, nth))


def bodies(change: Callable[[Any], Any]) -> Change:
    """Another body in every request."""
    return lambda view: spoilt(view, t.WireRequest, body_with(change), every=True)


def sent(turn: int, old: str, new: str, nth: int = 0) -> Change:
    """Other words in the `nth` request of a turn."""

    def change(found: Any) -> Any:
        text = json.dumps(found)
        assert old in text, f"the request has no {old!r}"
        return json.loads(text.replace(old, new))

    return body(turn, change, nth)


def besides(old: str, more: str) -> tuple[str, str]:
    """A text, and the same with more in front of it."""
    return old, f"{more} {old}"


def text(role: str, words: str) -> dict[str, Any]:
    """A message of a body."""
    return {"role": role, "content": [{"type": "text", "text": words}]}


# -- events more ----------------------------------------------------------------------------------------------


def inserted(before: type[t.Event], turn: int, *new: t.Event, nth: int = 0) -> Change:
    """More events in a turn, right before the `nth` of a kind."""

    def change(view: View) -> View:
        events = list(view.transcript.events)
        expected = view.transcript.of(before)[_index(view, before, turn, nth)]
        at = next(place for place, one in enumerate(events) if one is expected)
        events[at:at] = [replace(one, turn=turn) for one in new]
        return View(replace(view.transcript, events=tuple(events)), view.dialect, view.scenario)

    return change


def _index(view: View, kind: type[E], turn: int, nth: int) -> int:
    """The place of a turn's event among all of its kind in the run."""
    places = [place for place, one in enumerate(view.transcript.of(kind)) if one.turn == turn]
    return places[nth]


# -- what this agent does not do by itself --------------------------------------------------------------------

AGENT_FAILURE = t.Failed(scope="turn", error="TransportError", message="the agent is gone", typed=True)


@cache
def killed() -> View:
    """The run of an agent whose process is killed in its second turn, and that has stored what it had said.

    An agent of this process has none that could be killed: its turn is cancelled in the same place, and then told as a
    killed one.
    """
    script = scenario("killed")
    first, second, *others = script.turns
    assert second.cancel is not None
    cancelled = replace(second, cancel=replace(second.cancel, by="token"))
    view = run_of(STORED, replace(script, turns=(first, cancelled, *others)))
    at = view.transcript.of(t.Cancelled)[0].at
    failed_view = after(
        View(view.transcript, view.dialect, script),
        inserted(t.TurnEnded, 1, t.Killed(at=at, processes=2), AGENT_FAILURE),
        ended(1, outcome="error", text=""),
    )
    return spoilt(failed_view, t.Cancelled, lambda one: None)


@cache
def asked_again() -> View:
    """The run of an agent that asks again by itself where an answer breaks off: it has the broken one and a whole one.

    The reference session's does not, so that the whole one is taken from a run in which nothing breaks.
    """
    script, broken = scenario("broken_off"), view_of("broken_off")
    first, *others = script.turns
    whole = run_of(STORED, replace(script, turns=(replace(first, faults=()), *others)))
    (request,) = (one for one in broken.transcript.of(t.WireRequest) if one.turn == 0)
    (response,) = (one for one in broken.transcript.of(t.WireResponse) if one.turn == 0)
    pair = (replace(request, exchange=99), replace(response, exchange=99))
    return inserted(t.WireRequest, 0, *pair)(View(whole.transcript, whole.dialect, script))


@cache
def with_processes() -> View:
    """The run of an agent that has a process of its own, and has ended it."""
    return of_all(t.LeftBehind, started=1)(view_of("resumed"))


# -- the whole profile ----------------------------------------------------------------------------------------


def verdicts(view: View) -> dict[str, Status]:
    """What each requirement of the profile says of a run."""
    return {name: status(name, view) for name in _profile()}


def accused(view: View) -> set[str]:
    """The requirements of the profile that a run violates."""
    return {name for name, one in verdicts(view).items() if one is Status.VIOLATED}


def status(name: str, view: View) -> Status:
    """What a requirement of the profile says of a run."""
    return judge(suite().catalogue[f"sessions/{name}"], view.key.path, [view]).status


@cache
def _profile() -> tuple[str, ...]:
    return tuple(one.partition("/")[2] for one in suite().profiles.ids if one.startswith("sessions/"))
