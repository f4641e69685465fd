"""Each way to send on a legacy path comes down to one turn with all that the caller gave."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from turnproof.cancel import CancelToken
from turnproof.messages import FinishReason, InlineData, Message, ProviderResponse, Text, ToolResult
from turnproof_adapters._answers import Listeners
from turnproof_adapters._legacy import LegacySends

PARTS = (Text("look"), InlineData("image/png", b"\x89PNG"))
RESULTS = (ToolResult("call_1", "read_sensor", "41 %"), ToolResult("call_2", "read_sensor", "12 %"))
SCHEMA = {"type": "object"}


class Turns(LegacySends):
    """Keeps what each turn was given."""

    def __init__(self) -> None:
        self.calls: list[tuple[Message, Mapping[str, Any] | None, Listeners, CancelToken | None]] = []

    def _turn(
        self,
        message: Message,
        response_schema: Mapping[str, Any] | None,
        listeners: Listeners,
        token: CancelToken | None,
    ) -> ProviderResponse:
        self.calls.append((message, response_schema, listeners, token))
        return ProviderResponse(parts=(Text("answered"),), finish_reason=FinishReason.STOP)


WAYS: dict[str, tuple[Callable[[Turns], Callable[..., ProviderResponse]], tuple[Any, ...], Message]] = {
    "text": (lambda turns: turns.send_message, ("hi",), Message.user("hi")),
    "parts": (lambda turns: turns.send_message_with_parts, (PARTS,), Message("user", PARTS)),
    "results": (lambda turns: turns.send_tool_results, (RESULTS,), Message.tool(*RESULTS)),
    "text, streamed": (lambda turns: turns.send_message_streaming, ("hi",), Message.user("hi")),
    "parts, streamed": (lambda turns: turns.send_message_with_parts_streaming, (PARTS,), Message("user", PARTS)),
    "results, streamed": (lambda turns: turns.send_tool_results_streaming, (RESULTS,), Message.tool(*RESULTS)),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_turn_is_given_everything(way: str) -> None:
    turns, token, recorder = Turns(), CancelToken(), [lambda event, number=number: None for number in range(4)]
    send, content, message = WAYS[way]
    streamed = way.endswith("streamed")
    callbacks = (
        {"on_usage_update": recorder[1], "on_function_call": recorder[2], "on_thinking": recorder[3]}
        if streamed
        else {}
    )
    arguments = (*content, recorder[0]) if streamed else content
    answer = send(turns)(*arguments, response_schema=SCHEMA, cancel_token=token, **callbacks)
    ((user_message, schema, listeners, by),) = turns.calls
    assert answer.text == "answered"
    assert (user_message.role, user_message.parts) == (message.role, message.parts)
    assert schema is SCHEMA
    assert by is token
    assert listeners == (Listeners(*recorder) if streamed else Listeners())
