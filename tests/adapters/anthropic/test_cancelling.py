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
from .kit import (
    DATED,
    answer,
    call_block,
    legacy,
    start,
    stateless,
    stream,
    text,
    text_block,
    thinking_block,
    tool_use,
)

HI = [Message.user("hi")]
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


SIGNED = thinking_block(0, "hm")
TEXT = text_block(1, "so ", "far", closed=False)
CALL = call_block(2, "a", "rm", '{"path": "/')

MOMENTS: dict[str, tuple[list[bytes], list[type[Part]], str]] = {
    "before-anything": ([], [], ""),
    "after-the-head": ([start()], [], ""),
    "in-thinking": ([start(), *thinking_block(0, "hm", signature=None, closed=False)], [], ""),
    "after-thinking": ([start(), *SIGNED], [Thought], ""),
    "in-text": ([start(), *SIGNED, *TEXT], [Thought, Text], "so far"),
    "in-arguments": ([start(), *SIGNED, *text_block(1, "so far"), *CALL[:-1]], [Thought, Text], "so far"),
    "after-a-call": (
        [start(), *text_block(0, "so far"), *call_block(1, "a", "rm", "{}")],
        [Text],
        "so far",
    ),
    "before-the-end-marker": (stream(text_block(0, "so far"))[:-1], [Text], "so far"),
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
    pieces, kinds, words = MOMENTS[moment]
    script, held = write_and_hold(*pieces)
    recorder = CallbackRecorder()
    with scripted(script) as server:
        running = BackgroundCall(caller(server.url, recorder))
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
        assert response.model == DATED


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
        provider, stateful = stateless(server.url), legacy(server.url)
        with pytest.raises(Cancelled):
            provider.complete(HI, cancel_token=token, **(CallbackRecorder().callbacks if streamed else {}))
        with pytest.raises(Cancelled):
            stateful.send_message_streaming("hi", print, cancel_token=token)
        assert stateful.get_history() == []
        assert server.connections == 0


@pytest.mark.parametrize("name", ["on_chunk", "on_thinking", "on_function_call", "on_usage_update"])
def test_nothing_is_said_after_a_callback_has_cancelled(name: str) -> None:
    """Everything may have arrived by then: what the caller did not hear, the response does not hold either."""
    token, recorder = CancelToken(), CallbackRecorder()
    events = stream(
        thinking_block(0, "hm", "hm"), text_block(1, "a", "b"), call_block(2, "a", "rm", "{}"), call_block(3, "b", "rm")
    )

    def cancel(_: object) -> None:
        recorder.events.append(("cancelled", None))
        token.cancel()

    with scripted(lambda exchange: exchange.stream(*events)) as server:
        response = stateless(server.url).complete(HI, cancel_token=token, **{**recorder.callbacks, name: cancel})
    assert response.finish_reason is FinishReason.CANCELLED
    assert recorder.kinds[-1] == "cancelled"
    assert recorder.kinds.count("cancelled") == 1
    assert not response.calls


def test_a_complete_batch_answer_to_a_cancelled_turn_keeps_its_text_and_no_call() -> None:
    token = CancelToken()

    def script(exchange: Exchange) -> None:
        reply = answer(text("done"), tool_use("a", "rm", {}), stop="tool_use")
        token._event.set()  # set without telling anybody: the answer wins the race against the cut
        exchange.answer(reply)

    with scripted(script) as server:
        recorder = CallbackRecorder()
        callbacks = {key: call for key, call in recorder.callbacks.items() if key != "on_chunk"}
        response = stateless(server.url).complete(HI, cancel_token=token, **callbacks)
    assert response.parts == (Text("done"),)
    assert response.finish_reason is FinishReason.CANCELLED
    assert response.usage.output_tokens == 7
    assert recorder.events == []


def test_fifty_cut_calls_leave_no_connection_behind_and_the_client_usable() -> None:
    held = threading.Semaphore(0)
    gone = threading.Semaphore(0)

    def script(exchange: Exchange) -> None:
        if exchange.ordinal == 50:
            return exchange.answer(answer(text("hi")))
        exchange.stream_head()
        exchange.chunk(start())
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
        pool = provider._opened()._client._transport._pool  # type: ignore[attr-defined]
        assert pool.connections == []
        assert provider.complete(HI).text == "hi"


def test_a_late_cancel_does_not_reach_the_call_that_has_the_connection_now() -> None:
    """The connection of a finished call goes back to the pool; cancelling its token later must not cut another call."""
    held, go = threading.Event(), threading.Event()

    def second(exchange: Exchange) -> None:
        held.set()
        assert go.wait(LIMIT)
        exchange.answer(answer(text("second")))

    fired: list[Callable[[], None]] = []

    class Watched(CancelToken):
        """A canceller that took its list of callbacks just before the call ended."""

        def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
            fired.append(callback)
            return super().on_cancel(callback)

    with scripted(lambda exchange: exchange.answer(answer(text("first"))), second) as server:
        provider = stateless(server.url)
        assert provider.complete(HI, cancel_token=Watched()).text == "first"
        running = BackgroundCall(lambda token: provider.complete(HI, cancel_token=token))
        assert held.wait(LIMIT)
        fired[0]()
        go.set()
        response = running.result()
        assert isinstance(response, ProviderResponse)
        assert response.text == "second"
        assert server.connections == 1


def test_cancelling_one_of_two_calls_leaves_the_other_alone() -> None:
    both = threading.Barrier(3)

    def script(exchange: Exchange) -> None:
        exchange.stream_head()
        exchange.chunk(start())
        both.wait(LIMIT)
        if b"keep" in exchange.body:
            for piece in stream(text_block(0, "kept"))[1:]:
                exchange.chunk(piece)
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
        dropped_token = dropped.token
        both.wait(LIMIT)
        dropped_token.cancel()
        response, cancelled = kept.result(), dropped.result()
    assert isinstance(response, ProviderResponse)
    assert response.text == "kept"
    assert isinstance(cancelled, ProviderResponse)
    assert cancelled.finish_reason is FinishReason.CANCELLED


def test_an_error_that_the_cut_causes_is_not_reported() -> None:
    """A cut shows as a reset, an early end or a broken frame, as it happens: for the caller it is a cancelled call."""
    script, held = write_and_hold(start(), b"event: content_block_delta\ndata: {")
    with scripted(script) as server:
        running = BackgroundCall(
            lambda token: stateless(server.url).complete(HI, cancel_token=token, **CallbackRecorder().callbacks)
        )
        assert held.wait(LIMIT)
        running.token.cancel()
        assert isinstance(running.result(), ProviderResponse)
