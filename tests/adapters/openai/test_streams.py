"""Streams over a real socket: chunk borders anywhere, what must be ignored, what must not, and how they may end."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from turnproof.errors import OverloadedError, ProviderError, RateLimitError, TransportError
from turnproof.messages import FunctionCall, Message, Text, Thought

from ..callback_recorder import CallbackRecorder
from ..scripted_server import LIMIT, Exchange, scripted
from .kit import DONE, answer, chunk, event, legacy, opening, outcome, pieces, stateless, stream, texts

HI = [Message.user("hi")]
RICH = stream(
    [chunk({"reasoning_content": "hm "}), chunk({"reasoning_content": "’"})],
    texts("it’s 北🌍\n", "done"),
    pieces(0, "a", "read", '{"p": "’', '北"}'),
    finish="tool_calls",
)
HEAD = RICH[:5]
"""Up to the end of the text."""

Way = Callable[[str, CallbackRecorder], Any]


def by_complete(url: str, recorder: CallbackRecorder) -> Any:
    return stateless(url).complete(HI, **recorder.callbacks)


def by_legacy(url: str, recorder: CallbackRecorder) -> Any:
    callbacks = dict(recorder.callbacks)
    return legacy(url).send_message_streaming("hi", callbacks.pop("on_chunk"), **callbacks)


WAYS = pytest.mark.parametrize("way", [by_complete, by_legacy], ids=["stateless", "legacy"])


def cut(data: bytes, sizes: Iterator[int]) -> Iterator[bytes]:
    while data:
        size = next(sizes)
        yield data[:size]
        data = data[size:]


@WAYS
@pytest.mark.parametrize("sizes", [(1,), (2, 3), (7, 1, 64), (4096,)], ids=str)
def test_chunk_borders_change_nothing(way: Way, sizes: tuple[int, ...]) -> None:
    data = b"".join(RICH)
    with scripted(lambda exchange: exchange.stream(*cut(data, itertools.cycle(sizes)))) as server:
        recorder = CallbackRecorder()
        thought, words, call = way(server.url, recorder).parts
    assert isinstance(thought, Thought)
    assert isinstance(call, FunctionCall)
    assert (thought.text, words.text, call.args) == ("hm ’", "it’s 北🌍\ndone", {"p": "’北"})
    assert recorder.text == words.text
    assert recorder.calls == [call]


@WAYS
@pytest.mark.parametrize(
    "spelled",
    [
        lambda each: each.replace(b"data: ", b"data:"),
        lambda each: each.replace(b"\n", b"\r\n"),
        lambda each: b": keep-alive\n\n" + each,
        lambda each: b"retry: 3000\n\n" + each,
        lambda each: b"event: message\nid: 7\n" + each,
        lambda each: each + event({"choices": [], "something": "new"}) if each != DONE else each,
    ],
    ids=["unspaced", "crlf", "comments", "retry-times", "named", "unknown-chunks"],
)
def test_other_spellings_and_noise_change_nothing(way: Way, spelled: Callable[[bytes], bytes]) -> None:
    with scripted(lambda exchange: exchange.stream(*map(spelled, RICH))) as server:
        noisy = way(server.url, CallbackRecorder())
    with scripted(lambda exchange: exchange.stream(*RICH)) as server:
        assert outcome(noisy) == outcome(way(server.url, CallbackRecorder()))


@WAYS
def test_a_stream_without_its_last_line_is_whole_once_it_said_how_it_ended(way: Way) -> None:
    """The official client swallows `[DONE]`, so some servers never learned to send it."""
    with scripted(lambda exchange: exchange.stream(*RICH[:-1])) as server:
        response = way(server.url, CallbackRecorder())
    assert response.raw_finish == "tool_calls"
    assert response.usage.prompt_tokens == 120


def cut_chunk(exchange: Exchange) -> None:
    exchange.stream_head()
    exchange.chunk(b"".join(HEAD))
    exchange.write(b'400\r\ndata: {"choi')
    exchange.connection.close()


def reset(exchange: Exchange) -> None:
    exchange.stream_head()
    exchange.chunk(b"".join(HEAD))
    exchange.reset()


def ended_early(exchange: Exchange) -> None:
    exchange.stream(*HEAD)


def done_without_a_finish(exchange: Exchange) -> None:
    exchange.stream(*HEAD, DONE)


def broken_frame(exchange: Exchange) -> None:
    exchange.stream(*HEAD, b'data: {"choices": [{"del\n\n', *RICH[len(HEAD) :])


def not_utf8(exchange: Exchange) -> None:
    exchange.stream(*HEAD, b'data: {"id": "\xff\xfe"}\n\n', *RICH[len(HEAD) :])


def another_form(exchange: Exchange) -> None:
    exchange.stream(*HEAD, b"data: 7\n\n", *RICH[len(HEAD) :])


@WAYS
@pytest.mark.parametrize(
    "script",
    [cut_chunk, reset, ended_early, done_without_a_finish, broken_frame, not_utf8, another_form],
    ids=lambda script: script.__name__,
)
def test_a_stream_that_does_not_end_whole_is_a_transport_error_with_what_had_arrived(
    way: Way, script: Callable[[Exchange], None]
) -> None:
    with scripted(script) as server, pytest.raises(TransportError) as failure:
        way(server.url, CallbackRecorder())
    assert failure.value.retryable
    assert failure.value.partial == (Text("it’s 北🌍\ndone"),)


@WAYS
def test_a_connection_that_breaks_behind_the_finish_loses_the_figures_and_with_them_the_answer(way: Way) -> None:
    def broken(exchange: Exchange) -> None:
        exchange.stream_head()
        exchange.chunk(b"".join(RICH[:-2]))
        exchange.reset()

    with scripted(broken) as server, pytest.raises(TransportError):
        way(server.url, CallbackRecorder())


@WAYS
@pytest.mark.parametrize(
    ("error", "expected", "kind"),
    [
        ({"message": "Sorry", "type": "server_error", "code": None}, OverloadedError, "server_error"),
        ({"message": "Sorry", "type": "tokens", "code": "rate_limit_exceeded"}, RateLimitError, "rate_limit_exceeded"),
        ("Sorry", OverloadedError, None),
    ],
    ids=["typed", "coded", "a-string"],
)
def test_an_error_under_status_200_is_the_error_that_it_names(
    way: Way, error: Any, expected: type[ProviderError], kind: str | None
) -> None:
    recorder = CallbackRecorder()
    events = [opening(), *texts("so far"), event({"error": error})]
    with scripted(lambda exchange: exchange.stream(*events)) as server, pytest.raises(expected) as failure:
        way(server.url, recorder)
    assert (failure.value.kind, failure.value.message, failure.value.status) == (kind, "Sorry", 200)
    assert failure.value.partial == (Text("so far"),)
    assert recorder.text == "so far"


@WAYS
def test_malformed_arguments_in_a_call_that_was_not_cut_are_an_error_and_never_run(way: Way) -> None:
    recorder = CallbackRecorder()
    events = stream(pieces(0, "a", "rm", '{"path": "/'), finish="tool_calls")
    with (
        scripted(lambda exchange: exchange.stream(*events)) as server,
        pytest.raises(TransportError, match="malformed arguments for a call of 'rm'"),
    ):
        way(server.url, recorder)
    assert recorder.calls == []


@WAYS
def test_a_call_that_the_limit_cut_is_dropped(way: Way) -> None:
    events = stream(texts("so"), pieces(0, "a", "rm", '{"path": "/'), finish="length")
    with scripted(lambda exchange: exchange.stream(*events)) as server:
        assert way(server.url, CallbackRecorder()).parts == (Text("so"),)


class Mine(Exception):
    """The caller's own trouble."""


