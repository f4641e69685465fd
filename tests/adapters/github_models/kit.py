"""What the tests of this adapter share: answers as the services write them, and providers pointed at a test."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import httpx2

from turnproof.messages import FunctionCall, ProviderResponse, Text, ToolResult
from turnproof.provider import Endpoint
from turnproof_adapters.github_models.binding import COPILOT, COPILOT_RESPONSES, GITHUB
from turnproof_adapters.github_models.copilot.legacy import CopilotChatLegacy, CopilotResponsesLegacy
from turnproof_adapters.github_models.copilot.stateless import CopilotChatStateless, CopilotResponsesStateless
from turnproof_adapters.github_models.legacy import GitHubModelsLegacy
from turnproof_adapters.github_models.stateless import GitHubModelsStateless

from ..contract.adapter_kit import (
    AdapterKit,
    CancelMoment,
    Ending,
    Path,
    WireCall,
    WirePart,
    WireText,
    WireThinking,
)

KEY = "ghp_canary0123456789"
TOKEN = "tid=canary1;exp=1780000900;sku=free"
MODEL = "openai/gpt-4.1"
DATED = "gpt-4.1-2025-04-14"
URL = "http://example.invalid"

Json = dict[str, Any]

USAGE: Json = {
    "prompt_tokens": 120,
    "completion_tokens": 30,
    "total_tokens": 150,
    "prompt_tokens_details": {"cached_tokens": 100},
}


def unheard(piece: str) -> None:
    """A callback for tests of which it says nothing."""


STREAMED: dict[str, Any] = {"on_chunk": unheard}


def endpoint(url: str, model: str, **options: Any) -> Endpoint:
    return Endpoint(url, KEY, model, options)


def stateless(url: str = URL, model: str = MODEL, **options: Any) -> GitHubModelsStateless:
    assert GITHUB.open_stateless is not None
    provider = GITHUB.open_stateless(endpoint(url, model, **options))
    assert isinstance(provider, GitHubModelsStateless)
    return provider


def legacy(url: str = URL, model: str = MODEL, **options: Any) -> GitHubModelsLegacy:
    assert GITHUB.open_legacy is not None
    provider = GITHUB.open_legacy(endpoint(url, model, **options))
    assert isinstance(provider, GitHubModelsLegacy)
    return provider


def chat(url: str = URL, model: str = "gpt-4.1", **options: Any) -> CopilotChatStateless:
    assert COPILOT.open_stateless is not None
    provider = COPILOT.open_stateless(endpoint(url, model, **options))
    assert isinstance(provider, CopilotChatStateless)
    return provider


def chat_legacy(url: str = URL, model: str = "gpt-4.1", **options: Any) -> CopilotChatLegacy:
    assert COPILOT.open_legacy is not None
    provider = COPILOT.open_legacy(endpoint(url, model, **options))
    assert isinstance(provider, CopilotChatLegacy)
    return provider


def codex(url: str = URL, model: str = "gpt-5.3-codex", **options: Any) -> CopilotResponsesStateless:
    assert COPILOT_RESPONSES.open_stateless is not None
    provider = COPILOT_RESPONSES.open_stateless(endpoint(url, model, **options))
    assert isinstance(provider, CopilotResponsesStateless)
    return provider


def codex_legacy(url: str = URL, model: str = "gpt-5.3-codex", **options: Any) -> CopilotResponsesLegacy:
    assert COPILOT_RESPONSES.open_legacy is not None
    provider = COPILOT_RESPONSES.open_legacy(endpoint(url, model, **options))
    assert isinstance(provider, CopilotResponsesLegacy)
    return provider


def call(call_id: str = "call_1", name: str = "read", **args: Any) -> FunctionCall:
    return FunctionCall(call_id, name, args)


def result(call_id: str = "call_1", value: Any = "ok", **kwargs: Any) -> ToolResult:
    return ToolResult(call_id, "read", value, **kwargs)


# -- chat answers


def wire_call(call_id: str, name: str, arguments: str, **more: Any) -> Json:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


def answer(text: str | None = None, *calls: Json, finish: str = "stop", usage: Any = USAGE) -> Json:
    """A batch answer in Azure's flavour: with the marks of its content filter."""
    message: Json = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = list(calls)
    choice = {"index": 0, "message": message, "finish_reason": finish, "content_filter_results": {}}
    body = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": DATED, "choices": [choice]}
    return body | {"usage": usage, "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {}}]}


def chunk(delta: Json | None = None, finish: str | None = None, **more: Any) -> bytes:
    """One chunk of a stream."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    body = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": DATED, "choices": choices}
    return b"data: %b\n\n" % json.dumps(body | more, ensure_ascii=False).encode()


DONE = b"data: [DONE]\n\n"
FILTERED = chunk(prompt_filter_results=[{"prompt_index": 0}], id="", model="")


def stream(*deltas: Json, finish: str = "stop", usage: Any = USAGE) -> list[bytes]:
    """A whole stream: a chunk of the filter's in front, the figures in one of their own."""
    return [FILTERED, *map(chunk, deltas), chunk({}, finish), chunk(usage=usage), DONE]


class Capture:
    """A transport in memory that keeps every request; it gives tokens, model lists, and one answer to all else."""

    def __init__(self, reply: Json | None = None, events: Iterable[bytes] | None = None) -> None:
        self.requests: list[httpx2.Request] = []
        self.exchanges: list[httpx2.Request] = []
        self._reply = reply or answer("hi")
        self._events = list(events or stream({"content": "hi"}))
        self.transport = httpx2.MockTransport(self._handle)

    @property
    def body(self) -> Any:
        return json.loads(self.requests[-1].content)

    def _handle(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.path.endswith("/copilot_internal/v2/token"):
            self.exchanges.append(request)
            return httpx2.Response(200, json=issued(f"token-{len(self.exchanges)}"))
        self.requests.append(request)
        if request.content and json.loads(request.content).get("stream"):
            headers = {"content-type": "text/event-stream"}
            return httpx2.Response(200, content=b"".join(self._events), headers=headers)
        return httpx2.Response(200, json=self._reply)


def issued(token: str = TOKEN, **more: Any) -> Json:
    """The answer to an exchange."""
    return {"token": token, "expires_at": 1_780_000_900, "refresh_in": 1500, **more}


def outcome(response: ProviderResponse) -> tuple[Any, ...]:
    """What two paths must agree on."""
    return response.parts, response.usage, response.finish_reason, response.raw_finish, response.model


def response_of_codex(text: str = "hi") -> Json:
    """A batch answer of the Responses API."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    item = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": content}
    return {"id": "resp_1", "object": "response", "status": "completed", "model": "gpt-5.3-codex", "output": [item]}


def _wire_deltas(parts: Iterable[WirePart]) -> list[Json]:
    deltas: list[Json] = []
    calls = 0
    for part in parts:
        match part:
            case WireText():
                deltas += [{"content": piece} for piece in part.pieces]
            case WireThinking():
                raise NotImplementedError("the service shows no thinking")
            case WireCall():
                begun, *more = part.arguments
                deltas.append({"tool_calls": [wire_call(part.call_id, part.name, begun, index=calls)]})
                deltas += [{"tool_calls": [{"index": calls, "function": {"arguments": piece}}]} for piece in more]
                calls += 1
    return deltas


FINISH_REASONS: Mapping[Ending, str] = {"stop": "stop", "calls": "tool_calls", "limit": "length"}


class Kit:
    name = "github_models"
    reported_model = DATED
    callbacks = ("on_chunk", "on_function_call", "on_usage_update")
    key = KEY
    arguments_are_text = True
    optional_last_events = 2
    ignored_events = (FILTERED,)
    calls_arrive_whole = False
    exempt: frozenset[tuple[Path, str]] = frozenset()

    def open(self, path: Path, url: str, **options: Any) -> Any:
        return (stateless if path == "stateless" else legacy)(url, **options)

    def answer(self, *parts: WirePart, ending: Ending = "stop") -> Any:
        words = "".join(part.text for part in parts if isinstance(part, WireText))
        calls = [wire_call(part.call_id, part.name, part.json) for part in parts if isinstance(part, WireCall)]
        return answer(words or None, *calls, finish=FINISH_REASONS[ending])

    def stream(self, *parts: WirePart, ending: Ending = "stop") -> list[bytes]:
        return stream(*_wire_deltas(parts), finish=FINISH_REASONS[ending])

    def overloaded_event(self, message: str) -> bytes:
        return b"data: %b\n\n" % json.dumps({"error": {"code": "InternalServerError", "message": message}}).encode()

    def broken_event(self, data: bytes) -> bytes:
        return b"data: %b\n\n" % data

    def comparable(self, body: Any) -> Any:
        return body

    def cancel_moments(self) -> Mapping[str, CancelMoment]:
        words = [chunk({"content": "so "}), chunk({"content": "far"})]
        half_a_call = chunk({"tool_calls": [wire_call("a", "rm", '{"path": "/', index=0)]})
        return {
            "before-anything": CancelMoment([]),
            "in-text": CancelMoment(words, (Text,), "so far"),
            "in-arguments": CancelMoment([*words, half_a_call], (Text,), "so far"),
        }


KIT: AdapterKit = Kit()
