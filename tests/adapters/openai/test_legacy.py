"""The path that owns its history: what that holds after each kind of call, and that it says the same on the wire."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.cancel import CancelToken
from turnproof.messages import (
    FinishReason,
    FunctionCall,
    Message,
    Text,
    TokenUsage,
    ToolResult,
    ToolSchema,
)

from ..callback_recorder import CallbackRecorder
from ..scripted_server import Exchange, scripted
from .histories import TOOLS, arbitrary, grown
from .kit import URL, Capture, answer, legacy, pieces, stateless, stream, texts, tool_call


def history_of(provider: Any) -> list[tuple[str, tuple[Any, ...]]]:
    return [(message.role, message.parts) for message in provider.get_history()]


def test_a_conversation_with_tools_is_recorded_as_it_goes() -> None:
    used = answer("look", tool_call("a", "read", '{"p": 1}'), finish="tool_calls")
    with scripted(
        lambda exchange: exchange.answer(used),
        lambda exchange: exchange.stream(*stream(texts("do", "ne"))),
    ) as server:
        provider = legacy(server.url)
        provider.create_session("rules", [ToolSchema("read")])
        provider.send_message("hi")
        provider.send_tool_results_streaming([ToolResult("a", "read", "ok")], print)
        assert history_of(provider) == [
            ("user", (Text("hi"),)),
            ("model", (Text("look"), FunctionCall("a", "read", {"p": 1}))),
            ("tool", (ToolResult("a", "read", "ok"),)),
            ("model", (Text("done"),)),
        ]
        rules = {"role": "system", "content": "rules"}
        assert [exchange.json["messages"][0] for exchange in server.requests] == [rules] * 2
        assert provider.get_token_usage() == TokenUsage(120, 7, 127, cache_read_tokens=100, thinking_tokens=3)


def test_a_callback_that_raises_leaves_the_history_as_it_was() -> None:
    def fail(_: str) -> None:
        raise LookupError("mine")

    provider = legacy(URL, transport=Capture().transport)
    with pytest.raises(LookupError):
        provider.send_message_streaming("hi", fail)
    assert provider.get_history() == []


@pytest.mark.parametrize("said", ["", "so far"])
def test_a_cancelled_call_keeps_the_users_side_and_what_the_model_had_said(said: str) -> None:
    token = CancelToken()
    events = stream(texts(said) if said else [], pieces(0, "a", "rm", "{}"), finish="tool_calls")

    def hold(exchange: Exchange) -> None:
        exchange.stream_head()
        exchange.chunk(b"".join(events[:-1]))
        exchange.wait_for_hangup()

    with scripted(hold) as server:
        provider = legacy(server.url)
        response = provider.send_message_streaming(
            "hi", print, cancel_token=token, on_usage_update=lambda _: token.cancel()
        )
    assert response.finish_reason is FinishReason.CANCELLED
    expected: list[tuple[str, tuple[Any, ...]]] = [("user", (Text("hi"),))]
    assert history_of(provider) == expected + ([("model", (Text(said),))] if said else [])


SETTINGS: list[dict[str, Any]] = [
    {},
    {"max_tokens": 99},
    {"thinking": {"effort": "low"}, "max_tokens": 99},
    {"instructions_role": "developer", "limit_field": "max_tokens", "max_tokens": 9},
    {"extra_body": {"top_k": 7, "tools": [], "stream_options": {"include_usage": False}}, "thoughts_back": True},
]
CONVERSATIONS = [*map(grown, (1, 3, 20)), *map(arbitrary, range(9))]


def both(history: list[Message], *, streamed: bool, **options: Any) -> tuple[Capture, Capture]:
    """The request of either path for one conversation."""
    old, new = Capture(), Capture()
    *earlier, last = [*history, Message.user("so?")]
    provider = legacy(URL, transport=old.transport, **options)
    provider.create_session("rules", TOOLS, earlier)
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    pure = stateless(URL, transport=new.transport, **options)
    if streamed:
        provider.send_message_streaming(last.text, print, response_schema=schema)
        pure.complete([*earlier, last], "rules", TOOLS, response_schema=schema, **CallbackRecorder().callbacks)
    else:
        provider.send_message(last.text, schema)
        pure.complete([*earlier, last], "rules", TOOLS, response_schema=schema)
    return old, new


@pytest.mark.parametrize("number", range(len(CONVERSATIONS)))
def test_both_paths_send_the_same_bytes(number: int) -> None:
    old, new = both(CONVERSATIONS[number], streamed=number % 2 == 0)
    assert new.requests[0].content == old.requests[0].content
    assert set(old.requests[0].headers) == set(new.requests[0].headers)
    assert old.requests[0].url == new.requests[0].url


@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
@pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: "-".join(settings) or "none")
def test_settings_say_the_same_on_both_paths(settings: dict[str, Any], streamed: bool) -> None:
    old, new = both(grown(4), streamed=streamed, **settings)
    assert new.requests[0].content == old.requests[0].content
