"""The path that owns its history: what that holds after each kind of call, and that it says the same on the wire."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.messages import Message

from ..callback_recorder import CallbackRecorder
from .histories import TOOLS, arbitrary, grown
from .kit import URL, Capture, legacy, stateless

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
