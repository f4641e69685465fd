"""`SessionManager`: stored sessions in memory for as long as somebody is attached to them."""

from __future__ import annotations

from ..._base.closeable import Closeable
from ..persistence import Connection
from .client import Client
from .file_store import FileStore
from .loaded_sessions import LoadedSessions, NextSession, OpenSession


class SessionManager(Closeable):
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
        self._sessions = LoadedSessions(store, open_session, patience)

    def create(
        self,
        *,
        session_id: str | None = None,
        description: str | None = None,
        connection: Connection | None = None,
        workspace: str | None = None,
    ) -> Client:
        """A client of a new session; the arguments are those of `FileStore.create`."""
        loaded = self._sessions.create(
            session_id=session_id, description=description, connection=connection, workspace=workspace
        )
        return Client(self._sessions, loaded)

    def begin(self, *, connection: Connection | None = None, workspace: str | None = None) -> Client:
        """A client of a session that is made with the first thing said in it; the arguments are those of `create`."""
        return Client(self._sessions, following=NextSession(connection, workspace))

    def attach(self, which: str | int) -> Client:
        """A client of a stored session, by id or number; it is loaded unless it is in memory.

        Raises what `FileStore.resume` raises.
        """
        client = Client(self._sessions)
        client.resume_session(self.store.find(which))
        return client

    def attach_last(self, cwd: str | None = None) -> Client | None:
        """A client of the session that was updated last; None if there is none."""
        client = Client(self._sessions)
        return client if client.continue_last(cwd) else None

    @property
    def loaded(self) -> tuple[str, ...]:
        """The ids of the sessions in memory."""
        return self._sessions.ids

    def close(self) -> None:
        """Stop what runs, store every session and unload it. Clients are detached. Raises what storing one raised."""
        self._sessions.unload()
