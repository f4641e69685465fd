"""LlamaIndex's messages as dicts of their arguments: what a conversation becomes, and what comes of an answer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from turnproof.errors import TransportError
from turnproof.messages import FunctionCall, Message, Text, Thought, ToolResult
from turnproof_adapters.peers.llama_index_messages import LlamaIndexMessages, token_usage

ANTHROPIC = LlamaIndexMessages("anthropic-messages", "claude-sonnet-4-6")
GEMINI = LlamaIndexMessages("gemini", "gemini-2.5-flash")


def answer(*blocks: SimpleNamespace, **additional: Any) -> SimpleNamespace:
    return SimpleNamespace(blocks=blocks, additional_kwargs=additional)


def call(arguments: object) -> SimpleNamespace:
    return SimpleNamespace(block_type="tool_call", tool_call_id="c1", tool_name="read", tool_kwargs=arguments)


@pytest.mark.parametrize("arguments", ['{"bed": 3}', {"bed": 3}])
def test_arguments_are_read_from_text_and_object(arguments: object) -> None:
    assert list(ANTHROPIC.read(answer(call(arguments)))) == [FunctionCall("c1", "read", {"bed": 3})]


@pytest.mark.parametrize("arguments", ['{"bed": ', "[3]"])
def test_arguments_that_are_no_object_are_an_error(arguments: str) -> None:
    with pytest.raises(TransportError, match="the arguments of read"):
        list(ANTHROPIC.read(answer(call(arguments))))


def test_a_thought_goes_back_with_what_the_library_keeps_beside_it() -> None:
    block = SimpleNamespace(block_type="thinking", content="Two beds.", additional_information={"signature": "c2ln"})
    parts = tuple(ANTHROPIC.read(answer(block)))
    assert [type(part) for part in parts] == [Thought]
    (written,) = ANTHROPIC.write([Message("model", parts)], None)
    thinking_block = {"block_type": "thinking", "content": "Two beds.", "additional_information": {"signature": "c2ln"}}
    assert written["blocks"] == [thinking_block]


def test_signatures_of_a_message_go_back_as_bytes() -> None:
    text = SimpleNamespace(block_type="text", text="Look.")
    parts = tuple(GEMINI.read(answer(text, call({}), thought_signatures=[None, b"sig"])))
    assert [part.provider_data is not None for part in parts] == [True, False]
    (written,) = GEMINI.write([Message("model", parts)], None)
    assert written["additional_kwargs"] == {"thought_signatures": [None, b"sig"]}


def test_a_failed_tool_begins_as_the_librarys_agents_write_it() -> None:
    (written,) = ANTHROPIC.write([Message.tool(ToolResult("c1", "read", "no sensor", is_error=True))], None)
    assert written["blocks"] == [{"block_type": "text", "text": "Encountered error: no sensor"}]
    assert written["additional_kwargs"] == {"tool_call_id": "c1"}


def test_tokens_are_found_where_each_class_has_them() -> None:
    message = SimpleNamespace(additional_kwargs={"usage": {"input_tokens": 7, "output_tokens": 3}})
    assert token_usage(SimpleNamespace(raw={}, message=message)).total_tokens == 10
    nothing = SimpleNamespace(additional_kwargs={})
    raw = {"usage_metadata": {"prompt_token_count": 7, "candidates_token_count": 1, "thoughts_token_count": 2}}
    assert token_usage(SimpleNamespace(raw=raw, message=nothing)).output_tokens == 3
    assert token_usage(SimpleNamespace(raw=SimpleNamespace(usage=None), message=nothing)).total_tokens == 0


def test_a_text_stays_a_text() -> None:
    (written,) = GEMINI.write([Message("model", (Text("Yes."),))], None)
    assert written["blocks"] == [{"block_type": "text", "text": "Yes."}]
