"""`StoredAgent`: the reference session with its sessions in files, as an agent. It needs no program but Python."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ...agents import AgentBinding, AgentSetup
from ...errors import ResumeError, TurnproofError, UsageError
from ...messages import FinishReason, Message, Part, ProviderResponse, Text
from ...provider import Binding, StatelessProvider
from ...sessions import SessionCapabilities, SessionPage, SessionSourceBase
from ..approval import Approval
from ..ledger import TokenLedger, summed
from ..retry import RetryPolicy
from ..session import Session
from .client import CAN
from .file_store import FileStore
from .manager import SessionManager


def stored_agent(binding: Binding, *, name: str | None = None) -> AgentBinding:
    """An agent whose model is asked through the stateless path of this adapter. Raises UsageError where it has none."""
    opener = binding.open_stateless
    if opener is None:
        raise UsageError(f"adapter {binding.name!r} has no stateless path, on which a session would hold the history")
    return AgentBinding(
        name=name or f"stored_{binding.name}",
        dialect=binding.dialect,
        model=binding.model,
        open=lambda setup: StoredAgent(setup, opener(setup.endpoint)),
        capabilities=dataclasses.replace(binding.claims(), retries=False),
        sessions=CAN,
        options=binding.options,
        package=binding.package,
    )


class StoredAgent(SessionSourceBase):
    """Sessions in `<home>/sessions`, one of them open. A session is made when something is first said in it."""

    def __init__(self, setup: AgentSetup, provider: StatelessProvider) -> None:
        super().__init__()
        self._setup = setup
        self._provider = provider
        self._ledger = TokenLedger()
        self._busy = threading.Lock()
        self._manager = SessionManager(FileStore(Path(setup.home) / "sessions", page_size=25), self._new_session)
        self._client = self._manager.begin(workspace=setup.cwd)
        self._take_up()

    @property
    def session_capabilities(self) -> SessionCapabilities:
        """All there are."""
        return CAN

    @property
    def history(self) -> Sequence[Message]:
        """The messages of the session that is open: a copy."""
        return self._client.messages

    def list_sessions(self, *, cwd: str | None = None, cursor: str | None = None) -> SessionPage:
        """From the store, newest first."""
        return self._client.list_sessions(cwd=cwd, cursor=cursor)

    def send(self, content: str | Sequence[Part], **options: Any) -> ProviderResponse:
        """A turn, with the options and guarantees of `Agent.send`; when it returns the turn is on the disk."""
        if not self._busy.acquire(blocking=False):
            raise UsageError("a turn is running: wait for its end, or cancel it")
        try:
            before = len(self._ledger.rows)
            result = self._client.send(content, **options)
            usage = summed(row.usage for row in self._ledger.rows[before:])
        finally:
            # A client that was closed meanwhile tells none.
            self._session_id = self._client.session_id or self._session_id
            self._busy.release()
        finish = FinishReason.CANCELLED if result.outcome == "cancelled" else result.response.finish_reason
        parts = (Text(result.text),) if result.text else ()
        return replace(result.response, parts=parts, finish_reason=finish, usage=usage)

    def shutdown(self) -> None:
        """Stop what runs, write down what is not, and let go of the provider's connections."""
        self._manager.close()
        self._begin()
        end = getattr(self._provider, "shutdown", None)
        if end is not None:
            end()

    # -- sessions -------------------------------------------------------------------------------------------------

    def _take_up(self) -> None:
        if self._setup.session is not None:
            with suppress(TurnproofError):
                self.resume_session(self._setup.session)
        if self._setup.continue_last and self.session_id is None:
            with suppress(TurnproofError):
                self.continue_last(self._setup.cwd)

    def _load(self, session_id: str) -> None:
        if session_id == self._client.session_id:
            return
        try:
            self._client.resume_session(session_id)
        except TurnproofError as error:
            raise ResumeError(f"session {session_id!r} cannot be resumed: {error}", session_id=session_id) from error
        # What was stored has the system text that was in force then.
        self._client.kept_session.session.set_system(self._setup.system)

    def _begin(self) -> None:
        self._client.detach()
        # Not as `Client.new_session` does it: that one stays in the workspace of a session that was resumed.
        self._client = self._manager.begin(workspace=self._setup.cwd)

    def _fork(self, session_id: str) -> str:
        return self._client.fork_session()

    def _delete(self, session_id: str) -> None:
        self._client.delete_session(session_id)

    def _new_session(self) -> Session:
        return Session(
            self._provider,
            system=self._setup.system,
            tools=self._setup.tools,
            retry=RetryPolicy(attempts=1),
            approve=lambda call, token: Approval(self._setup.permits(call), "the user has said no"),
            observers=(self._ledger,),
        )
