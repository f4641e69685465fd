"""Every adapter against the recorded traffic of its API.

Answers: both paths must read what the dialect reads. Requests: a recorded conversation, taken into neutral form and
sent by the adapter, must say what it said.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from openai.resources.chat.completions import completions

from turnproof.messages import Message, ProviderResponse

from ..anthropic.recorded_traffic import TRAFFIC as ANTHROPIC
from ..github_models.recorded_traffic import TRAFFIC as GITHUB_MODELS
from ..google_genai.recorded_traffic import TRAFFIC as GOOGLE_GENAI
from ..openai.recorded_traffic import TRAFFIC as OPENAI
from .adapter_kit import PATHS
from .recorded_traffic import RecordedTraffic, system_text

ALL: tuple[RecordedTraffic, ...] = (ANTHROPIC, OPENAI, GOOGLE_GENAI, GITHUB_MODELS)
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.parametrize("traffic", ALL, ids=lambda traffic: traffic.kit.name),
    pytest.mark.usefixtures("sends_requests_as_they_are"),
]


@pytest.fixture(scope="module")
def sends_requests_as_they_are() -> Iterator[None]:
    """What OpenAI's SDK does to a request before it sends it takes longer than all else here, and is not looked at."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(completions, "maybe_transform", lambda data, _: data)
        yield


def test_every_recorded_answer_is_read_as_the_dialect_reads_it(traffic: RecordedTraffic) -> None:
    compared = 0
    for api, exchange in traffic.exchanges:
        answer = api.dialect.read_response(exchange.status, exchange.headers, exchange.body)
        for reading in traffic.readings(exchange):
            assert traffic.agrees(reading, answer), (exchange.where, reading, answer)
            compared += 1
    assert compared == len(PATHS) * len(traffic.exchanges)
    assert len(traffic.exchanges) >= traffic.answers
    assert sum(traffic.is_streamed(exchange) for _, exchange in traffic.exchanges) >= 20


def test_a_recorded_conversation_says_the_same_when_the_adapter_sends_it(traffic: RecordedTraffic) -> None:
    compared = 0
    for api, exchange in traffic.exchanges:
        call = traffic.recorded_call(api, exchange)
        if call is not None:
            differences = traffic.differences(exchange, call.messages, system_text(call), call.tools)
            assert differences == [], exchange.where
            compared += 1
    assert compared >= traffic.conversations


def test_a_recorded_answer_goes_back_as_it_came(traffic: RecordedTraffic) -> None:
    """The next request of a conversation holds the answer: signatures, citations and unknown blocks included."""
    compared = 0
    for _, exchange in traffic.exchanges:
        reading = next(traffic.readings(exchange))
        if isinstance(reading, ProviderResponse) and traffic.is_returnable(reading):
            history = [Message.user("hi"), Message("model", reading.parts), Message.user("and?")]
            differences = [each for each in traffic.differences(exchange, history) if not traffic.is_made_up(each)]
            assert differences == [], exchange.where
            compared += 1
    assert compared >= traffic.returned_answers
