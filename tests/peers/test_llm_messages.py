"""llm's messages as dicts: what a conversation becomes, and what comes of an answer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from turnproof.messages import FunctionCall, InlineData, Message, ProviderData, Text, Thought, ToolResult
from turnproof_adapters.peers.llm_messages import LlmMessages, finish_of, token_usage

CLAUDE = LlmMessages("anthropic-messages", "claude-sonnet-4-6")
GPT = LlmMessages("openai-chat", "gpt-4.1-mini")
SIGNED = {"anthropic": {"signature": "c2ln"}}


def answered(*parts: dict[str, Any]) -> list[Any]:
    return [SimpleNamespace(to_dict=lambda: {"role": "assistant", "parts": list(parts)})]


def test_instructions_between_messages_have_their_place_only_where_the_library_takes_them() -> None:
    history = [Message.user("Dry?"), Message.system("In German.")]
    assert [one["role"] for one in GPT.write(history, "Be brief.")] == ["system", "user", "system"]
    system, _ = CLAUDE.write(history, "Be brief.")
    assert system["parts"] == [{"type": "text", "text": "Be brief.\n\nIn German."}]


def test_a_thought_goes_back_with_what_was_signed_and_only_to_its_model() -> None:
    reasoning = {"type": "reasoning", "text": "Hm.", "provider_metadata": SIGNED}
    (part,) = CLAUDE.read(answered(reasoning, {"type": "reasoning", "text": ""}), ())
    assert part == Thought("Hm.", provider_data=ProviderData("anthropic-messages", "claude-sonnet-4-6", SIGNED))
    (written,) = CLAUDE.write([Message("model", (part,))], None)
    assert written["parts"] == [reasoning]
    (other,) = LlmMessages("anthropic-messages", "claude-opus-4-5").write([Message("model", (part,))], None)
    assert other["parts"] == []


def test_a_call_has_the_arguments_with_which_the_library_runs_its_tool() -> None:
    call = {"type": "tool_call", "tool_call_id": "a", "name": "read", "arguments": {"_raw": '{"bed": 3'}}
    run = SimpleNamespace(tool_call_id="a", arguments={"bed": 3})
    parts = list(GPT.read(answered(call, {"type": "text", "text": "Well."}), [run]))
    assert parts == [Text("Well."), FunctionCall("a", "read", {"bed": 3})]


def test_a_failed_tool_has_its_exception() -> None:
    results = Message.tool(ToolResult("a", "read", "41 %"), ToolResult("b", "read", "none", is_error=True))
    (written,) = GPT.write([results], None)
    good, bad = written["parts"]
    assert good == {"type": "tool_result", "tool_call_id": "a", "name": "read", "output": "41 %"}
    assert (bad["output"], bad["exception"]) == ("Error: none", "none")


def test_bytes_are_an_attachment() -> None:
    (written,) = GPT.write([Message("user", (InlineData("image/png", b"png"),))], None)
    assert written["parts"] == [{"type": "attachment", "attachment": {"type": "image/png", "content": "cG5n"}}]


def test_a_left_answer_keeps_its_text_and_a_thought_that_was_signed() -> None:
    thought = SimpleNamespace(type="reasoning", chunk="Hm.", provider_metadata=None)
    text = SimpleNamespace(type="text", chunk="Dry", provider_metadata=None)
    assert list(CLAUDE.cancelled([thought, text])) == [Text("Dry")]
    signature = SimpleNamespace(type="reasoning", chunk="", provider_metadata=SIGNED)
    thinking, _ = CLAUDE.cancelled([thought, signature, text])
    assert thinking == Thought("Hm.", provider_data=ProviderData("anthropic-messages", "claude-sonnet-4-6", SIGNED))


def test_finish_word_and_tokens_are_those_of_both_apis() -> None:
    assert finish_of({"stop_reason": "end_turn"}) == "end_turn"
    assert finish_of({"choices": [{"finish_reason": "stop"}]}) == "stop"
    assert finish_of({"finish_reason": "length"}) == "length"
    assert finish_of({}) is None
    used = token_usage(SimpleNamespace(input=5, output=2, details={"cache_read_input_tokens": 3}))
    assert (used.prompt_tokens, used.total_tokens) == (8, 10)
