"""A run as the sessions of an agent: what was done with them, and what was said in which, step by step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from turnproof.messages import Message
from turnproof.scenarios.model import NOBODY, PROJECT, SessionStep
from turnproof.transcript import SessionInForce, SessionStepped
from turnproof.view import Exchange, TurnView, View

from .reading import once_per_view, spoken_text, user_text
from .steps import Step, bare, steps

CHANGING = ("open", "new", "resume", "continue", "fork", "delete")
"""Steps after which another session may be open."""


@dataclass(frozen=True)
class Done:
    """A step with the agent's sessions: what the scenario wanted, and what came of it. `folder` is the one meant."""

    step: Step
    wanted: SessionStep
    event: SessionStepped
    folder: str

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
        return tuple(text for text in (self.user, *self.texts) if text.strip())

    @property
    def bare_user(self) -> str:
        """What the user said, without blanks."""
        return bare([self.user])


@dataclass(frozen=True)
class Talk:
    """A turn with an agent.

    `session` is the one that was open after it, None where the agent knew of none; `steps` are those done right before.
    `known` has for each session what was said in it before, in order, in turns that were ordinary to their end, and
    `folders` the folder of each. `damaged` are those whose files were.
    """

    step: Step
    session: str | None
    steps: tuple[Done, ...]
    known: dict[str, tuple[Said, ...]]
    folders: dict[str, str]
    damaged: frozenset[str]
    system: str

    @property
    def turn(self) -> TurnView:
        """The turn."""
        return self.step.turn

    @property
    def where(self) -> str:
        """The place of the turn, for messages."""
        return self.step.where

    @cached_property
    def requests(self) -> tuple[Exchange, ...]:
        """Its requests for an answer, without what the agent asks for itself: a title, of which no user has spoken."""
        scripted = [one for one in self.step.generated if not one.request.extra]
        heard = [one for one in scripted if not self._is_aside(one)]
        return tuple(heard or scripted)

    @property
    def asked(self) -> Exchange | None:
        """The first of them that can be read."""
        return next((one for one in self.requests if one.call is not None), None)

    @property
    def answered(self) -> tuple[Exchange, ...]:
        """Those that brought a whole, undisturbed answer."""
        return tuple(one for one in self.requests if one.clean)

    @property
    def answered_text(self) -> list[str]:
        """The visible text of each whole answer that has some."""
        texts = [spoken_text(one.answer.parts) for one in self.answered if one.answer is not None]
        return [text for text in texts if text]

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
        """The first thing that the user said and that is in the request more often than it was said; empty if none."""
        row, own = bare(_row(self.sent)), self._rightly(said)
        return next((one.user for one in said if row.count(one.bare_user) > max(1, own.count(one.bare_user))), "")

    def foreign(self) -> str:
        """The first text of another session that is in the request; empty if none is."""
        return self.foreign_in(_row(self.sent))

    def foreign_in(self, texts: Iterable[str], *more: str) -> str:
        """The first text of another session that is in these texts, and not in what was said in this one."""
        row, own = bare(texts), self._rightly(self.before, *more)
        others = (
            text for label, said in self.known.items() if label != self.session for one in said for text in one.all
        )
        return next((text for text in others if bare([text]) in row and bare([text]) not in own), "")

    def _is_aside(self, exchange: Exchange) -> bool:
        """Whether users say something in a request, and nothing of it is what is said in this turn."""
        texts = bare([user_text(exchange.call.messages)] if exchange.call is not None else ())
        return bool(texts) and bare([self.turn.said]) not in texts

    def _rightly(self, said: Sequence[Said], *more: str) -> str:
        """What may stand in its request: the same words can come again."""
        return bare([*(text for one in said for text in one.all), self.turn.said, self.system, *more])


@once_per_view
def talks(view: View) -> tuple[Talk, ...]:
    """The turns of a run with an agent, in order."""
    found: list[Talk] = []
    known: dict[str, tuple[Said, ...]] = {}
    folders: dict[str, str] = {}
    damaged: set[str] = set()
    pending: list[Done] = []
    here = PROJECT
    for step in steps(view):
        if step.done != "turn":
            for done in _done(step, len([one for one in pending if one.step.turn is step.turn]), here):
                pending.append(done)
                _inherit(known, done)
                here = done.folder if done.wanted.do == "open" else here
                damaged |= {done.wanted.session or ""} if done.wanted.do == "damage" else set()
            continue
        if not step.turn.spoken:
            continue
        in_force = step.first(SessionInForce)
        session = in_force.session if in_force is not None else None
        system = view.scenario.system_in(step.turn.index) or ""
        told = Talk(step, session, tuple(pending), dict(known), dict(folders), frozenset(damaged), system)
        found.append(told)
        pending = []
        if session is not None:
            folders.setdefault(session, here)
        if session is not None and step.ordinary:
            said = Said(step.turn.said, tuple(dict.fromkeys(told.answered_text)))
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

    That is the last thing done before them that opens another session, and was not refused; nor was the session damaged
    before.
    """
    for talk in talks(view):
        last = next((done for done in reversed(talk.steps) if done.wanted.do in CHANGING), None)
        if last is None or last.event.outcome != "done":
            continue
        label = wanted_of(last, talk)
        if label is not None and label in talk.known and label not in talk.damaged:
            yield talk, label


def wanted_of(done: Done, talk: Talk) -> str | None:
    """The label of the session that a step asks for; None for a new one, and where there is none like it."""
    step = done.wanted
    if step.do == "resume" or (step.do == "open" and step.session not in (None, NOBODY)):
        return step.session if step.session != NOBODY else None
    if not step.last and step.do != "continue":
        return None
    # What was said last stands last.
    return next((label for label in reversed(talk.known) if talk.folders.get(label) == done.folder), None)


def _done(step: Step, index: int, here: str) -> Iterator[Done]:
    event = step.first(SessionStepped)
    script = step.turn.script
    if event is not None and script is not None and index < len(script.sessions):
        wanted = script.sessions[index]
        yield Done(step, wanted, event, wanted.cwd or here)


def _inherit(known: dict[str, tuple[Said, ...]], done: Done) -> None:
    """A fork knows what was said in its origin."""
    if done.wanted.do == "fork" and done.event.outcome == "done" and done.event.was and done.event.returned:
        known[done.event.returned] = known.get(done.event.was, ())
    if done.wanted.do == "delete" and done.event.outcome == "done" and done.wanted.session:
        known.pop(done.wanted.session, None)


def _row(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        yield user_text([message]) if message.role == "user" else spoken_text(message.parts)
