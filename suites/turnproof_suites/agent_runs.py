"""A run as the sessions of an agent: what was done with them, and what was said in which, step by step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from msgspec import UNSET

from turnproof.judge.finding import Place, Side
from turnproof.judge.view import Exchange, TurnView, View
from turnproof.messages import Message
from turnproof.run.transcript import SessionInForce, SessionStepped, TurnBegan
from turnproof.scenarios.model import NOBODY, PROJECT, SessionStep

from .quoted_texts import Quote, at_messages, at_text, sent_messages, texts_of
from .reading import once_per_view, spoken_text, user_text
from .steps import Step, bare, steps

CHANGING = ("open", "new", "resume", "continue", "fork", "delete")
"""Steps after which another session may be open."""


@dataclass(frozen=True)
class Done:
    """A step with the agent's sessions: what the scenario wanted, and the result. `folder` is the one meant."""

    step: Step
    wanted: SessionStep
    event: SessionStepped
    folder: str

    def at(self, *tokens: str | int) -> Place:
        """The place of the result, or of a part of it (`"outcome"`)."""
        return self.step.at_event(self.event, *tokens)


@dataclass(frozen=True)
class Said:
    """A turn that was over before another one: what the user said in it, and the texts of the model's whole answers."""

    user: Quote
    texts: tuple[Quote, ...]

    @property
    def all(self) -> tuple[Quote, ...]:
        """Everything, in order."""
        return tuple(quote for quote in (self.user, *self.texts) if quote.bare)


@dataclass(frozen=True)
class AgentRun:
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

    def at_session(self) -> Place:
        """Where the agent names the session that is open after the turn."""
        told = self.step.first(SessionInForce)
        return self.turn.at() if told is None else self.step.at_event(told, "session")

    def at_ended(self, *tokens: str | int) -> Place:
        """How the turn ended, as its user saw it (`"text"`)."""
        ended = self.turn.ended
        return self.turn.at() if ended is None else self.turn.at_event(ended, *tokens)

    def at_messages(self) -> Place:
        """The messages of the first request that can be read."""
        return self.turn.at() if self.asked is None else at_messages(self.asked)

    def at_sent(self, text: str) -> Place:
        """Where that request has a text; all its messages where no message has the whole of it."""
        return self.turn.at() if self.asked is None else at_text(self.asked, text)

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
        return [quote.text for quote in self.answers]

    @property
    def answers(self) -> list[Quote]:
        """The same, each with the place where the wire carried it."""
        told = (
            Quote(spoken_text(one.answer.parts), one.at(Side.STREAM)) for one in self.answered if one.answer is not None
        )
        return [quote for quote in told if quote.text]

    @cached_property
    def sent(self) -> tuple[Message, ...]:
        """The messages of that request."""
        return sent_messages(self.asked)

    @property
    def sent_texts(self) -> list[str]:
        """The texts of that request's messages."""
        return [message.text for message in self.sent if message.text]

    @property
    def before(self) -> tuple[Said, ...]:
        """What was said before in its session."""
        return self.known.get(self.session or "", ())

    def lacks(self, said: Sequence[Said]) -> tuple[Quote, ...]:
        """What was said and is not in the request; if all of it is, the first text that is not in its order there."""
        row = bare(texts_of(self.sent))
        every = [quote for one in said for quote in one.all]
        if missing := tuple(quote for quote in every if quote.bare not in row):
            return missing
        at = 0
        for quote in every:
            found = row.find(quote.bare, at)
            if found < 0:
                return (quote,)
            at = found + 1
        return ()

    def repeats(self, said: Sequence[Said]) -> Iterator[tuple[Quote, int, int]]:
        """What the user said and the request has more often than it was said: how often it may have it, and has it."""
        row, own = bare(texts_of(self.sent)), self._rightly(said)
        for text, quote in {one.user.bare: one.user for one in said if one.user.bare}.items():
            rightly = max(1, own.count(text))
            if row.count(text) > rightly:
                yield quote, rightly, row.count(text)

    def foreign(self) -> tuple[Quote, ...]:
        """The texts of other sessions that are in the request."""
        return self.foreign_in(texts_of(self.sent))

    def foreign_in(self, texts: Iterable[str], *more: str) -> tuple[Quote, ...]:
        """The texts of other sessions that are in these texts, and not in what was said in this one."""
        row, own = bare(texts), self._rightly(self.before, *more)
        others = {
            quote.bare: quote
            for label, said in self.known.items()
            if label != self.session
            for one in said
            for quote in one.all
        }
        return tuple(quote for text, quote in others.items() if text in row and text not in own)

    def _is_aside(self, exchange: Exchange) -> bool:
        """Whether users say something in a request, and nothing of it is what is said in this turn."""
        texts = bare([user_text(exchange.call.messages)] if exchange.call is not None else ())
        return bool(texts) and bare([self.turn.said]) not in texts

    def _rightly(self, said: Sequence[Said], *more: str) -> str:
        """What may stand in its request: the same words can come again."""
        return bare([*(quote.text for one in said for quote in one.all), self.turn.said, self.system, *more])


@once_per_view
def talks(view: View) -> tuple[AgentRun, ...]:
    """The turns of a run with an agent, in order."""
    found: list[AgentRun] = []
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
        told = AgentRun(step, session, tuple(pending), dict(known), dict(folders), frozenset(damaged), system)
        found.append(told)
        pending = []
        if session is not None:
            folders.setdefault(session, here)
        if session is not None and step.ordinary:
            answers: dict[str, Quote] = {}
            for quote in told.answers:
                answers.setdefault(quote.text, quote)
            said = Said(_said_by_user(step), tuple(answers.values()))
            known[session] = (*known.pop(session, ()), said)  # the last of them was updated last
    return tuple(found)


def done_with(view: View, *doing: str) -> Iterator[tuple[Done, AgentRun]]:
    """The steps of these kinds, each with the turn that follows."""
    for talk in talks(view):
        for done in talk.steps:
            if done.wanted.do in doing:
                yield done, talk


def taken_up(view: View) -> Iterator[tuple[AgentRun, str]]:
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


def wanted_of(done: Done, talk: AgentRun) -> str | None:
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


def named(session: str | None) -> object:
    """A session as a finding has it: nothing where the agent knows of none."""
    return UNSET if session is None else session


def _said_by_user(step: Step) -> Quote:
    began = next((event for event in step.turn.events if isinstance(event, TurnBegan)), None)
    return Quote(step.turn.said, step.turn.at() if began is None else step.turn.at_event(began, "text"))
