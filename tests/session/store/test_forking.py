"""A client begins, copies and deletes sessions, and a store copies one: what is left alone, and what goes on."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import pytest

from session.fakes import tool
from turnproof.errors import UsageError
from turnproof.messages import same_history
from turnproof.session.persistence import Connection, SessionState
from turnproof.session.store import (
    Client,
    FileStore,
    SessionBusyError,
    SessionManager,
    StoreError,
    StoreFullError,
    UnknownSessionError,
)

from .kit import FOLDER, echo_session, numbered_from, sim_store, typed_texts
from .simfiles import SimFiles
from .test_fifo import started
from .test_manager import Opened, gated, managed, texts_of

MANAGERS: WeakKeyDictionary[Client, SessionManager] = WeakKeyDictionary()


def talking(*typed: str, **options: Any) -> Client:
    manager = managed(**options)
    client = manager.create(session_id="s", workspace="/w", connection=Connection("anthropic", "m"))
    MANAGERS[client] = manager
    for text in typed:
        client.send(text)
    return client


def store_of(client: Client) -> FileStore:
    return MANAGERS[client].store


def files_of(client: Client) -> SimFiles:
    files = store_of(client)._files
    assert isinstance(files, SimFiles)
    return files


def state(client: Client, name: str) -> SessionState:
    return store_of(client).load(name).state


# Beginning anew


def test_a_new_session_begins_with_what_is_said_next_for_the_same_provider_and_workspace() -> None:
    client = talking("hello")
    client.new_session()
    assert (client.session_id, client.messages, client.stop()) == (None, [], False)
    assert MANAGERS[client].loaded == ()
    assert len(store_of(client).list_sessions().sessions) == 1, "nothing was said in the new one"
    client.send("again")
    new_id = client.session_id
    assert new_id not in (None, "s")
    assert texts_of(client.messages) == ["again", "You said: again"]
    found = state(client, str(new_id))
    assert (typed_texts(found), found.workspace, found.connection) == (["again"], "/w", Connection("anthropic", "m"))
    assert typed_texts(state(client, "s")) == ["hello"]


def test_a_new_session_that_was_begun_in_vain_is_given_up_for_another() -> None:
    client = talking("hello")
    client.new_session()
    client.resume_session("s")
    client.send("again")
    assert typed_texts(state(client, "s")) == ["hello", "again"]
    client.new_session()
    client.detach()
    with pytest.raises(UsageError, match="this client is detached"):
        client.send("nobody hears")


def test_others_stay_in_the_session_that_one_leaves() -> None:
    client = talking("hello")
    other = MANAGERS[client].attach("s")
    client.new_session()
    client.send("elsewhere")
    other.send("here")
    assert typed_texts(state(client, "s")) == ["hello", "here"]


def test_two_threads_that_speak_first_speak_in_one_session() -> None:
    client = talking("hello")
    client.new_session()
    for thread in [started(lambda: client.send("mine")) for _ in range(4)]:
        thread.join(60)
    assert typed_texts(state(client, str(client.session_id))) == ["mine"] * 4


def test_a_setting_made_before_the_first_turn_makes_the_new_session() -> None:
    client = talking("hello")
    client.new_session()
    client.change(lambda session: session.set_system("be brief"))
    assert state(client, str(client.session_id)).system == "be brief"
    assert state(client, "s").system is None


# Copying


def test_a_fork_goes_on_in_a_copy_and_leaves_the_session_as_it_is() -> None:
    client = talking("hello", "look here")
    before = state(client, "s")
    copy = client.fork_session()
    assert client.session_capabilities.can_fork
    assert client.session_id == copy != "s"
    assert MANAGERS[client].loaded == (copy,)
    client.send("only in the copy")
    assert same_history(state(client, "s").messages, before.messages)
    assert typed_texts(state(client, copy)) == ["hello", "look here", "only in the copy"]
    assert (state(client, copy).workspace, state(client, copy).connection) == ("/w", before.connection)
    client.resume_session("s")
    client.send("only in the first")
    assert typed_texts(state(client, copy))[-1] == "only in the copy"


def test_a_fork_has_what_was_changed_since_the_last_turn() -> None:
    client = talking("hello")
    client.kept_session.session.set_system("be brief")
    assert state(client, client.fork_session()).system == "be brief"


@pytest.mark.parametrize("operation", range(1, 10))
def test_a_fork_that_fails_leaves_the_client_where_it_was_and_nothing_behind(operation: int) -> None:
    client = talking("hello")
    files = files_of(client)
    files.full_at = files.operations + operation
    with pytest.raises(StoreFullError):
        client.fork_session()
    files.full_at = None
    assert client.session_id == "s"
    assert client.send("again").text == "You said: again"
    assert [info.session_id for info in client.list_sessions().sessions] == ["s"]


def test_a_copy_that_cannot_be_gone_to_is_removed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    client = talking("hello")

    def refuse(client: Client, session_id: str) -> None:
        raise StoreError("not now")

    monkeypatch.setattr(client._sessions, "join", refuse)
    with pytest.raises(StoreError, match="not now"):
        client.fork_session()
    assert client.session_id == "s"
    assert [info.session_id for info in client.list_sessions().sessions] == ["s"]


def test_there_is_nothing_to_fork_before_anything_was_said() -> None:
    client = talking("hello")
    client.new_session()
    with pytest.raises(UsageError, match="no session yet that could be forked"):
        client.fork_session()


def test_a_fork_from_inside_a_turn_is_refused() -> None:
    refused: list[str] = []

    def look(args: Any, token: Any) -> str:
        for attempt in (client.fork_session, client.new_session, lambda: client.delete_session("s")):
            with pytest.raises(UsageError, match="from inside one of its own turns") as failure:
                attempt()
            refused.append(str(failure.value))
        return "seen"

    client = managed(Opened(tools=[tool(run=look)])).create(session_id="s")
    client.send("look")
    assert len(refused) == 3
    assert client.send("still here").text == "You said: still here"
    assert client.session_id == "s"


def test_a_store_copies_a_session_under_a_new_id_and_the_copy_outlives_the_first() -> None:
    store = sim_store(SimFiles())
    with store.create(echo_session(), session_id="s", description="a talk", workspace="/w") as kept_session:
        kept_session.send("hello")
        copy = store.fork("s", session_id="copy")
    assert copy == "copy"
    first, second = store.load("s").state, store.load("copy").state
    assert same_history(first.messages, second.messages)
    assert (second.title, second.workspace, typed_texts(second)) == ("a talk", "/w", ["hello"])
    assert second.updated_at > first.updated_at
    store.delete("s")
    with store.resume(echo_session(ids=numbered_from(9)), "copy") as again:
        again.send("and on")
    assert typed_texts(store.load("copy").state) == ["hello", "and on"]
    with pytest.raises(StoreError, match="there is a session 'copy' already"):
        store.fork("copy", session_id="copy")
    with pytest.raises(UnknownSessionError):
        store.fork("s")


def test_a_copy_can_be_built_from_its_log_alone() -> None:
    files = SimFiles()
    store = sim_store(files)
    with store.create(echo_session(), session_id="s") as kept_session:
        kept_session.send("hello")
    store.fork("s", session_id="copy")
    files.remove(FOLDER / "copy.json")
    assert same_history(store.load("copy").state.messages, store.load("s").state.messages)


# Deleting


def test_the_session_that_is_open_can_be_deleted_and_the_next_turn_begins_another() -> None:
    client = talking("hello")
    client.delete_session("s")
    assert (client.session_id, client.messages) == (None, [])
    assert list(client.list_sessions().sessions) == []
    client.send("again")
    found = state(client, str(client.session_id))
    assert (typed_texts(found), found.workspace) == (["again"], "/w")


def test_another_session_can_be_deleted_and_the_open_one_stays() -> None:
    client = talking("hello")
    with MANAGERS[client].create(session_id="other"):
        pass
    client.delete_session("other")
    assert client.session_id == "s"
    assert [info.session_id for info in client.list_sessions().sessions] == ["s"]


def test_a_session_that_others_are_on_is_not_deleted() -> None:
    client = talking("hello")
    other = MANAGERS[client].attach("s")
    with pytest.raises(SessionBusyError, match="for another client"):
        client.delete_session("s")
    assert (client.session_id, other.send("still here").text) == ("s", "You said: still here")


def test_a_deletion_waits_for_the_turn_that_runs() -> None:
    manager, gate = gated()
    client = manager.create(session_id="s")
    running = started(lambda: client.send("hello"))
    gate.call_began.wait(60)
    deleting = started(lambda: client.delete_session("s"))
    while client._on is not None and client._on.line.waiting != 1:
        pass
    gate.answers.set()
    running.join(60)
    deleting.join(60)
    assert client.session_id is None
    assert list(manager.store.list_sessions().sessions) == []


@pytest.mark.parametrize("name", ["nobody", "1"])
def test_only_an_id_is_resumed_or_deleted_and_never_a_number_in_a_list(name: str) -> None:
    client = talking("hello")
    client.detach()
    for attempt in (client.delete_session, client.resume_session):
        with pytest.raises(UnknownSessionError, match=f"no session {name!r}"):
            attempt(name)
    assert typed_texts(state(client, "s")) == ["hello"]
