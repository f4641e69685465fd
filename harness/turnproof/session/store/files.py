"""The few things that a store asks of a file system, so that a test can put one under it that fails on purpose.

What is written is safe only after `sync`; a new name, or one that was replaced or removed, only after `sync_folder`.
Every method raises OSError.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol, runtime_checkable


class Handle(Protocol):
    """A file that is open for writing at its end."""

    def write(self, data: bytes) -> None:
        """Write all of it, or raise; a part of it may then be there."""

    def sync(self) -> None:
        """Return once everything that was written survives a loss of power."""

    def close(self) -> None:
        """Let go of the file."""


@runtime_checkable
class Files(Protocol):
    """A file system."""

    def read(self, path: Path, last: int | None = None) -> bytes:
        """The content of a file, or its `last` bytes."""

    def names(self, folder: Path) -> list[str]:
        """What stands in a folder, in no order; nothing if there is no folder."""

    def make_folder(self, folder: Path) -> None:
        """Make a folder, for this user alone, with those above it; it may be there."""

    def create(self, path: Path) -> Handle:
        """An empty file for this user alone, in place of any that was there."""

    def append_to(self, path: Path) -> Handle:
        """A file that is there."""

    def truncate(self, path: Path, size: int) -> None:
        """Shorten a file to so many bytes."""

    def replace(self, source: Path, target: Path) -> None:
        """Give a file another name, at one stroke, in place of any that had it."""

    def remove(self, path: Path) -> None:
        """Remove a file; it may be gone."""

    def sync_folder(self, folder: Path) -> None:
        """Return once the names in a folder survive a loss of power."""

    def lock(self, path: Path, owner: bytes) -> Callable[[], None]:
        """Keep others out for as long as this process lives; returns what lets them in again.

        `owner` is written into the file. Raises BlockingIOError while somebody else holds the lock; a holder that died
        holds nothing any more.
        """


class _LocalHandle:
    def __init__(self, path: Path, flags: int) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | flags, 0o600)
        self._file = os.fdopen(descriptor, "ab", buffering=0)

    def write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self._file.write(rest) :]

    def sync(self) -> None:
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


class LocalFiles:
    """The machine's own file system. Locks need one that has `flock`: Linux, macOS."""

    def read(self, path: Path, last: int | None = None) -> bytes:
        """The content of a file, or its `last` bytes."""
        with path.open("rb") as file:
            if last is not None:
                file.seek(-min(last, os.fstat(file.fileno()).st_size), os.SEEK_END)
            return file.read()

    def names(self, folder: Path) -> list[str]:
        """What stands in a folder."""
        try:
            return [entry.name for entry in folder.iterdir()]
        except FileNotFoundError:
            return []

    def make_folder(self, folder: Path) -> None:
        """With mode 0700."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def create(self, path: Path) -> Handle:
        """With mode 0600."""
        return _LocalHandle(path, os.O_CREAT | os.O_TRUNC)

    def append_to(self, path: Path) -> Handle:
        """A file that is there."""
        return _LocalHandle(path, 0)

    def truncate(self, path: Path, size: int) -> None:
        """Shorten a file."""
        os.truncate(path, size)

    def replace(self, source: Path, target: Path) -> None:
        """Rename."""
        source.replace(target)

    def remove(self, path: Path) -> None:
        """Unlink."""
        path.unlink(missing_ok=True)

    def sync_folder(self, folder: Path) -> None:
        """The folder's own entry list."""
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def lock(self, path: Path, owner: bytes) -> Callable[[], None]:
        """An `flock`, which the kernel takes back from a process that died, whatever it left in the file."""
        try:
            import fcntl
        except ImportError:
            raise OSError(errno.ENOSYS, "this system has no flock") from None
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _still_there(path, descriptor):
                    os.truncate(descriptor, 0)
                    os.pwrite(descriptor, owner, 0)
                    return lambda: os.close(descriptor)
            except BaseException:
                os.close(descriptor)
                raise
            # Its last holder has removed the file between our open and our lock: what we hold keeps nobody out.
            os.close(descriptor)


def _still_there(path: Path, descriptor: int) -> bool:
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    return os.path.samestat(there, os.fstat(descriptor))


def scratch(path: Path) -> Path:
    """Where the new content of a file is written; a crash may leave it there."""
    return path.with_name(f".{path.name}.new")


def write_whole(files: Files, path: Path, data: bytes) -> None:
    """Give a file this content: after it, or after a crash at any moment, it has the old one or the new one."""
    new = scratch(path)
    try:
        handle = files.create(new)
        try:
            handle.write(data)
            handle.sync()
        finally:
            handle.close()
        files.replace(new, path)
    except BaseException:
        with suppress(OSError):  # the failure that led here says more
            files.remove(new)
        raise
    files.sync_folder(path.parent)
