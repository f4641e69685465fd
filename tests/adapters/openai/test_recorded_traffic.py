"""The adapter against recorded traffic of OpenAI, Azure, Z.ai and Ollama, with the dialect as a second reader.

The two share no code. Answers: both paths must read what the dialect reads. Requests: a recorded conversation, taken
into neutral form and sent by the adapter, must say what it said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from openai.resources.chat.completions import completions
from recordings.apis import OLLAMA_CHAT, OPENAI_CHAT, ZAI_CHAT, Api
from recordings.material import Exchange
from shared_material import recordings_dir

from turnproof.dialects.base import Call, HttpRequest, WireAnswer, World
from turnproof.dialects.openai_chat import DIALECT
from turnproof.errors import ProviderError, TransportError
from turnproof.messages import (
    FunctionCall,
    InlineData,
    Message,
    Opaque,
    Part,
    ProviderResponse,
    Text,
    Thought,
    ToolSchema,
)
from turnproof_adapters._names import is_made_up

from ..recorded_answers import readings
from .kit import KIT, URL, Capture, stateless

WORLD = World(frozenset(), DIALECT.models, lambda: 0.0, any_key=True)
Recorded = tuple[Api, Exchange]


@pytest.fixture(scope="module")
def exchanges() -> list[Recorded]:
    """All with the operation `generate`, each with its API."""
    return [
        (api, each)
        for api in (OPENAI_CHAT, ZAI_CHAT, OLLAMA_CHAT)
        for recording in api.recordings(recordings_dir())
        for each in recording.exchanges
        if each.request.path.endswith("/chat/completions")
    ]


def body_of(exchange: Exchange) -> dict[str, Any]:
    return dict(exchange.source["request"].get("json") or {})


def readings_of(exchange: Exchange) -> Iterator[ProviderResponse | ProviderError]:
    body = body_of(exchange)
    return readings(KIT, exchange, body.get("stream") is True, model=str(body.get("model") or "m"))


def compared(parts: Sequence[Part]) -> list[Any]:
    """What both readers have a form for: texts and thoughts by their words, calls whole but for ids made up here."""
    return [
        (type(part), part.text)
        if isinstance(part, Text | Thought)
        else (part.name, part.args, "" if is_made_up(part.id) else part.id)
        for part in parts
        if isinstance(part, FunctionCall | Text | Thought)
    ]


def agrees(reading: ProviderResponse | ProviderError, answer: WireAnswer) -> bool:
    if answer.error_kind is not None or answer.error_message is not None or answer.status >= 400:
        return (
            isinstance(reading, ProviderError)
            and (reading.kind, reading.status) == (answer.error_kind, answer.status)
            and (answer.error_message or "").strip() in (reading.message, "")
        )
    if not answer.complete:
        return isinstance(reading, TransportError)
    return isinstance(reading, ProviderResponse) and (
        compared(reading.parts),
        reading.usage,
        reading.finish_reason,
        reading.raw_finish,
    ) == (compared(answer.parts), answer.usage or reading.usage, answer.finish, answer.raw_finish)


@pytest.fixture(scope="module")
def sends_requests_as_they_are() -> Iterator[None]:
    """What the SDK does to a request before it sends it takes longer than all else here, and is not looked at."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(completions, "maybe_transform", lambda data, _: data)
        yield


@pytest.fixture(scope="module")
def answered(
    exchanges: list[Recorded], sends_requests_as_they_are: None
) -> list[tuple[Api, Exchange, list[ProviderResponse | ProviderError]]]:
    """Each exchange with what either path reads in its answer.

    Left out are those that asked for several choices, which nobody here does: the adapter takes several for the parts
    of one answer. And those of the first models with eyes, which are gone: no other said in an object how it ended.
    """
    return [
        (api, exchange, list(readings_of(exchange)))
        for api, exchange in exchanges
        if body_of(exchange).get("n", 1) in (1, None) and b'"finish_details"' not in exchange.body
    ]


def test_every_recorded_answer_is_read_as_the_dialect_reads_it(answered: list[Any]) -> None:
    for api, exchange, read in answered:
        answer = api.dialect.read_response(exchange.status, exchange.headers, exchange.body)
        for reading in read:
            assert agrees(reading, answer), (exchange.where, reading, answer)
    assert len(answered) >= 190


def recorded_call(api: Api, exchange: Exchange) -> Call | None:
    """The recorded conversation, where it is one that a session could have held."""
    if not body_of(exchange):
        return None
    call = api.dialect.parse(exchange.request, WORLD)
    return call if isinstance(call, Call) and exchange.status == 200 else None


def sent(model: str, messages: Sequence[Message], system: str = "", tools: Sequence[ToolSchema] = ()) -> Call:
    """What the adapter puts on the wire, read by the dialect."""
    capture = Capture()
    stateless(URL, model, transport=capture.transport, thoughts_back=True).complete(messages, system, tools)
    request = capture.requests[-1]
    path = "/v1/chat/completions"
    call = DIALECT.parse(HttpRequest("POST", path, {}, dict(request.headers), bytes(request.content)), WORLD)
    assert isinstance(call, Call), call
    return call


def differences(held: Sequence[Message], system: str, tools: Sequence[ToolSchema], model: str) -> list[Any]:
    return DIALECT.differences(held, system, tools, sent(model, held, system, tools), model)


def test_a_recorded_conversation_says_the_same_when_the_adapter_sends_it(exchanges: list[Recorded]) -> None:
    said = 0
    for api, exchange in exchanges:
        call = recorded_call(api, exchange)
        if call is None or call.model is None or has_no_form(call):
            continue
        system = "\n".join(part.text for part in call.system if isinstance(part, Text))
        assert differences(call.messages, system, call.tools, call.model) == [], exchange.where
        said += 1
    assert said >= 180


def has_no_form(call: Call) -> bool:
    """Calls and tools of the old kind, and what no adapter offers."""
    parts = [part for message in call.messages for part in message.parts]
    old = any(isinstance(part, FunctionCall) and part.id.startswith("#") for part in parts)
    native = any(tool.parameters.get("type") == tool.name for tool in call.tools)
    opaque = any(isinstance(part, Opaque) for part in parts)
    odd = any(isinstance(part, InlineData) and "/" not in part.mime_type for part in parts)
    return old or native or opaque or odd


def test_a_recorded_answer_goes_back_as_it_came(answered: list[Any]) -> None:
    """The next request of a conversation holds the answer."""
    back = 0
    for _, exchange, (reading, _) in answered:
        if not isinstance(reading, ProviderResponse) or not reading.text or reading.calls:
            continue
        model = str(body_of(exchange)["model"])
        held = [Message.user("hi"), Message("model", reading.parts), Message.user("and?")]
        assert differences(held, "", [], model) == [], exchange.where
        back += 1
    assert back >= 120
