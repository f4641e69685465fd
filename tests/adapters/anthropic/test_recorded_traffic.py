"""The adapter against recorded traffic of the real API, with the dialect as a second reader that shares no code.

Answers: both paths must read what the dialect reads. Requests: a recorded conversation, taken into neutral form and
sent by the adapter, must say what it said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from recordings.apis import ANTHROPIC
from recordings.material import Exchange
from shared_material import recordings_dir

from turnproof.dialects.anthropic_messages import DIALECT
from turnproof.dialects.base import Call, HttpRequest, WireAnswer, World
from turnproof.errors import ProviderError, TransportError
from turnproof.messages import Message, Part, ProviderResponse, Text, ToolSchema

from ..recorded_answers import readings
from .kit import KIT, Capture, stateless

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
URL = "http://example.invalid"
WORLD = World(frozenset(), DIALECT.models, lambda: 0.0, any_key=True)


@pytest.fixture(scope="module")
def exchanges() -> list[Exchange]:
    found = [each for recording in ANTHROPIC.recordings(recordings_dir()) for each in recording.exchanges]
    return [each for each in found if each.request.path.endswith("/messages")]


def readings_of(exchange: Exchange) -> Iterator[ProviderResponse | ProviderError]:
    return readings(KIT, exchange, exchange.streamed, model=str(exchange.source["request"]["json"]["model"]))


def with_words(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    return tuple(part for part in parts if not isinstance(part, Text) or part.text)


def agrees(reading: ProviderResponse | ProviderError, answer: WireAnswer) -> bool:
    if answer.error_kind is not None or answer.status >= 400:
        return (
            isinstance(reading, ProviderError)
            and (reading.kind, reading.status) == (answer.error_kind, answer.status)
            and answer.error_message in (reading.message, None)
        )
    if not answer.complete:
        return isinstance(reading, TransportError)
    return isinstance(reading, ProviderResponse) and (
        with_words(reading.parts),
        reading.usage,
        reading.finish_reason,
        reading.raw_finish,
    ) == (with_words(answer.parts), answer.usage, answer.finish, answer.raw_finish)


def test_every_recorded_answer_is_read_as_the_dialect_reads_it(exchanges: list[Exchange]) -> None:
    compared = 0
    for exchange in exchanges:
        answer = DIALECT.read_response(exchange.status, exchange.headers, exchange.body)
        for reading in readings_of(exchange):
            assert agrees(reading, answer), (exchange.where, reading, answer)
            compared += 1
    assert compared == 2 * len(exchanges) >= 290


def recorded_call(exchange: Exchange) -> Call | None:
    """The recorded conversation, where it is one that a session could have held."""
    body = exchange.source["request"]["json"]
    native = any("input_schema" not in tool for tool in body.get("tools") or ())
    call = DIALECT.parse(exchange.request, WORLD)
    return call if isinstance(call, Call) and exchange.status == 200 and not native else None


def sent(model: str, messages: Sequence[Message], system: str = "", tools: Sequence[ToolSchema] = ()) -> Call:
    """What the adapter puts on the wire, read by the dialect."""
    capture = Capture()
    stateless(URL, model, transport=capture.transport).complete(messages, system, tools)
    request = capture.requests[-1]
    call = DIALECT.parse(HttpRequest("POST", "/v1/messages", {}, dict(request.headers), bytes(request.content)), WORLD)
    assert isinstance(call, Call), call
    return call


def test_a_recorded_conversation_says_the_same_when_the_adapter_sends_it(exchanges: list[Exchange]) -> None:
    compared = 0
    for exchange in exchanges:
        call = recorded_call(exchange)
        if call is None or call.model is None:
            continue
        system = "\n".join(part.text for part in call.system if isinstance(part, Text))
        ours = sent(call.model, call.messages, system, call.tools)
        assert DIALECT.differences(call.messages, system, call.tools, ours, call.model) == [], exchange.where
        compared += 1
    assert compared >= 100


def test_a_recorded_answer_goes_back_as_it_came(exchanges: list[Exchange]) -> None:
    """The next request of a conversation holds the answer: signatures, citations and unknown blocks included."""
    compared = 0
    for exchange in exchanges:
        reading = next(readings_of(exchange))
        if not isinstance(reading, ProviderResponse) or not with_words(reading.parts):
            continue
        model = str(exchange.source["request"]["json"]["model"])
        held = [Message.user("hi"), Message("model", reading.parts), Message.user("and?")]
        assert DIALECT.differences(held, None, [], sent(model, held), model) == [], exchange.where
        compared += 1
    assert compared >= 100
