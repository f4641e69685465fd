"""Recorded answers of OpenAI and of Azure, whose service GitHub Models is built on, read by azure's SDK and by us.

Nothing recorded of GitHub Models itself is public. What it answers has this form, and its SDK must lose nothing of it.
The dialect is a second reader that shares no code.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from recordings.apis import OPENAI_CHAT
from recordings.material import Exchange
from shared_material import recordings_dir

from turnproof.errors import ProviderError
from turnproof.messages import Message, ProviderResponse

from ..callback_recorder import CallbackRecorder
from ..openai.test_recorded_traffic import agrees, body_of
from ..recorded_answers import replay
from .kit import legacy, stateless


@pytest.fixture(scope="module")
def exchanges() -> list[Exchange]:
    """Those that asked for one choice. A few models that are gone told in an object how they ended, which no SDK of
    today reads."""
    return [
        each
        for recording in OPENAI_CHAT.recordings(recordings_dir())
        for each in recording.exchanges
        if each.request.path.endswith("/chat/completions")
        and body_of(each).get("n", 1) in (1, None)
        and b'"finish_details"' not in each.body
    ]


def readings(exchange: Exchange) -> Iterator[ProviderResponse | ProviderError]:
    streamed = body_of(exchange).get("stream") is True
    transport = replay(exchange)
    for path in ("stateless", "legacy"):
        recorder = CallbackRecorder()
        on_chunk = recorder.callbacks["on_chunk"] if streamed else None
        try:
            if path == "stateless":
                response = stateless(transport=transport).complete([Message.user("hi")], on_chunk=on_chunk)
            elif on_chunk is not None:
                response = legacy(transport=transport).send_message_streaming("hi", on_chunk)
            else:
                response = legacy(transport=transport).send_message("hi")
        except ProviderError as failure:
            yield failure
        else:
            assert not streamed or recorder.text == response.text
            yield response


def test_every_recorded_answer_is_read_alike_by_both_paths_and_the_dialect(exchanges: list[Exchange]) -> None:
    for exchange in exchanges:
        answer = OPENAI_CHAT.dialect.read_response(exchange.status, exchange.headers, exchange.body)
        for reading in readings(exchange):
            assert agrees(reading, answer), (exchange.where, reading, answer)
    assert len(exchanges) >= 100
