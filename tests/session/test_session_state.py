"""What is changed between turns: system text, tools, collection, reset, another provider, and saving."""

from __future__ import annotations

import json
import logging
from typing import Any

import msgspec
import pytest

from turnproof.errors import TransportError, UsageError
from turnproof.gc import GCConfig, GCResult, TruncateGC
from turnproof.messages import (
    CacheMark,
    InlineData,
    Message,
    ProviderData,
    Text,
    Thought,
    TokenUsage,
    ToolResult,
    ToolSchema,
    same_history,
)
from turnproof.session import SavedSessionError, Session

from .fakes import PATHS, FakeLegacy, FakeStateless, Watching, call, numbered, open_session, reply, tool

both = pytest.mark.parametrize("path", PATHS)


@both
def test_system_text_and_tools_change_from_the_next_call_on(path: str) -> None:
    session, provider = open_session(path, reply("a"), reply("b"), system="first", tools=[tool("one")])
    session.send("Hi")
    marked = Text("second", cache=CacheMark())
    session.set_system(marked)
    session.set_tools([tool("two")])
    session.send("Hi")
    first, second = provider.requests
    assert (first.system, [schema.name for schema in first.tools]) == ("first", ["one"])
    assert (second.system, [schema.name for schema in second.tools]) == (marked, ["two"])
    assert session.system == marked
    assert [one.schema.name for one in session.tools] == ["two"]
    assert len(second.messages) == 3, "neither costs the conversation"


def test_two_tools_of_one_name_are_refused_and_the_old_ones_stay() -> None:
    session, _ = open_session("stateless", tools=[tool("one")])
    with pytest.raises(UsageError, match="'two'"):
        session.set_tools([tool("two"), tool("two")])
    assert [one.schema.name for one in session.tools] == ["one"]


def test_max_rounds_below_one_is_refused() -> None:
    with pytest.raises(UsageError, match="max_rounds=0"):
        open_session("stateless", max_rounds=0)


# Collection


def three_turns(path: str, **options: Any) -> tuple[Session, Any]:
    session, provider = open_session(path, *[reply(text) for text in ("a", "b", "c", "d")], **options)
    for text in ("one", "two", "three"):
        session.send(text)
    return session, provider


@both
def test_collect_drops_the_oldest_turns_and_the_next_turn_goes_on(path: str) -> None:
    results: list[GCResult] = []
    session, provider = three_turns(
        path, gc=TruncateGC(), gc_config=GCConfig(keep_turns=2), observers=[Watching(on_collected=results.append)]
    )
    before = session.history.messages
    result = session.collect()
    assert (result.before, result.after) == (6, 4)
    assert result.removed_ids == ("m1", "m2")
    assert all(a is b for a, b in zip(session.history.messages, before[2:], strict=True))
    assert results == [result]
    session.send("four")
    assert [message.text for message in provider.requests[-1].messages] == ["two", "b", "three", "c", "four"]


def test_collect_keeps_as_many_turns_as_it_is_told() -> None:
    session, _ = three_turns("stateless", gc=TruncateGC(), gc_config=GCConfig(keep_turns=2))
    assert session.collect(keep_turns=1).after == 2


def test_a_collection_that_removes_nothing_is_no_collection() -> None:
    results: list[GCResult] = []
    session, _ = three_turns("stateless", observers=[Watching(on_collected=results.append)])
    version = session.history.version
    assert session.collect(keep_turns=3).removed_ids == ()
    assert results == []
    assert session.history.version == version


def test_without_a_collector_collect_must_be_told_how_much_to_keep() -> None:
    session, _ = three_turns("stateless")
    with pytest.raises(UsageError, match="gc="):
        session.collect()
    assert session.collect(keep_turns=1).after == 2


