"""`SessionManager`: stored sessions in memory for as long as somebody is attached to them."""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Self, TypeAlias

from ..persistence import Connection
from ..session import Session
from .client import Client, Hot, Next
from .errors import SessionBusyError, StoreError, UnknownSessionError
from .fifo import Fifo
from .file_store import FileStore
from .kept import KeptSession

_log = logging.getLogger(__name__)

OpenSession: TypeAlias = Callable[[], Session]
"""Makes an empty session on a provider that is ready. What was stored is then put into it."""


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
        self._hot: dict[str, Hot] = {}
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

    def begin(self, *, connection: Connection | None = None, workspace: str | None = None) -> Client:
        """A client of a session that is made with the first thing said in it; the arguments are those of `create`."""
        return Client(self, following=Next(connection, workspace))

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

    def _loaded(self, kept: KeptSession) -> Hot:
        hot = self._hot[kept.session_id] = Hot(kept, Fifo(f"session {kept.session_id!r}"))
        return hot

    def _begin(self, client: Client, following: Next) -> Hot:
        with self._lock:
            kept = self.store.create(
                self._open_session(), connection=following.connection, workspace=following.workspace
            )
            hot = self._loaded(kept)
            hot.clients.add(client)
            return hot

    def _delete(self, client: Client, session_id: str) -> None:
        with self._lock:
            hot = self._hot.get(session_id)
        if hot is None:
            self.store.delete(self._stored(session_id))
            return
        hot.line.refuse_from_inside()
        if hot.clients - {client}:
            raise SessionBusyError(session_id, "this process, for another client")
        with hot.line.turn(), self._lock:
            if hot.clients - {client}:
                raise SessionBusyError(session_id, "this process, for another client")
            if self._hot.get(session_id) is hot:
                del self._hot[session_id]
                with suppress(StoreError):  # what cannot be stored is to go as well
                    hot.kept.close()
            self.store.delete(session_id)
            hot.clients.clear()

    def _stored(self, session_id: str) -> str:
        if (found := self.store.find(session_id)) != session_id:
            raise UnknownSessionError(
                f"there is no session {session_id!r} in {self.store.folder}; as a number it is {found!r}"
            )
        return found

    def _join(self, client: Client, session_id: str) -> Hot:
        with self._lock:
            hot = self._hot.get(session_id)
            if hot is None:
                self._stored(session_id)
                hot = self._loaded(self.store.resume(self._open_session(), session_id))
            hot.clients.add(client)
            return hot

    def _leave(self, client: Client, hot: Hot) -> None:
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


def _unload_all(lock: threading.Lock, all_hot: dict[str, Hot], patience: float) -> None:
    with lock:
        leaving = list(all_hot.values())
        all_hot.clear()
    with ExitStack() as closing:
        for hot in leaving:
            hot.kept.stop()
            for client in hot.clients:
                client._on = client._session_id = None
            closing.callback(_unload, hot, patience)


def _unload(hot: Hot, patience: float) -> None:
    try:
        with hot.line.turn(timeout=patience):
            hot.kept.close()
    except TimeoutError:
        # Its provider does not listen. What was acknowledged is on the disk; this turn will be noted as interrupted.
        _log.warning("session %r was left in the middle of a turn", hot.kept.session_id)
