"""A good answer of each API, and what a broken service, or a proxy on the way, may put in place of any value in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import httpx2

from turnproof.messages import ProviderResponse, ToolSchema
from turnproof.provider import Endpoint, Path

from .service import BINDINGS

TOOLS = [ToolSchema("read", "Reads.", {"type": "object", "properties": {"bed": {"type": "string"}}})]


class Raw(str):
    """JSON text that no encoder would write."""


def nested(depth: int) -> Raw:
    return Raw("[" * depth + "1" + "]" * depth)


VALUES: dict[str, Any] = {
    "null": None,
    "a number": 5,
    "half of a pair": Raw('"a\\ud800b"'),
    "deep": nested(101),
}

_MARK = "\u2400 here"

ANTHROPIC_SHELL: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": [],
    "stop_reason": None,
    "usage": {"input_tokens": 20, "output_tokens": 1, "output_tokens_details": {"thinking_tokens": 1}},
}
ANTHROPIC = {
    **ANTHROPIC_SHELL,
    "content": [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "text", "text": "hi", "citations": [{"type": "char_location", "cited_text": "x"}]},
        {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"bed": "3"}, "caller": {"type": "direct"}},
    ],
    "stop_reason": "tool_use",
}


def block_start(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def block_delta(index: int, kind: str, **delta: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **delta}}


def ended(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


ANTHROPIC_HEAD = {"type": "message_start", "message": ANTHROPIC_SHELL}


def anthropic_tail(stop: str = "tool_use") -> list[dict[str, Any]]:
    return [
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 7}},
        {"type": "message_stop"},
    ]


ANTHROPIC_EVENTS = [
    ANTHROPIC_HEAD,
    block_start(0, type="text", text=""),
    block_delta(0, "text_delta", text="hi"),
    block_delta(0, "citations_delta", citation={"type": "char_location", "cited_text": "x"}),
    ended(0),
    block_start(1, type="tool_use", id="toolu_1", name="read", input={}),
    block_delta(1, "input_json_delta", partial_json='{"bed":"3"}'),
    ended(1),
    *anthropic_tail(),
]


def _gemini(*parts: dict[str, Any], **candidate: Any) -> dict[str, Any]:
    return {
        "candidates": [{"content": {"role": "model", "parts": list(parts)}, "index": 0, **candidate}],
        "usageMetadata": {"promptTokenCount": 61, "candidatesTokenCount": 6, "totalTokenCount": 67},
        "modelVersion": "gemini-3-flash-preview",
        "responseId": "kQ",
    }


_PARTS: list[dict[str, Any]] = [
    {"text": "hm", "thought": True},
    {"text": "hi", "thoughtSignature": "c2ln"},
    {"executableCode": {"language": "PYTHON", "code": "1"}},
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
    {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
    {"fileData": {"mimeType": "a/b", "fileUri": "gs://x"}},
    {"functionCall": {"name": "read", "args": {"bed": "3"}}, "thoughtSignature": "c2ln"},
]
GEMINI = _gemini(*_PARTS, finishReason="STOP")
GEMINI_EVENTS = [_gemini(*_PARTS[:2]), _gemini(*_PARTS[2:6]), _gemini(_PARTS[6], finishReason="STOP")]


def _chat(**choice: Any) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "created": 1, "model": "gpt-5-mini", "choices": [{"index": 0, **choice}]}


_CHAT_CALL: dict[str, Any] = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "read", "arguments": '{"bed":"3"}'},
}
_CHAT_USAGE = {
    "prompt_tokens": 61,
    "completion_tokens": 6,
    "total_tokens": 67,
    "prompt_tokens_details": {"cached_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 0},
}
CHAT = {
    **_chat(message={"role": "assistant", "content": "hi", "tool_calls": [_CHAT_CALL]}, finish_reason="tool_calls"),
    "object": "chat.completion",
    "usage": _CHAT_USAGE,
}
CHAT_EVENTS = [
    _chat(delta={"role": "assistant", "content": ""}),
    _chat(delta={"content": "hi"}),
    _chat(delta={"tool_calls": [{"index": 0, **_CHAT_CALL}]}),
    _chat(delta={}, finish_reason="tool_calls"),
    {**_chat(), "choices": [], "usage": _CHAT_USAGE},
]

GOOD: dict[str, dict[str, Any]] = {
    "anthropic": ANTHROPIC,
    "zai": ANTHROPIC,
    "ollama": ANTHROPIC,
    "google_genai": GEMINI,
    "openai": CHAT,
}
STREAMS: dict[str, list[dict[str, Any]]] = {
    "anthropic": ANTHROPIC_EVENTS,
    "zai": ANTHROPIC_EVENTS,
    "ollama": ANTHROPIC_EVENTS,
    "google_genai": GEMINI_EVENTS,
    "openai": CHAT_EVENTS,
}
ENDS = {"openai": b"data: [DONE]\n\n"}
"""What a stream has behind its last event."""


def places(value: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The way to every value of a document, the document itself first."""
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in items:
        yield from places(item, (*at, step))


def damaged(document: Any, at: tuple[str | int, ...], value: Any) -> str:
    """The document as JSON text, with another value in this place."""
    put = _MARK if isinstance(value, Raw) else value
    whole: Any = {"": deepcopy(document)}
    inside, last = whole, ""
    for step in at:
        inside, last = inside[last], step  # type: ignore[assignment]
    inside[last] = put
    text = json.dumps(whole[""])
    return text.replace(json.dumps(_MARK), value) if isinstance(value, Raw) else text


def event_stream(kinds: list[str | None], texts: list[str]) -> bytes:
    """Events of these names, each with a text for its data."""
    named = (f"event: {kind}\n" if kind else "" for kind in kinds)
    return "".join(f"{name}data: {text}\n\n" for name, text in zip(named, texts, strict=True)).encode()


def sse(*events: dict[str, Any]) -> bytes:
    """Events as they ought to be written."""
    return event_stream([event.get("type") for event in events], [json.dumps(event) for event in events])


class Peer:
    """A service that answers every request with `body`. `events` is what the callbacks of the last call were given."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.body = b""
        self.status = 200
        self.streams = False
        self.events: list[object] = []
        self._binding = BINDINGS[name]
        self._opened: dict[Path, Any] = {}

    def ask(self, path: Path, messages: list[Any]) -> ProviderResponse:
        """One call on the path; it streams if the service does."""
        provider = self._opened.get(path) or self._open(path)
        self.events = []
        callbacks: dict[str, Any] = {}
        if self.streams:
            callbacks = dict.fromkeys(("on_chunk", "on_thinking", "on_function_call"), self.events.append)
        response: ProviderResponse
        if path == "stateless":
            response = provider.complete(messages, None, TOOLS, **callbacks)
            return response
        *before, last = messages
        provider.create_session(None, TOOLS, before)
        send = provider.send_message_streaming if callbacks else provider.send_message
        response = send(last.text, **callbacks)
        return response

    def _open(self, path: Path) -> Any:
        opener = self._binding.opener(path)
        assert opener is not None
        options = {"transport": httpx2.MockTransport(self._answer)}
        endpoint = Endpoint("http://example.invalid", "sk-canary", self._binding.model, options)
        provider = self._opened[path] = opener(endpoint)
        return provider

    def _answer(self, _: httpx2.Request) -> httpx2.Response:
        kind = "text/event-stream" if self.streams else "application/json"
        body = self.body + ENDS.get(self.name, b"") if self.streams else self.body
        return httpx2.Response(self.status, content=body, headers={"content-type": kind})