def test_an_observer_of_collections_that_raises_does_no_harm(caplog: pytest.LogCaptureFixture) -> None:
    def on_collected(result: GCResult) -> None:
        raise RuntimeError("observer")

    session, _ = three_turns("stateless", observers=[Watching(on_collected=on_collected)])
    with caplog.at_level(logging.ERROR):
        assert session.collect(keep_turns=1).after == 2
    assert "Watching failed as an observer" in caplog.text
    assert len(session.history) == 2


@both
def test_a_turn_near_the_limit_is_preceded_by_a_collection(path: str) -> None:
    session, provider = open_session(
        path,
        reply("a", prompt=78, output=1),
        reply("b", prompt=78, output=2),
        reply("c"),
        gc=TruncateGC(),
        gc_config=GCConfig(context_limit=100, keep_turns=1),
    )
    for text in ("one", "two", "three"):
        session.send(text)
    assert [[m.text for m in request.messages] for request in provider.requests] == [
        ["one"],
        ["one", "a", "two"],  # 79 of 100: not yet 80 %
        ["two", "b", "three"],
    ]


# Cache plugin


# Reset, clear, swap


@both
def test_clear_forgets_the_conversation_and_keeps_system_and_tools(path: str) -> None:
    session, provider = open_session(path, reply("a"), reply("b"), system="s", tools=[tool()])
    session.send("one")
    session.clear()
    assert (len(session.history), session.history.dirty, session.usage) == (0, False, TokenUsage())
    session.send("two")
    request = provider.requests[-1]
    assert ([m.text for m in request.messages], request.system, len(request.tools)) == (["two"], "s", 1)


@both
def test_reset_holds_the_given_messages_and_calls_no_model(path: str) -> None:
    session, provider = open_session(path, reply("a"))
    messages = [Message.user("x"), Message.model("y")]
    session.reset(messages)
    assert all(a is b for a, b in zip(session.history.messages, messages, strict=True))
    assert provider.requests == []
    session.reset()
    assert not session.history


@pytest.mark.parametrize("to", PATHS)
@both
def test_another_provider_of_either_path_gets_the_same_conversation(path: str, to: str) -> None:
    session, _ = open_session(path, reply(call()), reply("a"), system="s", tools=[tool()])
    session.send("one")
    messages = session.history.messages
    other = FakeStateless(reply("b")) if to == "stateless" else FakeLegacy(reply("b"))
    session.swap(other, path=to)  # type: ignore[arg-type]
    assert session.path == to
    session.send("two")
    (request,) = other.requests
    assert same_history(request.messages[:-1], messages)
    assert request.system == "s"


# Saving


RICH = [
    Message.user("what is ", InlineData("image/png", bytes(range(256)))),
    Message.model(Thought("hm", provider_data=ProviderData("d", "m", {"signature": "x="})), call(a=[1, None, "é"])),
    Message.tool(
        ToolResult("c1", "look", {"deep": [1.5]}, is_error=True, attachments=(InlineData("image/png", b"\0"),))
    ),
    Message.model("a ", Text("b", cache=CacheMark("1h"))),
]


@both
def test_save_and_load_lose_nothing_and_the_conversation_goes_on(path: str) -> None:
    session, _ = open_session(path, reply("a", prompt=40), system=Text("s", cache=CacheMark()), clock=lambda: 12.5)
    session.reset(RICH)
    session.send("Hi")
    assert session.history.dirty
    text = session.save()
    assert not session.history.dirty
    fresh = FakeStateless(reply("b")) if path == "stateless" else FakeLegacy(reply("b"))
    loaded = Session.load(text, fresh, path=path, tools=[tool()], ids=numbered())
    assert same_history(loaded.history.messages, session.history.messages), "ids included"
    assert (loaded.system, loaded.usage) == (session.system, session.usage)
    assert not loaded.history.dirty
    assert loaded.send("and?").text == "b"
    assert same_history(fresh.requests[0].messages[:-1], session.history.messages)


