"""The source that calls LangChain: whole Python, with the conversation in LangChain's own words."""

from __future__ import annotations

import ast

import pytest

from turnproof.messages import (
    FunctionCall,
    InlineData,
    Message,
    Opaque,
    ProviderData,
    Text,
    Thought,
    ToolResult,
    ToolSchema,
)
from turnproof.reproducer import LibraryCall, LibraryCode, Reproducer
from turnproof_adapters.peers.langchain_calls import MEMBERS, LangChainCalls

CALLS = LangChainCalls("langchain_anthropic", "ChatAnthropic", "anthropic-messages", ("langchain-anthropic",))
SIGNED = Thought("Hm.", provider_data=ProviderData("anthropic-messages", "m", {"signature": "s"}))
FOREIGN = Thought("Hm.", provider_data=ProviderData("gemini", "m", {"signature": "s"}))
HISTORY = (
    Message.user("How moist is 'bed 3'?", InlineData("image/png", b"png")),
    Message.model(SIGNED, FOREIGN, Text("I look."), FunctionCall("c1", "read_sensor", {"bed": 3, "deep": None})),
    Message.tool(ToolResult("c1", "read_sensor", {"moist": 0.4}, is_error=True)),
    Message.system("Be brief."),
)


def source(code: LibraryCode) -> str:
    body = [f"messages = [{', '.join(code.messages)}]", *code.body]
    return "\n".join([*code.imports, "async def ask(url):", *(f"    {line}" for line in body)])


@pytest.mark.parametrize("wanted", MEMBERS)
def test_the_source_of_each_member_is_whole_python(wanted: str) -> None:
    tools = (ToolSchema("read_sensor", "Reads", {"type": "object", "properties": {}}),)
    call = LibraryCall("m", HISTORY, "You keep a log.", tools, streamed=True, wanted=wanted)
    assert isinstance(CALLS, Reproducer)
    text = source(CALLS.code(call))
    ast.parse(text)
    assert "turnproof" not in text
    assert "bind_tools([{'name': 'read_sensor'" in text


def test_a_conversation_is_in_the_librarys_own_messages() -> None:
    system, user, model, result, rule = CALLS.code(LibraryCall("m", HISTORY, "You keep a log.")).messages
    assert system == "SystemMessage('You keep a log.')"
    assert "'text': \"How moist is 'bed 3'?\"" in user
    assert "'base64': 'cG5n'" in user
    assert model.count("'type': 'thinking'") == 1
    assert "'args': {'bed': 3, 'deep': None}, 'id': 'c1'" in model
    assert result.endswith("tool_call_id='c1', name='read_sensor', status='error')")
    assert rule == "SystemMessage('Be brief.')"


def test_what_the_library_has_no_message_for_is_refused() -> None:
    with pytest.raises(ValueError, match="no block for Opaque"):
        CALLS.code(LibraryCall("m", (Message.model(Opaque("gemini", "search", {})),)))
    with pytest.raises(ValueError, match="no chunks"):
        CALLS.code(LibraryCall("m", HISTORY[:1], wanted="chunks"))
