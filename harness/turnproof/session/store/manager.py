"""`SessionManager`: stored sessions in memory for as long as somebody is attached to them."""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self, TypeAlias, TypeVar

from ...errors import UsageError
from ...messages import Message, Part
from ...sessions import SessionCapabilities, SessionPage, SessionSourceBase
from ..persistence import Connection
from ..result import TurnResult
from ..session import Session
from .fifo import Fifo
from .file_store import FileStore
from .kept import KeptSession

T = TypeVar("T")

_log = logging.getLogger(__name__)

OpenSession: TypeAlias = Callable[[], Session]
"""Makes an empty session on a provider that is ready. What was stored is then put into it."""


@dataclass(slots=True)
class _Hot:
    """A session in memory, the line in front of it, and who is attached."""

    kept: KeptSession
    line: Fifo
    clients: set[Client] = field(default_factory=set)


class SessionManager:
    """Loads a session when the first client attaches, and stores and unloads it when the last one has gone.

    Clients of one session take turns: one at a time, in the order in which they asked. All of them see the same
    conversation.

    Leaving the manager as a context manager stops what runs, stores every session and unloads it, whatever the reason:
    an exception and Ctrl-C too, and SIGTERM inside `exit_on_sigterm()`. A manager that nobody closes does so when the
    interpreter exits. What `send` had returned by then was on the disk before that. `patience` is how many seconds a
    turn has to end, once it is cancelled, before it is left behind.
    """

    def __init__(self, store: FileStore, open_session: OpenSession, *, patience: float = 5.0) -> None:
        self.store = store
        self._open_session = open_session
        self._patience = patience
        self._lock = threading.Lock()
        self._hot: dict[str, _Hot] = {}
        self._at_exit = weakref.finalize(self, _unload_all, self._lock, self._hot, patience)

    def create(
        self,
        *,
        session_id: str | None = None,
        description: str | None = None,
        connection: Connection | None = None,
        workspace: str | None = None,
    ) -> Client:
        """A client of a new session; the arguments are those of `FileStore.create`."""
        with self._lock:
            kept = self.store.create(
                self._open_session(),
                session_id=session_id,
                description=description,
                connection=connection,
                workspace=workspace,
            )
            return Client(self, self._loaded(kept))

    def attach(self, which: str | int) -> Client:
        """A client of a stored session, by id or number; it is loaded unless it is in memory.

        Raises what `FileStore.resume` raises.
        """
        client = Client(self)
        client.resume_session(self.store.find(which))
        return client

    def attach_last(self, cwd: str | None = None) -> Client | None:
        """A client of the session that was updated last; None if there is none."""
        client = Client(self)
        return client if client.continue_last(cwd) else None

    @property
    def loaded(self) -> tuple[str, ...]:
        """The ids of the sessions in memory."""
        with self._lock:
            return tuple(self._hot)

    def close(self) -> None:
        """Stop what runs, store every session and unload it. Clients are detached. Raises what storing one raised."""
        _unload_all(self._lock, self._hot, self._patience)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _loaded(self, kept: KeptSession) -> _Hot:
        hot = self._hot[kept.session_id] = _Hot(kept, Fifo(f"session {kept.session_id!r}"))
        return hot

    def _join(self, client: Client, session_id: str) -> _Hot:
        with self._lock:
            hot = self._hot.get(session_id)
            if hot is None:
                hot = self._loaded(self.store.resume(self._open_session(), session_id))
            hot.clients.add(client)
            return hot

    def _leave(self, client: Client, hot: _Hot) -> None:
        hot.line.refuse_from_inside()
        with self._lock:
            hot.clients.discard(client)
            if hot.clients:
                return
        # Behind the turns that were asked for; and perhaps somebody has attached again by then.
        with hot.line.turn(), self._lock:
            if not hot.clients and self._hot.get(hot.kept.session_id) is hot:
                hot.kept.save()  # where that fails the session stays: what could not be stored is only here
                del self._hot[hot.kept.session_id]
                hot.kept.close()


class Client(SessionSourceBase):
    """One user of a session. Made by `SessionManager.create` and `attach`; used from any thread.

    It is on one session at a time: `resume_session` and `continue_last` move it to another. Leaving it as a context
    manager detaches it.
    """

    def __init__(self, manager: SessionManager, hot: _Hot | None = None) -> None:
        super().__init__()
        self._manager = manager
        self._on = hot
        if hot is not None:
            hot.clients.add(self)
            self._session_id = hot.kept.session_id

    @property
    def kept(self) -> KeptSession:
        """The session as it is kept, for looking at. Raises UsageError for a client that is detached."""
        return self._attached_to.kept

    @property
    def messages(self) -> list[Message]:
        """The conversation of the session that it is on: a copy."""
        return self.kept.session.history.messages

    def send(self, content: str | Sequence[Part], **options: Any) -> TurnResult:
        """A turn, as `KeptSession.send`, after those that were asked for before.

        Raises Cancelled, and says nothing, if its `cancel_token` is set while it waits.
        """
        hot = self._attached_to
        with hot.line.turn(options.get("cancel_token")):
            return hot.kept.send(content, **options)

    def change(self, action: Callable[[Session], T], *, connection: Connection | None = None) -> T:
        """Do something to the session between turns, as `KeptSession.change`."""
        hot = self._attached_to
        with hot.line.turn():
            return hot.kept.change(action, connection=connection)

    def stop(self) -> bool:
        """Cancel the running turn, whoever asked for it. False if none is running."""
        return self.kept.stop()

    def detach(self) -> None:
        """Leave the session. If nobody else is on it, it is stored and unloaded. Calling it twice is harmless."""
        if (hot := self._on) is not None:
            hot.line.refuse_from_inside()
            self._on = self._session_id = None
            self._manager._leave(self, hot)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.detach()

    # As a source of sessions

    @property
    def session_capabilities(self) -> SessionCapabilities:
        """All of them."""
        return SessionCapabilities(can_list=True, can_load=True, can_continue_last=True, can_delete=True)

    def list_sessions(self, *, cwd: str | None = None, cursor: str | None = None) -> SessionPage:
        """The sessions of the store."""
        return self._manager.store.list_sessions(cwd=cwd, cursor=cursor)

    def _load(self, session_id: str) -> None:
        former = self._on
        if former is None:
            self._on = self._manager._join(self, session_id)
            return
        if former.kept.session_id == session_id:
            return
        former.line.refuse_from_inside()
        joined = self._manager._join(self, session_id)
        try:
            self._manager._leave(self, former)
        except BaseException:
            self._manager._join(self, former.kept.session_id)
            self._manager._leave(self, joined)
            raise
        self._on = joined

    @property
    def _attached_to(self) -> _Hot:
        if self._on is None:
            raise UsageError("this client is detached: attach to a session, or resume one")
        return self._on


def _unload_all(lock: threading.Lock, all_hot: dict[str, _Hot], patience: float) -> None:
    with lock:
        leaving = list(all_hot.values())
        all_hot.clear()
    with ExitStack() as closing:
        for hot in leaving:
            hot.kept.stop()
            for client in hot.clients:
                client._on = client._session_id = None
            closing.callback(_unload, hot, patience)


def _unload(hot: _Hot, patience: float) -> None:
    try:
        with hot.line.turn(timeout=patience):
            hot.kept.close()
    except TimeoutError:
        # Its provider does not listen. What was acknowledged is on the disk; this turn will be noted as interrupted.
        _log.warning("session %r was left in the middle of a turn", hot.kept.session_id)
