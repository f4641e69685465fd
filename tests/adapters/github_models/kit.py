"""What the tests of this adapter share: answers as the services write them, and providers pointed at a test."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import httpx2

from turnproof.messages import Text
from turnproof_adapters.github_models.binding import COPILOT, COPILOT_RESPONSES, GITHUB
from turnproof_adapters.github_models.copilot.legacy import CopilotChatLegacy, CopilotResponsesLegacy
from turnproof_adapters.github_models.copilot.stateless import CopilotChatStateless, CopilotResponsesStateless
from turnproof_adapters.github_models.legacy import GitHubModelsLegacy
from turnproof_adapters.github_models.stateless import GitHubModelsStateless
from turnproof_adapters.openai.names import wire_name

from ..contract.adapter_kit import AdapterKit, CancelMoment, Opener, Path, RequestRecorder
from ..contract.neutral import STREAMED as STREAMED
from ..contract.neutral import call as call
from ..contract.neutral import result as result
from ..contract.neutral import unheard as unheard
from ..contract.wire_parts import Ending, WireCall, WirePart, WireText, WireThinking

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


stateless = Opener(GitHubModelsStateless, GITHUB.open_stateless, KEY, MODEL, URL)
legacy = Opener(GitHubModelsLegacy, GITHUB.open_legacy, KEY, MODEL, URL)


chat = Opener(CopilotChatStateless, COPILOT.open_stateless, KEY, "gpt-4.1", URL)
chat_legacy = Opener(CopilotChatLegacy, COPILOT.open_legacy, KEY, "gpt-4.1", URL)
codex = Opener(CopilotResponsesStateless, COPILOT_RESPONSES.open_stateless, KEY, "gpt-5.3-codex", URL)
codex_legacy = Opener(CopilotResponsesLegacy, COPILOT_RESPONSES.open_legacy, KEY, "gpt-5.3-codex", URL)


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


class Capture(RequestRecorder):
    """A transport in memory that gives tokens, and one answer to all other requests. It records both apart."""

    def __init__(self, reply: Json | None = None, events: Iterable[bytes] | None = None) -> None:
        super().__init__(reply or answer("hi"), events or stream({"content": "hi"}))
        self.exchanges: list[httpx2.Request] = []

    def respond(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.path.endswith("/copilot_internal/v2/token"):
            self.exchanges.append(self.requests.pop())
            return httpx2.Response(200, json=issued(f"token-{len(self.exchanges)}"))
        return super().respond(request)


def issued(token: str = TOKEN, **more: Any) -> Json:
    """The answer to an exchange."""
    return {"token": token, "expires_at": 1_780_000_900, "refresh_in": 1500, **more}


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
                first_piece, *more = part.arguments
                deltas.append({"tool_calls": [wire_call(part.call_id, part.name, first_piece, index=calls)]})
                deltas += [{"tool_calls": [{"index": calls, "function": {"arguments": piece}}]} for piece in more]
                calls += 1
    return deltas


FINISH_REASONS: Mapping[Ending, str] = {"stop": "stop", "calls": "tool_calls", "limit": "length"}


class Kit(AdapterKit):
    reported_model = DATED
    callbacks = ("on_chunk", "on_function_call", "on_usage_update")
    model = MODEL
    key = KEY
    binding = GITHUB
    openers: Mapping[Path, Any] = {"stateless": stateless, "legacy": legacy}
    optional_last_events = 2
    wire_name = staticmethod(wire_name)
    optional_headers = frozenset({"extra-parameters"})
    settings = ({"max_tokens": 99}, {"thinking": {"effort": "low"}, "max_tokens": 99})
    ignored_events = (FILTERED,)
    calls_arrive_whole = False
    exempt: frozenset[tuple[Path, str]] = frozenset({("legacy", "error-words")})

    def answer(self, *parts: WirePart, ending: Ending = "stop") -> Any:
        words = "".join(part.text for part in parts if isinstance(part, WireText))
        calls = [wire_call(part.call_id, part.name, part.json) for part in parts if isinstance(part, WireCall)]
        return answer(words or None, *calls, finish=FINISH_REASONS[ending])

    def stream(self, *parts: WirePart, ending: Ending = "stop") -> list[bytes]:
        return stream(*_wire_deltas(parts), finish=FINISH_REASONS[ending])

    def overloaded_event(self, message: str) -> bytes:
        return b"data: %b\n\n" % json.dumps({"error": {"code": "InternalServerError", "message": message}}).encode()

    def cancel_moments(self) -> Mapping[str, CancelMoment]:
        words = [chunk({"content": "so "}), chunk({"content": "far"})]
        half_a_call = chunk({"tool_calls": [wire_call("a", "rm", '{"path": "/', index=0)]})
        return {
            "before-anything": CancelMoment([]),
            "in-text": CancelMoment(words, (Text,), "so far"),
            "in-arguments": CancelMoment([*words, half_a_call], (Text,), "so far"),
        }


KIT = Kit()