def test_a_saved_session_names_its_format_its_time_and_the_tools_it_had() -> None:
    session, _ = open_session("stateless", tools=[tool()], system="s", clock=lambda: 12.5)
    saved = json.loads(session.save())
    assert saved["format"] == "turnproof.session/2"
    assert saved["updated_at"] == "1970-01-01T00:00:12.500000Z"
    assert saved["system"] == "s"
    assert [schema["name"] for schema in saved["tools"]] == ["look"]
    assert saved["messages"] == []


def spoiled(**changes: Any) -> str:
    session, _ = open_session("stateless", reply("a"))
    session.send("Hi")
    saved = json.loads(session.save())
    for path, value in changes.items():
        *way, last = path.split("__")
        at = saved
        for step in way:
            at = at[int(step) if step.isdigit() else step]
        at[int(last) if last.isdigit() else last] = value
    return json.dumps(saved)


@pytest.mark.parametrize(
    ("text", "path", "reason"),
    [
        ("", "$", "truncated"),
        (spoiled()[:-20], "$", "truncated"),
        ("not json", "$", "malformed"),
        (b'{"format": "\xff"}', "$", "utf-8"),
        ("[]", "$", "Expected `object`"),
        ("{}", "$", "missing required field `format`"),
        (spoiled(format="turnproof.session/3"), "$.format", "'turnproof.session/3' cannot be read here"),
        (spoiled(messages__1__role="robot"), "$.messages[1].role", "Invalid enum value 'robot'"),
        (spoiled(messages__0__parts__0__part="hologram"), "$.messages[0].parts[0].part", "Invalid value 'hologram'"),
        (spoiled(messages__0__parts__0={"part": "text"}), "$.messages[0].parts[0]", "missing required field `text`"),
        (spoiled(mesages=[]), "$", "unknown field `mesages`"),
        (spoiled(messages__0__parts__0={"part": "text", "text": 7}), "$.messages[0].parts[0].text", "Expected `str`"),
        (spoiled(turn_count=0).replace('"turn_count": 0', '"turn_count": 1e999'), "$.turn_count", "out of range"),
    ],
)
def test_a_damaged_or_foreign_file_is_refused_with_its_path_and_nothing_is_loaded(
    text: str | bytes, path: str, reason: str
) -> None:
    session, _ = open_session("stateless", reply("a"), system="mine")
    session.send("Hi")
    before = session.history.messages
    with pytest.raises(SavedSessionError, match="saved session") as failure:
        session.restore(text)
    assert failure.value.path == path
    assert reason.lower() in failure.value.reason.lower()
    assert isinstance(failure.value, UsageError)
    assert session.history.messages == before
    assert session.system == "mine"


def test_every_cut_of_a_saved_session_is_refused() -> None:
    text = spoiled()
    session, _ = open_session("stateless")
    for end in range(len(text)):
        with pytest.raises(SavedSessionError):
            session.restore(text[:end])
    assert not session.history


def test_a_dangling_call_in_a_loaded_session_is_answered_for_good_by_the_next_turn() -> None:
    session, _ = open_session("stateless", tools=[tool()])
    session.reset([Message.user("look"), Message.model(call())])
    provider = FakeStateless(TransportError("x"), reply("ok"))
    loaded = Session.load(session.save(), provider, sleep=lambda seconds, token: False)
    loaded.send("Hi")
    assert [message.role for message in loaded.history.messages] == ["user", "model", "tool", "user", "model"]
    again = FakeStateless(reply("ok"))
    Session.load(loaded.save(), again).send("on")
    assert [message.role for message in again.requests[0].messages] == [
        "user",
        "model",
        "tool",
        "user",
        "model",
        "user",
    ]


def test_schemas_are_saved_as_the_model_knew_them() -> None:
    schema = ToolSchema("look", "Look at it.", {"type": "object", "properties": {"x": {"type": "integer"}}})
    session, _ = open_session("stateless", tools=[type(tool())(schema, lambda args, token: None)])
    assert json.loads(session.save())["tools"] == [msgspec.to_builtins(schema)]
