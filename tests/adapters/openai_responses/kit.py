"""What the tests of this family share: answers as the API writes them, and providers of both paths."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import httpx2
import openai

from turnproof.cancel import CancelToken
from turnproof.messages import Message, ProviderData, ProviderResponse, Text, Thought
from turnproof_adapters._http import timeouts
from turnproof_adapters._interrupt import make_cuttable
from turnproof_adapters.openai.calling import OpenAIErrorMapper
from turnproof_adapters.openai.lifecycle import Way
from turnproof_adapters.openai_responses.arrange import Arrangement
from turnproof_adapters.openai_responses.calling import Caller
from turnproof_adapters.openai_responses.items import row
from turnproof_adapters.openai_responses.legacy import ResponsesLegacy
from turnproof_adapters.openai_responses.lifecycle import ResponsesProvider
from turnproof_adapters.openai_responses.models import model as facts_of
from turnproof_adapters.openai_responses.names import wire_name
from turnproof_adapters.openai_responses.stateless import ResponsesStateless

from ..contract import typed_items
from ..contract.adapter_kit import Path, RequestRecorder
from ..contract.neutral import STREAMED as STREAMED
from ..contract.neutral import call as call
from ..contract.neutral import result as result
from ..contract.neutral import unheard as unheard
from ..contract.typed_items import ItemsKit
from ..contract.wire_parts import Ending, WireCall, WirePart, WireText, WireThinking

OURS = "openai-responses"
KEY = "sk-canary-0123456789"
MODEL = "gpt-5"
DATED = "gpt-5-2025-08-07"

Json = dict[str, Any]

USAGE: Json = {
    "input_tokens": 120,
    "input_tokens_details": {"cached_tokens": 100},
    "output_tokens": 30,
    "output_tokens_details": {"reasoning_tokens": 20},
    "total_tokens": 150,
}


class _At(ResponsesProvider):
    """A service of the API that needs nothing but a key."""

    def __init__(self, url: str, transport: httpx2.BaseTransport | None = None, silence: float = 20.0) -> None:
        super().__init__()
        self._timeouts = timeouts(silence)
        self._caller = Caller(OpenAIErrorMapper(lambda: KEY))
        client = httpx2.Client(transport=transport, trust_env=False)
        self._sdk = openai.OpenAI(
            base_url=url, api_key=KEY, max_retries=0, http_client=client if transport else make_cuttable(client)
        )

    def _way(self, messages: Sequence[Message], token: CancelToken | None) -> Way:
        return lambda step: step(self._sdk, {"x-messages": str(len(messages))})


class Stateless(_At, ResponsesStateless):
    """The stateless path."""


class Legacy(_At, ResponsesLegacy):
    """The legacy path."""


def stateless(url: str = "http://example.invalid", model: str = MODEL, **config: Any) -> Stateless:
    transport, silence = config.pop("transport", None), config.pop("silence", 20.0)
    provider = Stateless(url, transport, silence)
    provider.initialize(config)
    provider.connect(model)
    return provider


def legacy(url: str = "http://example.invalid", model: str = MODEL, **config: Any) -> Legacy:
    transport, silence = config.pop("transport", None), config.pop("silence", 20.0)
    provider = Legacy(url, transport, silence)
    provider.initialize(config)
    provider.connect(model)
    provider.create_session()
    return provider


# -- neutral


def reasoned(words: str = "", encrypted: str = "gAAA==", model: str = DATED, dialect: str = OURS) -> Thought:
    return Thought(words, provider_data=ProviderData(dialect, model, {"encrypted": encrypted}))


def own_text(words: str, **data: Any) -> Text:
    """A text of this API's with something of its own."""
    return Text(words, provider_data=ProviderData(OURS, DATED, data))


def arranged(*messages: Message, model: str = MODEL) -> list[Json]:
    """A conversation as the items that both paths make of it."""
    return typed_items.arranged(Arrangement(typed_items.as_it_is), row, *messages, model=model)


# -- on the wire


def sent_by_user(*words: str) -> Json:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": each} for each in words]}


def sent_by_model(words: str, **more: Any) -> Json:
    content = [{"type": "output_text", "text": words, "annotations": []}]
    return {"type": "message", "role": "assistant", "content": content, **more}


def sent_call(call_id: str = "call_1", name: str = "read", arguments: str = "{}") -> Json:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def sent_output(call_id: str = "call_1", output: Any = "ok") -> Json:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def message(*words: str, phase: str | None = None, status: str = "completed") -> Json:
    content = [{"type": "output_text", "annotations": [], "logprobs": [], "text": each} for each in words]
    item = {"id": "msg_1", "type": "message", "status": status, "role": "assistant", "content": content}
    return item | ({"phase": phase} if phase else {})


def refusal(words: str) -> Json:
    return message() | {"content": [{"type": "refusal", "refusal": words}]}


def reasoning(*summary: str, encrypted: str | None = "gAAA==") -> Json:
    summary_parts = [{"type": "summary_text", "text": each} for each in summary]
    return {"id": "rs_1", "type": "reasoning", "content": [], "encrypted_content": encrypted, "summary": summary_parts}


def function_call(
    call_id: str = "call_1", name: str = "read", arguments: str = "{}", status: str = "completed", **more: Any
) -> Json:
    named = {"id": "fc_1", "type": "function_call", "status": status, "arguments": arguments}
    return {**named, "call_id": call_id, "name": name, **more}


def answer(*items: Json, status: str = "completed", reason: str | None = None, **more: Any) -> Json:
    """A batch answer."""
    return {
        "id": "resp_1",
        "object": "response",
        "status": status,
        "model": DATED,
        "output": list(items),
        "usage": USAGE,
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        **more,
    }


