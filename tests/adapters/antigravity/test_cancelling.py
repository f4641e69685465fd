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
from turnproof.messages import FinishReason, Message, Part, ProviderResponse, Text, Thought

from ..background_call import BackgroundCall, full_listener, wait_until, write_and_hold
from ..callback_recorder import CallbackRecorder
from ..scripted_server import LIMIT, Exchange, scripted
from .kit import CLAUDE, PATHS, SIGNATURE, call, envelope, event, legacy, stateless, stream, text, thought

HI = [Message.user("hi")]

MOMENTS: dict[str, tuple[list[bytes], list[type[Part]], str]] = {
    "before-anything": ([], [], ""),
    "in-thinking": (stream(thought("hm"), text("."))[:1], [], ""),
    "after-thinking": (stream(thought("hm"), thought("", SIGNATURE), text("."))[:2], [Thought], ""),
    "in-text": (stream(thought("hm", SIGNATURE), text("so far"), text("."))[:2], [Thought, Text], "so far"),
    "after-a-call": (stream(text("so far"), call("rm", {}, "toolu_vrtx_01A"), text("."))[:2], [Text], "so far"),
    "in-an-event": ([stream(text("so far"), text("."))[0], b'data: {"resp'], [Text], "so far"),
}


def asked(path: str, url: str, recorder: CallbackRecorder, **options: Any) -> Callable[[CancelToken], ProviderResponse]:
    callbacks: dict[str, Any] = dict(recorder.callbacks)
    if path == "stateless":
        new = stateless(url, **options)
        return lambda token: new.complete(HI, cancel_token=token, **callbacks)
    old = legacy(url, **options)
    on_chunk = callbacks.pop("on_chunk")
    return lambda token: old.send_message_streaming("hi", on_chunk, cancel_token=token, **callbacks)


@PATHS
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_silent_stream_is_cut_and_gives_what_had_arrived(moment: str, path: str) -> None:
    pieces, kinds, words = MOMENTS[moment]
    script, held = write_and_hold(*pieces)
    recorder = CallbackRecorder()
    with scripted(script) as server:
        running = BackgroundCall(asked(path, server.url, recorder, model=CLAUDE))
        assert held.wait(LIMIT)
        # Everything written came in one chunk: back in a read, the call has taken all of it.
        running.wait_until_reading(lambda: recorder.events or not pieces)
        running.token.cancel()
        response = running.result()
        assert server.hung_up.wait(LIMIT), "the server did not see the cut"
    assert isinstance(response, ProviderResponse), response
    assert response.finish_reason is FinishReason.CANCELLED
    assert [type(part) for part in response.parts] == kinds
    assert response.text == words


@PATHS
@pytest.mark.parametrize("written", [b"", b"HTTP/1.1 200 OK\r\n", b'HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"re'])
def test_a_batch_call_is_cut_too(written: bytes, path: str) -> None:
    held = threading.Event()

    def script(exchange: Exchange) -> None:
        exchange.write(written)
        held.set()
        exchange.wait_for_hangup()

    with scripted(script) as server:

        def call(token: CancelToken) -> ProviderResponse:
            if path == "stateless":
                return stateless(server.url).complete(HI, cancel_token=token)
            return legacy(server.url).send_message("hi", cancel_token=token)

        running = BackgroundCall(call)
        assert held.wait(LIMIT)
        running.token.cancel()
        assert running.result() == ProviderResponse(finish_reason=FinishReason.CANCELLED)
        assert server.hung_up.wait(LIMIT)


@PATHS
def test_a_cancel_asks_no_other_host(path: str) -> None:
    script, held = write_and_hold()
    with scripted(script) as server, scripted(lambda exchange: exchange.answer(envelope(text("no")))) as other:
        running = BackgroundCall(asked(path, server.url, CallbackRecorder(), fallback_urls=[other.url]))
        assert held.wait(LIMIT)
        running.token.cancel()
        assert running.result() == ProviderResponse(finish_reason=FinishReason.CANCELLED)
        assert not other.requests


@PATHS
def test_a_connection_that_does_not_come_about_is_given_up_before_anything_is_sent(path: str) -> None:
    with full_listener() as url:
        running = BackgroundCall(asked(path, url, CallbackRecorder()))
        wait_until(lambda: "connect_tcp" in running.frames)
        running.token.cancel()
        assert isinstance(running.result(), Cancelled)


@PATHS
@pytest.mark.parametrize("kind", ["text", "thinking", "call"])
def test_a_callback_may_cancel_and_hears_nothing_more(kind: str, path: str) -> None:
    pieces = {"text": text("so "), "thinking": thought("hm"), "call": call("f", {}, "a")}
    behind = [text("far"), thought("more"), call("g", {}, "b")]
    events = [event(envelope(pieces[kind], *behind, finish=None)), *stream(text("end"))]
    token, told = CancelToken(), []

    def hear(what: str) -> Callable[[Any], None]:
        def recorder(_: Any) -> None:
            told.append(what)
            token.cancel()

        return recorder

    callbacks: dict[str, Any] = {"on_thinking": hear("thinking"), "on_function_call": hear("call")}
    with scripted(lambda exchange: exchange.stream(*events)) as server:
        if path == "stateless":
            response = stateless(server.url).complete(HI, cancel_token=token, on_chunk=hear("text"), **callbacks)
        else:
            response = legacy(server.url).send_message_streaming("hi", hear("text"), cancel_token=token, **callbacks)
    assert told == [kind]
    assert response.finish_reason is FinishReason.CANCELLED
    assert response.calls == ()


@PATHS
def test_what_a_callback_raises_is_the_callers(path: str) -> None:
    def broken(piece: str) -> None:
        raise LookupError("mine")

    class Broken(CallbackRecorder):
        @property
        def callbacks(self) -> dict[str, Any]:
            return {"on_chunk": broken}

    with scripted(lambda exchange: exchange.stream(*stream(text("a"), text("b")))) as server:
        ask = asked(path, server.url, Broken())
        with pytest.raises(LookupError, match="mine"):
            ask(CancelToken())


@PATHS
def test_a_cut_call_leaves_the_client_usable(path: str) -> None:
    script, held = write_and_hold(*stream(text("so "), text("far"))[:1])
    with scripted(script, lambda exchange: exchange.stream(*stream(text("again")))) as server:
        recorder = CallbackRecorder()
        ask = asked(path, server.url, recorder)
        running = BackgroundCall(ask)
        assert held.wait(LIMIT)
        running.wait_until_reading(lambda: recorder.events)
        running.token.cancel()
        running.result()
        assert ask(CancelToken()).text == "again"
