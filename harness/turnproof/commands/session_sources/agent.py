"""The sessions of an agent program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...agents import Agent, AgentBinding, AgentSetup
from ...cancel import CancelToken
from ...errors import BindingError, TurnproofError, UsageError
from ...messages import FinishReason, Message
from ...provider import Endpoint, OnChunk
from ...sessions import SessionCapabilities, SessionInfo, every_session
from .source import Answer, asked_of, cannot


class AgentSource:
    """An agent, opened in the folder that the session belongs to. It has no tools."""

    def __init__(
        self,
        binding: AgentBinding,
        endpoint: Endpoint,
        *,
        home: str,
        cwd: str,
        system: str | None,
        session: str | None,
        continue_last: bool,
    ) -> None:
        self.name = binding.name
        self.home = home
        self._binding = binding
        self._endpoint = endpoint
        self._cwd = cwd
        self._system = system
        self._session = session
        self._continue_last = continue_last
        self._open: Agent | None = None

    @property
    def can(self) -> SessionCapabilities:
        """What the agent says."""
        return self._agent.session_capabilities

    @property
    def session_id(self) -> str | None:
        """As the agent tells it."""
        return self._open.session_id if self._open else None

    def list_sessions(self, cwd: str | None) -> Sequence[SessionInfo]:
        """All pages. Raises UsageError where there is no list."""
        self._demand("list its sessions", self.can.can_list)
        return list(every_session(self._agent, cwd))

    def enter(self, info: SessionInfo) -> Sequence[Message]:
        """Resume it, in its own folder."""
        self._demand("resume a session", self.can.can_load)
        self._move(info)
        with asked_of(self.name):
            self._agent.resume_session(info.session_id)
        return self._agent.history

    def look(self, info: SessionInfo) -> Sequence[Message]:
        """An agent tells what was said in a session when it is resumed, and only then."""
        return self.enter(info)

    def enter_last(self, cwd: str) -> str | None:
        """The agent knows which it is."""
        self._demand("continue the last session", self.can.can_continue_last)
        with asked_of(self.name):
            return self._agent.continue_last(cwd)

    @property
    def is_configured(self) -> bool:
        """Either setting does."""
        return bool(self._session) or self._continue_last

    def enter_configured(self) -> str:
        """The agent is opened with both settings, and takes up what it can."""
        self.close()
        self._open = self._open_agent(self._session, continue_last=self._continue_last)
        return self._session or ""

    def send(self, text: str, token: CancelToken, on_chunk: OnChunk) -> Answer:
        """A whole turn of the agent."""
        response = self._agent.send(text, cancel_token=token, on_chunk=on_chunk)
        return Answer(response.text, response.finish_reason is FinishReason.CANCELLED)

    def delete(self, info: SessionInfo) -> None:
        """In its own folder, while that is there."""
        if Path(info.cwd).is_dir():
            self._move(info)
        with asked_of(self.name):
            self._agent.delete_session(info.session_id)

    def close(self) -> None:
        """Shut the agent down."""
        if self._open is not None:
            self._open.shutdown()
            self._open = None

    @property
    def _agent(self) -> Agent:
        if self._open is None:
            self._open = self._open_agent(None, continue_last=False)
        return self._open

    def _demand(self, ability: str, can: bool) -> None:
        if not can:
            raise cannot(self.name, ability, self.can)

    def _move(self, info: SessionInfo) -> None:
        """Sessions belong to a folder, and some programs find them from there alone."""
        if not info.cwd or info.cwd == self._cwd:
            return
        if not Path(info.cwd).is_dir():
            raise UsageError(f"session {info.session_id!r} belongs to {info.cwd}, and that folder is gone")
        self.close()
        self._cwd = info.cwd

    def _open_agent(self, session: str | None, *, continue_last: bool) -> Agent:
        setup = AgentSetup(
            endpoint=self._endpoint,
            home=self.home,
            cwd=self._cwd,
            system=self._system,
            session=session,
            continue_last=continue_last,
        )
        try:
            return self._binding.open(setup)
        except TurnproofError:
            raise
        except Exception as error:  # somebody's own code
            reason = f"{type(error).__name__}: {error}".partition("\n")[0]
            raise BindingError(f"{self.name}: opening it failed: {reason}") from error
