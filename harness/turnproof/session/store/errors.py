"""What goes wrong with stored sessions.

StoreError                    the store, or the disk under it, failed
├── StoreFullError            no room left: what is on disk is what was there before
├── SessionBusyError          another process has the session open; .owner says which
├── ForkedSessionError        this process is a copy of the one that opened the session; .owner says which
└── UnknownSessionError       no session by that name or number

A file that is there and cannot be read raises `SavedSessionError`, as text from anywhere does.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...errors import TurnproofError, UsageError
from ..result import TurnResult


class StoreError(TurnproofError):
    """The store cannot do what was asked; what it held before is whole.

    `result` is the turn that was taken all the same, where there was one: the session in memory goes on from it, and
    the next turn or save stores it too.
    """

    def __init__(self, message: str, *, result: TurnResult | None = None) -> None:
        super().__init__(message)
        self.result = result


class StoreFullError(StoreError):
    """There is no room on the disk, or none that this user may use."""


class SessionBusyError(StoreError):
    """Somebody else has this session open for writing. `owner` is what they said of themselves."""

    def __init__(self, session_id: str, owner: str) -> None:
        super().__init__(
            f"session {session_id!r} is open in {owner}: two writers would spoil it. "
            "Close it there, or attach to it through one SessionManager"
        )
        self.session_id = session_id
        self.owner = owner


class ForkedSessionError(StoreError):
    """A session that was open when the process was forked belongs to the process that opened it, not to the copy."""

    def __init__(self, session_id: str, owner: int) -> None:
        super().__init__(
            f"session {session_id!r} was opened in process {owner}, and this is a copy of that process: two writers "
            "would spoil it. Send there, or open a session here after the fork"
        )
        self.session_id = session_id
        self.owner = owner


class UnknownSessionError(StoreError, UsageError):
    """There is no session by that id or number in the store."""


@contextmanager
def reported(doing: str, path: Path) -> Iterator[None]:
    """Raises what the file system refused as a StoreError that says what was being done."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        kind = StoreFullError if full else StoreError
        advice = ". Make room and save again: what was stored before is whole" if full else ""
        raise kind(f"{path}: {doing} failed: {error.strerror or error}{advice}") from error
