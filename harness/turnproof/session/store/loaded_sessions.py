"""Stored sessions that are in memory: who uses each of them, and when it is stored and unloaded."""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from ..persistence import Connection
from ..session import Session
from .errors import SessionBusyError, StoreError, UnknownSessionError
from .fifo import Fifo
from .file_store import FileStore
from .stored_session import KeptSession

_log = logging.getLogger(__name__)

OpenSession: TypeAlias = Callable[[], Session]
"""Makes an empty session on a provider that is ready. What was stored is then put into it."""


class SessionUser(Protocol):
    """Whoever is attached to a session in memory."""

    def forget(self) -> None:
        """Be on no session any more: it was unloaded."""


@dataclass(slots=True)
class LoadedSession:
    """A session in memory, the line in front of it, and who is attached."""

    session: KeptSession
    line: Fifo
    clients: set[SessionUser] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class NextSession:
    """A session that is begun with what is said next: whose provider it has, and where it belongs."""

    connection: Connection | None = None
    workspace: str | None = None


class LoadedSessions:
    """The sessions of one store that are in memory, by id. Used from any thread.

    They are stored and unloaded once nobody has it any more, and when the interpreter exits.
    """

    def __init__(self, store: FileStore, open_session: OpenSession, patience: float) -> None:
        self.store = store
        self._open_session = open_session
        self._patience = patience
        self._lock = threading.Lock()
        self._loaded: dict[str, LoadedSession] = {}
        self._at_exit = weakref.finalize(self, _unload_all, self._lock, self._loaded, patience)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the sessions in memory."""
        with self._lock:
            return tuple(self._loaded)

    def create(self, **details: Any) -> LoadedSession:
        """A new session; the arguments are those of `FileStore.create`."""
        with self._lock:
            return self._add(self.store.create(self._open_session(), **details))

    def begin(self, client: SessionUser, following: NextSession) -> LoadedSession:
        """A new session with a first client."""
        with self._lock:
            stored_session = self.store.create(
                self._open_session(), connection=following.connection, workspace=following.workspace
            )
            loaded = self._add(stored_session)
            loaded.clients.add(client)
            return loaded

    def join(self, client: SessionUser, session_id: str) -> LoadedSession:
        """Attach a client to a stored session, which is loaded unless it is in memory. Raises what `resume` raises."""
        with self._lock:
            loaded = self._loaded.get(session_id)
            if loaded is None:
                self._stored(session_id)
                loaded = self._add(self.store.resume(self._open_session(), session_id))
            loaded.clients.add(client)
            return loaded

    def leave(self, client: SessionUser, loaded: LoadedSession) -> None:
        """Detach a client. If nobody else is on the session, it is stored and unloaded."""
        loaded.line.refuse_from_inside()
        with self._lock:
            loaded.clients.discard(client)
            if loaded.clients:
                return
        # Behind the turns that were asked for; and perhaps somebody has attached again by then.
        with loaded.line.turn(), self._lock:
            if not loaded.clients and self._loaded.get(loaded.session.session_id) is loaded:
                loaded.session.save()  # where that fails the session stays: what could not be stored is only here
                del self._loaded[loaded.session.session_id]
                loaded.session.close()

    def delete(self, client: SessionUser, session_id: str) -> None:
        """Delete a session. Raises SessionBusyError while anybody but this client is on it."""
        with self._lock:
            loaded = self._loaded.get(session_id)
        if loaded is None:
            self.store.delete(self._stored(session_id))
            return
        loaded.line.refuse_from_inside()
        if loaded.clients - {client}:
            raise SessionBusyError(session_id, "this process, for another client")
        with loaded.line.turn(), self._lock:
            if loaded.clients - {client}:
                raise SessionBusyError(session_id, "this process, for another client")
            if self._loaded.get(session_id) is loaded:
                del self._loaded[session_id]
                with suppress(StoreError):  # what cannot be stored is to go as well
                    loaded.session.close()
            self.store.delete(session_id)
            loaded.clients.clear()

    def unload(self) -> None:
        """Stop what runs, store every session and unload it. Raises what storing one raised."""
        _unload_all(self._lock, self._loaded, self._patience)

    def _add(self, session: KeptSession) -> LoadedSession:
        loaded = self._loaded[session.session_id] = LoadedSession(session, Fifo(f"session {session.session_id!r}"))
        return loaded

    def _stored(self, session_id: str) -> str:
        if (found := self.store.find(session_id)) != session_id:
            raise UnknownSessionError(
                f"there is no session {session_id!r} in {self.store.folder}; as a number it is {found!r}"
            )
        return found


def _unload_all(lock: threading.Lock, all_loaded: dict[str, LoadedSession], patience: float) -> None:
    with lock:
        leaving = list(all_loaded.values())
        all_loaded.clear()
    with ExitStack() as closing:
        for loaded in leaving:
            loaded.session.stop()
            for client in loaded.clients:
                client.forget()
            closing.callback(_unload, loaded, patience)


def _unload(loaded: LoadedSession, patience: float) -> None:
    try:
        with loaded.line.turn(timeout=patience):
            loaded.session.close()
    except TimeoutError:
        # Its provider does not listen. What was acknowledged is on the disk; this turn will be noted as interrupted.
        _log.warning("session %r was left in the middle of a turn", loaded.session.session_id)
