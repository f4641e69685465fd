"""What the tests of this adapter share: answers as the gateway writes them, and providers pointed at a test."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from turnproof.messages import Message, ProviderData, ProviderResponse, Text, Thought
from turnproof.provider import Endpoint
from turnproof_adapters.antigravity.binding import BINDING
from turnproof_adapters.antigravity.legacy import AntigravityLegacy
from turnproof_adapters.antigravity.stateless import AntigravityStateless

from ..contract.adapter_kit import CancelMoment, Opener, Path
from ..google_genai.kit import SIGNATURE as SIGNATURE
from ..google_genai.kit import Capture as GeminiCapture
from ..google_genai.kit import GeminiKit
from ..google_genai.kit import call as call
from ..google_genai.kit import text as text
from ..google_genai.kit import thought as thought

KEY = "ya29.canary-0123456789"
GEMINI, OLD, CLAUDE, GPT = "gemini-3-flash", "gemini-2.5-flash", "claude-sonnet-4-6", "gpt-oss-120b-medium"
URL = "http://gateway.invalid"
PROJECT = "projects-example-1"

USAGE = {
    "promptTokenCount": 96,
    "candidatesTokenCount": 22,
    "thoughtsTokenCount": 10,
    "cachedContentTokenCount": 40,
    "totalTokenCount": 128,
}

STREAMED = pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
PATHS = pytest.mark.parametrize("path", ["stateless", "legacy"])


def endpoint(url: str, model: str = GEMINI, **options: Any) -> Endpoint:
    return Endpoint(url, KEY, model, {"project": PROJECT, **options})


stateless = Opener(AntigravityStateless, BINDING.open_stateless, KEY, GEMINI, URL, settings={"project": PROJECT})
legacy = Opener(AntigravityLegacy, BINDING.open_legacy, KEY, GEMINI, URL, settings={"project": PROJECT})


def asking(path: str, url: str = URL, *, streamed: bool = False, **options: Any) -> Callable[[], ProviderResponse]:
    """One question on either path, whole or in pieces."""
    if path == "stateless":
        new = stateless(url, **options)
        recorder: dict[str, Any] = {"on_chunk": lambda piece: None} if streamed else {}
        return lambda: new.complete([Message.user("hi")], **recorder)
    old = legacy(url, **options)
    if streamed:
        return lambda: old.send_message_streaming("hi", lambda piece: None)
    return lambda: old.send_message("hi")


def answer(*parts: dict[str, Any], finish: str | None = "STOP", usage: Any = USAGE, **fields: Any) -> dict[str, Any]:
    """An answer without its envelope, or a piece of one. `finish=None` leaves the reason out."""
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}}
    if finish is not None:
        candidate["finishReason"] = finish
    body = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": GEMINI, "responseId": "kQ3baM"}
    return {**body, **fields}


def envelope(*parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """The same as the gateway sends it."""
    return {"response": answer(*parts, **fields), "traceId": "4f2a0c"}


def issued(model: str = GEMINI, signature: str = SIGNATURE) -> ProviderData:
    return ProviderData("antigravity", model, {"signature": signature})


def mark(model: str = GEMINI) -> ProviderData:
    """What a thought without a signature carries."""
    return ProviderData("antigravity", model, {})


def event(body: Any, end: str = "\n\n") -> bytes:
    """One event as the gateway writes it."""
    return f"data: {json.dumps(body, ensure_ascii=False)}{end}".encode()


def stream(*pieces: dict[str, Any], finish: str = "STOP", usage: Any = USAGE) -> list[bytes]:
    """A whole stream as events, one part in each; the last has the finish reason and the figures."""
    events = [event(envelope(piece, finish=None, usage=None)) for piece in pieces[:-1]]
    return [*events, event(envelope(*pieces[-1:], finish=finish, usage=usage))]


class Capture(GeminiCapture):
    """A transport in memory that records every request and answers `hi`, or what it is given."""

    def __init__(self, reply: Any = None, events: Iterable[bytes] | None = None) -> None:
        super().__init__(
            envelope(text("hi")) if reply is None else reply, stream(text("hi")) if events is None else events
        )

    @property
    def request(self) -> Any:
        """What stands in the envelope."""
        return self.body["request"]

    def respond(self, request: httpx2.Request) -> httpx2.Response:
        if ":fetchAvailableModels" in str(request.url):
            return httpx2.Response(200, json={"models": {GEMINI: {}, CLAUDE: {}}})
        return super().respond(request)


class Kit(GeminiKit):
    model = GEMINI
    key = KEY
    batch = staticmethod(envelope)
    events = staticmethod(stream)
    binding = BINDING
    openers: Mapping[Path, Any] = {"stateless": stateless, "legacy": legacy}
    messages_place = ("request", "contents")
    ignored_events = (b": keep-alive\n\n", event({"response": {"candidates": []}}))
    exempt = frozenset({("stateless", "not-utf-8")})

    def endpoint(self, url: str, **options: Any) -> Endpoint:
        return endpoint(url, **options)

    def cancel_moments(self) -> Mapping[str, CancelMoment]:
        signed, words, last = thought("hm", SIGNATURE), text("so far"), text(".")
        moments = {
            "before-anything": CancelMoment([]),
            "in-thinking": CancelMoment(stream(thought("hm"), last)[:1]),
            "after-thinking": CancelMoment(stream(thought("hm"), thought("", SIGNATURE), last)[:2], (Thought,)),
            "in-text": CancelMoment(stream(signed, words, last)[:2], (Thought, Text), "so far"),
            "after-a-call": CancelMoment(stream(words, call("rm", {}, "toolu_vrtx_01A"), last)[:2], (Text,), "so far"),
            "in-an-event": CancelMoment([stream(words, last)[0], b'data: {"resp'], (Text,), "so far"),
        }
        return {name: replace(moment, options={"model": CLAUDE}) for name, moment in moments.items()}


KIT = Kit()
