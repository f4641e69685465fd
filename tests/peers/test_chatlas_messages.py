"""chatlas' turns as calls of its classes: what a conversation becomes, and what comes of an answer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from turnproof import errors
from turnproof.messages import FunctionCall, InlineData, Message, ProviderData, Text, Thought, ToolResult
from turnproof_adapters.peers.chatlas_calls import ChatFunction, ChatlasCalls, _source
from turnproof_adapters.peers.chatlas_messages import ChatlasMessages

MESSAGES = ChatlasMessages("gemini", "gemini-2.5-flash")
CALL = FunctionCall("a", "read", {"bed": 3})


def turn(*contents: Any) -> SimpleNamespace:
    return SimpleNamespace(contents=contents)


def request(arguments: Any, **extra: Any) -> SimpleNamespace:
    return SimpleNamespace(content_type="tool_request", id="a", name="read", arguments=arguments, extra=extra)


def test_instructions_between_messages_are_at_the_end_of_the_system_text() -> None:
    system, user = MESSAGES.write([Message.user("Dry?"), Message.system("In German.")], "Be brief.")
    assert system == ("SystemTurn", [("ContentText", {"text": "Be brief.\n\nIn German."})])
    assert user == ("UserTurn", [("ContentText", {"text": "Dry?"})])


def test_a_result_has_its_call_and_a_failure_its_error() -> None:
    failed = Message.tool(ToolResult("a", "read", "no sensor", is_error=True))
    *_, (role, [(name, arguments)]) = MESSAGES.write([Message.model(CALL), failed], None)
    assert (role, name) == ("UserTurn", "ContentToolResult")
    call = ("ContentToolRequest", {"id": "a", "name": "read", "arguments": {"bed": 3}})
    assert arguments == {"value": None, "error": "no sensor", "request": call}
    assert _source((name, arguments)) == (
        "ContentToolResult(value=None, error='no sensor', "
        "request=ContentToolRequest(id='a', name='read', arguments={'bed': 3}))"
    )


def test_what_a_tool_attached_is_in_a_list_with_its_text() -> None:
    shown = Message.tool(ToolResult("a", "read", {"ok": True}, attachments=(InlineData("image/png", b"png"),)))
    *_, (_, [(_, arguments)]) = MESSAGES.write([Message.model(CALL), shown], None)
    assert arguments["value"][0] == '{"ok": true}'
    assert arguments["value"][1] == ("ContentImageInline", {"image_content_type": "image/png", "data": "cG5n"})


def test_a_signature_of_bytes_is_kept_as_base64_and_goes_back_as_bytes() -> None:
    (call,) = MESSAGES.read(turn(request({"bed": 3}, thought_signature=b"\xff\x00")), cut=False)
    assert isinstance(call, FunctionCall)
    assert call.provider_data == ProviderData("gemini", "gemini-2.5-flash", {"thought_signature": {"base64": "/wA="}})
    ((_, [(_, arguments)]),) = MESSAGES.write([Message.model(call)], None)
    assert arguments["extra"] == {"thought_signature": b"\xff\x00"}


def test_thoughts_go_back_with_their_signature_and_to_nobody_else() -> None:
    thinking = SimpleNamespace(content_type="thinking", thinking="Hm.", extra={"signature": "abc"})
    (thought,) = MESSAGES.read(turn(thinking), cut=False)
    assert isinstance(thought, Thought)
    ((_, contents),) = MESSAGES.write([Message.model(thought, "Dry.")], None)
    assert [name for name, _ in contents] == ["ContentThinking", "ContentText"]
    ((_, contents),) = ChatlasMessages("openai-chat", "m").write([Message.model(thought, "Dry.")], None)
    assert [name for name, _ in contents] == ["ContentText"]


def test_arguments_that_are_no_object_are_an_error_unless_the_answer_was_cut() -> None:
    broken = turn(SimpleNamespace(content_type="text", text="Well."), request('{"bed": '))
    assert list(MESSAGES.read(broken, cut=True)) == [Text("Well.")]
    with pytest.raises(errors.TransportError, match="no object"):
        list(MESSAGES.read(broken, cut=False))
    assert list(MESSAGES.read(turn(request(None)), cut=False)) == [FunctionCall("a", "read", {})]


def test_a_limit_is_an_argument_of_one_chat_and_a_parameter_of_the_others() -> None:
    anthropic = ChatFunction("ChatAnthropic", "anthropic-messages", ("chatlas",))
    gemini = ChatFunction("ChatGoogle", "gemini", ("chatlas",))
    options = {"max_tokens": 9, "thinking": {"budget_tokens": 5}, "timeout": 2}
    assert anthropic.arguments("m", options) == {"model": "m", "reasoning": 5, "max_tokens": 9}
    assert (anthropic.parameters(options), gemini.parameters(options)) == ({}, {"max_tokens": 9})
    assert gemini.client("u", options) == {"http_options": {"base_url": "u", "timeout": 2000}}
    assert anthropic.client("u", options) == {"base_url": "u", "max_retries": 0, "timeout": 2}
    assert ChatlasCalls(gemini).packages == ("chatlas",)
