"""Sessions and agents that do next to nothing: whoever asks no model must hold nothing that takes an answer.

Each is the reference session, or the agent over it, with other turns. What else it can do is whole: it is saved, reset,
forked and resumed, so nothing is left undecided for want of that. One refuses all of it.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from turnproof.agents import AgentBinding, AgentSetup
from turnproof.errors import InvalidRequestError, ResumeError
from turnproof.messages import FinishReason, Message, Part, ProviderResponse, Text, TokenUsage
from turnproof.session.binding import REFERENCE
from turnproof.session.session import Session
from turnproof.session.store.agent import StoredAgent, stored_agent
from turnproof.sessions import SessionPage
from turnproof.subject import SessionBinding, SessionReply, SessionTurn
from turnproof_adapters.anthropic.binding import BINDING as ANTHROPIC

Turn = Callable[[str], str]
"""What is answered to a text; raises where the turn fails."""

OPERATIONS = ("collect", "inject", "interject", "load", "reset", "revert", "save", "spawn", "swap")
"""What the session that refuses everything refuses beside turns."""


def raises(text: str) -> str:
    """It raises in every turn, before anything is sent."""
    raise RuntimeError("not today")


def refuses(text: str) -> str:
    """It refuses whatever is said, with an error that callers know."""
    raise InvalidRequestError("this cannot be said")


def answers_by_itself(text: str) -> str:
    """It answers, and asks no model."""
    return "All is well."


def echoes(text: str) -> str:
    """It answers with what the user said, and asks no model."""
    return text


def _text_of(content: str | Sequence[Part]) -> str:
    return content if isinstance(content, str) else "".join(part.text for part in content if isinstance(part, Text))


def session(answer: Turn) -> SessionBinding:
    """The reference session whose turns are these, and are held."""

    def send(held: Session, content: str | Sequence[Part], turn: SessionTurn) -> SessionReply:
        text = _text_of(content)
        reply = answer(text)
        held.reset([*held.history.messages, Message.user(text), Message.model(reply)])
        if turn.on_chunk is not None:
            turn.on_chunk(reply)
        return SessionReply(reply)

    return replace(REFERENCE, name=f"session_{answer.__name__}", send=send, send_parts=send)


def agent(answer: Turn, kind: type[StoredAgent] = StoredAgent) -> AgentBinding:
    """The agent over the reference session whose turns are these."""
    opener = ANTHROPIC.open_stateless
    assert opener is not None

    class Degenerate(kind):  # type: ignore[misc, valid-type]
        _session_id: str | None

        def send(self, content: str | Sequence[Part], **options: Any) -> ProviderResponse:
            reply = answer(_text_of(content))
            self._session_id = self._session_id or uuid.uuid4().hex
            if options.get("on_chunk") is not None:
                options["on_chunk"](reply)
            return ProviderResponse((Text(reply),), TokenUsage(), FinishReason.STOP)

    def open_agent(setup: AgentSetup) -> StoredAgent:
        return Degenerate(setup, opener(setup.endpoint))

    return replace(stored_agent(ANTHROPIC), name=f"agent_{answer.__name__}", open=open_agent)


def _refuse(*_: Any, **__: Any) -> NoReturn:
    raise InvalidRequestError("this cannot be done")


class RefusesAll(StoredAgent):
    """An agent that takes up, forks, lists and deletes nothing."""

    def _load(self, session_id: str) -> None:
        raise ResumeError("this cannot be resumed", session_id=session_id)

    def list_sessions(self, *, cwd: str | None = None, cursor: str | None = None) -> SessionPage:
        _refuse()

    _begin = _fork = _delete = _refuse


SESSION_RAISES, SESSION_ANSWERS_BY_ITSELF, SESSION_ECHOES = map(session, (raises, answers_by_itself, echoes))
REFUSED: dict[str, Any] = dict.fromkeys(OPERATIONS, _refuse)
SESSION_REFUSES = replace(session(refuses), **REFUSED)
AGENT_RAISES, AGENT_ANSWERS_BY_ITSELF, AGENT_ECHOES = map(agent, (raises, answers_by_itself, echoes))
AGENT_REFUSES = agent(refuses, RefusesAll)
