"""Cancelling at every moment of a call. Recorded replies cannot show this: the cut is on our side of the socket.

The server holds still at the moment in question; the test cancels, and both sides must notice. Nothing is timed: what
must happen has a generous limit, and a service that stays silent would keep a call that was not cut for ten minutes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import httpcore2
import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled
from turnproof.messages import FinishReason, Message, ProviderResponse, Text, Thought, TokenUsage

from ..background_call import BackgroundCall, full_listener, wait_until, write_and_hold
from ..callback_recorder import CallbackRecorder
from ..scripted_server import LIMIT, Exchange, scripted
from .adapter_kit import AdapterKit, Subject
from .subjects import SUBJECTS, batch_and_stream, each_case, each_kit, each_subject
from .wire_parts import call, text, thinking

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
CANCELLED = ProviderResponse(finish_reason=FinishReason.CANCELLED)


@each_case((subject, moment) for subject in SUBJECTS for moment in subject.kit.cancel_moments())
def test_a_silent_stream_is_cut_and_gives_what_had_arrived(subject: Subject, case: str) -> None:
    moment = subject.kit.cancel_moments()[case]
    script, stall = write_and_hold(*moment.events)
    recorder = CallbackRecorder()

    def has_arrived() -> bool:
        thought = Thought not in moment.parts or "thinking" in recorder.kinds
        return thought and recorder.text == moment.text and bool(recorder.usage) is moment.has_usage

    with scripted(script) as server:
        opened = subject.open(server.url, **moment.options)
        running = BackgroundCall(lambda token: opened.stream(recorder, token=token))
        assert stall.wait(LIMIT)
        # Everything written came in one chunk: back in a read, the call has taken all of it.
        running.wait_until_reading(after=has_arrived)
        running.token.cancel()
        response = running.result()
        assert server.hung_up.wait(LIMIT), "the server did not see the cut"
    assert isinstance(response, ProviderResponse), response
    assert response.finish_reason is FinishReason.CANCELLED
    assert tuple(type(part) for part in response.parts) == moment.parts
    assert response.text == moment.text
    assert recorder.calls == [] or subject.kit.calls_arrive_whole
    assert response.usage == (recorder.usage[-1] if recorder.usage else TokenUsage())
    if moment.text:
        assert response.model == subject.kit.reported_model


HALF_A_BODY = b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"id"'


@each_subject
@pytest.mark.parametrize(
    ("streamed", "written"),
    [(False, b""), (False, b"HTTP/1.1 200 OK\r\n"), (False, HALF_A_BODY), (True, HALF_A_BODY)],
    ids=["nothing", "half-a-head", "half-a-body", "half-a-body-in-place-of-a-stream"],
)
def test_a_batch_answer_is_cut_too(subject: Subject, streamed: bool, written: bytes) -> None:
    """Also to a streamed call: a service that does not stream is read whole, and can be cancelled meanwhile."""
    stall = threading.Event()

    def script(exchange: Exchange) -> None:
        exchange.write(written)
        stall.set()
        exchange.wait_for_hangup()

    with scripted(script) as server:
        opened = subject.open(server.url)
        running = BackgroundCall(lambda token: opened.ask(streamed, token))
        assert stall.wait(LIMIT)
        running.wait_until_reading()
        running.token.cancel()
        assert running.result() == CANCELLED
        assert server.hung_up.wait(LIMIT)


@each_subject
@batch_and_stream
def test_a_call_that_is_still_connecting_is_cut_and_counts_as_never_sent(subject: Subject, streamed: bool) -> None:
    with full_listener() as url:
        opened = subject.open(url)
        running = BackgroundCall(lambda token: opened.ask(streamed, token))
        wait_until(lambda: running.frames[:1] == ["_connect"])
        running.token.cancel()
        assert isinstance(running.result(), Cancelled)


@each_subject
@batch_and_stream
def test_a_token_that_is_set_already_sends_nothing(subject: Subject, streamed: bool) -> None:
    token = CancelToken()
    token.cancel()
    with scripted(lambda exchange: exchange.answer(subject.kit.answer(text("hi")))) as server:
        opened = subject.open(server.url)
        with pytest.raises(Cancelled):
            opened.ask(streamed, token)
        if subject.path == "legacy":
            assert opened.provider.get_history() == []
        assert server.connections == 0


@each_case((subject, name) for subject in SUBJECTS for name in subject.kit.callbacks)
def test_no_callback_follows_one_that_cancelled(subject: Subject, case: str) -> None:
    """Everything may have arrived by then: what the callbacks did not get, the response does not hold either."""
    token, recorder = CancelToken(), CallbackRecorder()
    parts: list[Any] = [text("a", "b"), call("1")]
    if subject.kit.calls_arrive_whole:  # else the last event of the stream brings all calls at once
        parts.append(call("2"))
    if "on_thinking" in subject.kit.callbacks:
        parts.insert(0, thinking("hm", "hm"))
    events = subject.kit.stream(*parts, ending="calls")
    record = recorder.callbacks[case]

    def cancel(value: Any) -> None:
        record(value)
        recorder.events.append(("cancelled", None))
        token.cancel()

    with scripted(lambda exchange: exchange.stream(*events)) as server:
        response = subject.open(server.url).stream({**recorder.callbacks, case: cancel}, token=token)
    assert response.finish_reason is FinishReason.CANCELLED
    assert recorder.kinds[-1] == "cancelled"
    assert recorder.kinds.count("cancelled") == 1
    assert response.text == recorder.text
    assert not response.calls


@each_subject
def test_a_whole_batch_answer_that_arrives_after_the_cancel_keeps_its_text_and_no_call(subject: Subject) -> None:
    token = CancelToken()
    body = subject.kit.answer(text("done"), call("a"), ending="calls")

    def late(exchange: Exchange) -> None:
        token._event.set()  # set without a notice to anybody: the answer wins the race against the cut
        exchange.answer(body)

    with scripted(late, lambda exchange: exchange.answer(body)) as server:
        response = subject.open(server.url).batch(token=token)
        usage = subject.open(server.url).batch().usage
    assert response.parts == (Text("done"),)
    assert response.finish_reason is FinishReason.CANCELLED
    assert response.usage == usage


@each_kit
def test_a_batch_answer_that_arrives_after_the_cancel_calls_no_callback(kit: AdapterKit) -> None:
    token, recorder = CancelToken(), CallbackRecorder()

    def late(exchange: Exchange) -> None:
        token._event.set()
        exchange.answer(kit.answer(text("done"), call("a"), ending="calls"))

    callbacks = {name: callback for name, callback in recorder.callbacks.items() if name != "on_chunk"}
    with scripted(late) as server:
        kit.open("stateless", server.url).complete([Message.user("hi")], cancel_token=token, **callbacks)
    assert recorder.events == []


@pytest.fixture
def pools(monkeypatch: pytest.MonkeyPatch) -> list[httpcore2.ConnectionPool]:
    """Every connection pool that is made from now on."""
    connection_pools: list[httpcore2.ConnectionPool] = []
    original = httpcore2.ConnectionPool.__init__

    def record(self: httpcore2.ConnectionPool, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        connection_pools.append(self)

    monkeypatch.setattr(httpcore2.ConnectionPool, "__init__", record)
    return connection_pools


@each_subject
def test_fifty_cut_calls_leave_no_connection_behind_and_the_client_usable(
    subject: Subject, pools: list[httpcore2.ConnectionPool]
) -> None:
    stalls, hangups = threading.Semaphore(0), threading.Semaphore(0)

    def script(exchange: Exchange) -> None:
        if exchange.ordinal == 50:
            return exchange.answer(subject.kit.answer(text("hi")))
        exchange.stream_head()
        exchange.chunk(subject.kit.stream(text("so ", "far"))[0])
        stalls.release()
        assert exchange.wait_for_hangup()
        hangups.release()
        return None

    with scripted(script) as server:
        opened = subject.open(server.url)
        for _ in range(50):
            running = BackgroundCall(lambda token: opened.stream(token=token))
            assert stalls.acquire(timeout=LIMIT)
            running.token.cancel()
            assert isinstance(running.result(), ProviderResponse)
            assert hangups.acquire(timeout=LIMIT)
        assert pools
        assert [connection for pool in pools for connection in pool.connections] == []
        assert opened.batch().text == "hi"


@each_subject
def test_a_late_cancel_does_not_reach_the_call_that_has_the_connection_now(subject: Subject) -> None:
    """The connection of a finished call goes back to the pool; cancelling its token later must not cut another call."""
    stall, go = threading.Event(), threading.Event()

    def second(exchange: Exchange) -> None:
        stall.set()
        assert go.wait(LIMIT)
        exchange.answer(subject.kit.answer(text("second")))

    registered: list[Callable[[], None]] = []

    class Watched(CancelToken):
        """A canceller that took its list of callbacks just before the call ended."""

        def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
            registered.append(callback)
            return super().on_cancel(callback)

    with scripted(lambda exchange: exchange.answer(subject.kit.answer(text("first"))), second) as server:
        opened = subject.open(server.url)
        assert opened.batch(token=Watched()).text == "first"
        running = BackgroundCall(lambda token: opened.batch(token=token))
        assert stall.wait(LIMIT)
        for callback in registered:
            callback()
        go.set()
        response = running.result()
        assert isinstance(response, ProviderResponse)
        assert response.text == "second"
        assert server.connections == 1


@each_kit
def test_cancelling_one_of_two_calls_leaves_the_other_alone(kit: AdapterKit) -> None:
    both = threading.Barrier(3)

    def script(exchange: Exchange) -> None:
        first, *rest = kit.stream(text("ke", "pt"))
        exchange.stream_head()
        exchange.chunk(first)
        both.wait(LIMIT)
        if b"keep" in exchange.body:
            for piece in rest:
                exchange.chunk(piece)
            exchange.end()
        else:
            exchange.wait_for_hangup()

    with scripted(script) as server:
        opened = Subject(kit, "stateless").open(server.url)

        def stream(word: str, token: CancelToken) -> ProviderResponse:
            return opened.stream(message=Message.user(word), token=token)

        uncut, dropped = (BackgroundCall(partial(stream, word)) for word in ("keep", "drop"))
        both.wait(LIMIT)
        dropped.token.cancel()
        response, cancelled = uncut.result(), dropped.result()
    assert isinstance(response, ProviderResponse)
    assert response.text == "kept"
    assert isinstance(cancelled, ProviderResponse)
    assert cancelled.finish_reason is FinishReason.CANCELLED


@each_subject
def test_an_error_that_the_cut_causes_is_not_reported(subject: Subject) -> None:
    """A cut shows as a reset, an early end or a broken frame, as it happens: for the caller it is a cancelled call."""
    first, second, *_ = subject.kit.stream(text("so ", "far"))
    script, stall = write_and_hold(first, second[: len(second) // 2])
    with scripted(script) as server:
        opened = subject.open(server.url)
        running = BackgroundCall(lambda token: opened.stream(token=token))
        assert stall.wait(LIMIT)
        running.token.cancel()
        assert isinstance(running.result(), ProviderResponse)
