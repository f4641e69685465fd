"""What the tests of this adapter share: answers as the API writes them, and providers pointed at a test."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import httpx2

from turnproof import errors
from turnproof.messages import FunctionCall, Message, ProviderData, Text, Thought, ToolResult
from turnproof_adapters.anthropic.arrange import Arrangement
from turnproof_adapters.anthropic.binding import BINDING
from turnproof_adapters.anthropic.blocks import row
from turnproof_adapters.anthropic.legacy import AnthropicLegacy
from turnproof_adapters.anthropic.models import model as facts_of
from turnproof_adapters.anthropic.names import wire_name
from turnproof_adapters.anthropic.plain_conversation import DictCodec
from turnproof_adapters.anthropic.service import ANTHROPIC
from turnproof_adapters.anthropic.stateless import AnthropicStateless

from ..contract.adapter_kit import AdapterKit, CancelMoment, KeyCheck, Opener, Path, RequestRecorder
from ..contract.wire_parts import Ending, WireCall, WirePart, WireText, WireThinking

OURS = "anthropic-messages"


def as_it_came(name: str, arguments: Any) -> tuple[str, Any]:
    """What becomes of a call where no tool has another name on the wire."""
    return name, arguments


KEY = "sk-ant-canary-0123456789"
MODEL = "claude-sonnet-4-5"
DATED = "claude-sonnet-4-5-20250929"

USAGE = {"input_tokens": 20, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 100, "output_tokens": 7}


stateless = Opener(AnthropicStateless, BINDING.open_stateless, KEY, MODEL)
legacy = Opener(AnthropicLegacy, BINDING.open_legacy, KEY, MODEL)


def answer(*content: dict[str, Any], stop: str | None = "end_turn", usage: dict[str, Any] = USAGE) -> dict[str, Any]:
    """A batch answer."""
    return {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": DATED,
        "content": list(content),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage,
    }


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def tool_use(call_id: str, name: str, args: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": args}


def call(call_id: str = "toolu_1", name: str = "read", **args: Any) -> FunctionCall:
    return FunctionCall(call_id, name, args)


def use(call_id: str = "toolu_1", name: str = "read", **args: Any) -> dict[str, Any]:
    """The block of such a call."""
    return tool_use(call_id, name, args)


def result(call_id: str = "toolu_1", value: Any = "ok", **kwargs: Any) -> ToolResult:
    return ToolResult(call_id, "read", value, **kwargs)


def answered(call_id: str = "toolu_1", content: Any = "ok", **fields: Any) -> dict[str, Any]:
    """The block of such a result."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **fields}


def signed(words: str, signature: str = "sig==", model: str = DATED, dialect: str = OURS) -> Thought:
    return Thought(words, provider_data=ProviderData(dialect, model, {"signature": signature}))


def arranged(messages: Iterable[Message], model: str = MODEL) -> Arrangement[dict[str, Any]]:
    """A conversation on its way onto the wire, with nothing around it: what both paths make of it."""
    codec = DictCodec()
    arrangement = Arrangement(codec, ANTHROPIC, facts_of(model))
    for message in messages:
        arrangement.add(row(message, codec, ANTHROPIC, model))
    return arrangement


def event(kind: str, **fields: Any) -> bytes:
    """One event as the API writes it, padding before the last brace included."""
    data = json.dumps({"type": kind, **fields}, ensure_ascii=False)
    return f"event: {kind}\ndata: {data[:-1]}    }}\n\n".encode()


def start(usage: dict[str, Any] = USAGE) -> bytes:
    return event("message_start", message=answer(stop=None, usage={**usage, "output_tokens": 1}))


def block(index: int, shell: dict[str, Any], *deltas: dict[str, Any], closed: bool = True) -> list[bytes]:
    """The events of one block."""
    events = [event("content_block_start", index=index, content_block=shell)]
    events += [event("content_block_delta", index=index, delta=delta) for delta in deltas]
    return events + ([event("content_block_stop", index=index)] if closed else [])


