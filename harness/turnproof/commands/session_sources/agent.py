"""The sessions of an agent program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path

from ...agents import Agent, AgentBinding, AgentSetup
from ...cancel import CancelToken
from ...errors import BindingError, TurnproofError, UsageError
from ...messages import FinishReason, Message
from ...provider import Endpoint, OnChunk
from ...sessions import SessionCapabilities, SessionInfo, every_session
from .source import Answer, asked_of, cannot


@dataclass(eq=False)
class AgentSource:
    """An agent, opened in the folder that the session belongs to. It has no tools.

    `session` and `continue_last` are those of an `AgentSetup`.
    """

    binding: AgentBinding
    endpoint: Endpoint
    _: KW_ONLY
    home: str
    cwd: str
    system: str | None
    session: str | None
    continue_last: bool
    name: str = field(init=False)
    _open: Agent | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.name = self.binding.name

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
        return bool(self.session) or self.continue_last

    def enter_configured(self) -> str:
        """The agent is opened with both settings, and takes up what it can."""
        self.close()
        self._open = self._open_agent(self.session, continue_last=self.continue_last)
        return self.session or ""

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
        if not info.cwd or info.cwd == self.cwd:
            return
        if not Path(info.cwd).is_dir():
            raise UsageError(f"session {info.session_id!r} belongs to {info.cwd}, and that folder is gone")
        self.close()
        self.cwd = info.cwd

    def _open_agent(self, session: str | None, *, continue_last: bool) -> Agent:
        setup = AgentSetup(
            endpoint=self.endpoint,
            home=self.home,
            cwd=self.cwd,
            system=self.system,
            session=session,
            continue_last=continue_last,
        )
        try:
            return self.binding.open(setup)
        except TurnproofError:
            raise
        except Exception as error:  # somebody's own code
            reason = f"{type(error).__name__}: {error}".partition("\n")[0]
            raise BindingError(f"{self.name}: opening it failed: {reason}") from error
