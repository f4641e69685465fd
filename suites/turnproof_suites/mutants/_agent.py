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

    `shown_id` is the id that is shown in place of the agent's own, until another session is opened.
    """

    shown_id: str | None = None

    def __init__(self, inner: SessionBinding, setup: SessionSetup) -> None:
        self.setup = setup
        super().__init__(inner, setup)

    def session_id(self) -> str | None:
        """The id that is shown."""
        return self.shown_id or self.own_id

    @property
    def own_id(self) -> str | None:
        """The id that the inner agent has for its session."""
        found: str | None = self.do("session_id")
        return found

    def new_session(self) -> None:
        """The inner agent's `new_session`."""
        self.shown_id = None
        self.do("new_session")

    def resume_session(self, session_id: str) -> None:
        """The inner agent's `resume_session`."""
        self.do("resume_session", session_id)
        self.shown_id = None

    def continue_last(self, cwd: str | None) -> str | None:
        """The inner agent's `continue_last`."""
        session_id: str | None = self.do("continue_last", cwd)
        self.shown_id = None
        return session_id

    def fork_session(self) -> str:
        """The inner agent's `fork_session`."""
        copy: str = self.do("fork_session")
        self.shown_id = None
        return copy


class Resumed(BrokenAgent):
    """An agent that is broken where a session is taken up again, in place or by opening it."""

    def __init__(self, inner: SessionBinding, setup: SessionSetup) -> None:
        super().__init__(inner, setup)
        if setup.session is not None:
            self.after_resume(setup.session)

    def resume_session(self, session_id: str) -> None:
        super().resume_session(session_id)
        self.after_resume(session_id)

    def after_resume(self, session_id: str) -> None:
        """The session is open again, and nothing was said in it since."""

    def replace_session(self, session_id: str) -> None:
        """A new session takes the place of this one, under its id."""
        self.new_session()
        self.shown_id = session_id


class BrokenTools(BrokenAgent):
    """An agent whose tools run in another way."""

    def open_handle(self, setup: SessionSetup) -> Any:
        return super().open_handle(replace(setup, tools=tuple(map(self._with_run, setup.tools))))

    def _with_run(self, tool: Tool) -> Tool:
        return replace(tool, run=lambda args, token: self.run_tool(tool, args, token))

    def run_tool(self, tool: Tool, args: dict[str, Any], token: CancelToken) -> Any:
        """The result of a call of the tool."""
        return tool.run(args, token)


def with_chunk_listener(turn: SessionTurn, hear: Callable[[str], object]) -> SessionTurn:
    """The turn, where somebody hears each piece of text that its user is shown."""
    show = turn.on_chunk
    if show is None:
        return turn

    def both(text: str) -> None:
        hear(text)
        show(text)

    return replace(turn, on_chunk=both)
