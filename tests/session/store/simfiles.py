"""A file system in memory that can lose power, and can be full.

SIGKILL cannot show a missing fsync: the kernel writes on after the process is dead. Here nothing is safe before it was
synced. Whatever was written since then may be on the disk, or not, or in part, and in any order; a new name counts only
once its folder was synced.
"""

from __future__ import annotations

import errno
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class PowerCut(BaseException):
    """The machine is off. No exception handler of the code under test outlives it."""


@dataclass
class Node:
    """A file: what a reader sees, what is safe, and what was done since."""

    data: bytes = b""
    safe: bytes = b""
    since: list[Callable[[bytes, random.Random | None], bytes]] = field(default_factory=list)


@dataclass
class SimFiles:
    """`dies_at` is the operation at which the power goes (counted from 1), `full_at` that from which on there is no
    room; with `full_for` there is room again after so many."""

    dies_at: int | None = None
    full_at: int | None = None
    full_for: int = 10**9
    operations: int = 0
    names_now: dict[Path, Node] = field(default_factory=dict)
    names_safe: dict[Path, Node] = field(default_factory=dict)
    names_since: list[Callable[[dict[Path, Node]], None]] = field(default_factory=list)
    locks: dict[Path, bytes] = field(default_factory=dict)

    # What can happen to an operation

    def _step(self, *, needs_room: bool = False) -> None:
        if self.dies_at is not None and self.operations >= self.dies_at:
            raise PowerCut
        self.operations += 1
        if self.operations == self.dies_at:
            raise PowerCut
        if needs_room and self._is_full():
            raise OSError(errno.ENOSPC, "No space left on device")

    def _is_full(self) -> bool:
        return self.full_at is not None and self.full_at <= self.operations < self.full_at + self.full_for

    # Files

    def read(self, path: Path, last: int | None = None) -> bytes:
        if path not in self.names_now:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory")
        data = self.names_now[path].data
        return data if last is None else data[-last:]

    def names(self, folder: Path) -> list[str]:
        return [path.name for path in self.names_now if path.parent == folder]

    def make_folder(self, folder: Path) -> None:
        self._step(needs_room=True)

    def create(self, path: Path) -> SimHandle:
        self._step(needs_room=True)
        node = Node()
        self._name(lambda names: names.__setitem__(path, node))
        return SimHandle(self, node)

    def append_to(self, path: Path) -> SimHandle:
        if path not in self.names_now:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory")
        return SimHandle(self, self.names_now[path])

    def truncate(self, path: Path, size: int) -> None:
        self._step()
        node = self.names_now[path]
        assert size <= len(node.data), "a file must not grow by being cut"
        node.data = node.data[:size]
        node.since.append(lambda data, _: data[:size])

    def replace(self, source: Path, target: Path) -> None:
        self._step(needs_room=True)
        self._name(lambda names: names.__setitem__(target, names.pop(source)) if source in names else None)

    def remove(self, path: Path) -> None:
        self._step()
        self._name(lambda names: _forget(names, path))

    def sync_folder(self, folder: Path) -> None:
        self._step(needs_room=True)
        self.names_safe, self.names_since = dict(self.names_now), []

    def lock(self, path: Path, owner: bytes) -> Callable[[], None]:
        self._step(needs_room=True)
        if path in self.locks:
            raise BlockingIOError(errno.EWOULDBLOCK, "locked")
        self.locks[path] = owner
        self._name(lambda names: names.__setitem__(path, Node(owner)))
        return lambda: _forget(self.locks, path)

    def _name(self, change: Callable[[dict[Path, Node]], None]) -> None:
        change(self.names_now)
        self.names_since.append(change)

    # After the power cut

    def after(self, luck: random.Random | bool) -> SimFiles:
        """The disk when the machine is on again.

        With luck (True) everything is there that was ever written, without (False) only what was synced; a generator
        chooses for each change since then whether it, or a part of it, or something else in its place is there.
        """

        def happened() -> bool:
            return luck if isinstance(luck, bool) else luck.random() < 0.5

        names = dict(self.names_safe)
        for rename in self.names_since:
            if happened():
                rename(names)
        back = SimFiles()
        for path, node in names.items():
            data = node.safe
            for change in node.since:
                if happened():
                    data = change(data, None if isinstance(luck, bool) else luck)
            new_node = Node(data, data)
            back.names_now[path] = back.names_safe[path] = new_node
        return back


def _forget(names: dict[Path, Any], path: Path) -> None:
    names.pop(path, None)


@dataclass
class SimHandle:
    """A file that is open for writing at its end."""

    files: SimFiles
    node: Node

    def write(self, data: bytes) -> None:
        try:
            self.files._step(needs_room=True)
        except (PowerCut, OSError):
            self._put(data[: len(data) // 2])
            raise
        self._put(data)

    def sync(self) -> None:
        self.files._step(needs_room=True)
        self.node.safe, self.node.since = self.node.data, []

    def close(self) -> None:
        pass

    def _put(self, data: bytes) -> None:
        at = len(self.node.data)
        self.node.data += data

        def change(before: bytes, luck: random.Random | None) -> bytes:
            written = data
            if luck is not None and luck.random() < 0.5:
                cut = luck.randrange(len(data) + 1)
                # Either the end has not come to the disk, or the file was made longer and its blocks are still empty.
                written = data[:cut] + bytes(len(data) - cut) * luck.randrange(2)
            return before[:at].ljust(at, b"\0") + written + before[at + len(written) :]

        self.node.since.append(change)
