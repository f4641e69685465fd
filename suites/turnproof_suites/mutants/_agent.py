"""A wrapper around any agent that can be broken in one place.

It is a `BrokenSession` that knows what it was opened with. A run opens several of them one after the other, as fresh
processes would, so that what a subclass remembers is gone with the next.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from turnproof.errors import ProviderError, TurnproofError
from turnproof.subject import SessionBinding, SessionReply, SessionSetup, SessionTurn

from ._session import BrokenSession


class BrokenAgent(BrokenSession):
    """Passes everything on to the agent of `inner` that its setup gives.

    `under` is the id that is told in place of the agent's own, until another session is asked for.
    """

    under: str | None = None

    def __init__(self, inner: SessionBinding, setup: SessionSetup) -> None:
        self.setup = setup
        super().__init__(inner, setup)

    def session_id(self) -> str | None:
        """The id that is told."""
        return self.under or self.own_id

    @property
    def own_id(self) -> str | None:
        """The id that the inner agent has for its session."""
        found: str | None = self.do("session_id")
        return found

    def new_session(self) -> None:
        """The inner agent's `new_session`."""
        self.under = None
        self.do("new_session")

    def resume_session(self, session_id: str) -> None:
        """The inner agent's `resume_session`."""
        self.do("resume_session", session_id)
        self.under = None

    def continue_last(self, cwd: str | None) -> str | None:
        """The inner agent's `continue_last`."""
        taken: str | None = self.do("continue_last", cwd)
        self.under = None
        return taken

    def fork_session(self) -> str:
        """The inner agent's `fork_session`."""
        copy: str = self.do("fork_session")
        self.under = None
        return copy


class Resumed(BrokenAgent):
    """An agent that is broken where a session is taken up again, at once or when it is opened."""

    def __init__(self, inner: SessionBinding, setup: SessionSetup) -> None:
        super().__init__(inner, setup)
        if setup.session is not None and self.own_id == setup.session:
            self.taken_up(setup.session)

    def resume_session(self, session_id: str) -> None:
        super().resume_session(session_id)
        self.taken_up(session_id)

    def taken_up(self, session_id: str) -> None:
        """The session is open again; nothing was said since."""


class Recovering(BrokenAgent):
    """An agent that knows how its last turn ended, and what was shown of it."""

    outcome = ""
    shown = ""

    def said(self, say: Callable[[SessionTurn], SessionReply], turn: SessionTurn) -> SessionReply:
        self.outcome, self.shown = "error", ""
        reply = say(with_chunks(turn, self._seen))
        self.outcome = reply.outcome
        return reply

    def _seen(self, text: str) -> str:
        self.shown += text
        return text


def with_chunks(turn: SessionTurn, change: Callable[[str], str]) -> SessionTurn:
    """The turn, whose user is shown what `change` makes of each piece of text."""
    from dataclasses import replace

    show = turn.on_chunk
    return turn if show is None else replace(turn, on_chunk=lambda text: show(change(text)))


__all__: list[Any] = ["BrokenAgent", "ProviderError", "Recovering", "Resumed", "TurnproofError", "with_chunks"]
