"""The machine's own file system, where it does something that a simulated one cannot."""

from __future__ import annotations

import builtins
import fcntl
import os
from pathlib import Path
from typing import Any

import pytest

from turnproof.session.store import Files, LocalFiles
from turnproof.session.store.files import write_whole

from .simfiles import SimFiles

FILES = LocalFiles()


def test_both_file_systems_are_one_to_a_store() -> None:
    for files in (FILES, SimFiles()):
        assert isinstance(files, Files)


def test_a_file_is_made_appended_to_cut_read_and_removed(tmp_path: Path) -> None:
    path = tmp_path / "a"
    for data in (b"one\n", b"two\n"):
        handle = FILES.append_to(path) if path.exists() else FILES.create(path)
        handle.write(data)
        handle.sync()
        handle.close()
    assert FILES.read(path) == b"one\ntwo\n"
    assert [FILES.read(path, last) for last in (0, 3, 100)] == [b"", b"wo\n", b"one\ntwo\n"]
    FILES.truncate(path, 4)
    assert FILES.read(path) == b"one\n"
    FILES.sync_folder(tmp_path)
    FILES.remove(path)
    FILES.remove(path)
    assert FILES.names(tmp_path) == FILES.names(tmp_path / "none") == []
    with pytest.raises(FileNotFoundError):
        FILES.append_to(path)


def test_what_the_system_writes_in_pieces_is_written_whole(tmp_path: Path) -> None:
    class Slow:
        def __init__(self) -> None:
            self.data = b""

        def write(self, data: memoryview) -> int:
            self.data += bytes(data[:3])
            return min(3, len(data))

    handle: Any = FILES.create(tmp_path / "a")
    handle.close()
    handle._file = slow = Slow()
    handle.write(b"0123456789")
    assert slow.data == b"0123456789"


def test_a_file_is_replaced_whole_or_not_at_all_and_nothing_is_left_beside(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_whole(FILES, path, b"old")

    class Broken(LocalFiles):
        def replace(self, source: Path, target: Path) -> None:
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_whole(Broken(), path, b"new")
    assert [(entry.name, entry.read_bytes()) for entry in tmp_path.iterdir()] == [("a.json", b"old")]


# Locks


def test_a_lock_keeps_out_everybody_else_until_it_is_let_go(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    release = FILES.lock(path, b"me")
    with pytest.raises(BlockingIOError):
        FILES.lock(path, b"you")
    assert path.read_bytes() == b"me"
    release()
    FILES.lock(path, b"you")()
    assert path.read_bytes() == b"you"


def test_what_a_dead_owner_left_in_the_file_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    path.write_bytes(b"a process with a very long name that died long ago")
    release = FILES.lock(path, b"me")
    assert path.read_bytes() == b"me"
    release()


def test_a_lock_on_a_file_that_was_removed_meanwhile_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its last holder removes it while we wait: whoever comes next would make another, and lock that."""
    path, locked = tmp_path / "a.lock", fcntl.flock
    calls = []

    def flock(descriptor: int, how: int) -> None:
        calls.append(descriptor)
        if len(calls) == 1:
            path.unlink()
        if len(calls) == 2:
            path.unlink()
            path.write_bytes(b"another file")
        locked(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    release = FILES.lock(path, b"me")
    assert len(calls) == 3
    assert path.read_bytes() == b"me"
    monkeypatch.undo()
    with pytest.raises(BlockingIOError):
        FILES.lock(path, b"you")
    release()


def test_a_program_that_is_started_meanwhile_does_not_hold_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really, opened = os.open, []

    def noting(*args: Any) -> int:
        opened.append(really(*args))
        return opened[-1]

    monkeypatch.setattr(os, "open", noting)
    release = FILES.lock(tmp_path / "a.lock", b"me")
    assert [os.get_inheritable(descriptor) for descriptor in opened] == [False]
    release()


def test_a_system_without_flock_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    really = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "fcntl":
            raise ImportError(name)
        return really(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(OSError, match="this system has no flock"):
        FILES.lock(tmp_path / "a.lock", b"me")
