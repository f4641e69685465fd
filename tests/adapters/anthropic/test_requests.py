"""What is sent for a call, read from the request that left the SDK's client."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.errors import InvalidRequestError, UsageError
from turnproof.messages import ExecutableCode, InlineData, Message, ToolSchema

from .kit import Capture, answered, call, result, signed, stateless, text, use

HI = Message.user("hi")
IMAGE = InlineData("image/png", b"\x89PNG")


def sent(*messages: Message, model: str = "claude-sonnet-4-5", **kwargs: Any) -> Any:
    options = kwargs.pop("options", {})
    capture = Capture()
    provider = stateless("http://example.invalid", model, transport=capture.transport, **options)
    provider.complete(messages, **kwargs)
    return capture.body


def test_a_request_holds_the_conversation_and_what_stands_around_it() -> None:
    body = sent(
        HI,
        Message.model("look", call(path="/a")),
        Message.tool(result()),
        system_instruction="rules",
        tools=[ToolSchema("read", "reads")],
        response_schema={"type": "object"},
        options={"max_tokens": 50},
    )
    assert body == {
        "model": "claude-sonnet-4-5",
        "max_tokens": 50,
        "system": [text("rules")],
        "tools": [{"name": "read", "description": "reads", "input_schema": {"type": "object"}}],
        "output_config": {
            "format": {"type": "json_schema", "schema": {"type": "object", "additionalProperties": False}}
        },
        "messages": [
            {"role": "user", "content": [text("hi")]},
            {"role": "assistant", "content": [text("look"), use(path="/a")]},
            {"role": "user", "content": [answered()]},
        ],
    }


@pytest.mark.parametrize(
    "message",
    [
        Message.user(InlineData("audio/wav", b"RIFF")),
        Message.model(IMAGE),
        Message.user("half a pair: \ud83d"),
        Message.model(ExecutableCode("python", "half a pair: \ud83d")),
    ],
    ids=["sound", "image-of-the-model", "broken-text", "broken-code"],
)
def test_what_the_api_has_no_place_for_is_refused_before_anything_is_sent(message: Message) -> None:
    capture = Capture()
    provider = stateless("http://example.invalid", transport=capture.transport)
    with pytest.raises(InvalidRequestError):
        provider.complete([message])
    assert capture.requests == []


@pytest.mark.parametrize("where", [{"system_instruction": "\ud83d"}, {"tools": [ToolSchema("a", "\ud83d")]}])
def test_broken_unicode_around_the_conversation_is_refused_too(where: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequestError, match="Unicode"):
        sent(HI, **where)


def test_a_thinking_configuration_that_means_nothing_is_refused_when_it_is_set() -> None:
    with pytest.raises(UsageError, match="thinking"):
        stateless("http://example.invalid", thinking={"type": "hard"})


THINKING = {"thinking": {"budget_tokens": 2000}}


def test_a_tool_loop_that_began_without_thinking_goes_on_without() -> None:
    loop = (HI, Message.model(call()), Message.tool(result()))
    assert "thinking" not in sent(*loop, options=THINKING)
    assert "thinking" in sent(*loop, Message.model("done"), Message.user("next"), options=THINKING)
    assert "thinking" in sent(*loop, options={"thinking": {"type": "adaptive"}}, model="claude-opus-4-6")


def test_a_tool_loop_that_began_with_thinking_goes_on_with_it() -> None:
    loop = (HI, Message.model(signed("hm"), call("a")), Message.tool(result("a")))
    longer = (*loop, Message.model(call("b")), Message.tool(result("b")))
    assert "thinking" in sent(*loop, options=THINKING)
    assert "thinking" in sent(*longer, options=THINKING)
