"""Cancelling at every moment of a call. Recorded replies cannot show this: the cut is on our side of the socket.

The server holds still at the moment in question; the test cancels, and both sides must notice. Nothing is timed: what
must happen has a generous limit, and a service that stays silent would keep a call that was not cut for ten minutes.
"""

from __future__ import annotations

import threading

import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled
from turnproof.messages import FinishReason, Message, Part, ProviderResponse, Text, Thought

from ..background_call import BackgroundCall, full_listener, wait_until, write_and_hold
from ..callback_recorder import CallbackRecorder
from ..scripted_server import LIMIT, Exchange, scripted
from .kit import MODEL, SIGNATURE, answer, call, chunk, stateless, stream, text, thought

HI = [Message.user("hi")]

MOMENTS: dict[str, tuple[list[bytes], list[type[Part]], str]] = {
    "before-anything": ([], [], ""),
    "after-an-empty-chunk": ([chunk()], [], ""),
    "in-thinking": ([chunk(thought("hm"))], [], ""),
    "after-a-signed-thought": ([chunk(thought("hm", SIGNATURE))], [Thought], ""),
    "in-text": ([chunk(thought("hm")), chunk(text("so ")), chunk(text("far"))], [Text], "so far"),
    "after-a-signed-text": ([chunk(text("so ")), chunk(text("far", SIGNATURE))], [Text, Text], "so far"),
    "after-a-call": ([chunk(text("so far")), chunk(call("rm", {}, "a", SIGNATURE))], [Text], "so far"),
    "within-an-event": ([chunk(text("so far")), chunk(text("never"))[:40]], [Text], "so far"),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_silent_stream_is_cut_and_gives_what_had_arrived(moment: str) -> None:
    pieces, kinds, words = MOMENTS[moment]
    script, held = write_and_hold(*pieces)
    recorder = CallbackRecorder()
    with scripted(script) as server:
        provider = stateless(server.url)
        running = BackgroundCall(lambda token: provider.complete(HI, cancel_token=token, **recorder.callbacks))
        assert held.wait(LIMIT)
        # Everything written came in one chunk: back in a read, the call has taken all of it.
        running.wait_until_reading(lambda: recorder.usage or not pieces)
        running.token.cancel()
        response = running.result()
        assert server.hung_up.wait(LIMIT), "the server did not see the cut"
    assert isinstance(response, ProviderResponse), response
    assert response.finish_reason is FinishReason.CANCELLED
    assert [type(part) for part in response.parts] == kinds
    assert response.text == words
    if pieces:
        assert response.usage == recorder.usage[-1]


@pytest.mark.parametrize("written", [b"", b"HTTP/1.1 200 OK\r\n", b'HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"ca'])
def test_a_batch_call_is_cut_too(written: bytes) -> None:
    held = threading.Event()

    def script(exchange: Exchange) -> None:
        exchange.write(written)
        held.set()
        exchange.wait_for_hangup()

    with scripted(script) as server:
        provider = stateless(server.url)
        running = BackgroundCall(lambda token: provider.complete(HI, cancel_token=token))
        assert held.wait(LIMIT)
        running.wait_until_reading()
        running.token.cancel()
        assert running.result() == ProviderResponse(finish_reason=FinishReason.CANCELLED)
        assert server.hung_up.wait(LIMIT)


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
    token = CancelToken()
    token.cancel()
    with scripted(lambda exchange: exchange.answer(answer(text("hi")))) as server:
        with pytest.raises(Cancelled):
            stateless(server.url).complete(HI, cancel_token=token, **(CallbackRecorder().callbacks if streamed else {}))
        assert server.connections == 0


@pytest.mark.parametrize("name", ["on_chunk", "on_thinking", "on_function_call", "on_usage_update"])
def test_nothing_of_a_later_chunk_is_said_after_a_callback_has_cancelled(name: str) -> None:
    """Everything may have arrived by then: what the caller did not hear, the response does not hold either."""
    token, recorder = CancelToken(), CallbackRecorder()
    events = stream(thought("hm"), text("a"), text("b"), call("rm", {}, "1"), call("rm", {}, "2"))

    def cancel(_: object) -> None:
        recorder.events.append(("cancelled", None))
        token.cancel()

    with scripted(lambda exchange: exchange.stream(*events)) as server:
        response = stateless(server.url).complete(HI, cancel_token=token, **{**recorder.callbacks, name: cancel})
    assert response.finish_reason is FinishReason.CANCELLED
    assert recorder.kinds[-1] == "cancelled"
    assert recorder.kinds.count("cancelled") == 1
    assert not response.calls


def test_nothing_more_of_a_chunk_is_said_after_a_callback_has_cancelled() -> None:
    token, recorder = CancelToken(), CallbackRecorder()

    def cancel(piece: str) -> None:
        recorder.events.append(("text", piece))
        token.cancel()

    events = [chunk(text("a"), text("b"), call("rm", {}, "1"), finish="STOP")]
    with scripted(lambda exchange: exchange.stream(*events)) as server:
        response = stateless(server.url).complete(HI, cancel_token=token, **{**recorder.callbacks, "on_chunk": cancel})
    assert recorder.events == [("text", "a")]
    assert response.parts == (Text("a"),)
    assert response.model == MODEL


def test_a_complete_batch_answer_to_a_cancelled_turn_keeps_its_text_and_no_call() -> None:
    token = CancelToken()

    def script(exchange: Exchange) -> None:
        token._event.set()  # set without telling anybody: the answer wins the race against the cut
        exchange.answer(answer(text("done"), call("rm", {}, "a")))

    with scripted(script) as server:
        recorder = CallbackRecorder()
        callbacks = {key: each for key, each in recorder.callbacks.items() if key != "on_chunk"}
        response = stateless(server.url).complete(HI, cancel_token=token, **callbacks)
    assert response.parts == (Text("done"),)
    assert response.finish_reason is FinishReason.CANCELLED
    assert response.usage.output_tokens == 29
    assert recorder.events == []


def test_an_answer_to_a_cancelled_turn_that_cannot_be_read_is_a_cancelled_turn() -> None:
    token = CancelToken()

    def script(exchange: Exchange) -> None:
        token._event.set()
        exchange.answer(answer(finish="MALFORMED_FUNCTION_CALL"))

    with scripted(script) as server:
        response = stateless(server.url).complete(HI, cancel_token=token)
    assert response == ProviderResponse(finish_reason=FinishReason.CANCELLED)


def test_fifty_cut_calls_leave_no_connection_behind_and_the_client_usable() -> None:
    held = threading.Semaphore(0)
    gone = threading.Semaphore(0)

    def script(exchange: Exchange) -> None:
        if exchange.ordinal == 50:
            return exchange.answer(answer(text("hi")))
        exchange.stream_head()
        exchange.chunk(chunk(text("so far")))
        held.release()
        assert exchange.wait_for_hangup()
        gone.release()
        return None

    with scripted(script) as server:
        provider = stateless(server.url)
        for _ in range(50):
            running = BackgroundCall(
                lambda token: provider.complete(HI, cancel_token=token, **CallbackRecorder().callbacks)
            )
            assert held.acquire(timeout=LIMIT)
            running.token.cancel()
            assert isinstance(running.result(), ProviderResponse)
            assert gone.acquire(timeout=LIMIT)
        assert provider._http is not None
        assert provider._http._transport._pool.connections == []  # type: ignore[attr-defined]
        assert provider.complete(HI).text == "hi"


def test_cancelling_one_of_two_calls_leaves_the_other_alone() -> None:
    both = threading.Barrier(3)

    def script(exchange: Exchange) -> None:
        exchange.stream_head()
        exchange.chunk(chunk(text("ke")))
        both.wait(LIMIT)
        if b"keep" in exchange.body:
            exchange.chunk(chunk(text("pt"), finish="STOP"))
            exchange.end()
        else:
            exchange.wait_for_hangup()

    with scripted(script) as server:
        provider = stateless(server.url)

        def talk(word: str) -> BackgroundCall:
            return BackgroundCall(
                lambda token: provider.complete(
                    [Message.user(word)], cancel_token=token, **CallbackRecorder().callbacks
                )
            )

        kept, dropped = talk("keep"), talk("drop")
        both.wait(LIMIT)
        dropped.token.cancel()
        response, cancelled = kept.result(), dropped.result()
    assert isinstance(response, ProviderResponse)
    assert response.text == "kept"
    assert isinstance(cancelled, ProviderResponse)
    assert cancelled.finish_reason is FinishReason.CANCELLED
