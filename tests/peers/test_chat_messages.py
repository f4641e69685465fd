"""Conversations in the shape of chat completions, as bindings of several libraries write and read them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from turnproof.messages import FileRef, FinishReason, FunctionCall, InlineData, Message, Text, ToolResult, ToolSchema
from turnproof_adapters.peers.chat_messages import calls_of, chat_messages, chat_tool, chat_usage, finish_reason

CALL = FunctionCall("c1", "water", {"bed": 3, "größe": "½"})


def written(*history: Message, system: object = None) -> list[dict[str, object]]:
    return list(chat_messages(history, system, lambda message: {}))


def message(*arguments: str) -> SimpleNamespace:
    calls = [SimpleNamespace(id="c1", function=SimpleNamespace(name="water", arguments=one)) for one in arguments]
    return SimpleNamespace(tool_calls=calls)


def test_a_conversation_has_its_system_text_first_and_a_message_for_each_result() -> None:
    results = ToolResult("c1", "water", {"litres": 4}), ToolResult("c2", "read", "no sensor", is_error=True)
    history = (
        Message.user("Water bed 3."),
        Message.model("Now.", CALL),
        Message.tool(*results),
        Message.system("Be short."),
    )
    arguments = '{"bed": 3, "größe": "½"}'
    assert written(*history, system=Text("Log.")) == [
        {"role": "system", "content": "Log."},
        {"role": "user", "content": "Water bed 3."},
        {
            "role": "assistant",
            "content": "Now.",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "water", "arguments": arguments}}],
        },
        {"role": "tool", "tool_call_id": "c1", "name": "water", "content": '{"litres": 4}'},
        {"role": "tool", "tool_call_id": "c2", "name": "read", "content": "Error: no sensor"},
        {"role": "system", "content": "Be short."},
    ]


def test_pictures_and_documents_go_inline_or_by_reference() -> None:
    parts = (
        Text("Look."),
        InlineData("image/png", b"\x00"),
        FileRef("image/png", "http://127.0.0.1/a.png"),
        InlineData("application/pdf", b"\x00"),
        FileRef("application/pdf", "http://127.0.0.1/a.pdf"),
    )
    ((written_message),) = written(Message.user(*parts))
    assert written_message["content"] == [
        {"type": "text", "text": "Look."},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
        {"type": "image_url", "image_url": {"url": "http://127.0.0.1/a.png"}},
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,AA==", "filename": "document"}},
        {"type": "file", "file": {"file_id": "http://127.0.0.1/a.pdf", "filename": "document"}},
    ]


def test_what_a_library_adds_to_a_message_replaces_what_the_shape_has() -> None:
    answer = Message.model("Now.")
    (only,) = chat_messages([answer], None, lambda message: {"content": "", "thinking": message.text})
    assert only == {"role": "assistant", "content": "", "thinking": "Now."}


def test_a_tool_keeps_its_schema() -> None:
    tool = ToolSchema("water", "Waters a bed", {"type": "object", "properties": {"bed": {"type": "integer"}}})
    assert chat_tool(tool)["function"]["parameters"] == {"type": "object", "properties": {"bed": {"type": "integer"}}}


def test_calls_have_the_arguments_that_their_text_parses_to() -> None:
    assert [call for call, _ in calls_of(message('{"bed": 3}', ""), cut=False)] == [
        FunctionCall("c1", "water", {"bed": 3}),
        FunctionCall("c1", "water", {}),
    ]


@pytest.mark.parametrize("arguments", ['{"bed": ', "[3]", "3"])
def test_arguments_that_are_no_object_are_an_error_unless_the_answer_was_cut(arguments: str) -> None:
    with pytest.raises(ValueError, match=r"no object|Expecting"):
        list(calls_of(message(arguments), cut=False))
    assert list(calls_of(message(arguments), cut=True)) == []


def test_usage_counts_what_the_cache_served_and_what_thinking_took() -> None:
    usage = SimpleNamespace(
        prompt_tokens=10,
        completion_tokens=7,
        total_tokens=17,
        prompt_tokens_details=SimpleNamespace(cached_tokens=4),
        completion_tokens_details=SimpleNamespace(reasoning_tokens=5),
    )
    assert chat_usage(usage).cache_read_tokens == 4
    assert chat_usage(usage).thinking_tokens == 5
    assert chat_usage(None).total_tokens == 0


def test_a_finish_word_that_nobody_knows_is_unknown() -> None:
    assert finish_reason("length") is FinishReason.MAX_TOKENS
    assert finish_reason("sundown") is FinishReason.UNKNOWN
    assert finish_reason("stop", refused=True) is FinishReason.REFUSAL
