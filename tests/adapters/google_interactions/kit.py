"""What the tests of this adapter share: answers as the API writes them, and providers of both paths."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from turnproof.messages import Message, ProviderData, Thought
from turnproof_adapters.google_genai.names import wire_name
from turnproof_adapters.google_interactions.binding import BINDING
from turnproof_adapters.google_interactions.legacy import InteractionsChain
from turnproof_adapters.google_interactions.models import model as facts_of
from turnproof_adapters.google_interactions.stateless import InteractionsStateless
from turnproof_adapters.google_interactions.steps import Arrangement, row

from ..contract import typed_items
from ..contract.adapter_kit import KeyCheck, Opener, Path, RequestRecorder
from ..contract.neutral import call as call
from ..contract.neutral import result as result
from ..contract.typed_items import ItemsKit
from ..contract.wire_parts import Ending, WireCall, WirePart, WireText, WireThinking

OURS = "gemini-interactions"
KEY = "AIza-canary-0123456789"
MODEL = "gemini-3.5-flash"
SIGNATURE = "c2lnbmVk"

Json = dict[str, Any]

USAGE: Json = {
    "total_tokens": 150,
    "total_input_tokens": 120,
    "input_tokens_by_modality": [{"modality": "text", "tokens": 120}],
    "total_cached_tokens": 100,
    "total_output_tokens": 10,
    "total_tool_use_tokens": 0,
    "total_thought_tokens": 20,
}

stateless = Opener(InteractionsStateless, BINDING.open_stateless, KEY, MODEL)
legacy = Opener(InteractionsChain, BINDING.open_legacy, KEY, MODEL)


# -- neutral


def thought(words: str = "", signature: str = SIGNATURE, model: str = MODEL, dialect: str = OURS) -> Thought:
    return Thought(words, provider_data=ProviderData(dialect, model, {"signature": signature}))


def arranged(*messages: Message, model: str = MODEL) -> list[Json]:
    """A conversation as the steps that both paths make of it."""
    return typed_items.arranged(Arrangement(typed_items.as_it_is), row, *messages, model=model)


# -- on the wire


def user_input(*words: str) -> Json:
    return {"type": "user_input", "content": [{"type": "text", "text": each} for each in words]}


def output(*words: str) -> Json:
    return {"type": "model_output", "content": [{"type": "text", "text": each} for each in words]}


def thinking(*summary: str, signature: str | None = SIGNATURE) -> Json:
    fields = {"summary": [{"type": "text", "text": each} for each in summary]} if summary else {}
    return {"type": "thought", **({"signature": signature} if signature is not None else {}), **fields}


def function_call(call_id: str = "call_1", name: str = "read", **arguments: Any) -> Json:
    return {"type": "function_call", "id": call_id, "name": name, "arguments": arguments}


def function_result(call_id: str = "call_1", value: Any = "ok", **more: Any) -> Json:
    return {"type": "function_result", "call_id": call_id, "name": "read", "result": value, **more}


def interaction(*steps: Json, status: str = "completed", **more: Any) -> Json:
    """A batch answer."""
    named = {"id": "v1_1", "status": status, "usage": USAGE, "steps": list(steps)}
    return {**named, "object": "interaction", "model": MODEL, **more}


def event(kind: str, **fields: Any) -> bytes:
    """One event as the API writes it."""
    return f"event: {kind}\ndata: {json.dumps({**fields, 'event_type': kind}, ensure_ascii=False)}\n\n".encode()


def started() -> bytes:
    fields = {"id": "v1_1", "status": "in_progress", "object": "interaction", "model": MODEL}
    return event("interaction.created", interaction=fields)


def delta(place: int, kind: str, **fields: Any) -> bytes:
    return event("step.delta", index=place, delta={**fields, "type": kind})


def step(place: int, shell: Json, *deltas: bytes) -> list[bytes]:
    """The events of a step."""
    return [event("step.start", index=place, step=shell), *deltas, event("step.stop", index=place)]


def says(place: int, *pieces: str) -> list[bytes]:
    return step(place, {"type": "model_output"}, *(delta(place, "text", text=piece) for piece in pieces))


def thinks(place: int, *pieces: str, signature: str = SIGNATURE) -> list[bytes]:
    deltas = [delta(place, "thought_summary", content={"type": "text", "text": piece}) for piece in pieces]
    return step(place, {"type": "thought"}, *deltas, delta(place, "thought_signature", signature=signature))


def calls(place: int, call_id: str, name: str, *pieces: str) -> list[bytes]:
    grows = [delta(place, "arguments_delta", arguments=piece) for piece in pieces]
    return step(place, function_call(call_id, name), *grows)


def finished(status: str = "completed", **more: Any) -> bytes:
    fields = {"id": "v1_1", "status": status, "usage": USAGE, "object": "interaction", "model": MODEL, **more}
    return event("interaction.completed", interaction=fields)


DONE = b"event: done\ndata: [DONE]\n\n"


def stream(*runs: Iterable[bytes], **more: Any) -> list[bytes]:
    """A whole stream."""
    return [started(), *(each for run in runs for each in run), finished(**more), DONE]


class Capture(RequestRecorder):
    """A transport in memory that records every request and answers `hi`."""

    def __init__(self, reply: Any = None, events: Iterable[bytes] | None = None) -> None:
        super().__init__(
            interaction(output("hi")) if reply is None else reply, stream(says(0, "hi")) if events is None else events
        )


_STATUS: Mapping[Ending, str] = {"stop": "completed", "calls": "requires_action", "limit": "incomplete"}


class Kit(ItemsKit):
    model = MODEL
    key = KEY
    binding = BINDING
    openers: Mapping[Path, Any] = {"stateless": stateless, "legacy": legacy}
    wire_name = staticmethod(wire_name)
    facts_of = staticmethod(facts_of)
    models = (MODEL, "gemini-2.5-pro", "gemini-2.0-flash", "a-model-of-tomorrow")
    settings = ({"max_tokens": 99}, {"thinking": {"level": "low"}, "max_tokens": 99})
    started = staticmethod(started)
    says = staticmethod(says)
    thinks = staticmethod(thinks)
    calls = staticmethod(calls)
    thought_ends_with = 2
    arguments_are_text = False
    optional_last_events = 1
    key_check = KeyCheck(
        "/v1/models?pageSize=1",
        {"models": []},
        [(400, {"error": {"code": 400, "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}})],
    )
    exempt = frozenset(
        {
            # The SDK hangs up once it has read the word that ends a stream.
            ("legacy", "connection-reuse"),
            # What is broken there is a member that events do not have, so that nobody reads it.
            *((path, "not-utf-8") for path in ("stateless", "legacy")),
        }
    )
    ignored_events = (event("interaction.something_new", value=1), b": keep-alive\n\n")

    def comparable(self, body: Any) -> Any:
        """The chain asks the service to keep what the other path asks it to forget."""
        return {name: value for name, value in body.items() if name != "store"}

    def answer(self, *parts: WirePart, ending: Ending = "stop") -> Any:
        return interaction(*map(_wire_step, parts), status=_STATUS[ending])

    def stream(self, *parts: WirePart, ending: Ending = "stop") -> list[bytes]:
        runs = (self.wire_events(place, part) for place, part in enumerate(parts))
        return stream(*runs, status=_STATUS[ending])

    def overloaded_event(self, message: str) -> bytes:
        return event("error", error={"message": message, "code": "unavailable"})

    def broken_event(self, data: bytes) -> bytes:
        return b"event: step.delta\ndata: %b\n\n" % data


def _wire_step(part: WirePart) -> Json:
    match part:
        case WireText():
            return output(part.text)
        case WireThinking():
            return thinking(part.text)
        case WireCall():
            return function_call(part.call_id, part.name, **json.loads(part.json))


KIT = Kit()
