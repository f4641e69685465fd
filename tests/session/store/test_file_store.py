"""Stored sessions are resumed, found, listed and deleted; one writer at a time; what comes from elsewhere."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from session.fakes import PATHS, FakeLegacy, FakeStateless, call, open_session, reply, tool
from turnproof.errors import UsageError
from turnproof.session import SavedSessionError, Session
from turnproof.session.persistence import Connection, SessionState
from turnproof.session.store import FileStore, SessionBusyError, StoreError, UnknownSessionError
from turnproof.sessions import SessionLister, every_session

from .kit import FOLDER, Echo, echo_session, numbered_from, sim_store, texts, ticking, typed_texts, utc
from .simfiles import SimFiles
from .stored_files import LOG, STATE, files_of, rewrite, stored

# Resuming


@pytest.mark.parametrize("kept_on", PATHS)
@pytest.mark.parametrize("resumed_on", PATHS)
def test_a_resumed_session_makes_the_request_that_would_have_come(kept_on: str, resumed_on: str) -> None:
    steps = [reply(call()), reply("seen"), reply("more"), reply("done")]
    options: dict[str, Any] = {"tools": [tool()], "system": "be brief"}
    straight, provider = open_session(kept_on, *steps, **options)
    for text in ("look", "and now?", "go on"):
        straight.send(text)
    store = sim_store(SimFiles(), checkpoint_every=100)
    before, _ = open_session(kept_on, *steps[:3], **options)
    with store.create(before, session_id="s") as kept_session:
        kept_session.send("look")
        kept_session.send("and now?")
    fresh = FakeStateless(steps[3]) if resumed_on == "stateless" else FakeLegacy(steps[3])
    with store.resume(Session(fresh, path=resumed_on, tools=[tool()]), "s") as again:  # type: ignore[arg-type]
        again.send("go on")
        assert again.state.connection.path == resumed_on
    expected, actual = provider.requests[-1], fresh.requests[-1]
    assert [(m.role, m.parts) for m in actual.messages] == [(m.role, m.parts) for m in expected.messages]
    assert (actual.system, actual.tools) == (expected.system, expected.tools)


def test_a_session_is_found_by_id_and_by_number() -> None:
    store = sim_store(SimFiles())
    for name in ("old", "12", "new"):
        stored("hello", name=name, store=store)
    assert [store.find(which) for which in ("old", 1, "2", 3, "12")] == ["old", "new", "12", "old", "12"]
    for which in (0, 4, "0", "99", -1):
        with pytest.raises(UnknownSessionError, match="numbers 1 to 3"):
            store.find(which)
    with pytest.raises(UnknownSessionError, match=r"no session 'odl' in .*; did you mean 'old'"):
        store.find("odl")


def test_an_empty_store_says_so() -> None:
    store = sim_store(SimFiles())
    assert store.list_sessions().sessions == ()
    assert store.last() is None
    with pytest.raises(UnknownSessionError, match="no session yet"):
        store.load(1)


@pytest.mark.parametrize("name", ["", ".", "..", "../up", "a/b", "a\\b", "a\0", ".hidden", "x" * 129, "é", "a\n"])
def test_a_name_that_could_lead_elsewhere_is_refused(name: str) -> None:
    store = sim_store(SimFiles())
    with pytest.raises(UsageError, match="cannot name a session"):
        store.create(echo_session(), session_id=name)
    with pytest.raises(UnknownSessionError):
        store.load(name)


def test_a_new_session_never_takes_the_place_of_another() -> None:
    store = stored("hello")
    with pytest.raises(StoreError, match="there is a session 's' already"):
        store.create(echo_session(), session_id="s")
    assert typed_texts(store.load("s").state) == ["hello"]
    assert files_of(store).locks == {}


def test_a_session_can_be_loaded_listed_and_loaded_again() -> None:
    store = stored("hello")
    for _ in range(3):
        with store.resume(echo_session(ids=numbered_from(9)), "s") as kept_session:
            kept_session.send("again")
        assert len(store.list_sessions().sessions) == 1
    assert typed_texts(store.load("s").state) == ["hello", "again", "again", "again"]


# Lists


def test_a_list_has_the_newest_first_with_what_people_choose_by() -> None:
    store = sim_store(SimFiles())
    stored("hello", name="a", store=store, workspace="/one", connection=Connection("anthropic", "claude"))
    stored("hi", name="b", store=store, workspace="/two", description="a talk")
    first, second = store.list_sessions().sessions
    assert (first.session_id, first.title, first.cwd, first.provider) == ("b", "a talk", "/two", "")
    assert (second.session_id, second.title, second.cwd, second.provider) == ("a", "hello", "/one", "anthropic")
    assert first.updated_at is not None
    assert second.updated_at is not None
    assert first.updated_at > second.updated_at
    with store.resume(echo_session(ids=numbered_from(9)), "a") as kept_session:
        kept_session.send("more")
        assert store.list_sessions().sessions[0].session_id == "a", "also while it is open and no state was written"
    assert [info.session_id for info in store.list_sessions(cwd="/two").sessions] == ["b"]
    assert store.last("/one").session_id == "a"  # type: ignore[union-attr]
    assert store.last("/elsewhere") is None


def test_the_list_agrees_with_what_is_loaded_whatever_the_size_of_the_last_record() -> None:
    for size in (1, 4000, 5000, 70_000):
        store = stored("first", "x" * size)
        state = store.load("s").state
        assert store.list_sessions().sessions[0].updated_at == state.updated_at


def test_a_long_list_comes_in_pages() -> None:
    store = sim_store(SimFiles(), page_size=2)
    assert isinstance(store, SessionLister)
    for name in "abcde":
        stored(name=name, store=store)
    page = store.list_sessions()
    assert [info.session_id for info in page.sessions] == ["e", "d"]
    store.delete("e")
    stored(name="f", store=store)
    page = store.list_sessions(cursor=page.next_cursor)
    assert [info.session_id for info in page.sessions] == ["c", "b"], "whatever has come and gone before it"
    page = store.list_sessions(cursor=page.next_cursor)
    assert ([info.session_id for info in page.sessions], page.next_cursor) == (["a"], None)
    assert [info.session_id for info in every_session(store)] == ["f", "d", "c", "b", "a"]
    with pytest.raises(UsageError, match="'nonsense' is no cursor"):
        store.list_sessions(cursor="nonsense")


def test_old_records_with_naive_times_stand_in_one_list_with_new_ones() -> None:
    store = stored("hello", name="new")
    files = files_of(store)
    naive = json.loads(files.read(FOLDER / "new.json")) | {"updated_at": "2020-01-01T00:00:00", "session_id": None}
    files.create(FOLDER / "naive.json").write(json.dumps(naive).encode())
    first = {"format": "turnproof.session/1", "saved_at": 0.0, "messages": []}
    files.create(FOLDER / "first.json").write(json.dumps(first).encode())
    found = store.list_sessions().sessions
    assert [info.session_id for info in found] == ["new", "naive", "first"]
    assert found[1].updated_at == utc(2020, 1, 1)
    assert found[2].updated_at == utc(1970, 1, 1)
    assert [typed_texts(store.load(info.session_id).state) for info in found] == [["hello"], ["hello"], []]


@pytest.mark.parametrize("content", [b"", b"garbage", b'{"format":"turnproof.session/9"}', b"\x00" * 50])
def test_a_session_that_cannot_be_read_stands_in_the_list_with_its_problem(content: bytes) -> None:
    store = stored("hello", name="fine")
    files_of(store).create(FOLDER / "bad.json").write(content)
    bad = next(info for info in store.list_sessions().sessions if info.session_id == "bad")
    assert bad.problem is not None
    assert "bad.json" in bad.problem
    assert store.last().session_id == "fine"  # type: ignore[union-attr]
    with pytest.raises(SavedSessionError, match=r"bad\.json"):
        store.load("bad")


@pytest.mark.parametrize(
    "end", [b'{"seq":4,"crc":"00000000","type":"ended","at":"2026-99-99T00:00:00Z"}\n', b"garbage\n"]
)
def test_a_list_does_not_stumble_over_the_end_of_a_log(end: bytes) -> None:
    store = stored("hello")
    rewrite(store, LOG, lambda data: data + end)
    assert store.list_sessions().sessions[0].updated_at == store.load("s").state.updated_at


def test_other_files_in_the_folder_are_no_sessions() -> None:
    store = stored("hello")
    for name in ("notes.txt", ".s.json.new", "s.lock", "s.jsonl.spoiled-1", "..json"):
        files_of(store).create(FOLDER / name).write(b"x")
    assert [info.session_id for info in store.list_sessions().sessions] == ["s"]


# Deleting


def test_a_deleted_session_leaves_nothing() -> None:
    store = stored("hello")
    rewrite(store, LOG, lambda data: data + b"torn")
    store.resume(echo_session(), "s").close()
    assert any("spoiled" in name for name in files_of(store).names(FOLDER))
    files_of(store).create(FOLDER / ".s.json.new").write(b"left by a crash")
    store.delete("s")
    assert files_of(store).names(FOLDER) == []
    with pytest.raises(UnknownSessionError):
        store.delete("s")


def test_the_oldest_sessions_go_when_there_are_too_many_but_none_that_is_open_or_damaged() -> None:
    store = sim_store(SimFiles(), max_sessions=2)
    files_of(store).create(FOLDER / "damaged.json").write(b"garbage")
    opened = store.create(echo_session(), session_id="open")
    for name in "abc":
        stored("hello", name=name, store=store)
    assert [info.session_id for info in every_session(store)] == ["c", "open", "damaged"]
    opened.send("still here")


def test_an_old_session_that_cannot_be_deleted_is_no_reason_to_have_no_new_one(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = sim_store(SimFiles(), max_sessions=1)
    stored(name="a", store=store)

    def refuse(self: SimFiles, path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch, caplog.at_level(logging.ERROR):
        patch.setattr(SimFiles, "remove", refuse)
        store.create(echo_session(), session_id="b")
    assert "the old session 'a' could not be deleted" in caplog.text


@pytest.mark.parametrize("option", ["checkpoint_every", "max_sessions", "page_size"])
def test_a_number_below_one_is_refused(option: str) -> None:
    with pytest.raises(UsageError, match=f"{option} is at least 1, got 0"):
        sim_store(SimFiles(), **{option: 0})


# Two writers


def test_a_second_writer_is_told_who_the_first_one_is() -> None:
    files = SimFiles()
    first = sim_store(files, program="editor").create(echo_session(), session_id="s")
    first.send("hello")
    second = sim_store(files)
    session = echo_session()
    session.send("mine")
    for attempt in (lambda: second.resume(session, "s"), lambda: second.delete("s")):
        with pytest.raises(SessionBusyError, match=r"session 's' is open in editor \(process \d+ on .*, since 2027-"):
            attempt()
    assert session.history.messages[0].text == "mine"
    assert typed_texts(second.load("s").state) == ["hello"], "reading needs no leave"
    first.close()
    with second.resume(session, "s") as kept_session:
        assert typed_texts(kept_session.state) == ["hello"]


def test_an_owner_who_cannot_be_read_is_somebody_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: SimFiles, path: Path, last: int | None = None) -> bytes:
        raise PermissionError(13, "Permission denied")

    files = SimFiles()
    sim_store(files).create(echo_session(), session_id="s")
    monkeypatch.setattr(SimFiles, "read", refuse)
    with pytest.raises(SessionBusyError, match="session 's' is open in another process"):
        sim_store(files).resume(echo_session(), "s")
    with pytest.raises(StoreError, match=r"s\.json: reading failed: Permission denied"):
        sim_store(files).load("s")


def test_the_lock_of_a_dead_process_is_taken_over() -> None:
    files = SimFiles()
    sim_store(files).create(echo_session(), session_id="s").send("hello")
    after = files.after(luck=True)
    assert FOLDER / "s.lock" in after.names_now
    with sim_store(after).resume(echo_session(), "s") as kept_session:
        assert typed_texts(kept_session.state) == ["hello"]
    assert FOLDER / "s.lock" not in after.names_now


# What comes from elsewhere


def test_a_session_that_was_saved_to_a_file_by_itself_can_be_put_into_a_store() -> None:
    session = echo_session()
    session.send("hello")
    store = sim_store(SimFiles())
    files_of(store).create(FOLDER / "mine.json").write(session.save().encode())
    with store.resume(echo_session(ids=numbered_from(50)), "mine") as kept_session:
        assert kept_session.problems == ()
        kept_session.send("again")
    assert texts(store.load("mine").state)[::2] == ["hello", "again"]
    assert store.load("mine").state.session_id == "mine"


def test_a_session_that_has_a_history_already_is_kept_with_it() -> None:
    session = echo_session(system="be brief")
    session.send("before")
    store = sim_store(SimFiles())
    with store.create(session, session_id="s") as kept_session:
        kept_session.send("after")
    files_of(store).remove(STATE)
    state = store.load("s").state
    assert (texts(state)[::2], state.system, state.turn_count) == (["before", "after"], "be brief", 2)


def test_a_provider_that_cannot_take_the_history_leaves_the_session_free_for_others() -> None:
    class Refusing(FakeLegacy):
        def create_session(self, system_instruction: Any = None, tools: Any = None, history: Any = None) -> None:
            if history:
                raise RuntimeError("no")

    store = stored("hello")
    with pytest.raises(RuntimeError):
        store.resume(Session(Refusing(), path="legacy"), "s")
    store.resume(Session(Echo()), "s").close()


# On a real disk


def test_on_a_real_disk_nobody_else_can_read_a_session(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "sessions"
    store = FileStore(folder, clock=ticking(), ids=lambda: "made")
    with store.create(echo_session()) as kept_session:
        kept_session.send("hello")
        with pytest.raises(SessionBusyError):
            FileStore(folder).resume(echo_session(), 1)
    assert sorted(path.name for path in folder.iterdir()) == ["made.json", "made.jsonl"]
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700
    with FileStore(folder).resume(echo_session(ids=numbered_from(50)), "made") as again:
        again.send("again")
    assert typed_texts(FileStore(folder).load(1).state) == ["hello", "again"]


def test_ids_are_made_up_and_no_two_are_alike(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    names = {store.create(echo_session()).session_id for _ in range(5)}
    assert len(names) == 5
    assert all(isinstance(store.load(name).state, SessionState) for name in names)
