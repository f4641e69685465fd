"""What the tests of this adapter share: answers as the API writes them, and providers pointed at a test."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import httpx2

from turnproof import errors
from turnproof.messages import Message, ProviderData, Text, Thought
from turnproof_adapters.openai.arrange import Arrangement
from turnproof_adapters.openai.binding import BINDING
from turnproof_adapters.openai.legacy import OpenAILegacy
from turnproof_adapters.openai.models import model as facts_of
from turnproof_adapters.openai.names import wire_name
from turnproof_adapters.openai.rows import row
from turnproof_adapters.openai.service import OPENAI, Service
from turnproof_adapters.openai.stateless import OpenAIStateless

from ..contract.adapter_kit import AdapterKit, CancelMoment, KeyCheck, Opener, Path, RequestRecorder
from ..contract.neutral import call as call
from ..contract.neutral import result as result
from ..contract.wire_parts import Ending, WireCall, WirePart, WireText, WireThinking

OURS = "openai-chat"
KEY = "sk-canary-0123456789"
MODEL = "gpt-4.1"
DATED = "gpt-4.1-2025-04-14"
URL = "http://example.invalid/v1"

USAGE = {
    "prompt_tokens": 120,
    "completion_tokens": 7,
    "total_tokens": 127,
    "prompt_tokens_details": {"cached_tokens": 100, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 3},
}

Json = dict[str, Any]


stateless = Opener(OpenAIStateless, BINDING.open_stateless, KEY, MODEL, URL)
legacy = Opener(OpenAILegacy, BINDING.open_legacy, KEY, MODEL, URL)


def answer(content: Any = None, *calls: Json, finish: str | None = "stop", usage: Any = USAGE, **fields: Any) -> Json:
    """A batch answer."""
    message = {"role": "assistant", "content": content, "refusal": None, "annotations": [], **fields}
    if calls:
        message["tool_calls"] = list(calls)
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1780000000,
        "model": DATED,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "usage": usage,
        "service_tier": "default",
        "system_fingerprint": "fp_1",
    }


def tool_call(call_id: str | None, name: str | None, arguments: Any, **fields: Any) -> Json:
    """A call as it stands in an answer, or a piece of one: what is None is left out."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return {**({} if call_id is None else {"id": call_id, "type": "function"}), "function": function, **fields}


def request_call(call_id: str = "call_1", name: str = "read", arguments: str = "{}") -> Json:
    """Such a call in a request."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def answered(call_id: str = "call_1", content: str = "ok") -> Json:
    """Such a result in a request."""
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def thought(words: str, model: str = DATED, dialect: str = OURS, **data: Any) -> Thought:
    return Thought(words, provider_data=ProviderData(dialect, model, {"field": "reasoning_content", **data}))


def arranged(messages: Iterable[Message], service: Service = OPENAI, model: str = MODEL) -> list[Json]:
    """The wire messages of a conversation: what both paths make of it."""
    arrangement: Arrangement[Json] = Arrangement(lambda wire: wire, service, model)
    for message in messages:
        arrangement.add(row(message, lambda wire: wire, service, model))
    return arrangement.finish()


def event(data: Any) -> bytes:
    """One event as the API writes it."""
    return b"data: %b\n\n" % json.dumps(data, ensure_ascii=False).encode()


DONE = b"data: [DONE]\n\n"


def chunk(delta: Json | None = None, finish: str | None = None, usage: Any = None, **fields: Any) -> bytes:
    """One chunk; without a delta and a finish, one without choices."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]
    frame = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1780000000, "model": DATED}
    return event({**frame, "choices": choices, "usage": usage, "obfuscation": "x9", **fields})


def opening() -> bytes:
    return chunk({"role": "assistant", "content": "", "refusal": None})


def texts(*pieces: str) -> list[bytes]:
    return [chunk({"content": piece}) for piece in pieces]


def pieces(index: int, call_id: str, name: str, *arguments: str) -> list[bytes]:
    """The chunks of one call."""
    first_chunk = chunk({"tool_calls": [tool_call(call_id, name, "", index=index)]})
    return [first_chunk, *(chunk({"tool_calls": [tool_call(None, None, each, index=index)]}) for each in arguments)]


def ending(finish: str = "stop", usage: Any = USAGE) -> list[bytes]:
    return [chunk({}, finish), chunk(usage=usage), DONE]


def stream(*parts: Iterable[bytes], finish: str = "stop", usage: Any = USAGE) -> list[bytes]:
    """A whole stream as events."""
    return [opening(), *(each for events in parts for each in events), *ending(finish, usage)]