@WAYS
@pytest.mark.parametrize("name", ["on_chunk", "on_thinking", "on_usage_update"])
@pytest.mark.parametrize("error", [Mine("mine"), TransportError("mine too"), KeyboardInterrupt()])
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
        lambda exchange: exchange.answer(answer("hi")),
        lambda exchange: exchange.stream(*RICH),
    ]
    with scripted(*scripts) as server:
        provider = stateless(server.url)
        provider.complete(HI, **CallbackRecorder().callbacks)
        provider.complete(HI)
        provider.complete(HI, **CallbackRecorder().callbacks)
        assert (len(server.requests), server.connections) == (3, 1)


@WAYS
def test_a_complete_answer_is_not_held_up_by_a_service_that_does_not_end_the_body(way: Way) -> None:
    def linger(exchange: Exchange) -> None:
        exchange.stream_head()
        exchange.chunk(b"".join(RICH))
        assert exchange.wait_for_hangup()

    with scripted(linger) as server:
        assert way(server.url, CallbackRecorder()).raw_finish == "tool_calls"
        assert server.hung_up.wait(LIMIT)


@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
def test_silence_beyond_the_limit_is_a_transport_error(streamed: bool) -> None:
    def silent(exchange: Exchange) -> None:
        if streamed:
            exchange.stream_head()
            exchange.chunk(RICH[0])
        exchange.wait_for_hangup()

    with scripted(silent) as server:
        with pytest.raises(TransportError, match="silent"):
            stateless(server.url, timeout=0.1).complete(HI, **(CallbackRecorder().callbacks if streamed else {}))
        provider = legacy(server.url, timeout=0.1)
        with pytest.raises(TransportError, match="silent"):
            provider.send_message_streaming("hi", print) if streamed else provider.send_message("hi")
