"""One writer at a time: who has a session open, and the right to be the one."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from .errors import SessionBusyError, reported
from .files import Files
from .read_session import Paths


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session's files are, what they are written through, and who asks."""

    files: Files
    paths: Paths
    owner: str
    now: Callable[[], datetime]


def this_process(program: str, now: datetime) -> str:
    """How a lock's owner is named to others."""
    return f"{program} (process {os.getpid()} on {socket.gethostname()}, since {now:%Y-%m-%d %H:%M:%S} UTC)"


def locked(place: Place) -> Callable[[], None]:
    """Keep every other writer out of a session until the function that is returned is called.

    The lock of a process that died is taken over. Raises SessionBusyError, with the owner of the lock.
    """
    files, paths = place.files, place.paths
    with reported("locking", paths.lock):
        files.make_folder(paths.folder)
        try:
            release = files.lock(paths.lock, place.owner.encode())
        except BlockingIOError:
            owner = _owner(place)
        else:
            return lambda: _unlock(place, release)
    raise SessionBusyError(paths.session_id, owner)


def _owner(place: Place) -> str:
    try:
        return place.files.read(place.paths.lock).decode("utf-8", "replace") or "another process"
    except OSError:
        return "another process"


def _unlock(place: Place, release: Callable[[], None]) -> None:
    try:
        with reported("unlocking", place.paths.lock):
            # While it is still held: whoever waits for it sees that the file is gone, and makes another.
            place.files.remove(place.paths.lock)
    finally:
        release()
