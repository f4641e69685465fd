"""A wrapper around any agent that can be broken in one place.

It is a `BrokenSession` that knows what it was opened with. A run opens several of them one after the other, as fresh
processes would, so that what a subclass remembers is gone with the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from turnproof.agents import Tool
from turnproof.cancel import CancelToken
from turnproof.subject import SessionBinding, SessionSetup, SessionTurn

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
    """An agent that is broken where a session is taken up again, in place or by opening it."""

    def __init__(self, inner: SessionBinding, setup: SessionSetup) -> None:
        super().__init__(inner, setup)
        if setup.session is not None:
            self.taken_up(setup.session)

    def resume_session(self, session_id: str) -> None:
        super().resume_session(session_id)
        self.taken_up(session_id)

    def taken_up(self, session_id: str) -> None:
        """The session is open again, and nothing was said in it since."""

    def begun_anew(self, session_id: str) -> None:
        """Another session is begun, and goes by the id of this one."""
        self.new_session()
        self.under = session_id


class BrokenTools(BrokenAgent):
    """An agent whose tools run in another way."""

    def opened(self, setup: SessionSetup) -> Any:
        return super().opened(replace(setup, tools=tuple(map(self._changed, setup.tools))))

    def _changed(self, tool: Tool) -> Tool:
        return replace(tool, run=lambda args, token: self.ran(tool, args, token))

    def ran(self, tool: Tool, args: dict[str, Any], token: CancelToken) -> Any:
        """What a call of the tool comes to."""
        return tool.run(args, token)


def overheard(turn: SessionTurn, hear: Callable[[str], object]) -> SessionTurn:
    """The turn, where somebody hears each piece of text that its user is shown."""
    show = turn.on_chunk
    if show is None:
        return turn

    def both(text: str) -> None:
        hear(text)
        show(text)

    return replace(turn, on_chunk=both)
