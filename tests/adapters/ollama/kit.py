"""What the tests of this adapter share: answers as the server writes them, and providers pointed at a test.

Blocks and deltas are those of Anthropic's format; `..anthropic.kit` writes them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import httpx2

from turnproof.messages import ProviderData, Text, Thought
from turnproof.provider import Endpoint
from turnproof_adapters.ollama.binding import BINDING
from turnproof_adapters.ollama.legacy import OllamaLegacy
from turnproof_adapters.ollama.stateless import OllamaStateless

from ..anthropic.kit import STOP_REASONS, event, text, text_block, wire_blocks, wire_events
from ..call_modes import CallModes
from ..contract.adapter_kit import CALLBACKS, AdapterKit, CancelMoment, Ending, Path, WirePart, WireText, WireThinking

KEY = "ollama-canary-0123456789"
MODEL = "qwen3:8b"
URL = "http://example.invalid:11434"

ESTIMATE = {"input_tokens": 198, "output_tokens": 0}
USAGE = {"input_tokens": 212, "output_tokens": 31}


def stateless(url: str = URL, model: str = MODEL, **options: Any) -> OllamaStateless:
    assert BINDING.open_stateless is not None
    provider = BINDING.open_stateless(Endpoint(url, KEY, model, options))
    assert isinstance(provider, OllamaStateless)
    return provider


def legacy(url: str = URL, model: str = MODEL, **options: Any) -> OllamaLegacy:
    assert BINDING.open_legacy is not None
    provider = BINDING.open_legacy(Endpoint(url, KEY, model, options))
    assert isinstance(provider, OllamaLegacy)
    return provider


def answer(content: list[dict[str, Any]] | None, stop: str | None = "end_turn", **fields: Any) -> dict[str, Any]:
    """A batch answer: what is empty is left out, and content that is none is null."""
    head = {"id": "msg_3f2a9c0d", "type": "message", "role": "assistant", "model": MODEL, "content": content}
    return head | ({"stop_reason": stop} if stop else {}) | {"usage": USAGE} | fields


def stream(
    *blocks: Iterable[bytes], stop: str | None = "end_turn", head: dict[str, Any] = ESTIMATE, **usage: int
) -> list[bytes]:
    """A whole stream: an estimate at its head, the truth at its end, and no pings."""
    start = event("message_start", message=answer([], None, usage=head))
    end = event("message_delta", delta={"stop_reason": stop} if stop else {}, usage={**USAGE, **usage})
    return [start, *(each for events in blocks for each in events), end, event("message_stop")]


def thinking(words: str) -> dict[str, Any]:
    """A block of thinking, which nobody signs."""
    return {"type": "thinking", "thinking": words}


def issued(words: str, model: str = MODEL, dialect: str = "ollama") -> Thought:
    return Thought(words, provider_data=ProviderData(dialect, model, {}))


class Server:
    """A transport in memory that keeps every request. It answers on the Anthropic-compatible route in one piece or in
    a stream, and elsewhere what `at` says for the path."""

    def __init__(self, reply: Any = None, events: list[bytes] | None = None, **at: Any) -> None:
        self.requests: list[httpx2.Request] = []
        self._reply = answer([text("hi")]) if reply is None else reply
        self._events = stream(text_block(0, "hi")) if events is None else events
        self._at = at
        self.transport = httpx2.MockTransport(self._handle)

    @property
    def body(self) -> Any:
        return json.loads(self.requests[-1].content)

    @property
    def paths(self) -> list[str]:
        return [request.url.path for request in self.requests]

    def _handle(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        if request.url.path.startswith("/api/"):
            return httpx2.Response(200, json=self._at[request.url.path.removeprefix("/api/")])
        if b'"stream":true' in request.content:
            return httpx2.Response(200, content=b"".join(self._events), headers={"content-type": "text/event-stream"})
        return httpx2.Response(200, json=self._reply)


MODES = CallModes(stateless, legacy)


class Kit:
    name = "ollama"
    reported_model = MODEL
    callbacks = CALLBACKS
    key = KEY
    arguments_are_text = True
    optional_last_events = 0
    ignored_events = (b": keep-alive\n\n", event("ping"), event("something_new", index=0))
    calls_arrive_whole = True
    exempt: frozenset[tuple[Path, str]] = frozenset()

    def open(self, path: Path, url: str, **options: Any) -> Any:
        return (stateless if path == "stateless" else legacy)(url, **options)

    def answer(self, *parts: WirePart, ending: Ending = "stop") -> Any:
        return answer(wire_blocks(parts, signature=None), STOP_REASONS[ending])

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
        head = stream()[:1]
        return {
            "before-anything": CancelMoment([]),
            "in-thinking": CancelMoment([*head, *thinking[:-1]], has_usage=True),
            "after-thinking": CancelMoment([*head, *thinking], (Thought,), has_usage=True),
            "in-text": CancelMoment([*head, *thinking, *words[:-1]], (Thought, Text), "so far", has_usage=True),
        }


KIT: AdapterKit = Kit()
