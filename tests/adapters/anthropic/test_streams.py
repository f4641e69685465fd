"""Streams over a real socket: chunk borders anywhere, what must be ignored, what must not, and how they may end."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest

from turnproof.errors import OverloadedError, ProviderError, RateLimitError, TransportError
from turnproof.messages import FunctionCall, Message, Text, Thought

from ..callback_recorder import CallbackRecorder
from ..scripted_server import LIMIT, Exchange, scripted
from .kit import (
    answer,
    block,
    call_block,
    event,
    finish,
    legacy,
    outcome,
    start,
    stateless,
    stream,
    text,
    text_block,
    thinking_block,
    tool_use,
)

HI = [Message.user("hi")]
RICH = stream(
    thinking_block(0, "hm ", "’"),
    text_block(1, "it’s 北🌍\n", "done"),
    call_block(2, "a", "read", '{"p": "’', '北"}'),
    stop="tool_use",
)
HEAD = RICH[:9]
"""Up to the middle of the text."""

RICH_PARTS = ("hm ’", "it’s 北🌍\ndone", {"p": "’北"})

Way = Callable[[str, CallbackRecorder], object]


def by_complete(url: str, recorder: CallbackRecorder) -> object:
    return stateless(url).complete(HI, **recorder.callbacks)


def by_legacy(url: str, recorder: CallbackRecorder) -> object:
    callbacks = dict(recorder.callbacks)
    return legacy(url).send_message_streaming("hi", callbacks.pop("on_chunk"), **callbacks)


WAYS = pytest.mark.parametrize("way", [by_complete, by_legacy], ids=["stateless", "legacy"])
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def pieces(data: bytes, sizes: Iterator[int]) -> Iterator[bytes]:
    while data:
        size = next(sizes)
        yield data[:size]
        data = data[size:]


@WAYS
@pytest.mark.parametrize("sizes", [(1,), (2, 3), (7, 1, 64), (4096,)], ids=str)
def test_chunk_borders_change_nothing(way: Way, sizes: tuple[int, ...]) -> None:
    data = b"".join(RICH)
    with scripted(lambda exchange: exchange.stream(*pieces(data, itertools.cycle(sizes)))) as server:
        recorder = CallbackRecorder()
        response = way(server.url, recorder)
    thought, words, call = response.parts  # type: ignore[attr-defined]
    assert isinstance(thought, Thought)
    assert isinstance(call, FunctionCall)
    assert (thought.text, words.text, call.args) == RICH_PARTS
    assert recorder.text == words.text
    assert recorder.calls == [call]


@WAYS
def test_comments_pings_and_what_is_unknown_are_ignored(way: Way) -> None:
    noise = [
        b": keep-alive\n\n",
        b"retry: 1000\n\n",
        event("ping"),
        event("something_new", index=0, delta={"type": "text_delta", "text": "no"}),
        event("content_block_delta", index=0, delta={"type": "new_delta", "text": "no"}),
        event("content_block_delta", index=99, delta={"type": "new_delta", "text": "no"}),
        b"event: \n\n",
    ]
    noisy = [RICH[0], *(each for real in RICH[1:] for each in (*noise, real))]
    with scripted(lambda exchange: exchange.stream(*noisy)) as server:
        recorder = CallbackRecorder()
        response = way(server.url, recorder)
    with scripted(lambda exchange: exchange.stream(*RICH)) as server:
        assert outcome(response) == outcome(way(server.url, CallbackRecorder()))  # type: ignore[arg-type]


def test_a_space_after_the_colon_is_optional() -> None:
    events = [each.replace(b"data: ", b"data:") for each in RICH]
    with scripted(lambda exchange: exchange.stream(*events)) as server:
        assert stateless(server.url).complete(HI, **CallbackRecorder().callbacks).text == "it’s 北🌍\ndone"


@WAYS
def test_a_block_of_an_unknown_kind_is_kept_as_it_is(way: Way) -> None:
    strange = {"type": "hologram", "beam": [1, 2]}
    with scripted(lambda exchange: exchange.stream(*stream(block(0, strange), text_block(1, "so")))) as server:
        response = way(server.url, CallbackRecorder())
    assert response.parts[0].data == strange  # type: ignore[attr-defined]


def cut_chunk(exchange: Exchange) -> None:
    exchange.stream_head()
    exchange.chunk(b"".join(HEAD))
    exchange.write(b"400\r\nevent: content_bl")
    exchange.connection.close()


def reset(exchange: Exchange) -> None:
    exchange.stream_head()
    exchange.chunk(b"".join(HEAD))
    exchange.reset()


def ended_early(exchange: Exchange) -> None:
    exchange.stream(*HEAD)


def ended_before_the_end_marker(exchange: Exchange) -> None:
    exchange.stream(*RICH[:-1])


def broken_frame(exchange: Exchange) -> None:
    exchange.stream(*HEAD, b'event: content_block_delta\ndata: {"type": "content\n\n', *RICH[len(HEAD) :])


def not_utf8(exchange: Exchange) -> None:
    exchange.stream(*HEAD, b'event: x\ndata: {"type": "\xff\xfe"}\n\n', *RICH[len(HEAD) :])


@WAYS
@pytest.mark.parametrize(
    "script",
    [cut_chunk, reset, ended_early, ended_before_the_end_marker, broken_frame, not_utf8],
    ids=lambda s: s.__name__,
)
def test_a_stream_that_does_not_end_whole_is_a_transport_error_with_what_had_arrived(
    way: Way, script: Callable[[Exchange], None]
) -> None:
    with scripted(script) as server, pytest.raises(TransportError) as failure:
        way(server.url, CallbackRecorder())
    assert failure.value.retryable
    assert [type(part) for part in failure.value.partial] == [Thought, Text]


@WAYS
@pytest.mark.parametrize(
    ("kind", "expected"),
    [("overloaded_error", OverloadedError), ("api_error", OverloadedError), ("rate_limit_error", RateLimitError)],
)
def test_an_error_event_under_status_200_is_the_error_that_it_names(
    way: Way, kind: str, expected: type[ProviderError]
) -> None:
    failure_event = event("error", error={"details": None, "type": kind, "message": "Sorry"})
    events = [start(), *text_block(0, "so far", closed=False), failure_event]
    recorder = CallbackRecorder()
    with scripted(lambda exchange: exchange.stream(*events)) as server, pytest.raises(expected) as failure:
        way(server.url, recorder)
    assert (failure.value.kind, failure.value.message, failure.value.status) == (kind, "Sorry", 200)
    assert failure.value.partial == (Text("so far"),)
    assert recorder.text == "so far"


@WAYS
def test_malformed_arguments_in_a_call_that_was_not_cut_are_an_error_and_never_run(way: Way) -> None:
    recorder = CallbackRecorder()
    events = stream(call_block(0, "a", "rm", '{"path": "/'), stop="tool_use")
    with (
        scripted(lambda exchange: exchange.stream(*events)) as server,
        pytest.raises(TransportError, match="malformed arguments for a call of 'rm'"),
    ):
        way(server.url, recorder)
    assert recorder.calls == []


@WAYS
def test_malformed_arguments_in_a_call_that_the_limit_cut_are_dropped(way: Way) -> None:
    events = stream(text_block(0, "so"), call_block(1, "a", "rm", '{"path": "/'), stop="max_tokens")
    with scripted(lambda exchange: exchange.stream(*events)) as server:
        response = way(server.url, CallbackRecorder())
    assert response.parts == (Text("so"),)  # type: ignore[attr-defined]


class Mine(Exception):
    """The caller's own trouble."""


