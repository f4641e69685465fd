"""A run as the sessions of an agent: what was done with them, and what was said in which, step by step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from msgspec import UNSET

from turnproof.judge.finding import Finding, Place
from turnproof.judge.requirements import FindingCode
from turnproof.judge.view import Exchange, TurnView, View
from turnproof.messages import Message
from turnproof.run.transcript import SessionInForce, SessionStepped, TurnBegan
from turnproof.scenarios.model import NOBODY, PROJECT, SessionStep, Turn

from .quoted_texts import Quote, answer_quotes, at_messages, at_text, sent_messages, texts_of
from .reading import once_per_view
from .steps import Step, steps
from .words import user_words, without_blanks

CHANGING = ("open", "new", "resume", "continue", "fork", "delete")
"""Steps after which another session may be open."""


@dataclass(frozen=True)
class SessionAction:
    """A step with the agent's sessions: what the scenario wanted, and the result. `folder` is the one meant."""

    step: Step
    script: SessionStep
    event: SessionStepped
    folder: str

    def at(self, *tokens: str | int) -> Place:
        """The place of the result, or of a part of it (`"outcome"`)."""
        return self.step.at_event(self.event, *tokens)


@dataclass(frozen=True)
class TurnTexts:
    """A turn that was over before another one: what the user said in it, and the texts of the model's whole answers."""

    user: Quote
    texts: tuple[Quote, ...]

    @property
    def all(self) -> tuple[Quote, ...]:
        """Everything, in order."""
        return tuple(quote for quote in (self.user, *self.texts) if quote.without_blanks)


