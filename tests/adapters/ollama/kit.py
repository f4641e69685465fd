"""What the tests of this adapter share: answers as the server writes them, and providers pointed at a test.

Blocks and deltas are those of Anthropic's format; `..anthropic.kit` writes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import httpx2

from turnproof.messages import ProviderData, Thought
from turnproof_adapters.ollama.binding import BINDING
from turnproof_adapters.ollama.legacy import OllamaLegacy
from turnproof_adapters.ollama.stateless import OllamaStateless

from ..anthropic.kit import MessagesKit, event, text, text_block, unsigned_cancel_moments
from ..call_modes import CallModes
from ..contract.adapter_kit import CancelMoment, Opener, Path, RequestRecorder

KEY = "ollama-canary-0123456789"
MODEL = "qwen3:8b"
URL = "http://example.invalid:11434"

ESTIMATE = {"input_tokens": 198, "output_tokens": 0}
USAGE = {"input_tokens": 212, "output_tokens": 31}


stateless = Opener(OllamaStateless, BINDING.open_stateless, KEY, MODEL, URL)
legacy = Opener(OllamaLegacy, BINDING.open_legacy, KEY, MODEL, URL)


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


class Server(RequestRecorder):
    """A transport in memory that records every request. It answers `hi` on the Anthropic-compatible route, and
    elsewhere what `at` has for the path."""

    def __init__(self, reply: Any = None, events: Iterable[bytes] | None = None, **at: Any) -> None:
        super().__init__(
            answer([text("hi")]) if reply is None else reply, stream(text_block(0, "hi")) if events is None else events
        )
        self._at = at

    @property
    def paths(self) -> list[str]:
        return [request.url.path for request in self.requests]

    def respond(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.path.startswith("/api/"):
            return httpx2.Response(200, json=self._at[request.url.path.removeprefix("/api/")])
        return super().respond(request)


MODES = CallModes(stateless, legacy)


class Kit(MessagesKit):
    model = MODEL
    key = KEY
    batch = staticmethod(lambda *content, stop: answer([*content], stop))
    events = staticmethod(stream)
    binding = BINDING
    openers: Mapping[Path, Any] = {"stateless": stateless, "legacy": legacy}
    ignored_events = (b": keep-alive\n\n", event("ping"), event("something_new", index=0))

    def cancel_moments(self) -> Mapping[str, CancelMoment]:
        return unsigned_cancel_moments(stream()[:1])


KIT = Kit()
