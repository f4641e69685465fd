"""`turnproof sessions` of a store."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from session.store.kit import echo_session

from turnproof.session.persistence import Connection
from turnproof.session.store import FileStore

from .kit import Run, rows


@pytest.fixture
def store(folder: Path) -> FileStore:
    """Two sessions, an hour apart."""
    file_store = FileStore("kept", clock=iter(range(1_700_000_000, 1_790_000_000, 3600)).__next__)
    for name, text in (("alpha", "look here"), ("beta", "hello")):
        with file_store.create(echo_session(), session_id=name, connection=Connection("echo", "old-model")) as session:
            session.send(text)
    return file_store


def test_the_sessions_of_a_store_are_listed_and_told_also_while_they_are_open(store: FileStore, run: Run) -> None:
    assert rows(run("list", "--store", "kept").out) == ["beta", "alpha"]
    assert run("list", "--store", "kept", "--cwd", ".").err[0].startswith("the store kept has no session in ")
    with store.resume(echo_session(), "alpha"):
        done = run("info", "--store", "kept", "2")
    assert done.code == 0
    assert "user: look here" in done.out
    assert 'model: calls look {"at": "look here"}' in done.out


def test_a_session_of_a_store_goes_on_with_an_adapter_and_the_model_it_had(store: FileStore, run: Run) -> None:
    done = run("resume", "--store", "kept", "--adapter", "their_echo:ECHO", "beta", "and on", "--system", "be brief")
    assert done == (0, "You said: and on\n", ["session: beta"])
    state = store.load("beta").state
    assert [one.text for one in state.inputs] == ["hello", "and on"]
    assert state.system == "be brief"
    assert sys.modules["their_echo"].OPENED[0].model == "old-model"
    assert run("resume", "--store", "kept", "--adapter", "their_echo:ECHO=new", "--last", "more").code == 0
    assert sys.modules["their_echo"].OPENED[1].model == "new"
    assert store.load("beta").state.connection == Connection("echo", "new")


def test_a_store_alone_has_nobody_who_answers(store: FileStore, run: Run) -> None:
    done = run("resume", "--store", "kept", "beta", "and on")
    assert (done.code, done.err[0]) == (2, "error: a store has no model: name an adapter with --adapter NAME")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "error: a store has no model"),
        (("--adapter", "nosuch"), "error: unknown adapter 'nosuch'"),
        (("--adapter", "their_echo:ECHO"), "error: 'their_echo:ECHO' needs a key: set TURNPROOF_API_KEY or "),
    ],
)
def test_no_prompt_is_asked_for_where_nobody_could_answer(
    store: FileStore, run: Run, monkeypatch: pytest.MonkeyPatch, words: Sequence[str], says: str
) -> None:
    monkeypatch.delenv("TURNPROOF_API_KEY")
    done = run("resume", "--store", "kept", "--last", *words, stdin="typed in vain", terminal=True)
    assert done.code == 2
    assert done.err[0].startswith(says)


def test_a_session_of_a_store_that_is_open_elsewhere_is_refused(store: FileStore, run: Run) -> None:
    with store.resume(echo_session(), "beta"):
        for words in (("resume", "--adapter", "their_echo:ECHO", "beta", "x"), ("delete", "beta", "--yes")):
            done = run(*words, "--store", "kept")
            assert done.code == 2
            assert "session 'beta' is open in " in done.err[0]
    assert run("delete", "--store", "kept", "be", "--yes").out == "beta\n"
    assert [info.session_id for info in store.list_sessions().sessions] == ["alpha"]


def test_the_last_of_an_empty_store_is_nobody(folder: Path, run: Run) -> None:
    (folder / "empty").mkdir()
    done = run("resume", "--store", "empty", "--adapter", "their_echo:ECHO", "--last", "x")
    assert (done.code, done.err[0]) == (2, "error: the store empty has no session")