def text_block(index: int, *pieces: str, closed: bool = True) -> list[bytes]:
    return block(index, text(""), *({"type": "text_delta", "text": piece} for piece in pieces), closed=closed)


def call_block(index: int, call_id: str, name: str, *pieces: str, closed: bool = True) -> list[bytes]:
    deltas = ({"type": "input_json_delta", "partial_json": piece} for piece in ("", *pieces))
    return block(index, tool_use(call_id, name, {}), *deltas, closed=closed)


def thinking_block(index: int, *pieces: str, signature: str | None = "sig==", closed: bool = True) -> list[bytes]:
    deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces]
    if signature is not None:
        deltas.append({"type": "signature_delta", "signature": signature})
    return block(index, {"type": "thinking", "thinking": "", "signature": ""}, *deltas, closed=closed)


def finish(stop: str = "end_turn", usage: dict[str, Any] = USAGE) -> list[bytes]:
    delta = event("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage=usage)
    return [delta, event("message_stop")]


def stream(*blocks: Iterable[bytes], stop: str = "end_turn", usage: dict[str, Any] = USAGE) -> list[bytes]:
    """A whole stream as events."""
    return [start(usage), event("ping"), *(each for events in blocks for each in events), *finish(stop, usage)]


class Capture(RequestRecorder):
    """A transport in memory that records every request and answers `hi`."""

    def __init__(self, reply: Any = None, events: Iterable[bytes] | None = None) -> None:
        super().__init__(
            answer(text("hi")) if reply is None else reply, stream(text_block(0, "hi")) if events is None else events
        )

    def respond(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.path.endswith("count_tokens"):
            return httpx2.Response(200, json={"input_tokens": 42})
        return super().respond(request)


def wire_blocks(parts: Iterable[WirePart], signature: str | None) -> list[dict[str, Any]]:
    """The blocks of a batch answer."""
    return [_wire_block(part, signature) for part in parts]


def _wire_block(part: WirePart, signature: str | None) -> dict[str, Any]:
    match part:
        case WireText():
            return text(part.text)
        case WireThinking():
            signed = {} if signature is None else {"signature": signature}
            return {"type": "thinking", "thinking": part.text, **signed}
        case WireCall():
            return tool_use(part.call_id, part.name, json.loads(part.json))


def wire_events(parts: Iterable[WirePart], signature: str | None) -> list[list[bytes]]:
    """The events of a stream, a list per block."""
    return [_wire_block_events(index, part, signature) for index, part in enumerate(parts)]


def _wire_block_events(index: int, part: WirePart, signature: str | None) -> list[bytes]:
    match part:
        case WireText():
            return text_block(index, *part.pieces)
        case WireThinking():
            return thinking_block(index, *part.pieces, signature=signature)
        case WireCall():
            return call_block(index, part.call_id, part.name, *part.arguments)


STOP_REASONS: Mapping[Ending, str] = {"stop": "end_turn", "calls": "tool_use", "limit": "max_tokens"}


class MessagesKit(AdapterKit):
    """What every service of this API has in common."""

    wire_name = staticmethod(wire_name)
    signature: str | None = None
    """What signs its thinking."""
    batch: Callable[..., Any]
    """Writes a batch answer of blocks and a stop reason."""
    events: Callable[..., list[bytes]]
    """Writes a stream of the events of blocks and a stop reason."""

    def answer(self, *parts: WirePart, ending: Ending = "stop") -> Any:
        return self.batch(*wire_blocks(parts, self.signature), stop=STOP_REASONS[ending])

    def stream(self, *parts: WirePart, ending: Ending = "stop") -> list[bytes]:
        return self.events(*wire_events(parts, self.signature), stop=STOP_REASONS[ending])

    def failure_event(self, kind: str | None, message: str) -> bytes:
        return event("error", error={"details": None, "type": kind, "message": message})

    def overloaded_event(self, message: str) -> bytes:
        return self.failure_event("overloaded_error", message)

    def broken_event(self, data: bytes) -> bytes:
        return b"event: content_block_delta\ndata: %b\n\n" % data


def unsigned_cancel_moments(head: list[bytes]) -> dict[str, CancelMoment]:
    """The moments of a stream whose thinking nobody signs."""
    thinking, words = wire_events([WireThinking(("hm ", "’")), WireText(("so ", "far"))], signature=None)
    return {
        "before-anything": CancelMoment([]),
        "in-thinking": CancelMoment([*head, *thinking[:-1]], has_usage=True),
        "after-thinking": CancelMoment([*head, *thinking], (Thought,), has_usage=True),
        "in-text": CancelMoment([*head, *thinking, *words[:-1]], (Thought, Text), "so far", has_usage=True),
    }


class Kit(MessagesKit):
    reported_model = DATED
    model = MODEL
    key = KEY
    facts_of = staticmethod(facts_of)
    models = (
        MODEL,
        "claude-3-haiku-20240307",
        "claude-opus-5",
        "claude-3-7-sonnet-latest",
        "claude-sonnet-4-20250514",
        "a-model-of-tomorrow",
    )
    settings = ({"max_tokens": 99}, {"thinking": {"budget_tokens": 2000}, "max_tokens": 4000})
    failure_kinds: Mapping[str | None, type[errors.ProviderError]] = {
        "invalid_request_error": errors.InvalidRequestError,
        "authentication_error": errors.AuthenticationError,
        "billing_error": errors.InvalidRequestError,
        "permission_error": errors.AuthenticationError,
        "not_found_error": errors.InvalidRequestError,
        "conflict_error": errors.OverloadedError,
        "request_too_large": errors.ContextLimitError,
        "rate_limit_error": errors.RateLimitError,
        "api_error": errors.OverloadedError,
        "timeout_error": errors.OverloadedError,
        "overloaded_error": errors.OverloadedError,
        "error_of_tomorrow": errors.OverloadedError,
        None: errors.OverloadedError,
    }
    key_check = KeyCheck(
        "/v1/models?limit=1",
        {"data": [], "has_more": False},
        [(401, {"error": {"type": "authentication_error", "message": "no"}})],
    )
    signature = "sig=="
    batch = staticmethod(answer)
    events = staticmethod(stream)
    binding = BINDING
    openers: Mapping[Path, Any] = {"stateless": stateless, "legacy": legacy}
    ignored_events = (
        b": keep-alive\n\n",
        event("ping"),
        event("something_new", index=0, delta={"type": "text_delta", "text": "no"}),
        event("content_block_delta", index=0, delta={"type": "new_delta", "text": "no"}),
        event("content_block_delta", index=99, delta={"type": "new_delta", "text": "no"}),
        b"event: \n\n",
    )

    def cancel_moments(self) -> Mapping[str, CancelMoment]:
        signed, open_text = thinking_block(0, "hm"), text_block(1, "so ", "far", closed=False)
        half_a_call = call_block(2, "a", "rm", '{"path": "/')[:-1]
        arrived = {
            "after-the-head": CancelMoment([]),
            "in-thinking": CancelMoment(thinking_block(0, "hm", signature=None, closed=False)),
            "after-thinking": CancelMoment(signed, (Thought,)),
            "in-text": CancelMoment([*signed, *open_text], (Thought, Text), "so far"),
            "in-arguments": CancelMoment([*signed, *text_block(1, "so far"), *half_a_call], (Thought, Text), "so far"),
            "after-a-call": CancelMoment(
                [*text_block(0, "so far"), *call_block(1, "a", "rm", "{}")], (Text,), "so far"
            ),
        }
        with_head = {
            name: replace(moment, events=[start(), *moment.events], has_usage=True) for name, moment in arrived.items()
        }
        before_the_end = CancelMoment(stream(text_block(0, "so far"))[:-1], (Text,), "so far", has_usage=True)
        return {"before-anything": CancelMoment([]), **with_head, "before-the-end-marker": before_the_end}


KIT = Kit()
