"""No room on the disk, from any operation on, for good or for a moment."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from turnproof.messages import same_history
from turnproof.session import TurnResult
from turnproof.session.store import FileStore, KeptSession, LocalFiles, StoreError, StoreFullError

from .kit import echo_session, sim_store, typed_texts
from .simfiles import SimFiles, SimHandle

TEXTS = ("hello", "look here", "again", "look there")


def open_store(files: SimFiles) -> tuple[FileStore, KeptSession]:
    store = sim_store(files, checkpoint_every=2)
    return store, store.create(echo_session(), session_id="s")


def operations_of_a_talk() -> tuple[int, int]:
    files = SimFiles()
    _, kept_session = open_store(files)
    before = files.operations
    for text in TEXTS:
        kept_session.send(text)
    return before, files.operations


FIRST, LAST = operations_of_a_talk()


@pytest.mark.parametrize("full_for", [1, 10**9], ids=["once", "for good"])
@pytest.mark.parametrize("full_at", range(FIRST + 1, LAST + 1))
def test_a_full_disk_is_told_and_costs_nothing_that_was_stored(full_at: int, full_for: int) -> None:
    files = SimFiles(full_at=full_at, full_for=full_for)
    store, kept_session = open_store(files)
    stored: list[str] = []
    texts: list[str] = []
    for text in TEXTS:
        try:
            result: TurnResult | None = kept_session.send(text)
            stored = [*texts, text]
        except StoreFullError as error:
            result = error.result
        if result is not None:
            texts.append(text)
        on_disk = typed_texts(store.load("s").state)
        assert on_disk[: len(stored)] == stored
    assert typed_texts(store.load("s").state)[: len(stored)] == stored, "also without the process"
    files.full_at = None
    kept_session.save()
    state = store.load("s").state
    assert typed_texts(state) == texts, "what was taken while there was no room is not lost"
    assert same_history(state.messages, kept_session.session.history.messages)
    assert store.load("s").problems == ()


def test_a_turn_is_not_begun_when_not_even_its_beginning_can_be_written() -> None:
    files = SimFiles()
    _, kept_session = open_store(files)
    files.full_at = files.operations
    with pytest.raises(StoreFullError, match=r"s\.jsonl: writing the log failed: No space left.*Make room") as failure:
        kept_session.send("hello")
    assert failure.value.result is None
    assert kept_session.session.provider.requests == []  # type: ignore[union-attr]
    assert not kept_session.session.history


@pytest.mark.parametrize("full_at", range(1, FIRST + 1))
def test_a_session_that_cannot_be_made_leaves_its_name_free(full_at: int) -> None:
    files = SimFiles(full_at=full_at)
    with pytest.raises(StoreFullError):
        open_store(files)
    files.full_at = None
    assert files.locks == {}
    _, kept_session = open_store(files) if not sim_store(files).list_sessions().sessions else (None, None)
    assert kept_session is None or kept_session.send("hello").text == "You said: hello"


def test_a_session_that_is_closed_on_a_full_disk_can_be_opened_again() -> None:
    files = SimFiles()
    store, kept_session = open_store(files)
    kept_session.send("hello")
    kept_session.send("again")
    files.full_at = files.operations
    with pytest.raises(StoreFullError):
        kept_session.close()
    files.full_at = None
    with store.resume(echo_session(), "s") as resumed:
        assert typed_texts(resumed.state) == ["hello", "again"]


def test_other_failures_of_the_disk_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: SimHandle) -> None:
        raise OSError(errno.EIO, "Input/output error")

    files = SimFiles()
    _, kept_session = open_store(files)
    monkeypatch.setattr(SimHandle, "sync", fail)
    with pytest.raises(StoreError, match=r"s\.jsonl: writing the log failed: Input/output error") as failure:
        kept_session.send("hello")
    assert not isinstance(failure.value, StoreFullError)
    assert isinstance(failure.value.__cause__, OSError)


def test_after_a_failed_sync_everything_since_the_last_one_is_written_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel forgets what it could not write: a second sync of the same pages would succeed and mean nothing."""

    def fail_and_forget(handle: SimHandle) -> None:
        handle.node.since.clear()
        raise OSError(errno.ENOSPC, "No space left on device")

    files = SimFiles()
    _, kept_session = open_store(files)
    kept_session.send("hello")
    with monkeypatch.context() as once:
        once.setattr(SimHandle, "sync", fail_and_forget)
        with pytest.raises(StoreFullError):
            kept_session.send("look here")
    kept_session.send("again")
    assert typed_texts(sim_store(files.after(luck=False)).load("s").state) == ["hello", "look here", "again"]


def test_a_real_disk_that_is_full_is_told_as_such(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    handle = LocalFiles().append_to(full)
    with pytest.raises(OSError, match="No space left"):
        handle.write(b"x")
    handle.close()
