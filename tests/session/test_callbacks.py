"""Callbacks that raise: whichever it is and whenever it does, its error reaches the caller and does no other harm."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import OverloadedError, TransportError
from turnproof.messages import ProviderResponse, Thought, same_history
from turnproof.session import Session, SessionObserver

from .fakes import PATHS, Naps, Play, Step, Watching, call, open_session, reply, tool

both = pytest.mark.parametrize("path", PATHS)

CALLBACKS = ("on_chunk", "on_thinking", "on_function_call", "on_usage_update")
FULL = reply(Thought("hm"), "let me ", call())


class CallbackError(Exception):
    """What the caller's callback raises."""


def in_step(session: Session, provider: Any) -> bool:
    return session.path == "stateless" or same_history(provider.get_history(), session.history.messages, ids=False)


def wrapped(play: Play) -> ProviderResponse:
    """A careless adapter takes what a callback raises for a broken stream."""
    try:
        return play.deliver(FULL)
    except CallbackError as error:
        raise TransportError("the stream broke") from error


def swallowed(play: Play) -> ProviderResponse:
    """Another one drops it and goes on."""
    for name, callback in list(play.kwargs.items()):
        if name.startswith("on_") and callback:
            play.kwargs[name] = _deaf(callback)
    return play.deliver(FULL)


def _deaf(callback: Callable[[Any], None]) -> Callable[[Any], None]:
    def call_it(value: Any) -> None:
        with contextlib.suppress(CallbackError):
            callback(value)

    return call_it


def cancelled(play: Play) -> ProviderResponse:
    """The turn is cancelled, and what had arrived is still delivered."""
    play.token.cancel()
    return play.deliver(FULL)


def cut(play: Play) -> ProviderResponse:
    """The answer is being cut when the last piece comes."""
    play.token.cancel()
    play.deliver(FULL)
    return reply("let me ", finish="cancelled")


MOMENTS: dict[str, list[Step]] = {
    "at-once": [FULL],
    "in-a-careless-adapter": [wrapped],
    "in-a-deaf-adapter": [swallowed],
    "after-a-retry": [OverloadedError("busy"), FULL],
    "after-a-tool": [reply(call(id="c0")), FULL],
    "when-cancelled": [cancelled],
    "while-it-is-cut": [cut],
}


@both
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("which", CALLBACKS)
def test_what_a_callback_raises_reaches_the_caller_and_takes_the_turn_back(path: str, moment: str, which: str) -> None:
    session, provider = open_session(path, reply("before"), *MOMENTS[moment], reply("after"), tools=[tool()])
    session.send("first")
    messages = session.history.messages
    error, request_count = CallbackError(which), len(provider.requests)

    def fail(value: Any) -> None:
        # The round before a tool is let through, so that something is there to be taken back.
        if moment != "after-a-tool" or session.history.messages[-1].role == "tool":
            raise error

    callbacks = dict.fromkeys(CALLBACKS, lambda value: None) | {which: fail}
    with pytest.raises(CallbackError) as failure:
        session.send("second", **callbacks)  # type: ignore[arg-type]
    assert failure.value is error
    assert all(a is b for a, b in zip(messages, session.history.messages, strict=True))
    assert len(provider.requests) - request_count == len(MOMENTS[moment]), "it is not taken for the provider's failure"
    assert in_step(session, provider)
    assert not session.is_processing
    provider.script.steps = [reply("after")]
    assert session.send("third").text == "after"
    assert in_step(session, provider)


@both
def test_a_callback_that_raises_in_an_interrupted_answer_takes_the_whole_turn_back(path: str) -> None:
    def fail(piece: str) -> None:
        session.interject("wait")
        raise CallbackError

    session, provider = open_session(path, reply("Hello"), reply("ok"))
    with pytest.raises(CallbackError):
        session.send("Hi", on_chunk=fail)
    assert not session.history
    assert [message.text for message in session.waiting] == ["wait"]
    session.send_waiting()
    assert in_step(session, provider)


@both
@pytest.mark.parametrize("moment", ["at-once", "after-a-retry", "when-cancelled", "while-it-is-cut"])
def test_observers_that_raise_at_any_moment_change_no_result(path: str, moment: str) -> None:
    def fail(*_: object) -> None:
        raise CallbackError

    def turn(observers: list[SessionObserver]) -> Any:
        session, _ = open_session(
            path, *MOMENTS[moment], reply("done"), tools=[tool()], sleep=Naps(), observers=observers
        )
        session.interject("ahead")
        result = session.send("Hi", on_chunk=lambda _: None)
        return result.text, result.outcome, [(m.role, m.parts) for m in session.history.messages]

    everything = [name for name in vars(SessionObserver) if name.startswith("on_")]
    assert turn([Watching(**dict.fromkeys(everything, fail))]) == turn([])


@both
def test_a_callback_may_ask_and_stop_the_session_that_calls_it(path: str) -> None:
    seen: list[Any] = []

    def on_chunk(piece: str) -> None:
        seen.append((session.is_processing, len(session.history), session.waiting))
        session.stop()

    def step(play: Play) -> ProviderResponse:
        play.stream("Hel")
        return reply("Hel", finish="cancelled" if play.token.is_cancelled else "stop")

    session, _ = open_session(path, step)
    assert session.send("Hi", on_chunk=on_chunk).outcome == "cancelled"
    assert seen == [(True, 1, ())]


def test_a_listener_of_the_callers_token_that_raises_keeps_no_turn_from_stopping() -> None:
    def fail() -> None:
        raise CallbackError

    def step(play: Play) -> ProviderResponse:
        token.cancel()
        return reply("Hel", finish="cancelled")

    token = CancelToken()
    token.on_cancel(fail)
    session, _ = open_session("stateless", step)
    assert session.send("Hi", cancel_token=token).outcome == "cancelled"
