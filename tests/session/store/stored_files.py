"""A store whose files the tests look into and change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from turnproof.session.store import FileStore

from .kit import FOLDER, echo_session, sim_store
from .simfiles import SimFiles

LOG, STATE = FOLDER / "s.jsonl", FOLDER / "s.json"


def stored(*typed: str, name: str = "s", store: FileStore | None = None, **facts: Any) -> FileStore:
    """A store with a session in which this was said."""
    store = store or sim_store(SimFiles())
    with store.create(echo_session(), session_id=name, **facts) as kept_session:
        for text in typed:
            kept_session.send(text)
    return store


def files_of(store: FileStore) -> SimFiles:
    assert isinstance(store._files, SimFiles)
    return store._files


def rewrite(store: FileStore, path: Path, change: Callable[[bytes], bytes]) -> None:
    files = files_of(store)
    data = change(files.read(path))
    files.create(path).write(data)


def line_of(store: FileStore, number: int, change: Callable[[bytes], bytes]) -> None:
    """Change one line of the log, counted from 1."""

    def changed(data: bytes) -> bytes:
        lines = data.splitlines(keepends=True)
        lines[number - 1] = change(lines[number - 1])
        return b"".join(lines)

    rewrite(store, LOG, changed)


def garbled(line: bytes) -> bytes:
    return line.replace(b'"type"', b'"tipe"', 1)
