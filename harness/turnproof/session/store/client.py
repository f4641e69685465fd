"""`Client`: one of those who use a session that is in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

from ...cancel import CancelToken
from ...errors import UsageError
from ...messages import Message, Part
from ...sessions import SessionCapabilities, SessionPage, SessionSourceBase
from ..persistence import Connection
from ..result import TurnResult
from ..session import Session
from .loaded_sessions import LoadedSession, LoadedSessions, NextSession
from .stored_session import KeptSession

T = TypeVar("T")

CAN = SessionCapabilities(can_list=True, can_load=True, can_continue_last=True, can_delete=True, can_fork=True)
"""What can be done with kept sessions: all there is."""


class Client(SessionSourceBase):
    """One user of a session. Made by `SessionManager.create`, `begin` and `attach`; used from any thread.

    It is on one session at a time: `resume_session`, `continue_last` and `fork_session` move it to another. After
    `new_session`, and after its own session is deleted, the next thing that is said makes a new one, in the same
    workspace. Leaving it as a context manager detaches it.
    """

    def __init__(
        self, sessions: LoadedSessions, hot: LoadedSession | None = None, following: NextSession | None = None
    ) -> None:
        super().__init__()
        self._sessions = sessions
        self._on = hot
        self._next = following
        self._moving = threading.Lock()
        if hot is not None:
            hot.clients.add(self)
            self._session_id = hot.session.session_id

    @property
    def kept_session(self) -> KeptSession:
        """The session as it is kept, for looking at. Raises UsageError for a client that is on none."""
        return self._attached_to.session

    @property
    def messages(self) -> list[Message]:
        """The conversation of the session that it is on: a copy. Empty before one is begun."""
        return [] if self._next is not None else self.kept_session.session.history.messages

    def send(self, content: str | Sequence[Part], **options: Any) -> TurnResult:
        """A turn, as `KeptSession.send`, after those that were asked for before.

        Raises Cancelled, and says nothing, if its `cancel_token` is set already, or while it waits.
        """
        token: CancelToken | None = options.get("cancel_token")
        if token is not None:
            token.raise_if_cancelled()
        hot = self._attach()
        with hot.line.turn(token):
            return hot.session.send(content, **options)

    def change(self, action: Callable[[Session], T], *, connection: Connection | None = None) -> T:
        """Do something to the session between turns, as `KeptSession.change`."""
        hot = self._attach()
        with hot.line.turn():
            return hot.session.change(action, connection=connection)

    def stop(self) -> bool:
        """Cancel the running turn, whoever asked for it. False if none is running."""
        return self._next is None and self.kept_session.stop()

    def detach(self) -> None:
        """Leave the session. If nobody else is on it, it is stored and unloaded. Calling it twice is harmless."""
        self._next = None
        if (hot := self._on) is not None:
            hot.line.refuse_from_inside()
            self._on = self._session_id = None
            self._sessions.leave(self, hot)

    def forget(self) -> None:
        """Be on no session any more: the manager has unloaded it."""
        self._on = self._session_id = None

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
        return CAN

    def list_sessions(self, *, cwd: str | None = None, cursor: str | None = None) -> SessionPage:
        """The sessions of the store."""
        return self._sessions.store.list_sessions(cwd=cwd, cursor=cursor)

    def new_session(self) -> None:
        """Leave the session. The next turn makes another one, for the same provider and workspace."""
        following = self._like_this()
        self.detach()
        self._next = following

    def delete_session(self, session_id: str) -> None:
        """Delete a session. Raises UnknownSessionError, and SessionBusyError while anybody else is on it."""
        following = self._like_this()
        self._sessions.delete(self, session_id)
        if session_id == self._session_id:
            self._on, self._session_id, self._next = None, None, following

    def _fork(self, session_id: str) -> str:
        hot = self._attached_to
        with hot.line.turn():
            hot.session.save()
            copy = self._sessions.store.fork(session_id)
        try:
            self._load(copy)
        except BaseException:
            self._sessions.store.delete(copy)
            raise
        return copy

    def _load(self, session_id: str) -> None:
        former = self._on
        if former is None:
            self._on = self._sessions.join(self, session_id)
            self._next = None
            return
        if former.session.session_id == session_id:
            return
        former.line.refuse_from_inside()
        joined = self._sessions.join(self, session_id)
        try:
            self._sessions.leave(self, former)
        except BaseException:
            self._sessions.join(self, former.session.session_id)
            self._sessions.leave(self, joined)
            raise
        self._on = joined

    def _like_this(self) -> NextSession:
        if self._on is None:
            return self._next or NextSession()
        state = self._on.session.state
        return NextSession(state.connection, state.workspace)

    def _attach(self) -> LoadedSession:
        # Two threads may speak first; they speak in one session.
        with self._moving:
            if self._on is None and self._next is not None:
                self._on = self._sessions.begin(self, self._next)
                self._session_id, self._next = self._on.session.session_id, None
        return self._attached_to

    @property
    def _attached_to(self) -> LoadedSession:
        if self._on is None:
            raise UsageError("this client is detached: attach to a session, or resume one")
        return self._on
