"""What a list says of a stored session, at a cost that does not grow with the conversation's messages."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from ...sessions import SessionInfo, in_utc
from .. import persistence
from ..persistence import Heading, SavedSessionError, SessionState
from .errors import StoreError
from .files import Files
from .read_session import Paths, read_if_there, read_session
from .state_file import without_seal

_FIRST_LOOK = 4096


def read_summary(files: Files, paths: Paths) -> SessionInfo:
    """A session in a list; with its problem, where it cannot be loaded."""
    last = None
    try:
        last = _last_time(files, paths.log)
        stored = read_if_there(files, paths.state)
        if stored is None:
            state = read_session(files, paths, ids=lambda: "").state
            return _info(paths, state, state.updated_at)
        stored = without_seal(stored)
        heading = persistence.load_heading(stored, file=str(paths.state))
        updated = heading.updated_at or persistence.load(stored, file=str(paths.state)).updated_at
    except (SavedSessionError, StoreError) as error:
        return SessionInfo(paths.session_id, updated_at=last, problem=str(error))
    return _info(paths, heading, max(in_utc(updated), last or _NEVER))


def _info(paths: Paths, found: SessionState | Heading, updated: datetime) -> SessionInfo:
    return SessionInfo(paths.session_id, found.connection.provider, found.workspace or "", found.title, updated)


def _last_time(files: Files, path: Path) -> datetime | None:
    """When the log's last whole line was written."""
    look = _FIRST_LOOK
    while data := read_if_there(files, path, look):
        end = data.rfind(b"\n")
        start = data.rfind(b"\n", 0, max(end, 0)) + 1
        if start or len(data) < look:
            return _time(data, start) if end >= 0 else None
        look *= 16
    return None


def _time(data: bytes, start: int) -> datetime | None:
    found = _TIME.match(data, start)
    try:
        return in_utc(datetime.fromisoformat(found[1].decode())) if found else None
    except ValueError:
        return None


_TIME = re.compile(rb'\{"seq":\d+,"crc":"[0-9a-f]{8}","type":"\w+","at":"([0-9T:.\-]+Z)"')
_NEVER = datetime.min.replace(tzinfo=UTC)
