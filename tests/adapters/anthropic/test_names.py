"""Names and ids: always legal, never colliding, and back again."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnproof.messages import FunctionCall, Message, ToolResult, ToolSchema
from turnproof_adapters.anthropic.names import restorer, wire_id, wire_name

from ..callback_recorder import CallbackRecorder
from .kit import Capture, answer, call_block, legacy, stateless, stream, tool_use

LEGAL = re.compile(r"[a-zA-Z0-9_-]{1,64}")
words = st.text(min_size=1, max_size=90) | st.sampled_from(["a.b", "a:b", "a_b", "", "北", "-x0123456789"])


@given(st.lists(words, unique=True, max_size=8))
def test_any_set_of_tool_names_is_made_legal_without_collisions_and_restored(names: list[str]) -> None:
    sent = [wire_name(name) for name in names]
    assert all(LEGAL.fullmatch(name) for name in sent)
    assert len(set(sent)) == len(names)
    restore = restorer(lambda: names)
    assert [restore(name) for name in sent] == names


@given(st.sampled_from(["a.b", "北", "x" * 70]))
def test_a_tool_may_be_named_like_the_rewritten_form_of_another(name: str) -> None:
    twin = wire_name(name)
    assert wire_name(twin) != twin
    assert restorer(lambda: [twin, name])(twin) == name


@given(st.lists(words, unique=True, max_size=8))
def test_any_set_of_ids_is_made_legal_without_collisions(ids: list[str]) -> None:
    sent = [wire_id(each) for each in ids]
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]+", each) for each in sent)
    assert len(set(sent)) == len(ids)


@pytest.mark.parametrize("name", ["read", "Read_file-2", "x" * 64])
def test_a_legal_name_is_left_alone(name: str) -> None:
    assert wire_name(name) == name


def test_a_name_of_more_characters_than_every_model_accepts_is_rewritten() -> None:
    rewritten = wire_name("x" * 65)
    assert len(rewritten) == 64
    assert rewritten.startswith("x" * 52 + "-x")


def test_declarations_calls_and_replayed_history_agree() -> None:
    history = [
        Message.user("hi"),
        Message.model(FunctionCall("functions.x:0", "mcp.srv.ls", {}), FunctionCall("call 1", "mcp:srv:ls", {})),
        Message.tool(ToolResult("functions.x:0", "mcp.srv.ls", "a"), ToolResult("call 1", "mcp:srv:ls", "b")),
    ]
    tools = [ToolSchema("mcp.srv.ls"), ToolSchema("mcp:srv:ls")]
    capture = Capture()
    stateless("http://example.invalid", transport=capture.transport).complete(history, None, tools)
    calls = capture.body["messages"][1]["content"]
    results = capture.body["messages"][2]["content"]
    assert {call["name"] for call in calls} == {tool["name"] for tool in capture.body["tools"]}
    assert [call["id"] for call in calls] == [result["tool_use_id"] for result in results]
    assert [result["content"] for result in results] == ["a", "b"]


@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("declared", [True, False], ids=["declared", "known-from-history"])
def test_a_call_comes_back_under_the_tools_own_name(streamed: bool, declared: bool) -> None:
    wire = wire_name("mcp.srv.ls")
    events = stream(call_block(0, "toolu_1", wire, json.dumps({"a": 1})), stop="tool_use")
    capture = Capture(answer(tool_use("toolu_1", wire, {"a": 1}), stop="tool_use"), events)
    provider = stateless("http://example.invalid", transport=capture.transport)
    tools = [ToolSchema("other"), *([ToolSchema("mcp.srv.ls")] if declared else [])]
    history = [Message.user("hi"), Message.model(FunctionCall("toolu_0", "mcp.srv.ls", {})), Message.user("again")]
    recorder = CallbackRecorder()
    callbacks = recorder.callbacks if streamed else {}
    response = provider.complete(history, None, tools, **callbacks)
    assert response.calls == (FunctionCall("toolu_1", "mcp.srv.ls", {"a": 1}),)
    assert recorder.calls == (list(response.calls) if streamed else [])
    stateful = legacy("http://example.invalid", transport=capture.transport)
    stateful.create_session(None, tools, history)
    replied = stateful.send_message_streaming("hi", print) if streamed else stateful.send_message("hi")
    assert replied.calls == response.calls


def test_a_name_that_nobody_declared_comes_back_as_it_is() -> None:
    capture = Capture(answer(tool_use("toolu_1", "ghost-x0123456789", {}), stop="tool_use"))
    provider = stateless("http://example.invalid", transport=capture.transport)
    assert provider.complete([Message.user("hi")]).calls[0].name == "ghost-x0123456789"
