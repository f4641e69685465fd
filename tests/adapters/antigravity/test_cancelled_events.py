"""What one event of a cancelled stream holds is used up to the cancel, and no further."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from turnproof.cancel import CancelToken
from turnproof.messages import FinishReason, Message, ProviderResponse

from ..background_call import BackgroundCall, write_and_hold
from ..callback_recorder import CallbackRecorder
from ..scripted_server import LIMIT, scripted
from .kit import PATHS, call, envelope, event, legacy, stateless, stream, text, thought

HI = [Message.user("hi")]


def make_call(
    path: str, url: str, recorder: CallbackRecorder, **options: Any
) -> Callable[[CancelToken], ProviderResponse]:
    callbacks: dict[str, Any] = dict(recorder.callbacks)
    if path == "stateless":
        new = stateless(url, **options)
        return lambda token: new.complete(HI, cancel_token=token, **callbacks)
    old = legacy(url, **options)
    on_chunk = callbacks.pop("on_chunk")
    return lambda token: old.send_message_streaming("hi", on_chunk, cancel_token=token, **callbacks)


@PATHS
def test_a_cancel_asks_no_other_host(path: str) -> None:
    script, stall = write_and_hold()
    with scripted(script) as server, scripted(lambda exchange: exchange.answer(envelope(text("no")))) as other:
        running = BackgroundCall(make_call(path, server.url, CallbackRecorder(), fallback_urls=[other.url]))
        assert stall.wait(LIMIT)
        running.token.cancel()
        assert running.result() == ProviderResponse(finish_reason=FinishReason.CANCELLED)
        assert not other.requests


@PATHS
@pytest.mark.parametrize("kind", ["text", "thinking", "call"])
def test_a_callback_may_cancel_and_hears_nothing_more(kind: str, path: str) -> None:
    pieces = {"text": text("so "), "thinking": thought("hm"), "call": call("f", {}, "a")}
    later_pieces = [text("far"), thought("more"), call("g", {}, "b")]
    events = [event(envelope(pieces[kind], *later_pieces, finish=None)), *stream(text("end"))]
    token, kinds = CancelToken(), []

    def hear(what: str) -> Callable[[Any], None]:
        def recorder(_: Any) -> None:
            kinds.append(what)
            token.cancel()

        return recorder

    callbacks: dict[str, Any] = {"on_thinking": hear("thinking"), "on_function_call": hear("call")}
    with scripted(lambda exchange: exchange.stream(*events)) as server:
        if path == "stateless":
            response = stateless(server.url).complete(HI, cancel_token=token, on_chunk=hear("text"), **callbacks)
        else:
            response = legacy(server.url).send_message_streaming("hi", hear("text"), cancel_token=token, **callbacks)
    assert kinds == [kind]
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
        ask = make_call(path, server.url, Broken())
        with pytest.raises(LookupError, match="mine"):
            ask(CancelToken())
