"""What the tests of this adapter share: answers as the service writes them, and providers pointed at a test.

Blocks and deltas are those of Anthropic's format; `..anthropic.kit` writes them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import httpx2

from turnproof.messages import ProviderData, Text, Thought
from turnproof.provider import Endpoint
from turnproof_adapters.zai.binding import BINDING
from turnproof_adapters.zai.legacy import ZaiLegacy
from turnproof_adapters.zai.stateless import ZaiStateless

from ..anthropic.kit import STOP_REASONS, event, text, text_block, wire_blocks, wire_events
from ..call_modes import CallModes
from ..contract.adapter_kit import CALLBACKS, AdapterKit, CancelMoment, Ending, Path, WirePart, WireText, WireThinking

KEY = "3f2a9c0d1e4b5a69.zaiCanary0123456"
MODEL = "glm-4.7"
URL = "http://example.invalid/api/anthropic"

USAGE = {"input_tokens": 14, "output_tokens": 9, "cache_read_input_tokens": 64}
ZERO = {"input_tokens": 0, "output_tokens": 0}


def stateless(url: str = URL, model: str = MODEL, **options: Any) -> ZaiStateless:
    assert BINDING.open_stateless is not None
    provider = BINDING.open_stateless(Endpoint(url, KEY, model, options))
    assert isinstance(provider, ZaiStateless)
    return provider


def legacy(url: str = URL, model: str = MODEL, **options: Any) -> ZaiLegacy:
    assert BINDING.open_legacy is not None
    provider = BINDING.open_legacy(Endpoint(url, KEY, model, options))
    assert isinstance(provider, ZaiLegacy)
    return provider


def answer(*content: dict[str, Any], stop: str | None = "end_turn", usage: Any = USAGE) -> dict[str, Any]:
    """A batch answer."""
    return {
        "id": "msg_20260901",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": list(content),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage,
    }


def stream(*blocks: Iterable[bytes], stop: str = "end_turn", usage: dict[str, Any] = USAGE) -> list[bytes]:
    """A whole stream: nothing is counted at its head, everything at its end."""
    delta = event("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage=usage)
    head = [event("message_start", message=answer(stop=None, usage=ZERO)), event("ping")]
    return [*head, *(each for events in blocks for each in events), delta, event("message_stop")]


def nameless(document: Any) -> bytes:
    """A frame that has data and no name."""
    return f"data: {json.dumps(document)}\n\n".encode()


def issued(words: str, model: str = MODEL, dialect: str = "zai", **data: Any) -> Thought:
    return Thought(words, provider_data=ProviderData(dialect, model, data))


class Service:
    """A transport in memory that keeps every request, and answers in one piece or in a stream as it is asked to."""

    def __init__(self, reply: Any = None, events: list[bytes] | None = None) -> None:
        self.requests: list[httpx2.Request] = []
        self._reply = answer(text("hi")) if reply is None else reply
        self._events = stream(text_block(0, "hi")) if events is None else events
        self.transport = httpx2.MockTransport(self._handle)

    @property
    def body(self) -> Any:
        return json.loads(self.requests[-1].content)

    def _handle(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        if b'"stream":true' in request.content:
            return httpx2.Response(200, content=b"".join(self._events), headers={"content-type": "text/event-stream"})
        return httpx2.Response(200, json=self._reply)


MODES = CallModes(stateless, legacy)


class Kit:
    name = "zai"
    reported_model = MODEL
    callbacks = CALLBACKS
    key = KEY
    arguments_are_text = True
    optional_last_events = 0
    ignored_events = (event("ping"), event("something_new", index=0), b'data: {"later": true}\n\n', b"event: ping\n\n")
    calls_arrive_whole = True
    exempt: frozenset[tuple[Path, str]] = frozenset()

    def open(self, path: Path, url: str, **options: Any) -> Any:
        return (stateless if path == "stateless" else legacy)(url, **options)

    def answer(self, *parts: WirePart, ending: Ending = "stop") -> Any:
        return answer(*wire_blocks(parts, signature=None), stop=STOP_REASONS[ending])

    def stream(self, *parts: WirePart, ending: Ending = "stop") -> list[bytes]:
        return stream(*wire_events(parts, signature=None), stop=STOP_REASONS[ending])

    def overloaded_event(self, message: str) -> bytes:
        return event("error", error={"details": None, "type": "overloaded_error", "message": message})

    def broken_event(self, data: bytes) -> bytes:
        return b"event: content_block_delta\ndata: %b\n\n" % data

    def comparable(self, body: Any) -> Any:
        return body

    def cancel_moments(self) -> Mapping[str, CancelMoment]:
        thinking, words = wire_events([WireThinking(("hm ", "’")), WireText(("so ", "far"))], signature=None)
        head = stream()[:2]
        return {
            "before-anything": CancelMoment([]),
            "in-thinking": CancelMoment([*head, *thinking[:-1]], has_usage=True),
            "after-thinking": CancelMoment([*head, *thinking], (Thought,), has_usage=True),
            "in-text": CancelMoment([*head, *thinking, *words[:-1]], (Thought, Text), "so far", has_usage=True),
        }


KIT: AdapterKit = Kit()