@dataclass(frozen=True)
class AgentTurn:
    """A turn with an agent.

    `session` is the one that was open after it, None where the agent knew of none; `steps` are those done right before.
    `known_sessions` has for each session what was said in it before, in order, in turns that were ordinary to their
    end, and `folders` the folder of each. `damaged_sessions` are those whose files were damaged.
    """

    step: Step
    session: str | None
    steps: tuple[SessionAction, ...]
    known_sessions: dict[str, tuple[TurnTexts, ...]]
    folders: dict[str, str]
    damaged_sessions: frozenset[str]
    system: str

    @property
    def view(self) -> TurnView:
        """The turn."""
        return self.step.turn

    def at_session(self) -> Place:
        """Where the agent names the session that is open after the turn."""
        in_force = self.step.first(SessionInForce)
        return self.view.at() if in_force is None else self.step.at_event(in_force, "session")

    def at_ended(self, *tokens: str | int) -> Place:
        """How the turn ended, as its user saw it (`"text"`)."""
        ended = self.view.ended
        return self.view.at() if ended is None else self.view.at_event(ended, *tokens)

    def at_messages(self) -> Place:
        """The messages of the first request that can be read."""
        return self.view.at() if self.request is None else at_messages(self.request)

    def at_request_text(self, text: str) -> Place:
        """Where that request has a text; all its messages where no message has the whole of it."""
        return self.view.at() if self.request is None else at_text(self.request, text)

    @cached_property
    def requests(self) -> tuple[Exchange, ...]:
        """Its requests for an answer, without what the agent asks for itself: a title, of which no user has spoken."""
        scripted = [one for one in self.step.generated if not one.request.extra]
        own_requests = [one for one in scripted if not self._is_aside(one)]
        return tuple(own_requests or scripted)

    @property
    def request(self) -> Exchange | None:
        """The first of them that can be read."""
        return next((one for one in self.requests if one.call is not None), None)

    @property
    def answered_requests(self) -> tuple[Exchange, ...]:
        """Those that brought a whole, undisturbed answer."""
        return tuple(one for one in self.requests if one.clean)

    @property
    def answer_texts(self) -> list[str]:
        """The visible text of each whole answer that has some."""
        return [quote.text for quote in self.answers]

    @property
    def answers(self) -> list[Quote]:
        """The same, each with the place where the wire carried it."""
        return answer_quotes(self.answered_requests)

    @cached_property
    def request_messages(self) -> tuple[Message, ...]:
        """The messages of that request."""
        return sent_messages(self.request)

    @property
    def request_texts(self) -> list[str]:
        """The texts of that request's messages."""
        return [message.text for message in self.request_messages if message.text]

    @property
    def earlier_turns(self) -> tuple[TurnTexts, ...]:
        """What was said before in its session."""
        return self.known_sessions.get(self.session or "", ())

    def missing_texts(self, turns: Sequence[TurnTexts]) -> tuple[Quote, ...]:
        """What was said and is not in the request; if all of it is, the first text that is not in its order there."""
        row = without_blanks(texts_of(self.request_messages))
        every = [quote for one in turns for quote in one.all]
        if missing := tuple(quote for quote in every if quote.without_blanks not in row):
            return missing
        at = 0
        for quote in every:
            found = row.find(quote.without_blanks, at)
            if found < 0:
                return (quote,)
            at = found + 1
        return ()

    def repeated_texts(self, turns: Sequence[TurnTexts]) -> Iterator[tuple[Quote, int, int]]:
        """What the user said and the request has more often than it was said: how often it may have it, and has it."""
        row, own = without_blanks(texts_of(self.request_messages)), self._allowed_texts(turns)
        for text, quote in {one.user.without_blanks: one.user for one in turns if one.user.without_blanks}.items():
            allowed = max(1, own.count(text))
            if row.count(text) > allowed:
                yield quote, allowed, row.count(text)

    def foreign_texts(self) -> tuple[Quote, ...]:
        """The texts of other sessions that are in the request."""
        return self.foreign_texts_in(texts_of(self.request_messages))

    def foreign_texts_in(self, texts: Iterable[str], *more: str) -> tuple[Quote, ...]:
        """The texts of other sessions that are in these texts, and not in what was said in this one."""
        row, own = without_blanks(texts), self._allowed_texts(self.earlier_turns, *more)
        others = {
            quote.without_blanks: quote
            for label, texts_before in self.known_sessions.items()
            if label != self.session
            for one in texts_before
            for quote in one.all
        }
        return tuple(quote for text, quote in others.items() if text in row and text not in own)

    def session_finding(self, code: FindingCode, expected: str | None, *related: Place) -> Finding:
        """What is wrong where another session than the expected one is open after the turn."""
        return code(self.at_session(), expected=expected, observed=session_value(self.session), related=related)

    def missing_findings(self, code: FindingCode, missing: Iterable[Quote], *related: Place) -> Iterator[Finding]:
        """What is wrong for each text that its request lacks."""
        for quote in missing:
            places = (quote.place, *related)
            yield code(self.at_messages(), expected=quote.text, observed=self.request_texts, related=places)

    def foreign_findings(self, code: FindingCode, foreign: Iterable[Quote], **facts: Any) -> Iterator[Finding]:
        """What is wrong for each text of another session that its request has."""
        for quote in foreign:
            place = self.at_request_text(quote.text)
            yield code(place, observed=quote.text, related=(quote.place,), **facts)

    def _is_aside(self, exchange: Exchange) -> bool:
        """Whether users say something in a request, and nothing of it is what is said in this turn."""
        texts = user_words(exchange.call.messages) if exchange.call is not None else ""
        return bool(texts) and without_blanks([self.view.user_text]) not in texts

    def _allowed_texts(self, turns: Sequence[TurnTexts], *more: str) -> str:
        """What may stand in its request: the same words can come again."""
        return without_blanks(
            [*(quote.text for one in turns for quote in one.all), self.view.user_text, self.system, *more]
        )


