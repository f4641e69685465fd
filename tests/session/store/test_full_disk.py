"""No room on the disk, from any operation on, for good or for a moment."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from turnproof.messages import same_history
from turnproof.session import TurnResult
from turnproof.session.store import FileStore, KeptSession, LocalFiles, StoreError, StoreFullError

from .kit import echo_session, said, sim_store
from .simfiles import SimFiles, SimHandle

TEXTS = ("hello", "look here", "again", "look there")


def made(files: SimFiles) -> tuple[FileStore, KeptSession]:
    store = sim_store(files, checkpoint_every=2)
    return store, store.create(echo_session(), session_id="s")


def operations_of_a_talk() -> tuple[int, int]:
    files = SimFiles()
    _, kept = made(files)
    before = files.operations
    for text in TEXTS:
        kept.send(text)
    return before, files.operations


FIRST, LAST = operations_of_a_talk()


@pytest.mark.parametrize("full_for", [1, 10**9], ids=["once", "for good"])
@pytest.mark.parametrize("full_at", range(FIRST + 1, LAST + 1))
def test_a_full_disk_is_told_and_costs_nothing_that_was_stored(full_at: int, full_for: int) -> None:
    files = SimFiles(full_at=full_at, full_for=full_for)
    store, kept = made(files)
    stored: list[str] = []
    taken: list[str] = []
    for text in TEXTS:
        try:
            result: TurnResult | None = kept.send(text)
            stored = [*taken, text]
        except StoreFullError as error:
            result = error.result
        if result is not None:
            taken.append(text)
        on_disk = said(store.load("s").state)
        assert on_disk[: len(stored)] == stored
    assert said(store.load("s").state)[: len(stored)] == stored, "also without the process"
    files.full_at = None
    kept.save()
    state = store.load("s").state
    assert said(state) == taken, "what was taken while there was no room is not lost"
    assert same_history(state.messages, kept.session.history.messages)
    assert store.load("s").problems == ()


def test_a_turn_is_not_begun_when_not_even_its_beginning_can_be_written() -> None:
    files = SimFiles()
    _, kept = made(files)
    files.full_at = files.operations
    with pytest.raises(StoreFullError, match=r"s\.jsonl: writing the log failed: No space left.*Make room") as caught:
        kept.send("hello")
    assert caught.value.result is None
    assert kept.session.provider.requests == []  # type: ignore[union-attr]
    assert not kept.session.history


@pytest.mark.parametrize("full_at", range(1, FIRST + 1))
def test_a_session_that_cannot_be_made_leaves_its_name_free(full_at: int) -> None:
    files = SimFiles(full_at=full_at)
    with pytest.raises(StoreFullError):
        made(files)
    files.full_at = None
    assert files.locks == {}
    _, kept = made(files) if not sim_store(files).list_sessions().sessions else (None, None)
    assert kept is None or kept.send("hello").text == "You said: hello"


def test_a_session_that_is_closed_on_a_full_disk_can_be_opened_again() -> None:
    files = SimFiles()
    store, kept = made(files)
    kept.send("hello")
    kept.send("again")
    files.full_at = files.operations
    with pytest.raises(StoreFullError):
        kept.close()
    files.full_at = None
    with store.resume(echo_session(), "s") as resumed:
        assert said(resumed.state) == ["hello", "again"]


def test_other_failures_of_the_disk_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: SimHandle) -> None:
        raise OSError(errno.EIO, "Input/output error")

    files = SimFiles()
    _, kept = made(files)
    monkeypatch.setattr(SimHandle, "sync", fail)
    with pytest.raises(StoreError, match=r"s\.jsonl: writing the log failed: Input/output error") as caught:
        kept.send("hello")
    assert not isinstance(caught.value, StoreFullError)
    assert isinstance(caught.value.__cause__, OSError)


def test_after_a_failed_sync_everything_since_the_last_one_is_written_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel forgets what it could not write: a second sync of the same pages would succeed and mean nothing."""

    def fail_and_forget(handle: SimHandle) -> None:
        handle.node.since.clear()
        raise OSError(errno.ENOSPC, "No space left on device")

    files = SimFiles()
    _, kept = made(files)
    kept.send("hello")
    with monkeypatch.context() as once:
        once.setattr(SimHandle, "sync", fail_and_forget)
        with pytest.raises(StoreFullError):
            kept.send("look here")
    kept.send("again")
    assert said(sim_store(files.after(luck=False)).load("s").state) == ["hello", "look here", "again"]


def test_a_real_disk_that_is_full_is_told_as_such(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    handle = LocalFiles().append_to(full)
    with pytest.raises(OSError, match="No space left"):
        handle.write(b"x")
    handle.close()
