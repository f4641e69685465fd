"""What is stored of a turn and of what happens between turns, and when."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from session.fakes import Play, call, open_session, reply, tool
from turnproof.errors import OverloadedError, PayloadError, TransportError, UsageError
from turnproof.gc import GCConfig, TruncateGC
from turnproof.messages import InlineData, ProviderResponse, Text, same_history
from turnproof.session import RetryPolicy, Session
from turnproof.session.persistence import Connection, SessionState
from turnproof.session.prompt import Enriched
from turnproof.session.store import FileStore, KeptSession

from .kit import FOLDER, Echo, echo_session, numbered_from, sim_store, texts, typed_texts
from .simfiles import PowerCut, SimFiles


def kept_session(*steps: Any, store: FileStore | None = None, **options: Any) -> tuple[KeptSession, Any, FileStore]:
    store = store or sim_store(SimFiles())
    session, provider = open_session("stateless", *steps, **options)
    return store.create(session, session_id="s", connection=Connection("anthropic", "claude")), provider, store


def records(store: FileStore) -> list[dict[str, Any]]:
    lines = store._files.read(FOLDER / "s.jsonl").splitlines()
    return [json.loads(line) for line in lines]


def loaded(store: FileStore) -> SessionState:
    found = store.load("s")
    assert found.problems == ()
    return found.state


# Turns


def test_a_turn_is_two_records_and_each_message_stands_in_the_log_once() -> None:
    handle, _, store = kept_session(reply("Hello"))
    handle.send("hello")
    _, began, ended = records(store)
    assert (began["type"], began["content"]) == ("began", [{"part": "text", "text": "hello"}])
    assert (ended["type"], ended["outcome"], ended["turn"], ended["user"]) == ("ended", "answer", 0, "m1")
    assert [message["role"] for message in ended["messages"]] == ["model"]


def test_every_turn_is_accounted_for_with_its_times_and_what_was_typed() -> None:
    handle, _, store = kept_session(OverloadedError("busy"), reply(call()), reply("seen", prompt=40), tools=[tool()])
    handle.send("look")
    state = loaded(store)
    (turn,) = state.turns
    assert (turn.outcome, turn.usage.prompt_tokens, turn.rounds, turn.attempts) == ("answer", 40, 2, 3)
    assert state.created_at < turn.began_at < turn.ended_at == state.updated_at
    assert (typed_texts(state), state.turn_count, state.usage.prompt_tokens) == (["look"], 1, 40)
    assert state.connection == Connection("anthropic", "claude", "stateless")


def test_a_turn_writes_what_is_new_and_not_what_was_there() -> None:
    handle, _, store = kept_session(*[reply("b" * 1000)] * 9, store=sim_store(SimFiles(), checkpoint_every=100))
    sizes = []
    for _ in range(9):
        before = len(store._files.read(FOLDER / "s.jsonl"))
        handle.send("a" * 1000)
        sizes.append(len(store._files.read(FOLDER / "s.jsonl")) - before)
    assert max(sizes) - min(sizes) < 100


def test_the_state_is_written_after_the_first_turn_and_then_every_so_many() -> None:
    handle, _, store = kept_session(*[reply("ok")] * 7, store=sim_store(SimFiles(), checkpoint_every=3))
    written = []
    for _ in range(7):
        handle.send("hello")
        written.append(json.loads(store._files.read(FOLDER / "s.json"))["turn_count"])
    assert written == [1, 1, 1, 4, 4, 4, 7]
    assert loaded(store).turn_count == 7, "whatever was written last"


def test_a_cancelled_turn_is_stored_with_what_was_said() -> None:
    def cut(play: Play) -> ProviderResponse:
        play.stream("Well, ")
        handle.stop()
        return reply("Well, ", finish="cancelled")

    handle, _, store = kept_session(cut)
    handle.send("hello", on_chunk=lambda _: None)
    state = loaded(store)
    assert texts(state) == ["hello", "Well, "]
    assert [turn.outcome for turn in state.turns] == ["cancelled"]


@pytest.mark.parametrize("error", [TransportError("reset by key sk-secret"), KeyboardInterrupt(), SystemExit(1)])
def test_a_failed_turn_leaves_its_kind_of_error_and_nothing_else(error: BaseException) -> None:
    handle, _, store = kept_session(reply("Hi"), error, reply("again"), retry=RetryPolicy(attempts=1))
    handle.send("hello")
    with pytest.raises(type(error)):
        handle.send("fails")
    state = loaded(store)
    assert (texts(state), typed_texts(state), state.turn_count, state.interrupted) == (
        ["hello", "Hi"],
        ["hello"],
        1,
        None,
    )
    ended = records(store)[-1]
    assert (ended["outcome"], ended["error"]) == ("failed", type(error).__name__)
    assert b"sk-secret" not in store._files.read(FOLDER / "s.jsonl")
    handle.send("once more")
    assert typed_texts(loaded(store)) == ["hello", "once more"]


def test_what_was_typed_stands_beside_what_was_sent() -> None:
    def enrich(typed: tuple[Any, ...]) -> Enriched:
        return Enriched([*typed, Text(" (it is noon)")], about={"hook": "clock"})

    handle, provider, store = kept_session(reply("ok"), enrich=enrich)
    handle.send("what time is it?")
    state = loaded(store)
    assert typed_texts(state) == ["what time is it?"]
    assert texts(state)[0] == "what time is it? (it is noon)" == provider.requests[0].messages[0].text
    (typed,) = state.typed
    assert (typed.message_id, typed.parts, typed.about) == ("m1", (Text("what time is it?"),), {"hook": "clock"})
    again, _ = open_session("stateless")
    handle.close()
    with store.resume(again, "s"):
        assert again.typed(again.history.messages[0]) == (Text("what time is it?"),)


def test_what_a_user_says_in_mid_turn_is_an_input_too() -> None:
    def look(args: Any, token: Any) -> str:
        handle.session.interject("by the way")
        handle.session.interject("I am done", sender="child")
        return "seen"

    handle, _, store = kept_session(reply(call()), reply("ok"), reply("fine"), tools=[tool(run=look)])
    handle.send("look")
    handle.send("and?")
    assert typed_texts(loaded(store)) == ["look", "by the way", "and?"]
    assert same_history(loaded(store).messages, handle.session.history.messages)


def test_a_message_without_text_is_stored_like_any_other() -> None:
    handle, _, store = kept_session(reply("a cat"))
    handle.send([InlineData("image/png", bytes(range(256)))])
    assert same_history(loaded(store).messages, handle.session.history.messages)
    assert len(store._files.read(FOLDER / "s.jsonl")) < 3000, "and its bytes only once"


def test_what_waits_is_taken_up_by_a_turn_of_its_own() -> None:
    handle, _, store = kept_session(reply("noted"))
    assert handle.send_waiting() is None
    handle.session.interject("the build is green", sender="child")
    result = handle.send_waiting()
    assert result is not None
    assert texts(loaded(store)) == ["the build is green", "noted"]


# Interrupted


def died_in_a_turn(look: Callable[[Any, Any], Any]) -> FileStore:
    """A store whose process died while a tool was at work."""
    handle, _, store = kept_session(
        reply("Hi"), reply(call(id="c1"), call(id="c2")), tools=[tool(run=look)], parallel_tools=False
    )
    handle.send("hello")
    files = store._files
    assert isinstance(files, SimFiles)

    def die(args: Any, token: Any) -> str:
        files.dies_at = files.operations
        return str(look(args, token))

    handle.session.set_tools([tool(run=die)])
    with pytest.raises(PowerCut):
        handle.send(["look ", Text("twice")])  # type: ignore[list-item]
    return sim_store(files.after(luck=True))


def test_the_turn_a_process_died_in_is_noted_with_what_was_said_and_what_had_begun() -> None:
    runs = count()
    store = died_in_a_turn(lambda args, token: next(runs))
    state = store.load("s").state
    assert texts(state) == ["hello", "Hi"], "nothing of it is in the history"
    assert state.interrupted is not None
    assert state.interrupted.content == (Text("look "), Text("twice"))
    assert [(one.call.id, one.finished) for one in state.interrupted.calls] == [("c1", False)]


def test_the_note_stays_until_the_next_turn_is_over() -> None:
    store = died_in_a_turn(lambda args, token: "seen")
    for _ in range(2):
        with store.resume(echo_session(ids=numbered_from(50)), "s") as handle:
            assert handle.interrupted is not None
    with store.resume(echo_session(ids=numbered_from(50)), "s") as handle:
        assert handle.interrupted is not None
        handle.send(list(handle.interrupted.content))
        assert handle.interrupted is None
    assert loaded(store).interrupted is None
    assert typed_texts(loaded(store)) == ["hello", "look twice"]


# Between turns


def test_what_is_changed_between_turns_is_stored_with_the_next_one() -> None:
    handle, _, store = kept_session(
        reply("a"), reply("b"), reply("c"), store=sim_store(SimFiles(), checkpoint_every=99)
    )
    handle.send("one")
    handle.send("two")
    handle.session.set_system("be brief")
    handle.session.set_tools([tool("other")])
    handle.session.revert_to_turn(0)
    handle.session.inject("ls", "a.txt")
    handle.send("three")
    state = loaded(store)
    assert same_history(state.messages, handle.session.history.messages)
    assert (state.system, [schema.name for schema in state.tools]) == ("be brief", ["other"])
    assert (typed_texts(state), state.turn_count) == (["one", "two", "three"], 3), "what was said was said"


def test_a_change_is_stored_at_once_and_a_save_stores_whatever_has_changed() -> None:
    handle, _, store = kept_session(reply("a"), reply("b"))
    handle.send("one")
    handle.send("two")
    removed = handle.change(lambda session: session.collect(1)).removed_ids
    assert removed == ("m1", "m2")
    assert texts(loaded(store)) == ["two", "b"]
    handle.session.clear()
    assert texts(loaded(store)) == ["two", "b"]
    handle.save()
    assert texts(loaded(store)) == []
    assert json.loads(store._files.read(FOLDER / "s.json"))["messages"] == []


def test_a_save_without_a_change_writes_nothing() -> None:
    handle, _, store = kept_session(reply("a"))
    handle.send("one")
    handle.save()
    before = store._files.operations  # type: ignore[attr-defined]
    handle.save()
    assert store._files.operations == before  # type: ignore[attr-defined]
    assert not handle.session.history.dirty


def test_a_collection_in_the_middle_of_a_turn_is_stored_with_it() -> None:
    steps = [reply("a", prompt=50), reply("b", prompt=90), reply("c", prompt=20)]
    handle, provider, store = kept_session(*steps, gc=TruncateGC(), gc_config=GCConfig(context_limit=100, keep_turns=1))
    for text in ("one", "two", "three"):
        handle.send(text)
    assert [m.text for m in provider.requests[2].messages] == ["two", "b", "three"]
    assert same_history(loaded(store).messages, handle.session.history.messages)
    assert typed_texts(loaded(store)) == ["one", "two", "three"]
    assert all("messages" in record for record in records(store) if record["type"] == "ended")


def test_another_provider_on_the_other_path_is_a_fact_of_the_connection() -> None:
    handle, _, store = kept_session(reply("a"))
    handle.change(lambda session: session.swap(Echo()), connection=Connection("google_genai", "gemini"))
    assert loaded(store).connection == Connection("google_genai", "gemini", "stateless")


def test_a_description_is_stored_at_once_and_can_be_taken_back() -> None:
    handle, _, store = kept_session(reply("a"))
    handle.send("one")
    handle.describe("a talk")
    assert loaded(store).title == "a talk"
    handle.describe(None)
    assert loaded(store).title == "one"


# One at a time, and the end


def test_nothing_comes_between_a_turn_and_its_end() -> None:
    def look(args: Any, token: Any) -> str:
        for attempt in (lambda: handle.send("in between"), handle.save, handle.close, lambda: handle.describe("x")):
            with pytest.raises(UsageError, match="a turn of this session is running"):
                attempt()
        return "seen"

    handle, _, store = kept_session(reply(call()), reply("ok"), tools=[tool(run=look)])
    assert handle.send("look").text == "ok"
    assert typed_texts(loaded(store)) == ["look"]


def test_a_closed_session_says_so_and_closing_it_again_is_harmless() -> None:
    handle, _, store = kept_session(reply("a"))
    handle.close()
    handle.close()
    for attempt in (lambda: handle.send("late"), handle.save, lambda: handle.change(Session.clear)):
        with pytest.raises(UsageError, match="this session is closed: resume it from the store"):
            attempt()
    store.delete("s")


@pytest.mark.parametrize("leave", [KeyboardInterrupt, SystemExit, RuntimeError])
def test_leaving_in_any_way_stores_and_closes(leave: type[BaseException]) -> None:
    handle, _, store = kept_session(reply("a"), reply("b"), store=sim_store(SimFiles(), checkpoint_every=99))
    handle.send("one")
    handle.send("two")
    handle.session.set_system("changed")
    with pytest.raises(leave), handle:
        raise leave
    assert json.loads(store._files.read(FOLDER / "s.json"))["turn_count"] == 2
    assert loaded(store).system == "changed"
    store.resume(echo_session(), "s").close()


def test_what_cannot_be_written_as_json_is_refused_and_stored_once_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(record: Any) -> bytes:
        raise PayloadError("$.changes.system", "nested too deeply to be written")

    handle, _, store = kept_session(reply("a"), reply("b"))
    handle.send("one")
    with monkeypatch.context() as patch:
        patch.setattr("turnproof.session.store.session_log.write_record", refuse)
        with pytest.raises(PayloadError):
            handle.change(lambda session: session.set_system("deep"))
    handle.send("two")
    assert (typed_texts(loaded(store)), loaded(store).system) == (["one", "two"], "deep")


def test_a_state_that_cannot_be_written_does_not_spoil_the_turn_that_is_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    handle, _, store = kept_session(*[reply("ok")] * 3, store=sim_store(SimFiles(), checkpoint_every=1))
    handle.send("one")
    files = store._files
    assert isinstance(files, SimFiles)
    files.full_at = files.operations + 4  # its two records, and the sync that acknowledges it, have room
    with caplog.at_level(logging.ERROR):
        assert handle.send("two").text == "ok"
    assert "the state of session 's' could not be written" in caplog.text
    files.full_at = None
    handle.send("three")
    assert json.loads(files.read(FOLDER / "s.json"))["turn_count"] == 3


def test_a_session_that_is_used_by_other_threads_still_stores_every_turn(tmp_path: Any) -> None:
    store = FileStore(tmp_path)
    handle = store.create(echo_session(), session_id="s")
    thread = threading.Thread(target=lambda: [handle.send(str(n)) for n in range(5)])
    thread.start()
    thread.join()
    assert typed_texts(store.load("s").state) == ["0", "1", "2", "3", "4"]
