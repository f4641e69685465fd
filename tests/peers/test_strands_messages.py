"""Conversations in the message types of strands."""

from __future__ import annotations

import pytest

from turnproof.messages import FunctionCall, InlineData, Message, ProviderData, Text, Thought, ToolResult
from turnproof_adapters.peers.strands_messages import StrandsMessages, system_text, token_usage

STRANDS = StrandsMessages("anthropic-messages", "claude-sonnet-4-6")


def issued(**data: str) -> ProviderData:
    return ProviderData("anthropic-messages", "claude-sonnet-4-6", data)


def test_what_the_model_said_is_read_and_written_without_loss() -> None:
    parts = (
        Thought("Dry?", provider_data=issued(signature="c2ln")),
        Thought("", provider_data=issued(redacted="c2VjcmV0")),
        Text("I look."),
        FunctionCall("c1", "read", {"bed": 3}),
    )
    (written,) = STRANDS.write([Message("model", parts)])
    assert tuple(STRANDS.read(written)) == parts


@pytest.mark.parametrize("data", [None, ProviderData("gemini", "gemini-2.5-flash", {"signature": "c2ln"})])
def test_a_thought_that_another_issued_stays_here(data: ProviderData | None) -> None:
    (written,) = STRANDS.write([Message.model(Thought("Dry?", provider_data=data), "Yes.")])
    assert written["content"] == [{"text": "Yes."}]


def test_a_failed_result_is_marked_and_has_its_pictures() -> None:
    failed = ToolResult("c1", "read", "no sensor", is_error=True, attachments=(InlineData("image/png", b"\x00"),))
    (written,) = STRANDS.write([Message.tool(failed)])
    picture = {"image": {"format": "png", "source": {"bytes": b"\x00"}}}
    result = {"toolUseId": "c1", "status": "error", "content": [{"text": "no sensor"}, picture]}
    assert written == {"role": "user", "content": [{"toolResult": result}]}


def test_an_instruction_between_messages_goes_to_the_end_of_the_system_text() -> None:
    history = [Message.user("Hi."), Message.system("Be short.")]
    assert [message["role"] for message in STRANDS.write(history)] == ["user"]
    assert system_text(history, Text("Log.")) == "Log.\n\nBe short."
    assert system_text(history[:1], None) is None


def test_the_prompt_counts_what_a_cache_served() -> None:
    usage = token_usage({"inputTokens": 3, "outputTokens": 7, "totalTokens": 20, "cacheReadInputTokens": 10})
    assert (usage.prompt_tokens, usage.output_tokens, usage.cache_read_tokens) == (13, 7, 10)
