"""Conversations in LangChain's messages, and a call of it as source; LangChain itself is not needed."""

from __future__ import annotations

import ast
from types import SimpleNamespace
from typing import Any

import pytest

from turnproof import errors
from turnproof.messages import FunctionCall, Message, ProviderData, Text, Thought, ToolResult, ToolSchema
from turnproof.reproducer import LibraryCall, Reproducer
from turnproof_adapters.peers.langchain_calls import MEMBERS, ChatModel, LangChainCalls
from turnproof_adapters.peers.langchain_messages import LangChainMessages

DIALECT = "anthropic-messages"
MESSAGES = LangChainMessages(DIALECT, "m")
BLOCK = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
SIGNED = Thought("Hm.", provider_data=ProviderData(DIALECT, "m", BLOCK))
FOREIGN = Thought("Hm.", provider_data=ProviderData("gemini", "m", BLOCK))
CALL = FunctionCall("c1", "read_sensor", {"bed": 3})
HISTORY = (
    Message.user("How moist is 'bed 3'?"),
    Message.model(SIGNED, FOREIGN, Text("I look."), CALL),
    Message.tool(ToolResult("c1", "read_sensor", {"moist": 0.4}, is_error=True)),
    Message.system("Be brief."),
)
CHAT_MODEL = ChatModel("langchain_anthropic", "ChatAnthropic", ("langchain-anthropic",), {})


def answer(content: Any, **rest: Any) -> SimpleNamespace:
    empty: dict[str, Any] = {"additional_kwargs": {}, "tool_calls": [], "invalid_tool_calls": []}
    return SimpleNamespace(content=content, **empty | rest)


def test_instructions_between_messages_join_the_system_text() -> None:
    (name, system), *_ = MESSAGES.write(HISTORY, "You keep a log.")
    assert (name, system["content"]) == ("SystemMessage", "You keep a log.\n\nBe brief.")


def test_a_signed_thought_goes_back_and_that_of_another_api_does_not() -> None:
    _, _, (_, written), (_, result) = MESSAGES.write(HISTORY, "You keep a log.")
    assert written["content"].count(BLOCK) == 1
    assert written["tool_calls"] == [{"name": "read_sensor", "args": {"bed": 3}, "id": "c1"}]
    assert result == {
        "content": '{"moist": 0.4}',
        "tool_call_id": "c1",
        "name": "read_sensor",
        "status": "error",
    }


def test_parts_keep_the_order_of_the_blocks() -> None:
    calls = [{"name": "read_sensor", "args": {"bed": 3}, "id": "c1"}]
    content = [BLOCK, {"type": "tool_use", "id": "c1"}, {"type": "text", "text": "I look."}]
    assert list(MESSAGES.read(answer(content, tool_calls=calls), cut=False)) == [SIGNED, CALL, Text("I look.")]


def test_arguments_that_are_no_object_fail_and_where_the_answer_was_cut_the_call_is_left_out() -> None:
    broken = answer("I look.", invalid_tool_calls=[{"name": "read_sensor", "args": '{"bed"', "id": "c1"}])
    with pytest.raises(errors.TransportError, match="read_sensor"):
        list(MESSAGES.read(broken, cut=False))
    assert list(MESSAGES.read(broken, cut=True)) == [Text("I look.")]


@pytest.mark.parametrize("expected", MEMBERS)
def test_the_source_of_each_member_is_whole_python(expected: str) -> None:
    calls = LangChainCalls(CHAT_MODEL, DIALECT, {})
    tools = (ToolSchema("read_sensor", "Reads", {"type": "object", "properties": {}}),)
    assert isinstance(calls, Reproducer)
    code = calls.code(LibraryCall("m", HISTORY, "You keep a log.", tools, streamed=True, wanted=expected))
    body = [f"messages = [{', '.join(code.messages)}]", *code.opening, *code.body]
    text = "\n".join([*code.imports, "async def ask(url):", *(f"    {line}" for line in body)])
    ast.parse(text)
    assert "turnproof" not in text
    assert "base_url=url" in text
