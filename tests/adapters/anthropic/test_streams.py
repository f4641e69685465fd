"""Streams of this API over a real socket: unknown blocks, its error events, and its end marker."""

from __future__ import annotations

import pytest

from turnproof.errors import TransportError
from turnproof.messages import Message, Opaque

from ..callback_recorder import CallbackRecorder
from ..contract.adapter_kit import Subject, each_path_of
from ..scripted_server import LIMIT, Exchange, scripted
from .kit import KIT, answer, block, event, finish, start, stateless, stream, text_block, tool_use

HI = [Message.user("hi")]
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@each_path_of(KIT)
def test_a_block_of_an_unknown_kind_is_kept_as_it_is(subject: Subject) -> None:
    strange = {"type": "hologram", "beam": [1, 2]}
    with scripted(lambda exchange: exchange.stream(*stream(block(0, strange), text_block(1, "so")))) as server:
        response = subject.open(server.url).stream()
    assert isinstance(response.parts[0], Opaque)
    assert response.parts[0].data == strange


def test_a_service_that_goes_on_and_on_after_its_end_marker_is_hung_up_on() -> None:
    def chatter(exchange: Exchange) -> None:
        exchange.stream_head()
        exchange.chunk(b"".join(stream(text_block(0, "so"))))
        while True:
            exchange.chunk(event("ping"))

    with scripted(chatter) as server:
        assert stateless(server.url).complete(HI, **CallbackRecorder().callbacks).text == "so"
        assert server.hung_up.wait(LIMIT)


def test_batch_answers_with_a_malformed_call_are_refused() -> None:
    reply = answer({**tool_use("a", "rm", {}), "input": "not an object"}, stop="tool_use")
    with scripted(lambda exchange: exchange.answer(reply)) as server, pytest.raises(TransportError, match="malformed"):
        stateless(server.url).complete(HI)


def test_a_stream_gone_quiet_leaves_its_end_marker_missing_even_if_it_says_how_it_finished() -> None:
    events = [start(), *text_block(0, "so"), finish()[0]]
    with (
        scripted(lambda exchange: exchange.stream(*events)) as server,
        pytest.raises(TransportError, match="end marker"),
    ):
        stateless(server.url).complete(HI, **CallbackRecorder().callbacks)
