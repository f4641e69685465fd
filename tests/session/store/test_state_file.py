"""The state file is never believed over the log, and writing it costs no more than what is new."""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from turnproof.messages import Message
from turnproof.session.store import FileStore, ForkedSessionError
from turnproof.session.store.files import LocalFiles

from .kit import FOLDER, echo_session, numbered_from, sim_store, texts
from .simfiles import SimFiles

STATE, LOG = FOLDER / "s.json", FOLDER / "s.jsonl"
TALK = ["hello", "You said: hello"]


def talked(files: SimFiles) -> FileStore:
    store = sim_store(files)
    with store.create(echo_session(), session_id="s") as kept_session:
        kept_session.send("hello")
    return store


def rewrite(files: SimFiles, path: Path, change: Callable[[bytes], bytes]) -> None:
    data = change(files.read(path))
    files.create(path).write(data)


def edited(data: bytes) -> bytes:
    return data.replace(b"You said: hello", b"You said: never")


def resealed(data: bytes) -> bytes:
    """With the right checksum of the wrong words, and of the record of another log."""
    record = re.sub(rb'"record":"[0-9a-f]{8}"', b'"record":"00000000"', edited(data))
    rest = record[record.index(b'"record"') :]
    return b'{"crc":"%08x",' % zlib.crc32(rest) + rest


def unsealed(data: bytes) -> bytes:
    return b"{" + edited(data)[data.index(b'"format"') :]


def reformatted(data: bytes) -> bytes:
    return json.dumps(json.loads(edited(data)), indent=1).encode()


@pytest.mark.parametrize("change", [edited, resealed, unsealed, reformatted])
def test_a_state_that_says_something_else_than_the_log_is_not_believed(change: Callable[[bytes], bytes]) -> None:
    files = SimFiles()
    store = talked(files)
    rewrite(files, STATE, change)
    loaded = store.load("s")
    assert texts(loaded.state) == TALK
    (problem,) = loaded.problems
    assert "damaged, and built anew from the log" in str(problem)
    with store.resume(echo_session(ids=numbered_from(50)), "s") as kept_session:
        kept_session.send("on")
    again = store.load("s")
    assert texts(again.state)[:2] == TALK
    assert again.problems == ()
    assert "s.json.spoiled-1" in files.names(FOLDER)


def test_a_state_of_another_session_is_not_believed() -> None:
    files = SimFiles()
    store = talked(files)
    with store.create(echo_session(), session_id="other") as kept_session:
        kept_session.send("something else")
    files.create(STATE).write(files.read(FOLDER / "other.json"))
    loaded = store.load("s")
    assert texts(loaded.state) == TALK
    assert "it belongs to another log" in str(loaded.problems[0])


def test_a_state_without_checksums_is_read_as_before() -> None:
    files = SimFiles()
    store = talked(files)
    rewrite(files, STATE, lambda data: b"{" + data[data.index(b'"format"') :])
    loaded = store.load("s")
    assert texts(loaded.state) == TALK
    assert loaded.problems == ()


def test_the_loss_of_the_logs_beginning_is_told() -> None:
    files = SimFiles()
    store = talked(files)
    rewrite(files, LOG, lambda data: data.partition(b"\n")[2])
    loaded = store.load("s")
    assert texts(loaded.state) == TALK
    assert "its beginning is missing: the first record that is there is number 2" in str(loaded.problems[0])


def test_an_edited_state_that_the_log_cannot_replace_is_used_and_told() -> None:
    files = SimFiles()
    store = talked(files)
    rewrite(files, LOG, lambda data: data.partition(b"\n")[2])
    rewrite(files, STATE, edited)
    loaded = store.load("s")
    assert texts(loaded.state) == ["hello", "You said: never"]
    assert any("it does not match its checksum" in str(problem) for problem in loaded.problems)


# -- what writing costs -----------------------------------------------------------------------------------------------


class Counting(LocalFiles):
    """A file system that counts the bytes that are written into whole files."""

    states = 0

    def replace(self, source: Path, target: Path) -> None:
        self.states += source.stat().st_size
        super().replace(source, target)


def test_what_is_written_of_a_long_session_is_linear_in_what_is_new(tmp_path: Path) -> None:
    files = Counting()
    store = FileStore(tmp_path, files=files, checkpoint_every=1)
    session = echo_session()
    session.reset([Message.user("x" * 1000) for _ in range(1000)])
    with store.create(session, session_id="s") as kept_session:
        kept_session.send("the first turn is in every list")
        files.states = 0
        for _ in range(50):
            kept_session.send("y" * 100)
    for number in range(5):
        with store.resume(echo_session(ids=numbered_from(10_000 + 100 * number)), "s") as kept_session:
            kept_session.send("z")
    assert files.states == 0  # before: 55 states of a megabyte
    with store.resume(echo_session(ids=numbered_from(20_000)), "s") as kept_session:
        kept_session.send("w" * 2_000_000)
    assert files.states > 1_000_000
    loaded = store.load("s")
    assert loaded.problems == ()
    assert len(loaded.state.messages) == 1000 + 2 * 57


def test_a_new_description_is_in_the_list_however_long_the_session(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    session = echo_session()
    session.reset([Message.user("x" * 1000) for _ in range(200)])
    with store.create(session, session_id="s") as kept_session:
        kept_session.describe("about water")
    assert store.list_sessions().sessions[0].title == "about water"


# -- forks of the process ----------------------------------------------------------------------------------------------


def in_a_copy(act: Callable[[], object]) -> str:
    """What the act raises in a forked process."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            act()
            outcome = "nothing"
        except BaseException as error:
            outcome = f"{type(error).__name__}: {error}"
        os.write(into, outcome.encode())
        os._exit(0)
    os.close(into)
    with os.fdopen(out) as file:
        outcome = file.read()
    os.waitpid(child, 0)
    return outcome


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_session_that_is_open_belongs_to_the_process_that_opened_it(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    with store.create(echo_session(), session_id="s") as kept_session:
        kept_session.send("hello")
        actions: list[Callable[[], object]] = [
            lambda: kept_session.send("from the copy"),
            lambda: kept_session.describe("from the copy"),
            kept_session.save,
            lambda: kept_session.change(lambda session: session.reset([])),
        ]
        for act in actions:
            outcome = in_a_copy(act)
            assert outcome.startswith(f"ForkedSessionError: session 's' was opened in process {os.getpid()}")
        assert in_a_copy(kept_session.close) == "nothing"
        assert "SessionBusyError" in in_a_copy(lambda: store.resume(echo_session(), "s"))
        kept_session.send("still here")
    loaded = store.load("s")
    assert texts(loaded.state) == [*TALK, "still here", "You said: still here"]
    assert loaded.problems == ()


def test_the_error_says_whose_the_session_is() -> None:
    error = ForkedSessionError("s", 7)
    assert (error.session_id, error.owner) == ("s", 7)
