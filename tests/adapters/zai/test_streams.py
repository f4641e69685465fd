"""Streams of this service over a real socket: borders anywhere, ends anywhere, and the cut from our side.

The legacy path reads frames with the SDK's decoder instead of its events, so that it hears those without a name: what
holds for Anthropic's streams is shown again for it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from turnproof.errors import TransportError
from turnproof.messages import FunctionCall, Text

from ..anthropic.kit import call_block, event, text_block, thinking_block
from ..call_modes import HI
from ..callback_recorder import CallbackRecorder
from ..scripted_server import scripted
from .kit import issued, legacy, stateless, stream

RICH = stream(
    thinking_block(0, "hm ", "’", signature=None),
    text_block(1, "it’s 北🌍\n", "done"),
    call_block(2, "call_1", "read", '{"p": "’', '北"}'),
    stop="tool_use",
)
PARTS = (issued("hm ’"), Text("it’s 北🌍\ndone"), FunctionCall("call_1", "read", {"p": "’北"}))

CallMode = Callable[..., Any]


def by_complete(url: str, recorder: CallbackRecorder, token: Any = None) -> Any:
    return stateless(url).complete(HI, cancel_token=token, **recorder.callbacks)


def by_legacy(url: str, recorder: CallbackRecorder, token: Any = None) -> Any:
    callbacks: dict[str, Any] = dict(recorder.callbacks)
    on_chunk = callbacks.pop("on_chunk")
    return legacy(url).send_message_streaming("hi", on_chunk, cancel_token=token, **callbacks)


each_way = pytest.mark.parametrize("way", [by_complete, by_legacy], ids=["stateless", "legacy"])


@each_way
@pytest.mark.parametrize("sizes", [(1,), (2, 3), (7, 1, 64), (4096,)], ids=str)
def test_chunk_borders_change_nothing(way: CallMode, sizes: tuple[int, ...]) -> None:
    data, borders = b"".join(RICH), itertools.accumulate(itertools.cycle(sizes))
    places = [0, *itertools.takewhile(lambda place: place < len(data), borders), len(data)]
    pieces = [data[start:end] for start, end in itertools.pairwise(places)]
    recorder = CallbackRecorder()
    with scripted(lambda exchange: exchange.stream(*pieces)) as server:
        response = way(server.url, recorder)
    assert response.parts == PARTS
    assert (recorder.text, recorder.calls) == (PARTS[1].text, [PARTS[2]])


@each_way
def test_comments_pings_and_what_is_unknown_are_ignored(way: CallMode) -> None:
    noise = [
        b": keep-alive\n\n",
        b"retry: 1000\n\n",
        event("ping"),
        event("something_new", index=0),
        b"event: ping\n\n",
        b'data: {"later": true}\n\n',
    ]
    noisy = [each for real in RICH for each in (*noise, real)]
    with scripted(lambda exchange: exchange.stream(*noisy)) as server:
        assert way(server.url, CallbackRecorder()).parts == PARTS


@each_way
@pytest.mark.parametrize("kept", range(len(RICH)))
def test_a_stream_that_ends_before_its_end_is_no_answer(kept: int, way: CallMode) -> None:
    with scripted(lambda exchange: exchange.stream(*RICH[:kept])) as server, pytest.raises(TransportError) as failure:
        way(server.url, CallbackRecorder())
    assert failure.value.retryable
    assert not any(isinstance(part, FunctionCall) for part in failure.value.partial)


@each_way
@pytest.mark.parametrize(
    "frame", [b"event: content_block_delta\ndata: {\n\n", b"data: <html>\n\n"], ids=["named", "nameless"]
)
def test_a_frame_that_is_no_json_is_a_transport_error(frame: bytes, way: CallMode) -> None:
    frames = [*RICH[:4], frame, *RICH[4:]]
    with scripted(lambda exchange: exchange.stream(*frames)) as server, pytest.raises(TransportError):
        way(server.url, CallbackRecorder())
