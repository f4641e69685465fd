"""A session's state as text: nothing is lost, every version is known, and what cannot be read is refused whole."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from test_messages import json_values, messages, parts, types_of

from session.fakes import PATHS, FakeLegacy, FakeStateless, call, numbered, open_session, reply, tool
from turnproof.messages import InlineData, Message, ProviderData, Text, Thought, TokenUsage, ToolResult, same_history
from turnproof.session import SavedSessionError, Session
from turnproof.session.inbox import Prompt
from turnproof.session.persistence import (
    FORMAT,
    Connection,
    InterruptedTurn,
    SavedTurn,
    SessionState,
    StartedCall,
    UserInput,
    dump,
    load,
    load_heading,
)
from turnproof.session.prompt import Typed

from .kit import utc

THEN = utc(2026, 11, 22, 9, 30)


def state(**fields: Any) -> SessionState:
    return SessionState(**{"created_at": THEN, "updated_at": THEN, **fields})


def same_state(a: SessionState, b: SessionState) -> bool:
    """Equal by value, which messages and the prompts that hold some are not."""
    return bool(types_of(msgspec.to_builtins(a)) == types_of(msgspec.to_builtins(b)))


# Nothing is lost


def some(things: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(things, max_size=2).map(tuple)


times = st.datetimes(
    min_value=datetime(1970, 1, 1), max_value=datetime(9999, 12, 30), timezones=st.sampled_from([UTC, None])
)
counts = st.integers(0, 10**6)
outcomes = st.sampled_from(["answer", "cancelled"])
senders = st.sampled_from(["user", "parent", "system", "child"])
usages = st.builds(TokenUsage, counts, counts, counts, counts, counts, counts)
states = st.builds(
    SessionState,
    session_id=st.none() | st.text(),
    description=st.none() | st.text(),
    created_at=times,
    updated_at=times,
    connection=st.builds(Connection, st.just("anthropic"), st.none() | st.just("m@1"), st.sampled_from(PATHS)),
    workspace=st.none() | st.text(),
    turn_count=counts,
    turns=some(st.builds(SavedTurn, began_at=times, ended_at=times, outcome=outcomes, usage=usages)),
    inputs=some(st.builds(UserInput, at=times, text=st.text())),
    interrupted=st.none()
    | st.builds(
        InterruptedTurn,
        began_at=times,
        content=some(parts),
        calls=some(st.builds(StartedCall, call=st.just(call()), finished=st.booleans())),
    ),
    budget=json_values,
    usage=usages,
    messages=some(messages),
    typed=some(st.builds(Typed, st.text(), some(parts))),
    waiting=some(st.builds(Prompt, messages, senders)),
    cancelled_at=st.none() | st.text(),
    log_seq=counts,
)


@examples(25)
@given(states)
def test_any_state_comes_back_as_it_was(before: SessionState) -> None:
    text = dump(before)
    after = load(text)
    assert same_state(after, before)
    assert dump(after) == text
    assert load_heading(text).title == before.title


@examples(25)
@given(some(st.builds(Message, st.sampled_from(["user", "model"]), some(parts))))
def test_any_history_comes_back_through_a_session(history: tuple[Message, ...]) -> None:
    session, _ = open_session("stateless")
    session.reset(history)
    again, _ = open_session("stateless")
    again.restore(session.save())
    assert same_history(again.history.messages, history)


def test_signatures_stay_bytes_of_their_provider_and_images_stay_images() -> None:
    signed = Thought("hm", provider_data=ProviderData("anthropic-messages", "claude", {"signature": "Eq=="}))
    image = InlineData("image/png", bytes(range(256)))
    history = [
        Message.user("look", image),
        Message.model(signed, call()),
        Message.tool(ToolResult("c1", "look", None, is_error=True, attachments=(image,))),
        Message("model", ()),
    ]
    back = load(dump(state(messages=tuple(history)))).messages
    assert same_history(back, history)
    assert isinstance(back[1].parts[0], Thought), "never visible text"


@pytest.mark.parametrize(
    "text",
    ["\ud83d", "cut \ud83d", "\udcff and more", "\x00\x1b[31m\x7f", "<script>", "\u2028 \ufeff \U0010ffff", "é" * 3],
    ids=ascii,
)
def test_hostile_text_comes_back_as_it_was(text: str) -> None:
    before = state(messages=(Message.user(text, InlineData("image/png", b"\0")),), description=text, system=text)
    after = load(dump(before))
    assert same_history(after.messages, before.messages)
    assert (after.description, after.system) == (text, text)
    dump(after).encode()


def test_ids_that_come_twice_and_calls_without_results_are_kept_as_they_are() -> None:
    message = Message.model(call())
    history = (message, message, Message.tool(ToolResult("no", "such")))
    assert same_history(load(dump(state(messages=history))).messages, history)


def test_times_are_in_utc_whatever_they_were_written_in() -> None:
    text = dump(state())
    elsewhere = THEN.astimezone(timezone(timedelta(hours=2))).isoformat()
    naive = THEN.replace(tzinfo=None).isoformat()
    for written in (elsewhere, naive):
        loaded = load(text.replace("2026-11-22T09:30:00Z", written))
        assert loaded.updated_at == THEN
        assert loaded.updated_at.tzinfo is UTC


def test_a_title_is_the_description_or_the_first_thing_that_was_typed_on_one_line() -> None:
    typed = (UserInput(at=THEN, text="please \n look  " + "x" * 100), UserInput(at=THEN, text="then"))
    assert state(inputs=typed).title == "please look " + "x" * 68
    assert state(inputs=typed, description=" a\ttalk ").title == "a talk"
    assert state().title is None


@pytest.mark.parametrize("value", ["https://user:key@example.test", "http://localhost/v1?key=secret"])
def test_an_address_is_no_connection_fact(value: str) -> None:
    for provider, model in ((value, None), ("anthropic", value)):
        with pytest.raises(ValueError, match="it may hold a key"):
            Connection(provider, model)


# Other versions

VERSION_1 = json.dumps(
    {
        "format": "turnproof.session/1",
        "saved_at": 12.5,
        "system": "be brief",
        "tools": [{"name": "look"}],
        "messages": [
            {"role": "user", "parts": [{"part": "text", "text": "Hi"}], "message_id": "m1"},
            {"role": "model", "parts": [{"part": "text", "text": "Hello"}], "message_id": "m2"},
        ],
        "usage": {"prompt_tokens": 10, "output_tokens": 2, "total_tokens": 12},
    }
)


def test_version_1_is_read_and_written_as_the_present_one() -> None:
    loaded = load(VERSION_1)
    assert loaded.format == FORMAT == "turnproof.session/2"
    assert [message.text for message in loaded.messages] == ["Hi", "Hello"]
    assert (loaded.system, loaded.turn_count, loaded.usage.total_tokens) == ("be brief", 1, 12)
    assert loaded.created_at == loaded.updated_at == utc(1970, 1, 1) + timedelta(seconds=12.5)
    assert same_state(load(dump(loaded)), loaded)


@pytest.mark.parametrize("when", ["1e300", "-1e300"])
def test_version_1_with_an_impossible_time_is_refused_at_its_place(when: str) -> None:
    with pytest.raises(SavedSessionError) as failure:
        load(VERSION_1.replace("12.5", when))
    assert failure.value.path == "$.saved_at"


@pytest.mark.parametrize(
    ("found", "says"),
    [
        ("turnproof.session/3", ["'turnproof.session/3'", "'turnproof.session/2'", "Upgrade turnproof"]),
        ("turnproof.session/12", ["'turnproof.session/12'", "Upgrade turnproof"]),
        ("turnproof.session/0", ["another program", "'turnproof.session/1', 'turnproof.session/2'"]),
        ("jaato/1.0", ["'jaato/1.0'", "another program", "'turnproof.session/2'"]),
    ],
)
def test_a_newer_and_a_foreign_format_are_refused_with_both_versions_and_what_to_do(
    found: str, says: list[str]
) -> None:
    with pytest.raises(SavedSessionError) as failure:
        load(dump(state()).replace(FORMAT, found), file="s.json")
    assert str(failure.value).startswith("s.json: $.format: ")
    for words in says:
        assert words in str(failure.value)


# What is no session

NESTED = '{"format":"turnproof.session/2","budget":' + "[" * 100_000


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00", "$"),
        (b"\xff\xfe" + "{}".encode("utf-16-le"), "$"),
        (b"\x00" * 1000, "$"),
        ("[" * 100_000, "$"),
        (NESTED, "$"),
        ('{"format":7}', "$.format"),
        ('{"format":"turnproof.session/2"}', "$"),
        (dump(state()).replace('"log_seq":0', '"log_seq":0,"unknown":1'), "$"),
        (dump(state()).replace('"log_seq":0', '"log_seq":"0"'), "$.log_seq"),
        (dump(state()).replace("2026-11-22T09:30:00Z", "yesterday", 1), "$.created_at"),
        (dump(state()).replace('"budget":null', '"budget":NaN'), "$"),
        (dump(state()).replace('"budget":null', '"budget":"\\ud83d"'), "$.budget"),
        ('{"format":"\\ud83d"', "$"),
        ('{"format":"\\ud83d","budget":NaN}', "$"),
    ],
    ids=[
        "png",
        "utf-16",
        "nul",
        "deep",
        "deeper-inside",
        "number",
        "empty",
        "key",
        "type",
        "time",
        "nan",
        "surrogate",
        "cut",
        "cut-nan",
    ],
)
def test_what_is_no_session_is_refused_with_the_place(text: str | bytes, path: str) -> None:
    with pytest.raises(SavedSessionError, match="saved session") as failure:
        load(text)
    assert failure.value.path == path


def test_a_message_that_cannot_be_written_is_named() -> None:
    looped: list[Any] = []
    looped.append(looped)
    bad = Thought("x")
    msgspec.structs.force_setattr(bad, "text", looped)
    with pytest.raises(SavedSessionError) as failure:
        dump(state(messages=(Message.user("fine"), Message.model("fine", bad))))
    assert failure.value.path == "$.messages[1].parts[1]"


@pytest.mark.parametrize("bad", [object(), {1: object()}, 10**5000], ids=["object", "in-an-object", "number"])
def test_what_is_no_data_is_refused_where_it_stands(bad: object) -> None:
    part = Text("x")
    msgspec.structs.force_setattr(part, "text", bad)
    with pytest.raises(SavedSessionError) as failure:
        dump(state(messages=(Message.user(part),)))
    assert failure.value.path == "$.messages[0].parts[0]"
    with pytest.raises(SavedSessionError) as failure:
        dump(state(description=bad))
    assert failure.value.path == "$"


def test_a_deep_stack_is_no_reason_to_crash() -> None:
    deep: Any = "end"
    for _ in range(90):
        deep = [deep]
    text = dump(state(budget=deep))

    def at_depth(left: int, action: Callable[[], object]) -> object:
        return action() if left == 0 else at_depth(left - 1, action)

    with pytest.raises(SavedSessionError, match="nested too deeply"):
        at_depth(sys.getrecursionlimit() - 90, lambda: load(text))


# One path and the other


@pytest.mark.parametrize("saved_on", PATHS)
@pytest.mark.parametrize("loaded_on", PATHS)
def test_a_session_goes_on_with_the_same_request_on_either_path(saved_on: str, loaded_on: str) -> None:
    steps = [reply(call()), reply("seen"), reply("more"), reply("done")]
    options: dict[str, Any] = {"tools": [tool()], "system": Text("be brief")}
    through, provider = open_session(saved_on, *steps, **options)
    before, _ = open_session(saved_on, *steps[:3], **options)
    for session in (through, before):
        session.send("look")
        session.send("and now?")
    fresh = FakeStateless(steps[3]) if loaded_on == "stateless" else FakeLegacy(steps[3])
    after = Session.load(before.save(), fresh, path=loaded_on, tools=[tool()], ids=numbered())
    through.send("go on")
    after.send("go on")
    expected, actual = provider.requests[-1], fresh.requests[-1]
    assert [(m.role, m.parts) for m in actual.messages] == [(m.role, m.parts) for m in expected.messages]
    assert (actual.system, actual.tools) == (expected.system, expected.tools)


def test_what_waits_and_where_a_turn_was_cancelled_is_part_of_a_session() -> None:
    def cut(play: Any) -> Any:
        play.stream("Well")
        session.stop()
        return reply("Well", finish="cancelled")

    session, _ = open_session("stateless", cut, cancel_note="(you were cut off)")
    session.send("hello", on_chunk=lambda _: None)
    session.interject("by the way", sender="child")
    again, provider = open_session("stateless", reply("ok"), cancel_note="(you were cut off)")
    again.restore(session.save())
    assert [message.text for message in again.waiting] == ["by the way"]
    again.send("where were we?")
    assert [m.text for m in provider.requests[0].messages][2:] == ["by the way", "(you were cut off)where were we?"]
