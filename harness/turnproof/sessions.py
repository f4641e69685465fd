"""Sessions that outlive a process: what an adapter or a store tells of them, and how one is taken up again.

Agent programs keep sessions of their own, and so does `turnproof.session.store`. Both are a `SessionSource`: it lists
what there is, resumes one by its id, and goes on with the last. "Last" is by time, never by the place in a list, and
always within one working directory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol, runtime_checkable

from .errors import HarnessError, UsageError


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """One session in a list.

    session_id: what `resume_session` takes.
    provider:   whose it is: the name of an adapter.
    cwd:        the working directory it belongs to; empty where that is not known.
    title:      for people, one line.
    updated_at: when something was last said in it, always in UTC; a time without a zone is taken for UTC. None where
                the source does not tell.
    problem:    why it cannot be resumed, where a listing can see that.
    """

    session_id: str
    provider: str = ""
    cwd: str = ""
    title: str | None = None
    updated_at: datetime | None = None
    problem: str | None = None

    def __post_init__(self) -> None:
        if self.updated_at is not None:
            object.__setattr__(self, "updated_at", in_utc(self.updated_at))


@dataclass(frozen=True, slots=True)
class SessionCapabilities:
    """What can be done with the sessions of a source. Nothing is assumed: what is not said is not there."""

    can_list: bool = False
    can_load: bool = False
    can_continue_last: bool = False
    can_delete: bool = False
    can_fork: bool = False


@dataclass(frozen=True, slots=True)
class SessionPage:
    """A part of a list, in the source's own order. `next_cursor` asks for the next part; None: this is the last."""

    sessions: tuple[SessionInfo, ...] = ()
    next_cursor: str | None = None


@runtime_checkable
class SessionLister(Protocol):
    """Knows which sessions there are."""

    def list_sessions(self, *, cwd: str | None = None, cursor: str | None = None) -> SessionPage:
        """The sessions of a working directory (None: of all), a page at a time. Empty where there is no listing."""


@runtime_checkable
class SessionSource(SessionLister, Protocol):
    """Has one session open at a time, and can open another one instead."""

    @property
    def session_capabilities(self) -> SessionCapabilities:
        """What of the following is there."""

    @property
    def session_id(self) -> str | None:
        """The session that the next message belongs to; None before there is one."""

    def resume_session(self, session_id: str) -> None:
        """Go on with this session from the next message on; the local history is then that session's.

        Raises NotImplementedError without `can_load`. Whatever it raises, `session_id` is what it was.
        """

    def continue_last(self, cwd: str | None = None) -> str | None:
        """Resume the session that was updated last, and return its id; None, and no change, if there is none.

        Raises NotImplementedError without `can_continue_last`.
        """

    def new_session(self) -> None:
        """Begin a session in which nothing was said; its id may be known only after its first turn."""

    def fork_session(self) -> str:
        """Go on in a copy of the session that is open, and return the copy's id; the session itself stays as it is.

        Raises NotImplementedError without `can_fork`. Whatever it raises, `session_id` is what it was.
        """

    def delete_session(self, session_id: str) -> None:
        """Remove a session for good. One that is open is then closed: the next message begins a new one.

        Raises NotImplementedError without `can_delete`, and an error for a session that is not there.
        """


class SessionSourceBase(ABC):
    """A `SessionSource` of which nothing is claimed yet.

    A subclass says what it can do, and implements `_load`; and `_fork` and `_delete` where it says that it can. Where
    it can list and load, it can continue the last.
    """

    def __init__(self) -> None:
        self._session_id: str | None = None

    @property
    def session_capabilities(self) -> SessionCapabilities:
        """Nothing, unless overridden."""
        return SessionCapabilities()

    @property
    def session_id(self) -> str | None:
        """The session that is open."""
        return self._session_id

    def list_sessions(self, *, cwd: str | None = None, cursor: str | None = None) -> SessionPage:
        """No sessions, unless overridden."""
        return SessionPage()

    def resume_session(self, session_id: str) -> None:
        """Load that session; only when this has succeeded is it the one that is open."""
        if not self.session_capabilities.can_load:
            raise NotImplementedError(f"{type(self).__name__} cannot resume a session")
        self._load(session_id)
        self._session_id = session_id

    def continue_last(self, cwd: str | None = None) -> str | None:
        """List, and resume what is newest."""
        if not self.session_capabilities.can_continue_last:
            raise NotImplementedError(f"{type(self).__name__} cannot continue the last session")
        last = newest(self, cwd)
        if last is None:
            return None
        self.resume_session(last.session_id)
        return last.session_id

    def new_session(self) -> None:
        """Begin anew; the id is known when the source tells it."""
        self._begin()
        self._session_id = None

    def fork_session(self) -> str:
        """Fork the session that is open; only when this has succeeded is the copy the one that is open."""
        if not self.session_capabilities.can_fork:
            raise NotImplementedError(f"{type(self).__name__} cannot fork a session")
        if self._session_id is None:
            raise UsageError("there is no session yet that could be forked")
        self._session_id = self._fork(self._session_id)
        return self._session_id

    def delete_session(self, session_id: str) -> None:
        """Delete it, and begin anew if it was open."""
        if not self.session_capabilities.can_delete:
            raise NotImplementedError(f"{type(self).__name__} cannot delete a session")
        self._delete(session_id)
        if session_id == self._session_id:
            self.new_session()

    @abstractmethod
    def _load(self, session_id: str) -> None:
        """Open a session instead of the present one, or raise and change nothing."""

    def _begin(self) -> None:  # noqa: B027 (most have nothing to let go of)
        """Let go of the present session. Nothing, unless overridden."""

    def _fork(self, session_id: str) -> str:
        """Open a copy of the present session and return its id, or raise and change nothing."""
        raise NotImplementedError(f"{type(self).__name__} says that it can fork sessions, and does not")

    def _delete(self, session_id: str) -> None:
        """Remove a session, or raise."""
        raise NotImplementedError(f"{type(self).__name__} says that it can delete sessions, and does not")


def every_session(source: SessionLister, cwd: str | None = None) -> Iterator[SessionInfo]:
    """All sessions, page after page. Raises HarnessError if a page leads back to one that was read before."""
    cursor: str | None = None
    seen: set[str] = set()
    while True:
        page = source.list_sessions(cwd=cwd, cursor=cursor)
        yield from page.sessions
        cursor = page.next_cursor
        if cursor is None:
            return
        if cursor in seen:
            raise HarnessError(f"{type(source).__name__}: its list of sessions has no end: {cursor!r} leads to itself")
        seen.add(cursor)


def newest(source: SessionLister, cwd: str | None = None) -> SessionInfo | None:
    """The session that was updated last of those that can be resumed. One without a time is older than any with."""
    usable = (info for info in every_session(source, cwd) if info.problem is None)
    return max(usable, key=last_update, default=None)


def last_update(info: SessionInfo) -> datetime:
    """What to sort sessions by."""
    return info.updated_at or _NEVER


def in_utc(time: datetime) -> datetime:
    """The same instant in UTC. A time without a zone is in UTC already: that is how older programs wrote it."""
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


_NEVER = datetime.min.replace(tzinfo=UTC)
