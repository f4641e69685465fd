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
from turnproof.messages import FinishReason, FunctionCall, ProviderResponse, Text

from ..anthropic.kit import call_block, event, text_block, thinking_block
from ..heard import Heard
from ..running import Running, holding
from ..scripted_server import LIMIT, scripted
from ..ways import HI
from .kit import issued, legacy, stateless, stream

RICH = stream(
    thinking_block(0, "hm ", "’", signature=None),
    text_block(1, "it’s 北🌍\n", "done"),
    call_block(2, "call_1", "read", '{"p": "’', '北"}'),
    stop="tool_use",
)
PARTS = (issued("hm ’"), Text("it’s 北🌍\ndone"), FunctionCall("call_1", "read", {"p": "’北"}))

Way = Callable[..., Any]


def by_complete(url: str, heard: Heard, token: Any = None) -> Any:
    return stateless(url).complete(HI, cancel_token=token, **heard.callbacks)


def by_legacy(url: str, heard: Heard, token: Any = None) -> Any:
    callbacks: dict[str, Any] = dict(heard.callbacks)
    on_chunk = callbacks.pop("on_chunk")
    return legacy(url).send_message_streaming("hi", on_chunk, cancel_token=token, **callbacks)


each_way = pytest.mark.parametrize("way", [by_complete, by_legacy], ids=["stateless", "legacy"])


@each_way
@pytest.mark.parametrize("sizes", [(1,), (2, 3), (7, 1, 64), (4096,)], ids=str)
def test_chunk_borders_change_nothing(way: Way, sizes: tuple[int, ...]) -> None:
    data, borders = b"".join(RICH), itertools.accumulate(itertools.cycle(sizes))
    places = [0, *itertools.takewhile(lambda place: place < len(data), borders), len(data)]
    pieces = [data[start:end] for start, end in itertools.pairwise(places)]
    heard = Heard()
    with scripted(lambda exchange: exchange.stream(*pieces)) as server:
        response = way(server.url, heard)
    assert response.parts == PARTS
    assert (heard.text, heard.calls) == (PARTS[1].text, [PARTS[2]])


@each_way
def test_comments_pings_and_what_is_unknown_are_ignored(way: Way) -> None:
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
        assert way(server.url, Heard()).parts == PARTS


@each_way
@pytest.mark.parametrize("kept", range(len(RICH)))
def test_a_stream_that_ends_before_its_end_is_no_answer(kept: int, way: Way) -> None:
    with scripted(lambda exchange: exchange.stream(*RICH[:kept])) as server, pytest.raises(TransportError) as failure:
        way(server.url, Heard())
    assert failure.value.retryable
    assert not any(isinstance(part, FunctionCall) for part in failure.value.partial)


@each_way
@pytest.mark.parametrize(
    "frame", [b"event: content_block_delta\ndata: {\n\n", b"data: <html>\n\n"], ids=["named", "nameless"]
)
def test_a_frame_that_is_no_json_is_a_transport_error(frame: bytes, way: Way) -> None:
    frames = [*RICH[:4], frame, *RICH[4:]]
    with scripted(lambda exchange: exchange.stream(*frames)) as server, pytest.raises(TransportError):
        way(server.url, Heard())


@each_way
@pytest.mark.parametrize(("kept", "parts"), [(0, ()), (3, ()), (6, PARTS[:1]), (8, (PARTS[0], Text("it’s 北🌍\n")))])
def test_a_silent_stream_is_cut_and_gives_what_had_arrived(kept: int, parts: tuple[Any, ...], way: Way) -> None:
    script, held = holding(*RICH[:kept])
    heard = Heard()
    with scripted(script) as server:
        running = Running(lambda token: way(server.url, heard, token))
        assert held.wait(LIMIT)
        running.wait_for_more(lambda: heard.usage or not kept)
        running.token.cancel()
        response = running.result()
        assert server.hung_up.wait(LIMIT), "the server did not see the cut"
    assert isinstance(response, ProviderResponse), response
    assert (response.parts, response.finish_reason) == (parts, FinishReason.CANCELLED)
