"""`StoredAgent`: the reference session with its sessions in files, as an agent. It needs no program but Python."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from operator import add
from pathlib import Path

from msgspec.structs import astuple, replace

from ...agents import AgentBinding, AgentSetup
from ...cancel import CancelToken
from ...errors import ResumeError, TurnproofError, UsageError
from ...messages import FinishReason, FunctionCall, Message, Part, ProviderResponse, Text, TokenUsage
from ...provider import (
    Binding,
    JSONSchema,
    OnChunk,
    OnFunctionCall,
    OnThinking,
    OnUsage,
    StatelessProvider,
)
from ...sessions import SessionCapabilities, SessionPage, SessionSourceBase
from ..approval import Approval
from ..observer import SessionObserver
from ..retry import RetryPolicy
from ..session import Session
from .file_store import FileStore
from .kept import KeptSession

CAN = SessionCapabilities(can_list=True, can_load=True, can_continue_last=True, can_delete=True, can_fork=True)


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
        capabilities=binding.claims(),
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
        self._store = FileStore(Path(setup.home) / "sessions", page_size=25)
        self._kept: KeptSession | None = None
        self._busy = threading.Lock()
        self._spent = _Spent()
        self._take_up(setup)

    @property
    def session_capabilities(self) -> SessionCapabilities:
        """All there are."""
        return CAN

    @property
    def history(self) -> Sequence[Message]:
        """The messages of the session that is open: a copy."""
        return self._kept.session.history.messages if self._kept is not None else []

    def list_sessions(self, *, cwd: str | None = None, cursor: str | None = None) -> SessionPage:
        """From the store, newest first."""
        return self._store.list_sessions(cwd=cwd, cursor=cursor)

    def send(
        self,
        content: str | Sequence[Part],
        *,
        cancel_token: CancelToken | None = None,
        on_chunk: OnChunk | None = None,
        on_usage_update: OnUsage | None = None,
        on_function_call: OnFunctionCall | None = None,
        on_thinking: OnThinking | None = None,
        response_schema: JSONSchema | None = None,
    ) -> ProviderResponse:
        """A turn, with the guarantees of `Agent.send`; when it returns the turn is on the disk."""
        if not self._busy.acquire(blocking=False):
            raise UsageError("a turn is running: wait for its end, or cancel it")
        try:
            if cancel_token is not None:
                cancel_token.raise_if_cancelled()
            kept = self._opened(content)
            self._spent.usage = TokenUsage()
            result = kept.send(
                content,
                cancel_token=cancel_token,
                on_chunk=on_chunk,
                on_usage_update=on_usage_update,
                on_function_call=on_function_call,
                on_thinking=on_thinking,
                response_schema=response_schema,
            )
        finally:
            self._busy.release()
        cancelled = result.outcome == "cancelled"
        finish = FinishReason.CANCELLED if cancelled else result.response.finish_reason
        said = (Text(result.text),) if result.text else ()
        return replace(result.response, parts=said, finish_reason=finish, usage=self._spent.usage)

    def shutdown(self) -> None:
        """Write down what is not, and let go of the provider's connections."""
        self._close()
        end = getattr(self._provider, "shutdown", None)
        if end is not None:
            end()

    # -- sessions -------------------------------------------------------------------------------------------------

    def _take_up(self, setup: AgentSetup) -> None:
        tries: list[Callable[[], object]] = []
        if setup.session is not None:
            wanted = setup.session
            tries.append(lambda: self.resume_session(wanted))
        if setup.continue_last:
            tries.append(lambda: self.continue_last(setup.cwd))
        for attempt in tries:
            try:
                attempt()
            except TurnproofError:
                continue
            if self.session_id is not None:
                return

    def _load(self, session_id: str) -> None:
        before = self._kept
        if before is not None and before.session_id == session_id:
            return
        session = self._fresh()
        try:
            kept = self._store.resume(session, session_id)
        except TurnproofError as error:
            raise ResumeError(f"session {session_id!r} cannot be resumed: {error}", session_id=session_id) from error
        session.set_system(self._setup.system)
        session.set_tools(self._setup.tools)
        if before is not None:
            before.close()
        self._kept = kept

    def _begin(self) -> None:
        self._close()

    def _fork(self, session_id: str) -> str:
        assert self._kept is not None
        session = self._fresh()
        session.restore(self._kept.session.save())
        kept = self._store.create(session, workspace=self._setup.cwd)
        self._close()
        self._kept = kept
        return kept.session_id

    def _delete(self, session_id: str) -> None:
        if session_id == self.session_id:
            self._close()
        self._store.delete(session_id)

    def _opened(self, content: str | Sequence[Part]) -> KeptSession:
        if self._kept is None:
            said = content if isinstance(content, str) else Message.user(*content).text
            self._kept = self._store.create(self._fresh(), description=said[:60] or None, workspace=self._setup.cwd)
            self._session_id = self._kept.session_id
        return self._kept

    def _fresh(self) -> Session:
        return Session(
            self._provider,
            system=self._setup.system,
            tools=self._setup.tools,
            retry=RetryPolicy(attempts=1),
            approve=self._approve,
            observers=(self._spent,),
        )

    def _approve(self, call: FunctionCall, token: CancelToken) -> Approval:
        return Approval(self._setup.permits(call), "the user has said no")

    def _close(self) -> None:
        kept, self._kept = self._kept, None
        if kept is not None:
            kept.close()


class _Spent(SessionObserver):
    """What a turn has taken: the figures of its answers, added up."""

    def __init__(self) -> None:
        self.usage = TokenUsage()

    def on_response(self, response: ProviderResponse) -> None:
        self.usage = TokenUsage(*map(add, astuple(self.usage), astuple(response.usage)))
