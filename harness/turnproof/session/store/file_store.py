"""`FileStore`: sessions in a folder, a few files each. Found again by id, by number, or as the last one."""

from __future__ import annotations

import logging
import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

from msgspec.structs import replace

from ..._base.suggestions import did_you_mean
from ...errors import UsageError
from ...messages import MessageIds, new_message_id
from ...sessions import SessionInfo, SessionPage, every_session, in_utc, last_update, newest
from .. import persistence
from ..persistence import Connection, SessionState
from ..session import Session
from .errors import SessionBusyError, StoreError, UnknownSessionError, reported
from .files import Files, LocalFiles
from .journal import Problem
from .locking import Place, this_process
from .read_session import Paths, checked_id, is_id, read_session
from .session_log import SessionLog, delete_files
from .stored_session import Checkpoints, KeptSession
from .summaries import read_summary


@dataclass(frozen=True, slots=True)
class Loaded:
    """A stored session, and everything in its files that is not as it was written."""

    state: SessionState
    problems: tuple[Problem, ...] = ()


class FileStore:
    """Keeps sessions in `folder`, as `<id>.json` (the state) and `<id>.jsonl` (the log of everything).

    A turn is appended to the log; the state is written whole every `checkpoint_every` turns, and on `save` and
    `close`. With `max_sessions`, making one more deletes the oldest that nobody has open; damaged ones are left alone.
    `program` is how this process is named to others that find a session busy. `clock` is in seconds since 1970, `ids`
    names sessions, `message_ids` the messages that a repair has to make.

    Any number of stores and processes may use a folder. A session is open for writing in one place at a time; reading
    and listing need no leave, and see what is on the disk.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        checkpoint_every: int = 10,
        max_sessions: int | None = None,
        page_size: int = 50,
        program: str | None = None,
        files: Files | None = None,
        clock: Callable[[], float] = time.time,
        ids: Callable[[], str] = lambda: uuid.uuid4().hex,
        message_ids: MessageIds = new_message_id,
    ) -> None:
        for name, value in {
            "checkpoint_every": checkpoint_every,
            "max_sessions": max_sessions,
            "page_size": page_size,
        }.items():
            if value is not None and value < 1:
                raise UsageError(f"{name} is at least 1, got {value!r}")
        self.folder = Path(folder).absolute()
        self._checkpoint_every = checkpoint_every
        self._max_sessions = max_sessions
        self._page_size = page_size
        self._program = program or Path(sys.argv[0] or "python").name
        self._files = files or LocalFiles()
        self._clock = clock
        self._ids = ids
        self._message_ids = message_ids

    # Finding

    def list_sessions(self, *, cwd: str | None = None, cursor: str | None = None) -> SessionPage:
        """A page of sessions, newest first. One that cannot be read stands in the list too, with its problem.

        `cwd` leaves only those of that workspace. Raises UsageError for a cursor that no page has given.
        """
        after = _read_cursor(cursor)
        every = (read_summary(self._files, self._paths(name)) for name in self._names())
        infos = [info for info in every if cwd is None or info.cwd == cwd]
        rest = [info for info in sorted(infos, key=_newest_first, reverse=True) if _newest_first(info) < after]
        page = tuple(rest[: self._page_size])
        return SessionPage(page, _cursor(page[-1]) if len(rest) > len(page) else None)

    def last(self, cwd: str | None = None) -> SessionInfo | None:
        """The session that was updated last and can be read; None if there is none."""
        return newest(self, cwd)

    def find(self, which: str | int) -> str:
        """The id of a session that is named by its id, or by its number in the list: 1 is the newest.

        Raises UnknownSessionError.
        """
        names = self._names()
        if isinstance(which, str):
            if which in names:
                return which
            if not which.isdecimal():
                raise UnknownSessionError(f"there is no session {which!r} in {self.folder}{did_you_mean(which, names)}")
        number = int(which)
        if not 1 <= number <= len(names):
            there = f"numbers 1 to {len(names)}" if names else "no session yet"
            raise UnknownSessionError(f"there is no session number {number}: {self.folder} has {there}")
        return list(every_session(self))[number - 1].session_id

    # Reading, deleting and copying

    def load(self, which: str | int) -> Loaded:
        """A session as it is on the disk, also while somebody has it open. Changes nothing.

        Raises UnknownSessionError, and SavedSessionError for what cannot be read or is of another version.
        """
        found = read_session(self._files, self._paths(self.find(which)), self._message_ids)
        return Loaded(found.state, found.problems)

    def delete(self, which: str | int) -> None:
        """Remove a session for good. Raises UnknownSessionError, and SessionBusyError while somebody has it open."""
        delete_files(self._place(self.find(which)))

    def fork(self, which: str | int, *, session_id: str | None = None) -> str:
        """Copy a session as it is on the disk, under a new id or this one, and return the copy's id.

        The copy goes on from the same history; a turn that was interrupted stays with the session that it belongs to.
        Raises what `load` raises, and StoreError if the id is taken.
        """
        state = self.load(which).state
        place, now = self._place(self._ids() if session_id is None else session_id), self._now()
        copied = replace(
            state, session_id=place.paths.session_id, created_at=now, updated_at=now, interrupted=None, log_seq=0
        )
        SessionLog.create(place, copied).close()
        self._prune(place.paths.session_id)
        return place.paths.session_id

    # Opening for writing

    def create(
        self,
        session: Session,
        *,
        session_id: str | None = None,
        description: str | None = None,
        connection: Connection | None = None,
        workspace: str | None = None,
    ) -> KeptSession:
        """Keep a session from now on, with what it holds already, under a new id or this one.

        `connection` names the provider, for lists and for whoever resumes it; `workspace` is the working directory it
        belongs to. Raises StoreError if the id is taken.
        """
        place = self._place(self._ids() if session_id is None else session_id)
        now = self._now()
        state = replace(
            session.state(),
            session_id=place.paths.session_id,
            description=description,
            created_at=now,
            updated_at=now,
            connection=replace(connection or Connection(), path=session.path),
            workspace=workspace,
        )
        stored_session = self._kept_session(session, SessionLog.create(place, state))
        self._prune(place.paths.session_id)
        return stored_session

    def resume(self, session: Session, which: str | int) -> KeptSession:
        """Have a session go on where a stored one stopped: its history is replaced, on whichever path it is.

        Raises UnknownSessionError, SessionBusyError, and SavedSessionError for what cannot be read, and changes nothing
        then; or what its provider's `create_session` raises.
        """
        log = SessionLog.open(self._place(self.find(which)), self._message_ids)
        try:
            session.restore(log.state)
        except BaseException:
            log.close()
            raise
        return self._kept_session(session, log)

    # Inside

    def _kept_session(self, session: Session, log: SessionLog) -> KeptSession:
        return KeptSession(session, log, Checkpoints(self._checkpoint_every, self._now))

    def _prune(self, new_id: str) -> None:
        if self._max_sessions is None:
            return
        others = [info.session_id for info in every_session(self) if info.session_id != new_id and not info.problem]
        left = len(others) + 1
        for name in reversed(others):
            if left <= self._max_sessions:
                return
            try:
                delete_files(self._place(name))
                left -= 1
            except SessionBusyError:
                continue
            except StoreError:
                _log.exception("the old session %r could not be deleted", name)

    def _names(self) -> list[str]:
        with reported("listing the sessions", self.folder):
            names = self._files.names(self.folder)
        stems = {name.rpartition(".")[0] for name in names if name.endswith((".json", ".jsonl"))}
        return sorted(stem for stem in stems if is_id(stem))

    def _paths(self, session_id: str) -> Paths:
        return Paths(self.folder, checked_id(session_id))

    def _place(self, session_id: str) -> Place:
        paths, now = self._paths(session_id), self._now
        return Place(self._files, paths, this_process(self._program, now()), now)

    def _now(self) -> datetime:
        return persistence.at(self._clock())


_Order: TypeAlias = tuple[datetime, str]


def _newest_first(info: SessionInfo) -> _Order:
    return last_update(info), info.session_id


def _cursor(info: SessionInfo) -> str:
    return f"{last_update(info).isoformat()}|{info.session_id}"


def _read_cursor(cursor: str | None) -> _Order:
    if cursor is None:
        return datetime.max.replace(tzinfo=UTC), ""
    time, _, name = cursor.partition("|")
    try:
        return in_utc(datetime.fromisoformat(time)), name
    except ValueError:
        raise UsageError(f"{cursor!r} is no cursor of this list: pass the next_cursor of a page, or none") from None


_log = logging.getLogger(__name__)