@WAYS
@pytest.mark.parametrize("name", ["on_chunk", "on_thinking", "on_function_call", "on_usage_update"])
@pytest.mark.parametrize("error", [Mine("mine"), TransportError("mine too"), OSError("disk full"), KeyboardInterrupt()])
def test_what_a_callback_raises_passes_through_unchanged_and_hangs_up(
    way: Way, name: str, error: BaseException
) -> None:
    def fail(_: object) -> None:
        raise error

    class Failing(CallbackRecorder):
        @property
        def callbacks(self) -> dict[str, Callable[..., None]]:
            return {**super().callbacks, name: fail}

    def hold(exchange: Exchange) -> None:
        exchange.stream_head()
        exchange.chunk(b"".join(RICH[:-1]))
        assert exchange.wait_for_hangup()

    with scripted(hold) as server:
        with pytest.raises(type(error)) as raised:
            way(server.url, Failing())
        assert raised.value is error
        assert server.hung_up.wait(LIMIT)


@pytest.mark.usefixtures("patient")
def test_a_connection_is_used_again_after_a_whole_stream_and_after_a_batch_answer() -> None:
    scripts = [
        lambda exchange: exchange.stream(*RICH),
        lambda exchange: exchange.answer(answer(text("hi"))),
        lambda exchange: exchange.stream(*RICH),
    ]
    with scripted(*scripts) as server:
        provider = stateless(server.url)
        provider.complete(HI, **CallbackRecorder().callbacks)
        provider.complete(HI)
        provider.complete(HI, **CallbackRecorder().callbacks)
        assert (len(server.requests), server.connections) == (3, 1)


def test_a_complete_answer_is_not_held_up_by_a_service_that_does_not_end_the_body() -> None:
    def linger(exchange: Exchange) -> None:
        exchange.stream_head()
        exchange.chunk(b"".join(RICH))
        assert exchange.wait_for_hangup()

    with scripted(linger, lambda exchange: exchange.stream(*RICH)) as server:
        provider = stateless(server.url)
        assert provider.complete(HI, **CallbackRecorder().callbacks).raw_finish == "tool_use"
        assert server.hung_up.wait(LIMIT)
        assert provider.complete(HI, **CallbackRecorder().callbacks).raw_finish == "tool_use"


def test_a_service_that_goes_on_and_on_after_its_end_marker_is_hung_up_on() -> None:
    def chatter(exchange: Exchange) -> None:
        exchange.stream_head()
        exchange.chunk(b"".join(RICH))
        while True:
            exchange.chunk(event("ping"))

    with scripted(chatter) as server:
        assert stateless(server.url).complete(HI, **CallbackRecorder().callbacks).raw_finish == "tool_use"
        assert server.hung_up.wait(LIMIT)


@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
def test_silence_beyond_the_limit_is_a_transport_error(streamed: bool) -> None:
    def silent(exchange: Exchange) -> None:
        if streamed:
            exchange.stream_head()
            exchange.chunk(RICH[0])
        exchange.wait_for_hangup()

    with scripted(silent) as server:
        provider = stateless(server.url, timeout=0.2)
        with pytest.raises(TransportError, match="silent"):
            provider.complete(HI, **(CallbackRecorder().callbacks if streamed else {}))
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
