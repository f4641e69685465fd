"""`SessionLog`: the files of one session, open for writing by one writer.

Everything that happens goes to the end of the log; from time to time the whole state is written, so that loading stays
quick. The state in memory is at any moment what would be read from the disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

from msgspec import UNSET

from ...messages import MessageIds
from ..persistence import InterruptedTurn, SessionState
from .errors import ForkedSessionError, StoreError, reported
from .files import scratch, write_whole
from .journal import SPOILED, Journal, Problem, checksum_of, keep_beside, scan, seal
from .locking import Place, locked
from .log_records import LOG_FORMAT, Changed, Changes, Ended, Opened, Record, write_record
from .read_session import Found, read_session
from .state_file import write_state
from .state_from_log import StateBuilder

_SMALL = 64 * 1024
"""Bytes of a state that may be written whenever the number of turns says so."""


class SessionLog:
    """Made by `create` or `open`, which keep every other writer out until `close`."""

    def __init__(
        self,
        place: Place,
        release: Callable[[], None],
        builder: StateBuilder,
        journal: Journal,
        problems: tuple[Problem, ...],
    ) -> None:
        self.problems = problems
        self._place = place
        self._release = release
        self._builder = builder
        self._journal = journal
        self._pending: tuple[tuple[Record, bytes], ...] = ()
        self._checkpoint_seq = -1
        self._checkpoint_at = 0
        self._state_size = 0
        self._heading_changed = False
        self._process = os.getpid()
        self._closed = False

    @classmethod
    def create(cls, place: Place, state: SessionState) -> SessionLog:
        """The files of a new session, that holds this state. Raises StoreError if there is one of that name, and leaves
        no session where it cannot be written whole."""
        release = locked(place)
        try:
            names_there = place.files.names(place.paths.folder)
            for path in (place.paths.state, place.paths.log):
                if path.name in names_there:
                    raise StoreError(f"{path}: there is a session {place.paths.session_id!r} already")
            try:
                return cls._begin(place, release, state, ())
            except StoreError:
                with suppress(OSError):
                    for path in (place.paths.state, place.paths.log):
                        place.files.remove(path)
                raise
        except BaseException:
            release()
            raise

    @classmethod
    def open(cls, place: Place, ids: MessageIds) -> SessionLog:
        """The files of a stored session. What was torn is cut off, and what was damaged is written anew.

        Raises UnknownSessionError, SavedSessionError, SessionBusyError, StoreError.
        """
        release = locked(place)
        try:
            found = read_session(place.files, place.paths, ids)
            if found.log is None or not found.log.entries:
                return cls._begin(place, release, found.state, found.problems, found)
            journal = Journal.open(place.files, place.paths.log, found.log, seq=found.state.log_seq)
            log = cls(place, release, found.builder, journal, found.problems)
            journal.last_checksum = found.checksum
            log._state_size, log._checkpoint_at = found.state_size, -found.unsaved_bytes
            if (state := found.state) and found.mended:
                log.keep(Changed(at=state.updated_at, changes=Changes(history=state.messages, typed=state.typed)))
            if found.damaged is not None:
                with reported("keeping the damaged state", place.paths.state):
                    keep_beside(place.files, place.paths.state, found.damaged)
                log.checkpoint()
            return log
        except BaseException:
            release()
            raise

    @classmethod
    def _begin(
        cls,
        place: Place,
        release: Callable[[], None],
        state: SessionState,
        problems: tuple[Problem, ...],
        found: Found | None = None,
    ) -> SessionLog:
        """With a log that begins with this state, in place of one of which nothing is left."""
        files, paths, seq = place.files, place.paths, state.log_seq + 1
        first = Opened(
            at=place.now(),
            format=LOG_FORMAT,
            session_id=paths.session_id,
            turn_count=state.turn_count,
            changes=Changes(
                history=state.messages,
                usage=state.usage,
                system=state.system,
                tools=state.tools,
                description=state.description,
                connection=state.connection,
                workspace=state.workspace,
                waiting=state.waiting,
                cancelled_at=state.cancelled_at,
                typed=state.typed,
                budget=state.budget,
            ),
        )
        line = seal(seq, write_record(first))
        with reported("making the log", paths.log):
            if found is not None and found.log is not None:
                Journal.open(files, paths.log, found.log).close()
            write_whole(files, paths.log, line)
        journal = Journal(files, paths.log, seq, len(line))
        journal.last_checksum = checksum_of(scan(line, "").entries[0])
        log = cls(place, release, StateBuilder(state), journal, problems)
        log.checkpoint()
        return log

    @property
    def state(self) -> SessionState:
        """The session as it would be read now."""
        return self._builder.state(self._journal.seq)

    @property
    def session_id(self) -> str:
        """The id by which the store has the session."""
        return self._place.paths.session_id

    @property
    def interrupted(self) -> InterruptedTurn | None:
        """The turn that has begun and not ended."""
        return self._builder.interrupted

    @property
    def closed(self) -> bool:
        """Whether nothing can be written any more."""
        return self._closed

    @property
    def next_turn(self) -> int:
        """The number of the next turn, counted from 0."""
        return self._builder.next_turn

    def note(self, record: Record) -> None:
        """Write a record that may be lost with the machine, though not with the process. Raises StoreError."""
        self.flush()
        self._journal.append([write_record(record)], sync=False)
        self._builder.apply(record)

    def keep(self, record: Record) -> None:
        """Write a record, and return once it is on the disk.

        Raises PayloadError for what JSON has no form for, and StoreError if it is not on the disk; in that case it is
        remembered, and written before anything else.
        """
        self._pending = (*self._pending, (record, write_record(record)))
        self.flush()

    def flush(self) -> None:
        """Write what earlier attempts could not. Raises StoreError."""
        self.refuse_copies()
        if pending := self._pending:
            self._journal.append([body for _, body in pending])
            self._pending = ()
            for record, _ in pending:
                self._builder.apply(record)
                self._heading_changed |= _changes_heading(record)

    def checkpoint(self) -> None:
        """Write the whole state, unless it is written. Raises StoreError."""
        self.flush()
        if self._checkpoint_seq == (seq := self._journal.seq):
            return
        path = self._place.paths.state
        data = write_state(self.state, self._journal.last_checksum)
        with reported("writing the state", path):
            write_whole(self._place.files, path, data)
        self._checkpoint_seq = seq
        self._state_size, self._checkpoint_at, self._heading_changed = len(data), self._journal.appended, False

    @property
    def due(self) -> bool:
        """Whether the whole state is worth writing: the log has grown by as much since, or what a list shows is new.

        So all states together are no larger than twice the log, however long the session becomes. A small one costs
        nothing.
        """
        growth = self._journal.appended - self._checkpoint_at
        return self._heading_changed or self._state_size <= _SMALL or growth >= self._state_size

    @property
    def is_copy(self) -> bool:
        """Whether this process was forked from the one that opened the session."""
        return os.getpid() != self._process

    def refuse_copies(self) -> None:
        """Raise ForkedSessionError in a process that was forked from the one which opened the session."""
        if self.is_copy:
            raise ForkedSessionError(self.session_id, self._process)

    def close(self) -> None:
        """Let others write. What is not on the disk by now will not be."""
        self._closed = True
        if self.is_copy:
            return  # lock and files are those of the process that opened them
        try:
            self._journal.close()
        finally:
            self._release()


def _changes_heading(record: Record) -> bool:
    if isinstance(record, Ended | Changed) and (changes := record.changes) is not None:
        return any(one is not UNSET for one in (changes.description, changes.connection, changes.workspace))
    return False


def delete_files(place: Place) -> None:
    """Remove a session. A crash on the way leaves it whole, or gone."""
    files, paths = place.files, place.paths
    left_over = {scratch(path).name for path in (paths.state, paths.log)}
    release = locked(place)
    try:
        with reported("deleting", paths.log):
            # The log last: it alone has everything.
            files.remove(paths.state)
            files.sync_folder(paths.folder)
            files.remove(paths.log)
            for name in files.names(paths.folder):
                if name in left_over or name.startswith((f"{paths.state.name}{SPOILED}", f"{paths.log.name}{SPOILED}")):
                    files.remove(paths.folder / name)
            files.sync_folder(paths.folder)
    finally:
        release()
