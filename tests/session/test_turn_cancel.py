"""Cancelling a turn at every point of the loop, on both paths: one row a point.

Each row says what the history holds afterwards; after each, another turn must go through with a history that any
provider would take. The points that behaviours:G5 names are `before-start`, `in-mid-text`, `while-the-call-fails`
(between two attempts), `in-back-off`, `between-the-tools` and `after-the-tools`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from turnproof import messages as m
from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled, OverloadedError, ProviderError, TransportError
from turnproof.session import Approval, RequestPacer, RetryPolicy, is_paired

from .fakes import PATHS, Naps, Play, Step, Watching, call, open_session, reply, shape, tool

HI = ("user", (m.Text("Hi"),))
CANCELLED = "cancelled"


def model(*parts: str | m.Part) -> tuple[str, tuple[m.Part, ...]]:
    return ("model", tuple(m.Text(part) if isinstance(part, str) else part for part in parts))


def results(*texts: str) -> tuple[str, tuple[m.Part, ...]]:
    return (
        "tool",
        tuple(m.ToolResult(f"c{n}", "look", text, is_error=text == CANCELLED) for n, text in enumerate(texts, 1)),
    )


def cut(*parts: str | m.Part, say: Sequence[str] = ()) -> Step:
    """The token is set while the call runs; the provider hands back these parts."""

    def step(play: Play) -> m.ProviderResponse:
        play.stream(*say)
        play.token.cancel()
        return reply(*parts, finish="cancelled")

    return step


def ends_anyway(response: m.ProviderResponse) -> Step:
    """The token is set while the call runs, and the answer comes whole all the same."""

    def step(play: Play) -> m.ProviderResponse:
        play.token.cancel()
        return play.deliver(response)

    return step


def fails(error: ProviderError, *say: str, cancel: bool = False) -> Step:
    def step(play: Play) -> m.ProviderResponse:
        play.stream(*say)
        if cancel:
            play.token.cancel()
        raise error

    return step


@dataclass(frozen=True)
class Point:
    id: str
    steps: Sequence[Step]
    history: Sequence[Any]
    text: str = ""
    requests: int = 1
    before_start: bool = False
    in_backoff: bool = False
    tool_that_cancels: int = 0
    tool_after_which: int = 0
    parallel: bool = False
    options: Callable[[CancelToken], dict[str, Any]] = lambda token: {}
    paths: Sequence[str] = PATHS


TWO = reply("ok: ", call(id="c1", n=1), call(id="c2", n=2))
TWO_CALLS = model("ok: ", call(id="c1", n=1), call(id="c2", n=2))
ONE = reply(call(id="c1", n=1))
PAIR = [HI, model(call(id="c1", n=1)), results("seen")]


def paced(token: CancelToken, *, requests: int) -> dict[str, Any]:
    """After so many requests (none or one) the next one has to wait, and the turn is cancelled then."""
    pacer = RequestPacer(5.0, clock=lambda: 0.0)
    if not requests:
        pacer.wait(token, Naps())
    return {"pacer": pacer, "sleep": Naps(during=token.cancel)}


def asking(token: CancelToken) -> dict[str, Any]:
    """The turn is cancelled while somebody is asked whether the second tool may run, and the answer is yes."""

    def approve(function_call: m.FunctionCall, turn: CancelToken) -> Approval:
        if function_call.args["n"] == 2:
            token.cancel()
        return Approval(True)

    return {"approve": approve}


POINTS = [
    Point("before-start", [], [], requests=0, before_start=True),
    Point("before-the-request-is-written", [Cancelled("in time")], []),
    Point("in-mid-text", [cut("Hel", say=["Hel"])], [HI, model("Hel")], "Hel"),
    Point("in-silence", [cut()], [HI]),
    Point("after-a-signed-thought", [cut(m.Thought("hm"))], [HI, model(m.Thought("hm"))]),
    Point("call-returned-although-cancelled", [cut("Hel", call())], [HI, model("Hel")], "Hel"),
    Point("only-a-call-returned-although-cancelled", [cut(call())], [HI]),
    Point("answer-came-whole-all-the-same", [ends_anyway(reply("Hello"))], [HI, model("Hello")], "Hello"),
    Point("before-the-tools", [ends_anyway(TWO)], [HI, TWO_CALLS, results(CANCELLED, CANCELLED)], "ok: "),
    Point("during-the-first-tool", [TWO], [HI, TWO_CALLS, results(CANCELLED, CANCELLED)], "ok: ", tool_that_cancels=1),
    Point("during-the-second-tool", [TWO], [HI, TWO_CALLS, results("seen", CANCELLED)], "ok: ", tool_that_cancels=2),
    Point("between-the-tools", [TWO], [HI, TWO_CALLS, results("seen", CANCELLED)], "ok: ", tool_after_which=1),
    Point("after-the-tools", [TWO], [HI, TWO_CALLS, results("seen", "seen")], "ok: ", tool_after_which=2),
    Point(
        "in-parallel-tools",
        [TWO],
        [HI, TWO_CALLS, results(CANCELLED, CANCELLED)],
        "ok: ",
        tool_that_cancels=1,
        parallel=True,
    ),
    Point(
        "while-the-second-tool-waits-for-a-yes",
        [TWO],
        [HI, TWO_CALLS, results("seen", CANCELLED)],
        "ok: ",
        options=asking,
    ),
    Point("in-the-wait-of-the-pacer", [], [], requests=0, options=partial(paced, requests=0)),
    Point("in-the-wait-of-the-pacer-in-the-next-round", [ONE], PAIR, options=partial(paced, requests=1)),
    Point("in-the-next-round-before-its-request", [ONE, Cancelled("in time")], PAIR, requests=2),
    Point("in-the-next-round-in-silence", [ONE, cut()], PAIR, requests=2),
    Point("in-the-next-round-in-mid-text", [ONE, cut("So", say=["So"])], [*PAIR, model("So")], "So", requests=2),
    Point("in-back-off", [OverloadedError("busy")], [], in_backoff=True),
    Point("in-back-off-of-a-later-round", [ONE, OverloadedError("busy")], PAIR, requests=2, in_backoff=True),
    Point(
        "in-back-off-after-text-was-shown",
        [fails(TransportError("cut"), "Hel")],
        [HI, model("Hel")],
        "Hel",
        in_backoff=True,
    ),
    Point(
        "in-a-repeated-stream-that-is-behind",
        [fails(TransportError("cut"), "Hello"), cut("He", say=["He"])],
        [HI, model("Hello")],
        "Hello",
        requests=2,
    ),
    Point("while-the-call-fails", [fails(TransportError("socket shut down"), cancel=True)], []),
    Point(
        "while-a-pause-is-sent-back",
        [reply("hm", finish="paused"), Cancelled("in time")],
        [HI, model("hm")],
        "hm",
        requests=2,
        paths=("stateless",),  # the legacy contract cannot send a pause back,
    ),
]


ROWS = [pytest.param(point, path, id=f"{point.id}-{path}") for point in POINTS for path in point.paths]


@pytest.mark.parametrize(("point", "path"), ROWS)
def test_a_turn_cancelled_here_leaves_a_history_that_goes_on(point: Point, path: str) -> None:
    token = CancelToken()

    def run(args: dict[str, Any], turn_token: CancelToken) -> Any:
        if args["n"] == point.tool_that_cancels:
            token.cancel()
        elif point.parallel:
            assert turn_token.wait(30), "it would be done before the other one cancels"
        return "seen"

    def on_tool(function_call: m.FunctionCall, result: m.ToolResult) -> None:
        if function_call.args["n"] == point.tool_after_which:
            token.cancel()

    options = {"sleep": Naps(during=token.cancel if point.in_backoff else lambda: None), **point.options(token)}
    session, provider = open_session(
        path,
        *point.steps,
        tools=[tool(run=run)],
        observers=[Watching(on_tool_ended=on_tool)],
        parallel_tools=point.parallel,
        **options,
    )
    if point.before_start:
        token.cancel()
    shown: list[str] = []
    result = session.send("Hi", cancel_token=token, on_chunk=shown.append)

    whole = point.id == "answer-came-whole-all-the-same"
    assert result.outcome == ("answer" if whole else "cancelled")
    assert (result.text, "".join(shown)) == (point.text, point.text if shown else "")
    assert shape(session) == list(point.history)
    assert len(provider.requests) == point.requests
    assert result.attempts == point.requests
    if path == "legacy":
        assert m.same_history(provider.get_history(), session.history.messages, ids=False)

    provider.script.steps = [reply("fine")]
    assert session.send("and now?").text == "fine"
    sent = provider.requests[-1].messages
    assert is_paired(sent)
    assert [(message.role, message.parts) for message in sent[:-1]] == list(point.history)
    assert sent[-1].text == "and now?"


@pytest.mark.parametrize("path", PATHS)
def test_a_failure_that_is_not_of_the_cancels_making_is_raised_though_the_token_is_set(path: str) -> None:
    session, _ = open_session(path, fails(ProviderError("refused"), cancel=True))
    with pytest.raises(ProviderError, match="refused"):
        session.send("Hi")
    assert shape(session) == []


@pytest.mark.parametrize("path", PATHS)
def test_the_last_attempts_failure_under_a_set_token_is_a_cancel_too(path: str) -> None:
    step = fails(TransportError("shut down"), cancel=True)
    session, _ = open_session(path, step, retry=RetryPolicy(attempts=1))
    assert session.send("Hi").outcome == "cancelled"


def test_the_usage_of_a_cancelled_turn_is_the_last_that_was_good() -> None:
    def step(play: Play) -> m.ProviderResponse:
        play.kwargs["on_usage_update"](m.TokenUsage(9, 1, 10))
        play.stream("Hel")
        raise TransportError("cut")

    token = CancelToken()
    session, _ = open_session("stateless", step, sleep=Naps(during=token.cancel))
    result = session.send("Hi", cancel_token=token, on_chunk=lambda text: None, on_usage_update=lambda usage: None)
    assert (result.usage, session.usage) == (m.TokenUsage(9, 1, 10), m.TokenUsage(9, 1, 10))


def test_a_turn_that_reached_no_model_leaves_the_sessions_usage_as_it_was() -> None:
    token = CancelToken()
    token.cancel()
    session, _ = open_session("stateless", reply("a", prompt=40))
    session.send("Hi")
    assert session.send("Hi", cancel_token=token).usage == m.TokenUsage()
    assert session.usage == m.TokenUsage(40, 2, 42)


def test_a_callback_may_cancel_by_raising_cancelled() -> None:
    token = CancelToken()

    def on_chunk(piece: str) -> None:
        token.cancel()
        token.raise_if_cancelled()

    session, _ = open_session("stateless", reply("Hel|lo"))
    result = session.send("Hi", cancel_token=token, on_chunk=on_chunk)
    assert (result.outcome, result.text) == ("cancelled", "Hel")


# stop()


def until_cancelled(started: threading.Event) -> Step:
    def step(play: Play) -> m.ProviderResponse:
        play.stream("Hel")
        started.set()
        assert play.token.wait(30), "stop() never arrived"
        return reply("Hel", finish="cancelled")

    return step


def in_thread(action: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    out: list[Any] = []
    thread = threading.Thread(target=lambda: out.append(action()))
    thread.start()
    return thread, out


@pytest.mark.parametrize("path", PATHS)
def test_stop_from_other_threads_cancels_the_running_turn_once(path: str) -> None:
    started, callers_token = threading.Event(), CancelToken()
    session, _ = open_session(path, until_cancelled(started), reply("fine"))
    thread, out = in_thread(lambda: session.send("Hi", cancel_token=callers_token, on_chunk=lambda text: None))
    assert started.wait(30)
    assert session.is_processing
    stoppers = [in_thread(session.stop) for _ in range(8)]
    for stopper, _ in stoppers:
        stopper.join()
    thread.join()
    assert any(result == [True] for _, result in stoppers)
    assert out[0].outcome == "cancelled"
    assert shape(session) == [HI, model("Hel")]
    assert not callers_token.is_cancelled, "the caller's token may stand for more than this turn"
    assert (session.stop(), session.is_processing) == (False, False)
    assert session.send("on").text == "fine", "a stop does not reach into the next turn"


def test_a_callers_token_does_not_keep_turns_that_are_over() -> None:
    token = CancelToken()
    session, _ = open_session("stateless", *[reply("ok") for _ in range(3)])
    for _ in range(3):
        session.send("Hi", cancel_token=token)
    assert not token._callbacks


def test_tools_that_still_run_are_told_when_the_turn_fails() -> None:
    seen: list[CancelToken] = []

    def run(args: dict[str, Any], token: CancelToken) -> Any:
        seen.append(token)
        return "ok"

    session, _ = open_session("stateless", reply(call()), ProviderError("no"), tools=[tool(run=run)])
    with pytest.raises(ProviderError):
        session.send("Hi")
    assert seen[0].is_cancelled


def test_finish_cancelled_without_a_token_ends_the_turn_all_the_same() -> None:
    session, _ = open_session("stateless", reply("Hel", finish="cancelled"))
    result = session.send("Hi")
    assert (result.outcome, result.response.finish_reason) == ("cancelled", m.FinishReason.CANCELLED)
