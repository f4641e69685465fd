"""The adapter against recorded traffic of the real API, with the dialect as a second reader that shares no code.

Answers: the adapter must read what the dialect reads. Requests: a recorded conversation, taken into neutral form and
sent by the adapter, must say what it said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace
from recordings.apis import GEMINI
from recordings.material import Exchange
from shared_material import recordings_dir

from turnproof.dialects.base import Call, HttpRequest, WireAnswer, World
from turnproof.dialects.gemini import DIALECT
from turnproof.errors import ContentFilterError, ProviderError, TransportError
from turnproof.messages import FunctionCall, Message, Part, ProviderResponse, Text, ToolSchema
from turnproof_adapters.google_genai.names import is_made_up

from ..callback_recorder import CallbackRecorder
from ..recorded_answers import replay
from .kit import KEY, Capture, stateless

WORLD = World(frozenset(), DIALECT.models, lambda: 0.0, any_key=True)
VERTEX = {"project": "p", "location": "l"}
_MODEL = re.compile(r"models/(?P<name>[^/:]+):(?:streamG|g)enerateContent$")


@pytest.fixture(scope="module")
def exchanges() -> list[Exchange]:
    found = [each for recording in GEMINI.recordings(recordings_dir()) for each in recording.exchanges]
    return [each for each in found if _MODEL.search(each.request.path) and _asked_as_the_sdk_asks(each)]


def _asked_as_the_sdk_asks(exchange: Exchange) -> bool:
    """Other clients had numbers sent in place of words, or a stream as one JSON array."""
    query = exchange.request.query
    return "$alt" not in query and (
        query.get("alt") == "sse" or not exchange.request.path.endswith("streamGenerateContent")
    )


def model_of(exchange: Exchange) -> str:
    found = _MODEL.search(exchange.request.path)
    assert found is not None
    return found["name"]


def platform(exchange: Exchange) -> dict[str, Any]:
    return {"vertexai": VERTEX} if "/publishers/" in exchange.request.path else {}


def reading(exchange: Exchange) -> ProviderResponse | ProviderError:
    """What the adapter makes of a recorded answer."""
    provider = stateless(model=model_of(exchange), transport=replay(exchange), **platform(exchange))
    recorder = CallbackRecorder()
    try:
        response = provider.complete([Message.user("hi")], **(recorder.callbacks if exchange.streamed else {}))
    except ProviderError as failure:
        return failure
    if exchange.streamed:
        assert recorder.text == response.text
        assert recorder.calls == list(response.calls)
        assert recorder.usage
    return response


def said(parts: Sequence[Part]) -> list[Any]:
    """Parts as far as the two readers keep them alike: without made-up ids, and each with its signature."""
    found = []
    for part in parts:
        data = part.provider_data.data if part.provider_data is not None else {}
        signature = data.get("signature")
        if isinstance(part, Text) and not part.text and signature is None:
            continue
        if isinstance(part, FunctionCall) and is_made_up(part.id):
            part = replace(part, id="")
        found.append((replace(part, provider_data=None), signature))
    return found


def agrees(ours: ProviderResponse | ProviderError, answer: WireAnswer) -> bool:
    if answer.error_kind is not None or answer.status >= 400:
        return (
            isinstance(ours, ProviderError)
            and (ours.kind, ours.status) == (answer.error_kind, answer.status)
            and (ours.message, ours.retry_after) == (answer.error_message, answer.retry_after)
        )
    if not answer.complete:
        return isinstance(ours, TransportError)
    if isinstance(ours, ContentFilterError):
        return (ours.kind, answer.parts) == (answer.raw_finish, ())
    return isinstance(ours, ProviderResponse) and (
        said(ours.parts),
        ours.usage,
        ours.finish_reason,
        ours.raw_finish,
    ) == (said(answer.parts), answer.usage, answer.finish, answer.raw_finish)


def test_every_recorded_answer_is_read_as_the_dialect_reads_it(exchanges: list[Exchange]) -> None:
    wrong = []
    for exchange in exchanges:
        answer = DIALECT.read_response(exchange.status, exchange.headers, exchange.body)
        ours = reading(exchange)
        if not agrees(ours, answer):
            wrong.append((exchange.where, ours, answer))
    assert wrong == []
    assert len(exchanges) >= 130
    assert sum(exchange.streamed for exchange in exchanges) >= 10


def sent(exchange: Exchange, messages: Sequence[Message], system: str = "", tools: Sequence[ToolSchema] = ()) -> Call:
    """What the adapter puts on the wire, read by the dialect."""
    capture = Capture()
    provider = stateless(model=model_of(exchange), transport=capture.transport, **platform(exchange))
    provider.complete(messages, system, tools)
    (request,) = capture.requests
    read = HttpRequest("POST", request.url.path, {}, {**request.headers, "x-goog-api-key": KEY}, request.content)
    call = DIALECT.parse(read, WORLD)
    assert isinstance(call, Call), call
    return call


def recorded_call(exchange: Exchange) -> Call | None:
    """The recorded conversation, where it is one that a session could have held."""
    body = exchange.source["request"]["json"]
    native = any(
        not key.lower().startswith("functiondecl") and not key.startswith("function_decl")
        for tool in body.get("tools") or ()
        for key in tool
    )
    call = DIALECT.parse(exchange.request, WORLD)
    return call if isinstance(call, Call) and exchange.status == 200 and not native else None


def test_a_recorded_conversation_says_the_same_when_the_adapter_sends_it(exchanges: list[Exchange]) -> None:
    wrong, compared = [], 0
    for exchange in exchanges:
        call = recorded_call(exchange)
        if call is None:
            continue
        system = "\n".join(part.text for part in call.system if isinstance(part, Text))
        ours = sent(exchange, call.messages, system, call.tools)
        found = DIALECT.differences(call.messages, system, call.tools, ours, model_of(exchange))
        if found:
            wrong.append((exchange.where, found))
        compared += 1
    assert wrong == []
    assert compared >= 90


def test_a_recorded_answer_goes_back_as_it_came(exchanges: list[Exchange]) -> None:
    """The next request of a conversation holds the answer: signatures, code and server-side tools included."""
    wrong, compared = [], 0
    for exchange in exchanges:
        ours = reading(exchange)
        if not isinstance(ours, ProviderResponse) or not said(ours.parts):
            continue
        held = [Message.user("hi"), Message("model", ours.parts), Message.user("and?")]
        found = DIALECT.differences(held, None, [], sent(exchange, held), model_of(exchange))
        # Older answers of models that give ids today have none, and an id that was made up is not sent.
        if any(each.what != "unlisted" or not is_made_up(str(each.held)) for each in found):
            wrong.append((exchange.where, found))
        compared += 1
    assert wrong == []
    assert compared >= 100
