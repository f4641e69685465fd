"""Damaged files of sessions: each damage is reported, and no more is lost than what was damaged."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from turnproof.messages import same_history
from turnproof.session import SavedSessionError
from turnproof.session.pairing import is_paired
from turnproof.session.store import FileStore
from turnproof.session.store.journal import seal

from .kit import FOLDER, echo_session, numbered_from, sim_store, texts, typed_texts
from .simfiles import SimFiles
from .stored_files import LOG, STATE, files_of, garbled, line_of, rewrite, stored


def three_turns_in_the_log_alone() -> FileStore:
    """One opening line, two lines for a turn, and two more in the middle one, which uses a tool."""
    store = stored("one", "look two", "three")
    files_of(store).remove(STATE)
    assert len(files_of(store).read(LOG).splitlines()) == 9
    return store


@pytest.mark.parametrize(
    ("line", "left"),
    [
        (2, ["look two", "three"]),
        (3, ["look two", "three"]),
        (4, ["one", "three"]),
        (5, ["one", "look two", "three"]),
        (6, ["one", "look two", "three"]),
        (7, ["one", "three"]),
        (8, ["one", "look two"]),
        (9, ["one", "look two"]),
    ],
)
def test_a_damaged_line_is_told_with_its_place_and_costs_one_turn_at_the_most(line: int, left: list[str]) -> None:
    store = three_turns_in_the_log_alone()
    before = files_of(store).read(LOG).splitlines(keepends=True)
    whole = {message.message_id: message for message in store.load("s").state.messages}
    line_of(store, line, garbled)
    loaded = store.load("s")
    assert typed_texts(loaded.state) == left
    assert [m.text for m in loaded.state.messages if m.role == "user"] == left
    assert is_paired(loaded.state.messages)
    assert same_history(loaded.state.messages, [whole[m.message_id] for m in loaded.state.messages])
    place = loaded.problems[0]
    assert (place.file, place.line, place.offset) == (str(LOG), line, len(b"".join(before[: line - 1])))


def test_a_turn_that_is_left_out_is_told() -> None:
    store = three_turns_in_the_log_alone()
    line_of(store, 4, garbled)
    assert [problem.reason for problem in store.load("s").problems] == [
        "the record does not match its checksum",
        "turn 1 is left out: the record of its beginning is missing",
    ]


def test_damage_that_a_later_state_does_not_need_is_told_and_costs_nothing() -> None:
    store = stored("one", "look two", "three")
    line_of(store, 3, garbled)
    loaded = store.load("s")
    assert typed_texts(loaded.state) == ["one", "look two", "three"]
    assert [problem.line for problem in loaded.problems] == [3]
    with store.resume(echo_session(ids=numbered_from(50)), "s") as kept_session:
        assert [problem.line for problem in kept_session.problems] == [3]
        kept_session.send("four")
    assert [problem.line for problem in store.load("s").problems] == [3], "it stays where it is, and is not forgotten"


def test_a_torn_end_is_cut_off_when_the_session_is_opened_and_kept_beside() -> None:
    store = stored("one")
    rewrite(store, LOG, lambda data: data + b'{"seq":4,"crc":"0000')
    assert "no whole record" in str(store.load("s").problems[0])
    assert files_of(store).read(LOG).endswith(b"0000"), "reading changes nothing"
    with store.resume(echo_session(ids=numbered_from(50)), "s") as kept_session:
        kept_session.send("two")
    assert store.load("s").problems == ()
    assert typed_texts(store.load("s").state) == ["one", "two"]
    assert files_of(store).read(FOLDER / "s.jsonl.spoiled-1") == b'{"seq":4,"crc":"0000'


@pytest.mark.parametrize("change", [lambda data: data[:-20], lambda data: b"", lambda data: b"\xff" * 99])
def test_a_damaged_state_is_built_anew_from_the_log_and_kept_beside(change: Callable[[bytes], bytes]) -> None:
    store = stored("one", "look two")
    before = store.load("s").state
    rewrite(store, STATE, change)
    damaged = files_of(store).read(STATE)
    loaded = store.load("s")
    assert "s.json: damaged, and built anew from the log" in str(loaded.problems[0])
    assert same_history(loaded.state.messages, before.messages)
    assert (loaded.state.turns, loaded.state.inputs) == (before.turns, before.inputs)
    store.resume(echo_session(), "s").close()
    assert store.load("s").problems == ()
    assert files_of(store).read(FOLDER / "s.json.spoiled-1") == damaged


def test_a_state_of_a_newer_version_is_refused_even_where_there_is_a_log() -> None:
    store = stored("one")
    rewrite(store, STATE, lambda data: data.replace(b"turnproof.session/2", b"turnproof.session/3"))
    session = echo_session()
    for attempt in (lambda: store.load("s"), lambda: store.resume(session, "s")):
        with pytest.raises(SavedSessionError, match=r"s\.json: \$\.format: 'turnproof.session/3'.*Upgrade") as failure:
            attempt()
        assert failure.value.path == "$.format"
    assert not session.history
    assert files_of(store).locks == {}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            b'{"type":"opened","at":"2026-01-01T00:00:00Z","format":"turnproof.log/2","session_id":"s","changes":{}}',
            "log/2",
        ),
        (b'{"type":"sang","at":"2026-01-01T00:00:00Z"}', "Invalid value 'sang'"),
        (b'{"type":"began","at":"2026-01-01T00:00:00Z","turn":1,"key":"c sharp"}', "unknown field `key`"),
        (b'{"type":"began","turn":1}', "missing required field `at`"),
        (b'{"type":"changed","at":"2026-01-01T00:00:00Z","changes":{"budget":' + b"[" * 5000, "nested too deeply"),
    ],
    ids=["format", "kind", "key", "field", "deep"],
)
def test_a_whole_record_that_nobody_here_knows_is_refused_and_not_left_out(body: bytes, reason: str) -> None:
    store = stored("one")
    rewrite(store, LOG, lambda data: data + seal(4, body))
    with pytest.raises(SavedSessionError, match=reason) as failure:
        store.load("s")
    assert failure.value.path.startswith("line 4 (byte ")
    assert failure.value.file == str(LOG)


@pytest.mark.parametrize(
    "content",
    [b"", b"\x89PNG\r\n", b'{"type":"user","content":"KSI"}\n', b"not a log\n" * 3],
    ids=["empty", "png", "ksi", "text"],
)
def test_a_log_that_is_none_is_refused_and_not_touched(content: bytes) -> None:
    store = stored("one")
    files_of(store).remove(STATE)
    rewrite(store, LOG, lambda data: content)
    for attempt in (lambda: store.load("s"), lambda: store.resume(echo_session(), "s")):
        with pytest.raises(SavedSessionError, match=r"s\.jsonl: \$: no session can be read from it"):
            attempt()
    assert files_of(store).read(LOG) == content


def test_a_log_without_its_beginning_cannot_be_loaded_by_itself() -> None:
    store = three_turns_in_the_log_alone()
    line_of(store, 1, garbled)
    with pytest.raises(SavedSessionError, match="has lost its beginning"):
        store.load("s")


@pytest.mark.parametrize(
    "change", [lambda data: b"", lambda data: b"garbage" * 9, None], ids=["empty", "garbage", "gone"]
)
def test_a_log_that_was_lost_is_begun_again_from_the_state(change: Callable[[bytes], bytes] | None) -> None:
    store = stored("one", "two")
    if change:
        rewrite(store, LOG, change)
    else:
        files_of(store).remove(LOG)
    assert "the log has no record, and the stored state holds" in str(store.load("s").problems[-1])
    with store.resume(echo_session(ids=numbered_from(50)), "s") as kept_session:
        kept_session.send("three")
    files_of(store).remove(STATE)
    loaded = store.load("s")
    assert texts(loaded.state)[::2] == ["one", "two", "three"]
    assert loaded.problems == ()


def test_a_log_that_lost_its_end_is_told_and_the_state_goes_on() -> None:
    store = stored("one", "two")
    rewrite(store, LOG, lambda data: b"".join(data.splitlines(keepends=True)[:3]))
    (problem,) = store.load("s").problems
    assert str(problem) == f"{LOG}: the log ends with record 3, and the stored state holds 5"
    with store.resume(echo_session(ids=numbered_from(50)), "s") as kept_session:
        kept_session.send("three")
    assert typed_texts(store.load("s").state) == ["one", "two", "three"]


def test_calls_and_results_that_damage_has_separated_are_paired_again_and_stay_so() -> None:
    began = {"role": "user", "parts": [{"part": "text", "text": "look"}], "message_id": "a"}
    call_message = {"role": "model", "parts": [{"part": "call", "id": "c1", "name": "look"}], "message_id": "b"}
    records: list[dict[str, Any]] = [
        {
            "type": "opened",
            "format": "turnproof.log/1",
            "session_id": "s",
            "changes": {"history": [began, call_message]},
        },
        {"type": "changed", "changes": {"history": []}},
        {"type": "began", "turn": 0, "content": [{"part": "text", "text": "and?"}]},
        {"type": "ended", "turn": 0, "outcome": "answer", "user": "c"},
    ]
    lines = [
        seal(seq, json.dumps({"at": "2026-01-01T00:00:00Z", **record}).encode())
        for seq, record in enumerate(records, 1)
    ]
    store = sim_store(SimFiles(), message_ids=numbered_from(1))
    files_of(store).create(LOG).write(b"".join(lines))
    assert texts(store.load("s").state) == ["and?"]
    line_of(store, 2, garbled)
    loaded = store.load("s")
    assert [message.role for message in loaded.state.messages] == ["user", "model", "tool", "user"]
    assert "were paired again" in str(loaded.problems[-1])
    with store.resume(echo_session(ids=numbered_from(50)), "s") as kept_session:
        kept_session.send("go on")
    again = store.load("s")
    assert [message.role for message in again.state.messages] == ["user", "model", "tool", "user", "user", "model"]
    assert [problem.line for problem in again.problems] == [2]