class Capture(RequestRecorder):
    """A transport in memory that records every request and answers `hi`."""

    def __init__(self, reply: Any = None, events: Iterable[bytes] | None = None) -> None:
        super().__init__(answer("hi") if reply is None else reply, stream(texts("hi")) if events is None else events)

    def respond(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET":
            models = [{"id": name, "object": "model", "created": 1, "owned_by": "system"} for name in ("a", "b")]
            return httpx2.Response(200, json={"object": "list", "data": models})
        return super().respond(request)


def wire_events(parts: Iterable[WirePart]) -> list[list[bytes]]:
    """The chunks of a stream, a list per part."""
    events, calls = [], 0
    for part in parts:
        match part:
            case WireText():
                events.append(texts(*part.pieces))
            case WireThinking():
                events.append([chunk({"reasoning_content": piece}) for piece in part.pieces])
            case WireCall():
                events.append(pieces(calls, part.call_id, part.name, *part.arguments))
                calls += 1
    return events


FINISH_REASONS: Mapping[Ending, str] = {"stop": "stop", "calls": "tool_calls", "limit": "length"}


class Kit(AdapterKit):
    reported_model = DATED
    model = MODEL
    key = KEY
    binding = BINDING
    openers: Mapping[Path, Any] = {"stateless": stateless, "legacy": legacy}
    wire_name = staticmethod(wire_name)
    facts_of = staticmethod(facts_of)
    models = (MODEL, "gpt-5-mini", "gpt-4", "o3-mini", "glm-4.7", "a-model-of-tomorrow")
    settings = (
        {"max_tokens": 99},
        {"thinking": {"effort": "low"}, "max_tokens": 99},
        {"instructions_role": "developer", "limit_field": "max_tokens", "max_tokens": 9},
        {"extra_body": {"top_k": 7, "tools": [], "stream_options": {"include_usage": False}}, "thoughts_back": True},
    )
    failure_kinds: Mapping[str | None, type[errors.ProviderError]] = {
        "invalid_request_error": errors.InvalidRequestError,
        "BadRequestError": errors.InvalidRequestError,
        "invalid_api_key": errors.AuthenticationError,
        "permission_denied": errors.AuthenticationError,
        "model_not_found": errors.InvalidRequestError,
        "rate_limit_exceeded": errors.RateLimitError,
        "insufficient_quota": errors.RateLimitError,
        "context_length_exceeded": errors.ContextLimitError,
        "content_filter": errors.ContentFilterError,
        "server_error": errors.OverloadedError,
        "429": errors.RateLimitError,
        "400": errors.InvalidRequestError,
        "1302": errors.RateLimitError,
        "error_of_tomorrow": errors.OverloadedError,
        None: errors.OverloadedError,
    }
    key_check = KeyCheck("/v1/models", {"object": "list", "data": []}, [(401, {}), (403, {})])
    optional_last_events = 2
    ignored_events = (event({"choices": [], "something": "new"}),)
    calls_arrive_whole = False
    exempt = frozenset({("legacy", "connection-reuse")})

    def answer(self, *parts: WirePart, ending: Ending = "stop") -> Any:
        words = "".join(part.text for part in parts if isinstance(part, WireText))
        thoughts = "".join(part.text for part in parts if isinstance(part, WireThinking))
        calls = [tool_call(part.call_id, part.name, part.json) for part in parts if isinstance(part, WireCall)]
        more = {"reasoning_content": thoughts} if thoughts else {}
        return answer(words or None, *calls, finish=FINISH_REASONS[ending], **more)

    def stream(self, *parts: WirePart, ending: Ending = "stop") -> list[bytes]:
        return stream(*wire_events(parts), finish=FINISH_REASONS[ending])

    def failure_event(self, kind: str | None, message: str) -> bytes:
        return event({"error": {"message": message, "code": kind}})

    def overloaded_event(self, message: str) -> bytes:
        return event({"error": {"message": message, "type": "server_error", "code": None}})

    def cancel_moments(self) -> Mapping[str, CancelMoment]:
        thinking, words = chunk({"reasoning_content": "hm"}), texts("so ", "far")
        head, whole = opening(), stream(words)
        return {
            "before-anything": CancelMoment([]),
            "after-the-head": CancelMoment([head]),
            "in-thinking": CancelMoment([head, thinking]),
            "in-text": CancelMoment([head, thinking, *words], (Text,), "so far"),
            "in-arguments": CancelMoment([head, *words, *pieces(0, "a", "rm", '{"path": "/')], (Text,), "so far"),
            "after-a-call": CancelMoment([head, *words, *pieces(0, "a", "rm", "{}")], (Text,), "so far"),
            "after-the-finish": CancelMoment(whole[:-2], (Text,), "so far"),
            "before-the-end-marker": CancelMoment(whole[:-1], (Text,), "so far", has_usage=True),
        }


KIT = Kit()
