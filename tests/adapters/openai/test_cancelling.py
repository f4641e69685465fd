"""Cancelling at every moment of a call. Recorded replies cannot show this: the cut is on our side of the socket.

The server holds still at the moment in question; the test cancels, and both sides must notice. Nothing is timed: what
must happen has a generous limit, and a service that stays silent would keep a call that was not cut for ten minutes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled
from turnproof.messages import FinishReason, FunctionCall, Message, ProviderResponse, Text, TokenUsage

from ..background_call import BackgroundCall, full_listener, wait_until, write_and_hold
from ..callback_recorder import CallbackRecorder
from ..scripted_server import LIMIT, Exchange, scripted
from .kit import DATED, URL, Capture, answer, chunk, legacy, opening, pieces, stateless, stream, texts, tool_call

HI = [Message.user("hi")]
TEXT = texts("so ", "far")
THINKING = chunk({"reasoning_content": "hm"})
MOMENTS: dict[str, tuple[list[bytes], str]] = {
    "before-anything": ([], ""),
    "after-the-head": ([opening()], ""),
    "in-thinking": ([opening(), THINKING], ""),
    "in-text": ([opening(), THINKING, *TEXT], "so far"),
    "in-arguments": ([opening(), *TEXT, *pieces(0, "a", "rm", '{"path": "/')], "so far"),
    "after-a-call": ([opening(), *TEXT, *pieces(0, "a", "rm", "{}")], "so far"),
    "after-the-finish": (stream(TEXT)[:-2], "so far"),
    "before-the-end-marker": (stream(TEXT)[:-1], "so far"),
}

Caller = Callable[[str, CallbackRecorder], Callable[[CancelToken], ProviderResponse]]


def by_complete(url: str, recorder: CallbackRecorder) -> Callable[[CancelToken], ProviderResponse]:
    provider = stateless(url)
    return lambda token: provider.complete(HI, cancel_token=token, **recorder.callbacks)


def by_legacy(url: str, recorder: CallbackRecorder) -> Callable[[CancelToken], ProviderResponse]:
    provider = legacy(url)
    callbacks: dict[str, Any] = dict(recorder.callbacks)
    on_chunk = callbacks.pop("on_chunk")
    return lambda token: provider.send_message_streaming("hi", on_chunk, cancel_token=token, **callbacks)


@pytest.mark.parametrize("caller", [by_complete, by_legacy], ids=["stateless", "legacy"])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_silent_stream_is_cut_and_gives_what_had_arrived(moment: str, caller: Caller) -> None:
    events, words = MOMENTS[moment]
    script, held = write_and_hold(*events)
    recorder = CallbackRecorder()
    with scripted(script) as server:
        running = BackgroundCall(caller(server.url, recorder))
        assert held.wait(LIMIT)
        # Everything written came in one chunk: back in a read, the call has taken all of it.
        running.wait_until_reading(lambda: recorder.text == words)
        running.token.cancel()
        response = running.result()
        assert server.hung_up.wait(LIMIT), "the server did not see the cut"
    assert isinstance(response, ProviderResponse), response
    assert response.finish_reason is FinishReason.CANCELLED
    assert response.parts == ((Text(words),) if words else ())
    assert recorder.calls == []
    if words:
        assert response.model == DATED
    assert response.usage == (recorder.usage[-1] if recorder.usage else TokenUsage())
    assert bool(recorder.usage) is (moment == "before-the-end-marker")


@pytest.mark.parametrize("written", [b"", b"HTTP/1.1 200 OK\r\n", b'HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"id'])
def test_a_batch_call_is_cut_too(written: bytes) -> None:
    held = threading.Event()

    def script(exchange: Exchange) -> None:
        exchange.write(written)
        held.set()
        exchange.wait_for_hangup()

    with scripted(script) as server:
        for call in (
            lambda token: stateless(server.url).complete(HI, cancel_token=token),
            lambda token: legacy(server.url).send_message("hi", cancel_token=token),
        ):
            held.clear()
            server.hung_up.clear()
            running = BackgroundCall(call)
            assert held.wait(LIMIT)
            running.token.cancel()
            assert running.result() == ProviderResponse(finish_reason=FinishReason.CANCELLED)
            assert server.hung_up.wait(LIMIT)


def test_an_answer_in_one_piece_to_a_streamed_question_is_cut_too() -> None:
    """A service that does not stream is read whole, while which the call can be ended like any other."""
    held = threading.Event()

    def script(exchange: Exchange) -> None:
        exchange.head(200, {"content-type": "application/json", "content-length": "99"})
        exchange.write(b'{"id"')
        held.set()
        exchange.wait_for_hangup()

    with scripted(script) as server:
        for caller in (by_complete, by_legacy):
            held.clear()
            running = BackgroundCall(caller(server.url, CallbackRecorder()))
            assert held.wait(LIMIT)
            running.token.cancel()
            assert running.result() == ProviderResponse(finish_reason=FinishReason.CANCELLED)


@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
def test_a_call_that_is_still_connecting_is_cut_and_counts_as_never_sent(streamed: bool) -> None:
    with full_listener() as url:
        provider = stateless(url)
        callbacks = CallbackRecorder().callbacks if streamed else {}
        running = BackgroundCall(lambda token: provider.complete(HI, cancel_token=token, **callbacks))
        wait_until(lambda: running.frames[:1] == ["_connect"])
        running.token.cancel()
        assert isinstance(running.result(), Cancelled)


@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
def test_a_token_that_is_set_already_sends_nothing(streamed: bool) -> None:
    token, capture = CancelToken(), Capture()
    token.cancel()
    provider, stateful = stateless(URL, transport=capture.transport), legacy(URL, transport=capture.transport)
    with pytest.raises(Cancelled):
        provider.complete(HI, cancel_token=token, **(CallbackRecorder().callbacks if streamed else {}))
    with pytest.raises(Cancelled):
        stateful.send_message_streaming("hi", print, cancel_token=token)
    assert stateful.get_history() == []
    assert not capture.requests


@pytest.mark.parametrize("name", ["on_chunk", "on_thinking", "on_function_call", "on_usage_update"])
def test_nothing_new_is_said_after_a_callback_has_cancelled(name: str) -> None:
    """Everything may have arrived by then: what the caller did not hear, the response does not hold either."""
    token, recorder = CancelToken(), CallbackRecorder()
    events = stream([THINKING], texts("a", "b"), pieces(0, "a", "rm", "{}"), finish="tool_calls")

    def told(say: Callable[..., None], cancels: bool) -> Callable[[Any], None]:
        def listen(what: Any) -> None:
            say(what)
            if cancels:
                token.cancel()

        return listen

    ears = {each: told(say, each == name) for each, say in recorder.callbacks.items()}
    response = stateless(URL, transport=Capture(events=events).transport).complete(HI, cancel_token=token, **ears)
    assert response.finish_reason is FinishReason.CANCELLED
    assert response.text == recorder.text == {"on_thinking": "", "on_chunk": "a"}.get(name, "ab")
    assert not any(isinstance(part, FunctionCall) for part in response.parts)


@pytest.mark.parametrize("opened", [stateless, legacy], ids=["stateless", "legacy"])
def test_a_whole_answer_that_comes_after_the_cancel_keeps_its_text_and_no_call(opened: Any) -> None:
    reply = answer("so far", tool_call("a", "rm", "{}"), reasoning_content="hm", finish="tool_calls")
    token = CancelToken()

    class Late(Capture):
        def _handle(self, request: Any) -> Any:
            token.cancel()
            return super()._handle(request)

    provider = opened(URL, transport=Late(reply).transport)
    if opened is stateless:
        response = provider.complete(HI, cancel_token=token)
    else:
        response = provider.send_message("hi", cancel_token=token)
    assert (response.parts, response.finish_reason) == ((Text("so far"),), FinishReason.CANCELLED)
    assert response.usage.prompt_tokens == 120
