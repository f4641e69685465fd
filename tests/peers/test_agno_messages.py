"""Conversations as arguments of agno's `Message`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from turnproof.messages import FileRef, FunctionCall, InlineData, Message, ProviderData, Text, Thought, ToolResult
from turnproof_adapters.peers.agno_messages import AgnoMessages

AGNO = AgnoMessages("anthropic-messages", "claude-sonnet-4-6")
SIGNED = ProviderData(
    "anthropic-messages", "claude-sonnet-4-6", {"signature": "c2ln", "message": '{"signature": "c2ln"}'}
)
MEMBERS = ("content", "reasoning_content", "redacted_reasoning_content", "tool_calls", "provider_data")


def as_message(arguments: dict[str, Any]) -> SimpleNamespace:
    """What the library makes of arguments: members that are not given are None."""
    return SimpleNamespace(**(dict.fromkeys(MEMBERS) | arguments))


def test_what_the_model_said_is_read_and_written_without_loss() -> None:
    parts = (Thought("Dry?", provider_data=SIGNED), Text("I look."), FunctionCall("c1", "read", {"bed": 3}))
    (written,) = AGNO.write([Message("model", parts)], None)
    assert tuple(AGNO.read(as_message(written))) == parts


@pytest.mark.parametrize("data", [None, ProviderData("gemini", "gemini-2.5-flash", {"signature": "c2ln"})])
def test_a_thought_that_another_issued_is_not_sent(data: ProviderData | None) -> None:
    (written,) = AGNO.write([Message.model(Thought("Dry?", provider_data=data), "Yes.")], None)
    assert written == {"role": "assistant", "content": "Yes.", "provider_data": {}, "tool_calls": None}


def test_a_failed_result_is_marked_and_has_its_pictures() -> None:
    failed = ToolResult("c1", "read", "no sensor", is_error=True, attachments=(InlineData("image/png", b"\x00"),))
    (written,) = AGNO.write([Message.tool(failed)], None)
    picture = {"content": b"\x00", "format": "png", "mime_type": "image/png"}
    assert written == {
        "role": "tool",
        "content": "no sensor",
        "tool_call_id": "c1",
        "tool_name": "read",
        "tool_call_error": True,
        "images": [picture],
    }


def test_instructions_between_turns_are_in_the_one_system_message() -> None:
    system, user = AGNO.write([Message("system", (Text("Be short."),)), Message.user("Is bed 3 dry?")], "Garden.")
    assert system == {"role": "system", "content": "Garden.\n\nBe short."}
    assert user == {"role": "user", "content": "Is bed 3 dry?"}


def test_pictures_and_documents_stand_beside_the_text() -> None:
    parts = ("See:", FileRef("image/png", "https://x.example/a.png"), InlineData("application/pdf", b"%PDF"))
    (written,) = AGNO.write([Message.user(*parts)], None)
    assert written["content"] == "See:"
    assert written["images"] == [{"url": "https://x.example/a.png", "mime_type": "image/png"}]
    assert written["files"] == [{"content": b"%PDF", "mime_type": "application/pdf", "filename": "document"}]
