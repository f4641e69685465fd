"""Names and ids: always legal, never colliding, and back again."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from turnproof.messages import FunctionCall, Message, ToolResult, ToolSchema
from turnproof_adapters.anthropic.names import wire_id, wire_name

from .kit import Capture, stateless

LEGAL = re.compile(r"[a-zA-Z0-9_-]{1,64}")
words = st.text(min_size=1, max_size=90) | st.sampled_from(["a.b", "a:b", "a_b", "", "北", "-x0123456789"])


@given(st.lists(words, unique=True, max_size=8))
def test_any_set_of_ids_is_made_legal_without_collisions(ids: list[str]) -> None:
    sent = [wire_id(each) for each in ids]
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]+", each) for each in sent)
    assert len(set(sent)) == len(ids)


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
