"""The path that owns its history: what that holds after each kind of call, and that it says the same on the wire."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.cache import ExplicitCachePlugin
from turnproof.cancel import CancelToken
from turnproof.errors import InvalidRequestError
from turnproof.messages import (
    FinishReason,
    FunctionCall,
    Message,
    Text,
    TokenUsage,
    ToolResult,
    ToolSchema,
    same_history,
)

from ..callback_recorder import CallbackRecorder
from ..scripted_server import Exchange, scripted
from .histories import TOOLS, arbitrary, grown
from .kit import Capture, answer, call_block, legacy, start, stateless, stream, text, text_block, tool_use

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
URL = "http://example.invalid"


def history_of(provider: Any) -> list[tuple[str, tuple[Any, ...]]]:
    return [(message.role, message.parts) for message in provider.get_history()]


def test_a_conversation_with_tools_is_recorded_as_it_goes() -> None:
    used = answer(text("look"), tool_use("a", "read", {"p": 1}), stop="tool_use")
    with scripted(
        lambda exchange: exchange.answer(used),
        lambda exchange: exchange.stream(*stream(text_block(0, "do", "ne"))),
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
        assert [exchange.json["system"] for exchange in server.requests] == [[{"type": "text", "text": "rules"}]] * 2
        assert provider.get_token_usage() == TokenUsage(125, 7, 132, cache_read_tokens=100, cache_creation_tokens=5)


def test_a_callback_that_raises_leaves_the_history_as_it_was() -> None:
    def fail(_: str) -> None:
        raise LookupError("mine")

    with scripted(lambda exchange: exchange.stream(*stream(text_block(0, "so")))) as server:
        provider = legacy(server.url)
        with pytest.raises(LookupError):
            provider.send_message_streaming("hi", fail)
        assert provider.get_history() == []


@pytest.mark.parametrize("said", ["", "so far"])
def test_a_cancelled_call_keeps_the_users_side_and_what_the_model_had_said(said: str) -> None:
    token = CancelToken()

    def hold(exchange: Exchange) -> None:
        exchange.stream_head()
        exchange.chunk(b"".join([start(), *(text_block(0, said, closed=False) if said else [])]))
        exchange.wait_for_hangup()

    with scripted(hold) as server:
        provider = legacy(server.url)
        response = provider.send_message_streaming(
            "hi",
            lambda _: token.cancel(),
            cancel_token=token,
            on_usage_update=None if said else lambda _: token.cancel(),
        )
    assert response.finish_reason is FinishReason.CANCELLED
    expected: list[tuple[str, tuple[Any, ...]]] = [("user", (Text("hi"),))]
    assert history_of(provider) == expected + ([("model", (Text(said),))] if said else [])


def test_a_serialised_history_comes_back_without_loss() -> None:
    provider = legacy(URL)
    history = grown(12)
    assert same_history(provider.deserialize_history(provider.serialize_history(history)), history)


@pytest.mark.parametrize("history", [*map(grown, (1, 3, 20)), *map(arbitrary, range(10))])
def test_both_paths_say_the_same_on_the_wire(history: list[Message]) -> None:
    old, new = Capture(), Capture()
    *earlier, last = [*history, Message.user("so?")]
    provider = legacy(URL, transport=old.transport)
    provider.create_session("rules", TOOLS, earlier)
    provider.send_message(last.text)
    stateless(URL, transport=new.transport).complete([*earlier, last], "rules", TOOLS)
    assert old.body == new.body
    assert set(old.requests[0].headers) == set(new.requests[0].headers)


def test_a_cache_plugin_marks_the_requests_of_both_paths_alike() -> None:
    old, new, plugin = Capture(), Capture(), ExplicitCachePlugin(minimum_tokens=1)
    provider, pure = legacy(URL, transport=old.transport), stateless(URL, transport=new.transport)
    provider.set_cache_plugin(ExplicitCachePlugin(minimum_tokens=1))
    provider.create_session("rules", TOOLS)
    for n in range(4):
        provider.send_message(f"question {n}")
        prepared = plugin.prepare(provider.get_history()[:-1], "rules", TOOLS)
        pure.complete(prepared.messages, prepared.system, prepared.tools)
        assert old.body == new.body
        assert str(old.body).count("cache_control") == (3 if n == 0 else 4)
    assert all(part.cache is None for message in provider.get_history() for part in message.parts)
    provider.set_cache_plugin(None)
    provider.send_message("plain")
    assert "cache_control" not in str(old.body)


def test_text_that_is_not_valid_unicode_is_refused_before_anything_is_sent() -> None:
    capture = Capture()
    provider = legacy(URL, transport=capture.transport)
    provider.create_session("half a pair: \ud83d")
    for words in ("hi", "\ud83d"):
        with pytest.raises(InvalidRequestError, match="Unicode"):
            provider.send_message(words)
    assert provider.get_history() == capture.requests == []


def test_a_clipped_call_is_not_recorded() -> None:
    events = stream(text_block(0, "so"), call_block(1, "a", "rm", '{"path": "/', closed=False), stop="max_tokens")
    recorder = CallbackRecorder()
    with scripted(lambda exchange: exchange.stream(*events)) as server:
        provider = legacy(server.url)
        provider.send_message_streaming("hi", print, on_function_call=recorder.callbacks["on_function_call"])
    assert history_of(provider)[1:] == [("model", (Text("so"),))]
    assert recorder.calls == []
