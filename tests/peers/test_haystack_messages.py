"""Haystack's messages as dicts: what a conversation becomes, and what comes of an answer."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from turnproof.errors import InvalidRequestError
from turnproof.messages import FileRef, FunctionCall, InlineData, Message, ProviderData, Text, Thought, ToolResult
from turnproof_adapters.peers.haystack_messages import HaystackMessages, token_usage

WRITER = HaystackMessages("anthropic-messages", "claude-sonnet-4-6")
SIGNED = ProviderData("anthropic-messages", "claude-sonnet-4-6", {"signature": "c2ln"})


def test_a_thought_goes_back_with_its_signature_in_front_of_text_and_calls() -> None:
    parts = (Thought("Two beds.", provider_data=SIGNED), Text("Let me look."), FunctionCall("c1", "read", {"bed": 3}))
    (written,) = WRITER.write([Message("model", parts)], None)
    thought = {"reasoning_content": {"reasoning_text": {"text": "Two beds.", "signature": "c2ln"}}}
    assert written["content"] == [
        {"reasoning": {"reasoning_text": "", "extra": {"reasoning_contents": [thought]}}},
        {"text": "Let me look."},
        {"tool_call": {"tool_name": "read", "arguments": {"bed": 3}, "id": "c1"}},
    ]


def test_a_result_holds_the_call_that_it_answers() -> None:
    call = FunctionCall("c1", "read", {"bed": 3})
    failed = Message.tool(ToolResult("c1", "read", {"litres": 2}, is_error=True))
    *_, written = WRITER.write([Message.user("Which?"), Message("model", (call,)), failed], "Be brief.")
    origin = {"tool_name": "read", "arguments": {"bed": 3}, "id": "c1"}
    assert written["content"] == [
        {"tool_call_result": {"result": '{"litres": 2}', "origin": origin, "error": True}},
    ]


def test_an_image_by_reference_is_refused() -> None:
    with pytest.raises(InvalidRequestError, match="FileRef"):
        WRITER.write([Message.user(FileRef("image/png", "https://example.org/bed.png"))], None)
    (written,) = WRITER.write([Message.user(InlineData("image/png", b"\x89"))], None)
    assert written["content"] == [{"image": {"base64_image": "iQ==", "mime_type": "image/png"}}]


def test_a_call_without_an_id_gets_one_and_goes_back_without() -> None:
    call = SimpleNamespace(id=None, tool_name="read", arguments={})
    answer = SimpleNamespace(reasonings=[], text=None, tool_calls=[call, call], meta={})
    first, second = WRITER.read(answer)
    assert isinstance(first, FunctionCall)
    assert isinstance(second, FunctionCall)
    assert first.id != second.id
    (written,) = WRITER.write([Message("model", (first,))], None)
    assert written["content"] == [{"tool_call": {"tool_name": "read", "arguments": {}, "id": None}}]


def test_signatures_of_a_message_are_kept_once_and_go_back_with_it() -> None:
    reader = HaystackMessages("gemini", "gemini-2.5-flash")
    signatures = [{"part_index": 1, "signature": "c2ln"}]
    call = SimpleNamespace(id="c1", tool_name="read", arguments={})
    answer = SimpleNamespace(reasonings=[], text="Look.", tool_calls=[call], meta={"thought_signatures": signatures})
    parts = tuple(reader.read(answer))
    assert [part.provider_data is not None for part in parts] == [True, False]
    (written,) = reader.write([Message("model", parts)], None)
    assert written["meta"] == {"thought_signatures": signatures}


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}, (7, 3, 10, 4)),
        ({"prompt_tokens": 7, "completion_tokens": 3, "cache_read_input_tokens": 4}, (7, 3, 10, 4)),
        ({"prompt_tokens": 7, "completion_tokens": 1, "thoughts_token_count": 2}, (7, 3, 10, 0)),
        ({"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": [{"modality": "TEXT"}]}, (7, 3, 10, 0)),
        (None, (0, 0, 0, 0)),
    ],
)
def test_tokens_are_read_as_each_api_has_them(usage: dict[str, object] | None, expected: tuple[int, ...]) -> None:
    read = token_usage(usage)
    assert (read.prompt_tokens, read.output_tokens, read.total_tokens, read.cache_read_tokens) == expected
