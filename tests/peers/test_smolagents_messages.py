"""smolagents' messages: what a conversation becomes in the memory of an agent, and what comes of an answer."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from turnproof import errors
from turnproof.messages import FinishReason, FunctionCall, Message, Text, ToolResult, ToolSchema
from turnproof_adapters.peers.smolagents_messages import read_message, tool_inputs, written_messages


def test_calls_and_results_are_texts_as_the_memory_of_an_agent_has_them() -> None:
    called = Message("model", (Text("I look. "), FunctionCall("a", "read", {"bed": 3})))
    results = Message.tool(ToolResult("a", "read", "41 %"), ToolResult("b", "read", "none", is_error=True))
    text, calls, good, bad = written_messages([called, results], None)
    assert text == {"role": "assistant", "content": [{"type": "text", "text": "I look."}]}
    function = "{'id': 'a', 'type': 'function', 'function': {'name': 'read', 'arguments': {'bed': 3}}}"
    assert calls["role"] == "tool-call"
    assert calls["content"][0]["text"] == f"Calling tools:\n[{function}]"
    assert good == {"role": "tool-response", "content": [{"type": "text", "text": "Observation:\n41 %"}]}
    assert bad["content"][0]["text"].startswith("Call id: b\nError:\nnone\nNow let's retry")


def test_an_answer_has_no_finish_reason() -> None:
    call = SimpleNamespace(id="a", function=SimpleNamespace(name="read", arguments='{"bed": 3}'))
    used = SimpleNamespace(input_tokens=3, output_tokens=2, total_tokens=5)
    message = SimpleNamespace(content="Well.", tool_calls=[call], token_usage=used, raw=SimpleNamespace(model="m-1"))
    response = read_message(message)
    assert response.parts == (Text("Well."), FunctionCall("a", "read", {"bed": 3}))
    assert (response.finish_reason, response.model, response.usage.total_tokens) == (FinishReason.UNKNOWN, "m-1", 5)
    call.function.arguments = '{"bed": '
    with pytest.raises(errors.TransportError, match="read are no JSON"):
        read_message(message)


def test_each_parameter_has_a_type_and_definitions_stand_where_they_are_meant() -> None:
    schema = {
        "properties": {"plants": {"type": "array", "items": {"$ref": "#/$defs/plant"}}, "bed": {"enum": [1, 2]}},
        "required": ["plants"],
        "$defs": {"plant": {"type": "object", "properties": {"name": {"type": "string"}}}},
    }
    plant = {"type": "object", "properties": {"name": {"type": "string"}}}
    assert tool_inputs(ToolSchema("plan", "Plan", schema)) == {
        "plants": {"type": "array", "items": plant},
        "bed": {"type": "any", "enum": [1, 2], "nullable": True},
    }