@once_per_view
def agent_turns(view: View) -> tuple[AgentTurn, ...]:
    """The turns of a run with an agent, in order."""
    found: list[AgentTurn] = []
    known: dict[str, tuple[TurnTexts, ...]] = {}
    folders: dict[str, str] = {}
    damaged: set[str] = set()
    pending: list[SessionAction] = []
    folder = PROJECT
    for step in steps(view):
        if step.kind != "turn":
            for action in _session_action(step, len([one for one in pending if one.step.turn is step.turn]), folder):
                pending.append(action)
                _inherit(known, action)
                folder = action.folder if action.script.do == "open" else folder
                damaged |= {action.script.session or ""} if action.script.do == "damage" else set()
            continue
        if not step.turn.has_user_message:
            continue
        in_force = step.first(SessionInForce)
        session = in_force.session if in_force is not None else None
        system = view.scenario.system_in(step.turn.index) or ""
        agent_turn = AgentTurn(step, session, tuple(pending), dict(known), dict(folders), frozenset(damaged), system)
        found.append(agent_turn)
        pending = []
        if session is not None:
            folders.setdefault(session, folder)
        if session is not None and step.ordinary:
            answers: dict[str, Quote] = {}
            for quote in agent_turn.answers:
                answers.setdefault(quote.text, quote)
            texts = TurnTexts(_user_quote(step), tuple(answers.values()))
            known[session] = (*known.pop(session, ()), texts)  # the last of them was updated last
    return tuple(found)


def session_actions(view: View, *doing: str) -> Iterator[tuple[SessionAction, AgentTurn]]:
    """The steps of these kinds, each with the turn that follows."""
    for turn in agent_turns(view):
        for action in turn.steps:
            if action.script.do in doing:
                yield action, turn


def actions_on_nobody(view: View, *doing: str) -> Iterator[tuple[SessionAction, AgentTurn]]:
    """Those of them that are about a session that does not exist."""
    return ((action, turn) for action, turn in session_actions(view, *doing) if action.script.session == NOBODY)


def ordinary_turns(view: View) -> Iterator[tuple[AgentTurn, Turn]]:
    """The turns that go as their script says."""
    for turn in agent_turns(view):
        if turn.step.ordinary and turn.view.script is not None:
            yield turn, turn.view.script


def resumed_turns(view: View) -> Iterator[tuple[AgentTurn, str]]:
    """The turns before which a session was to be taken up again that has something said in it, with its label.

    That is the last thing done before them that opens another session, and was not refused; nor was the session damaged
    before.
    """
    for turn in agent_turns(view):
        last = next((action for action in reversed(turn.steps) if action.script.do in CHANGING), None)
        if last is None or last.event.outcome != "done":
            continue
        label = requested_session(last, turn)
        if label is not None and label in turn.known_sessions and label not in turn.damaged_sessions:
            yield turn, label


def requested_session(action: SessionAction, turn: AgentTurn) -> str | None:
    """The label of the session that a step asks for; None for a new one, and where there is none like it."""
    step = action.script
    if step.do == "resume" or (step.do == "open" and step.session not in (None, NOBODY)):
        return step.session if step.session != NOBODY else None
    if not step.last and step.do != "continue":
        return None
    # What was said last stands last.
    return next((label for label in reversed(turn.known_sessions) if turn.folders.get(label) == action.folder), None)


def _session_action(step: Step, index: int, folder: str) -> Iterator[SessionAction]:
    event = step.first(SessionStepped)
    script = step.turn.script
    if event is not None and script is not None and index < len(script.sessions):
        expected = script.sessions[index]
        yield SessionAction(step, expected, event, expected.cwd or folder)


def _inherit(known: dict[str, tuple[TurnTexts, ...]], action: SessionAction) -> None:
    """A fork knows what was said in its origin."""
    if action.script.do == "fork" and action.event.outcome == "done" and action.event.was and action.event.returned:
        known[action.event.returned] = known.get(action.event.was, ())
    if action.script.do == "delete" and action.event.outcome == "done" and action.script.session:
        known.pop(action.script.session, None)


def session_value(session: str | None) -> object:
    """A session as a finding has it: nothing where the agent knows of none."""
    return UNSET if session is None else session


def _user_quote(step: Step) -> Quote:
    began = next((event for event in step.turn.events if isinstance(event, TurnBegan)), None)
    return Quote(step.turn.user_text, step.turn.at() if began is None else step.turn.at_event(began, "text"))
