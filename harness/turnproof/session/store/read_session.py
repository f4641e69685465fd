"""A session as its files have it: the state that was written last, and the log's records since then.

The log alone is enough to build the state again, and is used for that where the state is damaged. What a person can
still use is given back, with everything that is wrong told; what another version wrote is refused whole.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ...errors import PayloadError, UsageError
from ...messages import MessageIds, dump_messages
from ..pairing import is_paired, repair
from ..persistence import SavedSessionError, SessionState
from .errors import UnknownSessionError, reported
from .files import Files
from .journal import Entry, Problem, Scan, checksum_of, scan
from .log_records import LOG_FORMAT, Opened, read_record
from .state_file import StateFile, read_state
from .state_from_log import LeftOut, StateBuilder


@dataclass(frozen=True, slots=True)
class Paths:
    """The files of one session."""

    folder: Path
    session_id: str

    @property
    def state(self) -> Path:
        """The session as it was when it was last written whole."""
        return self.folder / f"{self.session_id}.json"

    @property
    def log(self) -> Path:
        """Everything that ever happened in it."""
        return self.folder / f"{self.session_id}.jsonl"

    @property
    def lock(self) -> Path:
        """Held by whoever may write."""
        return self.folder / f"{self.session_id}.lock"


def checked_id(session_id: str) -> str:
    """An id that can be the name of a file. Raises UsageError for any other."""
    if not _ID.fullmatch(session_id):
        raise UsageError(
            f"{session_id!r} cannot name a session: up to 128 letters, digits, '-', '_' and '.', not a '.' first"
        )
    return session_id


def is_id(name: str) -> bool:
    """Whether a session can be called that."""
    return _ID.fullmatch(name) is not None


_ID = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")


@dataclass(frozen=True, slots=True)
class Found:
    """A session as it was read. `problems` is empty unless something is not as it was written.

    `builder` is where the records led to, `mended` says that `state` differs from that: calls and results were paired
    again. `damaged` is a state file that could not be read, or says something else than the log.
    """

    state: SessionState
    problems: tuple[Problem, ...]
    builder: StateBuilder
    log: Scan | None
    mended: bool = False
    damaged: bytes | None = None
    checksum: str = ""
    """That of the log's last record."""
    state_size: int = 0
    """Bytes of the state file."""
    unsaved_bytes: int = 0
    """Bytes of the log that the state file does not contain."""


def read_session(files: Files, paths: Paths, ids: MessageIds) -> Found:
    """Read both files. Changes nothing.

    Raises UnknownSessionError if there is neither, and SavedSessionError for what cannot be read in any way or was
    written by another version.
    """
    # In this order: the log has everything that is in a state, also in one that is replaced at this moment.
    stored, data = read_if_there(files, paths.state), read_if_there(files, paths.log)
    if stored is None and data is None:
        raise UnknownSessionError(f"there is no session {paths.session_id!r} in {paths.folder}")
    problems: list[Problem] = []
    state, damaged, mended = None, None, False
    log = None if data is None else scan(data, str(paths.log))
    if stored is not None:
        try:
            file = read_state(stored, str(paths.state))
        except SavedSessionError as error:
            if data is None or error.path == "$.format":
                raise
            damaged, reason = stored, error.reason
        else:
            state, reason = _believed(file, log, paths)
            damaged = stored if reason and state is None else None
        if reason:
            problem = f"damaged, and built anew from the log: {reason}" if state is None else reason
            problems.append(Problem(str(paths.state), problem))
    builder, after = StateBuilder(state), state.log_seq if state else 0
    if log is not None:
        problems += log.problems
        if log.entries and not _begins(log):
            first = log.entries[0]
            reason = f"its beginning is missing: the first record that is there is number {first.seq}"
            problems.append(Problem(str(paths.log), reason, first.line, first.offset))
        _fold(builder, log, after, problems, paths)
    if state is not None and state.log_seq > (last := log.last_seq if log else 0):
        there = f"ends with record {last}" if last else "has no record"
        problems.append(Problem(str(paths.log), f"the log {there}, and the stored state holds {state.log_seq}"))
    seq = max(state.log_seq if state else 0, log.last_seq if log else 0)
    state = replace(builder.state(seq), session_id=paths.session_id)
    if problems and not is_paired(state.messages):
        state, mended = replace(state, messages=tuple(repair(state.messages, ids))), True
        problems.append(Problem(str(paths.log), "tool calls and results that had lost each other were paired again"))
    entries = log.entries if log is not None else ()
    unsaved_bytes = sum(len(entry.body) for entry in entries if entry.seq > after)
    return Found(
        state,
        tuple(problems),
        builder,
        log,
        mended,
        damaged,
        checksum_of(entries[-1]) if entries else "",
        len(stored or b""),
        unsaved_bytes,
    )