def event(kind: str, **fields: Any) -> bytes:
    """One event as the API writes it."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields}, ensure_ascii=False)}\n\n".encode()


def started() -> bytes:
    return event("response.created", response=answer(status="in_progress", usage=None))


def opened(place: int, item: Json) -> bytes:
    return event("response.output_item.added", output_index=place, item=item)


def done(place: int, item: Json) -> bytes:
    return event("response.output_item.done", output_index=place, item=item)


def words(place: int, *pieces: str, content_index: int = 0, kind: str = "output_text") -> list[bytes]:
    return [
        event(f"response.{kind}.delta", output_index=place, content_index=content_index, delta=piece)
        for piece in pieces
    ]


def says(place: int, *pieces: str) -> list[bytes]:
    """The events of a message."""
    return [opened(place, message(status="in_progress")), *words(place, *pieces), done(place, message("".join(pieces)))]


def thinks(place: int, *pieces: str, encrypted: str = "gAAA==") -> list[bytes]:
    """The events of a reasoning item with one summary. What opens it holds other encrypted content."""
    summary_events = [
        event("response.reasoning_summary_text.delta", output_index=place, summary_index=0, delta=piece)
        for piece in pieces
    ]
    summary = ("".join(pieces),) if pieces else ()
    return [
        opened(place, reasoning(encrypted="other")),
        *summary_events,
        done(place, reasoning(*summary, encrypted=encrypted)),
    ]


def calls(place: int, call_id: str, name: str, *pieces: str) -> list[bytes]:
    """The events of a call."""
    grows = [event("response.function_call_arguments.delta", output_index=place, delta=piece) for piece in pieces]
    empty_call = function_call(call_id, name, "", "in_progress")
    return [opened(place, empty_call), *grows, done(place, function_call(call_id, name, "".join(pieces)))]


def finished(*items: Json, **more: Any) -> bytes:
    response = answer(*items, **more)
    return event(f"response.{response['status']}", response=response)


def stream(*runs: Iterable[bytes], **more: Any) -> list[bytes]:
    """A whole stream."""
    return [started(), *(each for run in runs for each in run), finished(**more)]


class Capture(RequestRecorder):
    """A transport in memory that records every request and answers `hi`."""

    def __init__(self, reply: Any = None, events: Iterable[bytes] | None = None) -> None:
        super().__init__(
            answer(message("hi")) if reply is None else reply, stream(says(0, "hi")) if events is None else events
        )


Way4 = Callable[[Capture, Mapping[str, Any]], ProviderResponse]
"""One of the four ways to have something answered: a path, whole or streamed."""


def _whole(capture: Capture, recorder: Mapping[str, Any]) -> ProviderResponse:
    callbacks = {name: each for name, each in recorder.items() if name != "on_chunk"}
    return stateless(transport=capture.transport).complete([Message.user("hi")], **callbacks)


def _streamed(capture: Capture, recorder: Mapping[str, Any]) -> ProviderResponse:
    return stateless(transport=capture.transport).complete([Message.user("hi")], **recorder)


def _legacy_whole(capture: Capture, recorder: Mapping[str, Any]) -> ProviderResponse:
    return legacy(transport=capture.transport).send_message("hi")


def _legacy_streamed(capture: Capture, recorder: Mapping[str, Any]) -> ProviderResponse:
    callbacks = dict(recorder)
    on_chunk = callbacks.pop("on_chunk", lambda piece: None)
    return legacy(transport=capture.transport).send_message_streaming("hi", on_chunk, **callbacks)


BATCH: dict[str, Way4] = {"stateless": _whole, "legacy": _legacy_whole}
STREAM: dict[str, Way4] = {"stateless": _streamed, "legacy": _legacy_streamed}


class Kit(ItemsKit):
    name = "openai_responses"
    reported_model = DATED
    model = MODEL
    key = KEY
    openers: Mapping[Path, Any] = {"stateless": stateless, "legacy": legacy}
    wire_name = staticmethod(wire_name)
    facts_of = staticmethod(facts_of)
    models = (MODEL, DATED, "gpt-4.1", "a-model-of-tomorrow")
    settings = ({"max_tokens": 99}, {"thinking": {"effort": "low"}, "max_tokens": 99})
    started = staticmethod(started)
    says = staticmethod(says)
    thinks = staticmethod(thinks)
    calls = staticmethod(calls)
    ignored_events = (event("response.something_new", value=1), b": keep-alive\n\n")
    exempt = frozenset({("legacy", "retry-times")})

    def open(self, path: Path, url: str, **options: Any) -> Any:
        if "timeout" in options:
            options["silence"] = options.pop("timeout")
        return (stateless if path == "stateless" else legacy)(url, **options)

    def answer(self, *parts: WirePart, ending: Ending = "stop") -> Any:
        return answer(*map(_wire_item, parts), **_ending(ending))

    def stream(self, *parts: WirePart, ending: Ending = "stop") -> list[bytes]:
        return stream(*(self.wire_events(place, part) for place, part in enumerate(parts)), **_ending(ending))

    def overloaded_event(self, message: str) -> bytes:
        return event("error", code="server_error", message=message, param=None)

    def broken_event(self, data: bytes) -> bytes:
        return b"event: response.output_text.delta\ndata: %b\n\n" % data


def _wire_item(part: WirePart) -> Json:
    match part:
        case WireText():
            return message(part.text)
        case WireThinking():
            return reasoning(part.text)
        case WireCall():
            return function_call(part.call_id, part.name, part.json)


def _ending(ending: Ending) -> Json:
    return {"status": "incomplete", "reason": "max_output_tokens"} if ending == "limit" else {}


KIT = Kit()
