"""semantic-kernel's messages: what a conversation becomes, and what comes of an answer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from turnproof import errors
from turnproof.messages import FunctionCall, InlineData, Message, Text, TokenUsage, ToolResult, ToolSchema
from turnproof_adapters.peers.semantic_kernel_messages import call_settings, read_items, token_usage, written_messages


def call(arguments: str | None) -> SimpleNamespace:
    return SimpleNamespace(content_type="function_call", id="a", name="read", arguments=arguments)


def test_each_result_is_a_message_and_a_failure_says_so() -> None:
    results = Message.tool(ToolResult("a", "read", {"moist": 41}), ToolResult("b", "read", "none", is_error=True))
    first, second = written_messages([results], None)
    assert first == ("tool", [("FunctionResultContent", {"id": "a", "name": "read", "result": '{"moist": 41}'})])
    assert second[1][0][1]["result"] == "Error: none"


def test_an_answer_keeps_its_text_beside_its_calls() -> None:
    history = [
        Message.user("See:", InlineData("image/png", b"png")),
        Message.model("I look.", FunctionCall("a", "read", {})),
    ]
    system, user, model = written_messages(history, "Be brief.")
    assert system == ("system", [("TextContent", {"text": "Be brief."})])
    assert user[1][1] == ("ImageContent", {"data_uri": "data:image/png;base64,cG5n"})
    assert [name for name, _ in model[1]] == ["TextContent", "FunctionCallContent"]


def test_arguments_that_are_no_object_are_an_error_unless_the_answer_was_cut() -> None:
    items: list[Any] = [call('{"bed": '), SimpleNamespace(content_type="text", text="Well.")]
    assert list(read_items(items, cut=True)) == [Text("Well.")]
    with pytest.raises(errors.TransportError, match="read are no object"):
        list(read_items(items, cut=False))
    assert list(read_items([call(None)], cut=False)) == [FunctionCall("a", "read", {})]


def test_tools_and_a_limit_are_settings() -> None:
    assert call_settings({}, None) == {}
    found = call_settings({"max_tokens": 9}, [ToolSchema("read", "Read", {"type": "object"})])
    assert (found["max_completion_tokens"], found["tools"][0]["function"]["name"]) == (9, "read")


def test_tokens_of_the_cache_and_of_thinking_are_parts_of_the_others() -> None:
    details = SimpleNamespace(cached_tokens=3), SimpleNamespace(reasoning_tokens=2)
    usage = SimpleNamespace(
        prompt_tokens=7, completion_tokens=5, prompt_tokens_details=details[0], completion_tokens_details=details[1]
    )
    assert token_usage(usage) == TokenUsage(7, 5, 12, 3, 0, 2)
    assert token_usage(None) == TokenUsage()
