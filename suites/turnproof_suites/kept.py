"""A run as the sessions of an agent: what was done with them, and what was said in which, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from turnproof.messages import Message
from turnproof.scenarios.model import NOBODY, SessionStep
from turnproof.transcript import SessionInForce, SessionStepped
from turnproof.view import Exchange, TurnView, View

from .reading import once_per_view, spoken_text, user_text
from .steps import Step, bare, steps


@dataclass(frozen=True)
class Done:
    """A step with the agent's sessions: what the scenario wanted, and what came of it."""

    step: Step
    wanted: SessionStep
    event: SessionStepped

    @property
    def where(self) -> str:
        """The place of the step, for messages."""
        return self.step.where

    @property
    def refused(self) -> str:
        """How it was refused, in words."""
        return f"{self.event.error}: {self.event.message}"


@dataclass(frozen=True)
class Said:
    """A turn that was over before another one: what the user said in it, and the texts of the model's whole answers."""

    user: str
    texts: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        """Everything, in order."""
        return (self.user, *self.texts)


@dataclass(frozen=True)
class Talk:
    """A turn with an agent.

    `session` is the one that was open after it, None where the agent knew of none; `steps` are those done right before.
    `known` has for each session what was said in it before, in order, in turns that were ordinary to their end.
    """

    step: Step
    session: str | None
    steps: tuple[Done, ...]
    known: dict[str, tuple[Said, ...]]

    @property
    def turn(self) -> TurnView:
        """The turn."""
        return self.step.turn

    @property
    def where(self) -> str:
        """The place of the turn, for messages."""
        return self.step.where

    @property
    def asked(self) -> Exchange | None:
        """Its first request for an answer that can be read."""
        return next((one for one in self.step.generated if not one.request.extra and one.call is not None), None)

    @cached_property
    def sent(self) -> tuple[Message, ...]:
        """The messages of that request."""
        return tuple(self.asked.call.messages) if self.asked is not None and self.asked.call is not None else ()

    @property
    def before(self) -> tuple[Said, ...]:
        """What was said before in its session."""
        return self.known.get(self.session or "", ())

    def lacks(self, said: Sequence[Said]) -> str:
        """The first text that was said and is not in the request, in its order; empty if all are."""
        row = bare(_row(self.sent))
        at = 0
        for text in (text for one in said for text in one.all):
            found = row.find(bare([text]), at)
            if found < 0:
                return text
            at = found + 1
        return ""

    def repeats(self, said: Sequence[Said]) -> str:
        """The first thing that the user said once and that is in the request more than once; empty if none is."""
        row = bare(_row(self.sent))
        return next((one.user for one in said if row.count(bare([one.user])) > 1), "")

    def foreign(self) -> str:
        """The first text of another session that is in the request; empty if none is."""
        row, own = bare(_row(self.sent)), {text for one in self.before for text in one.all}
        others = (one for label, said in self.known.items() if label != self.session for one in said)
        return next((text for one in others for text in one.all if text not in own and bare([text]) in row), "")


@once_per_view
def talks(view: View) -> tuple[Talk, ...]:
    """The turns of a run with an agent, in order."""
    found: list[Talk] = []
    known: dict[str, tuple[Said, ...]] = {}
    pending: list[Done] = []
    for step in steps(view):
        if step.done != "turn":
            pending += _done(step, len([one for one in pending if one.step.turn is step.turn]))
            for done in pending[-1:]:
                _inherit(known, done)
            continue
        if not step.turn.spoken:
            continue
        in_force = step.first(SessionInForce)
        session = in_force.session if in_force is not None else None
        found.append(Talk(step, session, tuple(pending), dict(known)))
        pending = []
        if session is not None and step.ordinary:
            said = Said(step.turn.said, tuple(step.answered_text))
            known[session] = (*known.pop(session, ()), said)  # the last of them was updated last
    return tuple(found)


def done_with(view: View, *doing: str) -> Iterator[tuple[Done, Talk]]:
    """The steps of these kinds, each with the turn that follows."""
    for talk in talks(view):
        for done in talk.steps:
            if done.wanted.do in doing:
                yield done, talk


def taken_up(view: View) -> Iterator[tuple[Talk, str]]:
    """The turns before which a session was to be taken up again that has something said in it, with its label.

    It is the last thing done before them, and was not refused; nor was the session damaged before.
    """
    for talk in talks(view):
        last = next((done for done in reversed(talk.steps) if done.wanted.do in ("open", "resume", "continue")), None)
        if last is None or last.event.outcome != "done" or any(done.wanted.do == "damage" for done in talk.steps):
            continue
        label = wanted_of(last, talk)
        if label is not None and label in talk.known:
            yield talk, label


def wanted_of(done: Done, talk: Talk) -> str | None:
    """The label of the session that a step asks for; None for a new one, and where there is none like it."""
    step = done.wanted
    if step.do == "open" and not step.last:
        return step.session if step.session != NOBODY else None
    if step.do == "resume":
        return step.session if step.session != NOBODY else None
    if (step.do == "open" and step.cwd is not None) or (step.do == "continue" and step.cwd is not None):
        return None
    return next(reversed(talk.known), None) if step.last or step.do == "continue" else None


def _done(step: Step, index: int) -> Iterator[Done]:
    event = step.first(SessionStepped)
    script = step.turn.script
    if event is not None and script is not None and index < len(script.sessions):
        yield Done(step, script.sessions[index], event)


def _inherit(known: dict[str, tuple[Said, ...]], done: Done) -> None:
    """A fork knows what was said in its origin."""
    if done.wanted.do == "fork" and done.event.outcome == "done" and done.event.was and done.event.returned:
        known[done.event.returned] = known.get(done.event.was, ())
    if done.wanted.do == "delete" and done.event.outcome == "done" and done.wanted.session:
        known.pop(done.wanted.session, None)


def _row(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        yield user_text([message]) if message.role == "user" else spoken_text(message.parts)