def _believed(file: StateFile, log: Scan | None, paths: Paths) -> tuple[SessionState | None, str]:
    """The state of a file, as far as it may be believed beside the log, and what is wrong with it.

    Never where the log can tell the same by itself and tells something else.
    """
    whole = log is not None and _begins(log)
    if file.problem:
        return (None, file.problem) if whole else (file.state, file.problem)
    if log is None or not whole:
        return file.state, ""
    if file.sealed:
        at = next((entry for entry in log.entries if entry.seq == file.state.log_seq), None)
        if at is not None and checksum_of(at) != file.record:
            return None, f"it belongs to another log: record {at.seq} is not the one that it was written after"
        return file.state, ""
    if log.problems or log.last_seq < file.state.log_seq:
        return file.state, ""  # it may have what the log has lost, and the log's damage is told
    builder, entries_before = StateBuilder(), [entry for entry in log.entries if entry.seq <= file.state.log_seq]
    _fold(builder, dataclasses.replace(log, entries=tuple(entries_before)), 0, [], paths)
    true = builder.state(file.state.log_seq)
    same = all(getattr(true, name) == getattr(file.state, name) for name in _COMPARED)
    if same and dump_messages(true.messages) == dump_messages(file.state.messages):
        return file.state, ""
    return None, "it says something else than the log"


_COMPARED = ("description", "workspace", "system", "turn_count")


def _begins(log: Scan) -> bool:
    """Whether the first record of the log is there, from which the rest follows."""
    try:
        return bool(log.entries) and msgspec.json.decode(log.entries[0].body, type=_Kind).type == "opened"
    except msgspec.MsgspecError:
        return False


class _Kind(msgspec.Struct):
    type: str = ""


def _fold(builder: StateBuilder, log: Scan, after: int, problems: list[Problem], paths: Paths) -> None:
    for entry in log.entries:
        if entry.seq <= after:
            continue
        try:
            record = read_record(entry.body)
        except PayloadError as error:
            # Its checksum is right: it is as it was written, by a program that knows more than this one.
            reason = f"{error}. The record is whole: a newer turnproof wrote it, use that one"
            raise _refused(paths, entry, reason) from error
        if isinstance(record, Opened):
            if record.format != LOG_FORMAT:
                raise _refused(paths, entry, f"the log is {record.format!r}, and this turnproof reads {LOG_FORMAT!r}")
        elif not builder.has_base:
            raise _refused(paths, entry, "the log has lost its beginning, and there is no stored state to go on from")
        try:
            builder.apply(record)
        except LeftOut as error:
            problems.append(Problem(str(paths.log), str(error), entry.line, entry.offset))
    if not builder.has_base:
        where = str(log.problems[0]) if log.problems else f"{paths.log}: it is empty"
        raise SavedSessionError("$", f"no session can be read from it: {where}", file=str(paths.log))


def _refused(paths: Paths, entry: Entry, reason: str) -> SavedSessionError:
    return SavedSessionError(f"line {entry.line} (byte {entry.offset})", reason, file=str(paths.log))


def read_if_there(files: Files, path: Path, last: int | None = None) -> bytes | None:
    """The content of a file, or its `last` bytes; None if there is no such file. Raises StoreError."""
    with reported("reading", path):
        try:
            return files.read(path, last)
        except FileNotFoundError:
            return None
