"""What the tests of this adapter share: answers as the API writes them, and providers pointed at a test."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import httpx2

from turnproof.messages import ProviderData, Text, Thought
from turnproof_adapters.google_genai.binding import BINDING
from turnproof_adapters.google_genai.legacy import GoogleLegacy
from turnproof_adapters.google_genai.models import model as facts_of
from turnproof_adapters.google_genai.names import wire_name
from turnproof_adapters.google_genai.stateless import GoogleStateless

from ..contract.adapter_kit import AdapterKit, CancelMoment, KeyCheck, Opener, Path, RequestRecorder
from ..contract.wire_parts import Ending, WireCall, WirePart, WireText, WireThinking

KEY = "key-canary-0123456789"
MODEL = "gemini-3-flash-preview"
URL = "http://example.invalid"

SIGNATURE = "+/8AQmVydGggOQ=="
"""Holds both characters that the two base64 alphabets write differently."""

MARK = ProviderData("gemini", MODEL, {})
"""What a thought without a signature carries."""

USAGE = {
    "promptTokenCount": 61,
    "candidatesTokenCount": 6,
    "thoughtsTokenCount": 23,
    "totalTokenCount": 90,
    "cachedContentTokenCount": 40,
}


stateless = Opener(GoogleStateless, BINDING.open_stateless, KEY, MODEL, URL)
legacy = Opener(GoogleLegacy, BINDING.open_legacy, KEY, MODEL, URL)


def answer(*parts: dict[str, Any], finish: str | None = "STOP", usage: Any = USAGE, **fields: Any) -> dict[str, Any]:
    """A batch answer, or a chunk of a stream. `finish=None` leaves the reason out, as all chunks but the last do."""
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    body = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": MODEL, "responseId": "kQ3baM"}
    return {**body, **fields}


def text(words: str, signature: str | None = None) -> dict[str, Any]:
    return {"text": words, **_signed(signature)}


def thought(words: str, signature: str | None = None) -> dict[str, Any]:
    return {"text": words, "thought": True, **_signed(signature)}


def call(name: str, args: dict[str, Any], call_id: str | None = None, signature: str | None = None) -> dict[str, Any]:
    function = {"name": name, "args": args, **({"id": call_id} if call_id else {})}
    return {"functionCall": function, **_signed(signature)}


def _signed(signature: str | None) -> dict[str, Any]:
    return {"thoughtSignature": signature} if signature else {}


def event(body: Any) -> bytes:
    """One event as the API writes it, ended by CRLF CRLF."""
    return f"data: {json.dumps(body, ensure_ascii=False)}\r\n\r\n".encode()


def chunk(*parts: dict[str, Any], finish: str | None = None, usage: Any = USAGE, **fields: Any) -> bytes:
    return event(answer(*parts, finish=finish, usage=usage, **fields))


def stream(*pieces: dict[str, Any], finish: str = "STOP", usage: Any = USAGE) -> list[bytes]:
    """A whole stream as events, one part in each; the last has the finish reason."""
    events = [chunk(piece, usage={"promptTokenCount": 61}) for piece in pieces[:-1]]
    return [*events, chunk(*pieces[-1:], finish=finish, usage=usage)]


class Capture(RequestRecorder):
    """A transport in memory that records every request and answers `hi`."""

    def __init__(self, reply: Any = None, events: Iterable[bytes] | None = None) -> None:
        super().__init__(
            answer(text("hi")) if reply is None else reply, stream(text("hi")) if events is None else events
        )

    def respond(self, request: httpx2.Request) -> httpx2.Response:
        if ":countTokens" in str(request.url):
            return httpx2.Response(200, json={"totalTokens": 42})
        return super().respond(request)

    def is_streamed(self, request: httpx2.Request) -> bool:
        return ":streamGenerateContent" in str(request.url)


FINISH_REASONS: Mapping[Ending, str] = {"stop": "STOP", "calls": "STOP", "limit": "MAX_TOKENS"}


class GeminiKit(AdapterKit):
    """What every service of this API has in common."""

    arguments_are_text = False
    wire_name = staticmethod(wire_name)
    batch: Callable[..., Any]
    """Writes a batch answer of pieces and a finish reason."""
    events: Callable[..., list[bytes]]
    """Writes a stream of pieces and a finish reason."""

    def answer(self, *parts: WirePart, ending: Ending = "stop") -> Any:
        return self.batch(*(piece for part in parts for piece in wire_pieces(part)), finish=FINISH_REASONS[ending])

    def stream(self, *parts: WirePart, ending: Ending = "stop") -> list[bytes]:
        return self.events(*(piece for part in parts for piece in wire_pieces(part)), finish=FINISH_REASONS[ending])

    def overloaded_event(self, message: str) -> bytes:
        return event({"error": {"code": 503, "message": message, "status": "UNAVAILABLE"}})


class Kit(GeminiKit):
    model = MODEL
    key = KEY
    facts_of = staticmethod(facts_of)
    messages_place = ("contents",)
    models = (MODEL, "gemini-2.5-pro", "gemini-2.0-flash-001", "gemini-4-ultra", "a-model-of-tomorrow")
    key_check = KeyCheck(
        "/v1/models?pageSize=1",
        {"models": []},
        [(400, {"error": {"code": 400, "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}})],
    )
    batch = staticmethod(answer)
    events = staticmethod(stream)
    binding = BINDING
    openers: Mapping[Path, Any] = {"stateless": stateless, "legacy": legacy}
    ignored_events = (event({}), event({"candidates": []}), event({"candidates": [{"index": 0}]}))
    exempt = frozenset(
        {
            *(("legacy", case) for case in ("no-space", "comments", "retry-times", "ids", "names")),
            *((path, "not-utf-8") for path in ("stateless", "legacy")),
        }
    )

    def broken_event(self, data: bytes) -> bytes:
        return b"data: %b\r\n\r\n" % data

    def comparable(self, body: Any) -> Any:
        settings = {key: value for key, value in body.items() if (key, value) != ("generationConfig", {})}
        return _without_snake_case(settings)

    def conversation(self, body: Any) -> Any:
        return {key: self.comparable(body)[key] for key in ("contents", "systemInstruction", "tools")}

    def cancel_moments(self) -> Mapping[str, CancelMoment]:
        return {
            "before-anything": CancelMoment([]),
            "after-an-empty-chunk": CancelMoment([chunk()], has_usage=True),
            "in-thinking": CancelMoment([chunk(thought("hm"))], has_usage=True),
            "after-a-signed-thought": CancelMoment([chunk(thought("hm", SIGNATURE))], (Thought,), has_usage=True),
            "in-text": CancelMoment(
                [chunk(thought("hm")), chunk(text("so ")), chunk(text("far"))], (Text,), "so far", has_usage=True
            ),
            "after-a-signed-text": CancelMoment(
                [chunk(text("so ")), chunk(text("far", SIGNATURE))], (Text, Text), "so far", has_usage=True
            ),
            "after-a-call": CancelMoment(
                [chunk(text("so far")), chunk(call("rm", {}, "a", SIGNATURE))], (Text,), "so far", has_usage=True
            ),
            "within-an-event": CancelMoment(
                [chunk(text("so far")), chunk(text("never"))[:40]], (Text,), "so far", has_usage=True
            ),
        }


def wire_pieces(part: WirePart) -> list[dict[str, Any]]:
    """The pieces of a stream that have this part."""
    match part:
        case WireText():
            return [text(piece) for piece in part.pieces]
        case WireThinking():
            return [thought(piece) for piece in part.pieces]
        case WireCall():
            return [call(part.name, json.loads(part.json), part.call_id)]


def _without_snake_case(body: Any) -> Any:
    match body:
        case dict():
            return {
                key.replace("parameters_json_schema", "parametersJsonSchema"): _without_snake_case(value)
                for key, value in body.items()
            }
        case list():
            return [_without_snake_case(item) for item in body]
    return body


KIT = Kit()
