"""Foreign calling forms: a provider of each published form goes through the reference session like one of ours."""

from __future__ import annotations

import asyncio
import enum
import os
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

import pytest
from alone import assert_passes_alone

from turnproof import foreign
from turnproof._base import coroutines
from turnproof.cancel import CancelToken
from turnproof.errors import (
    AuthenticationError,
    Cancelled,
    HarnessError,
    OverloadedError,
    ProviderError,
    TransportError,
)
from turnproof.messages import (
    FinishReason,
    FunctionCall,
    Message,
    ProviderResponse,
    Text,
    Thought,
    TokenUsage,
    ToolResult,
    ToolSchema,
)
from turnproof.provider import LegacyProvider, Outcome, StatelessProvider
from turnproof.session import RetryPolicy, Session, Tool

CALL = FunctionCall("c1", "look", {"x": 1})
USAGE = TokenUsage(10, 2, 12)
ASKS = ProviderResponse((Thought("hm"), Text("Let me look."), CALL), USAGE, FinishReason.TOOL_USE)
ANSWERS = ProviderResponse((Text("Seen."),), USAGE, FinishReason.STOP)
HI = [Message.user("Hi")]
LOOK = Tool(ToolSchema("look"), lambda args, token: "seen")


def act(messages: Any, on_chunk: Any, on_usage: Any, on_call: Any, on_thinking: Any) -> ProviderResponse:
    """Asks for a tool first and answers its result, telling every callback it was given."""
    response = ASKS if messages[-1].role == "user" else ANSWERS
    for part in response.parts:
        match part:
            case Text() if on_chunk:
                on_chunk(part.text)
            case Thought() if on_thinking:
                on_thinking(part.text)
            case FunctionCall() if on_call:
                on_call(part)
            case _:
                pass
    if on_usage:
        on_usage(USAGE)
    return response


class Full:
    def complete(
        self,
        messages: Any,
        system_instruction: Any = None,
        tools: Any = None,
        *,
        response_schema: Any = None,
        cancel_token: Any = None,
        on_chunk: Any = None,
        on_usage_update: Any = None,
        on_function_call: Any = None,
        on_thinking: Any = None,
    ) -> Any:
        return act(messages, on_chunk, on_usage_update, on_function_call, on_thinking)


class Short:
    def complete(
        self,
        messages: Any,
        system: Any,
        tools: Any,
        schema: Any = None,
        token: Any = None,
        on_chunk: Any = None,
        on_usage: Any = None,
        on_thinking: Any = None,
    ) -> Any:
        return act(messages, on_chunk, on_usage, None, on_thinking)


class FullCoroutine(Full):
    async def complete(self, *args: Any, **kwargs: Any) -> Any:
        await asyncio.sleep(0)
        return Full.complete(self, *args, **kwargs)


class ShortCoroutine(Short):
    async def complete(self, *args: Any, **kwargs: Any) -> Any:
        await asyncio.sleep(0)
        return Short.complete(self, *args, **kwargs)


class PlainFunctionReturningAwaitable(Full):
    def complete(self, *args: Any, **kwargs: Any) -> Awaitable[Any]:
        return FullCoroutine().complete(*args, **kwargs)


class Returned(Full):
    def complete(self, *args: Any, **kwargs: Any) -> Any:
        return Outcome(Full.complete(self, *args, **kwargs))


class ShortCoroutineReturned(ShortCoroutine):
    async def complete(self, *args: Any, **kwargs: Any) -> Any:
        return Outcome(await ShortCoroutine.complete(self, *args, **kwargs))


class Ended(enum.Enum):
    DONE = "done"
    ERROR = "error"


@dataclass
class TurnOutcome:
    """The shape of the published result object: an outcome, and a response or an error beside it."""

    outcome: Any
    response: ProviderResponse | None = None
    error: Any = None


class ReturnedTurn(Full):
    def complete(self, *args: Any, **kwargs: Any) -> Any:
        return TurnOutcome(Ended.DONE, Full.complete(self, *args, **kwargs))


@dataclass(frozen=True)
class Form:
    id: str
    provider: Callable[[], Any]
    signature: foreign.Signature = "full"
    errors: foreign.Errors = "raised"


FORMS = [
    Form("full", Full),
    Form("short", Short, signature="short"),
    Form("full-coroutine", FullCoroutine),
    Form("short-coroutine", ShortCoroutine, signature="short"),
    Form("awaitable-from-a-plain-function", PlainFunctionReturningAwaitable),
    Form("outcome", Returned, errors="returned"),
    Form("turn-outcome", ReturnedTurn, errors="returned"),
    Form("bare-response-though-outcomes-are-announced", Full, errors="returned"),
    Form("all-at-once", ShortCoroutineReturned, "short", "returned"),
]


def normalised(form: Form) -> foreign.ForeignStateless:
    provider = foreign.normalise(form.provider(), signature=form.signature, errors=form.errors)
    assert isinstance(provider, StatelessProvider)
    assert isinstance(provider, foreign.ForeignStateless)
    return provider


@pytest.fixture(autouse=True)
def _no_loop_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # One of its own: a run of another file that hung on purpose may hold this process's loop for good.
    monkeypatch.setattr(coroutines, "_shared", coroutines._SharedLoop())
    before = set(threading.enumerate())
    yield
    assert "turnproof-loop" not in [thread.name for thread in set(threading.enumerate()) - before]


@pytest.mark.parametrize("form", FORMS, ids=attrgetter("id"))
def test_every_form_serves_a_turn_with_tools_and_tells_every_callback(form: Form) -> None:
    provider = normalised(form)
    heard: list[Any] = []
    result = Session(provider, tools=[LOOK]).send(
        "Hi",
        on_chunk=heard.append,
        on_thinking=lambda text: heard.append(("thought", text)),
        on_function_call=heard.append,
        on_usage_update=heard.append,
    )
    provider.close()
    assert result.text == "Let me look.Seen."
    assert result.rounds == 2
    first = [("thought", "hm"), "Let me look.", CALL, USAGE]
    if form.signature == "short":
        # Without on_function_call the calls are only known from the response.
        first = [("thought", "hm"), "Let me look.", USAGE, CALL]
    assert heard == [*first, "Seen.", USAGE]


@pytest.mark.parametrize("form", FORMS, ids=attrgetter("id"))
def test_batch_calls_need_no_callbacks(form: Form) -> None:
    provider = normalised(form)
    assert provider.complete(HI) == ASKS
    provider.close()


def test_the_short_form_gets_its_options_by_position() -> None:
    seen: list[tuple[Any, ...]] = []

    def complete(*args: Any) -> ProviderResponse:
        seen.append(args)
        return ANSWERS

    token = CancelToken()
    on_chunk: Any = object()
    on_usage: Any = object()
    on_thinking: Any = object()
    foreign.normalise(SimpleNamespace(complete=complete), signature="short").complete(
        HI,
        "sys",
        [LOOK.schema],
        response_schema={"a": 1},
        cancel_token=token,
        on_chunk=on_chunk,
        on_usage_update=on_usage,
        on_thinking=on_thinking,
    )
    assert seen == [(HI, "sys", [LOOK.schema], {"a": 1}, token, on_chunk, on_usage, on_thinking)]


# Errors


def answering(returned: Any, *, coroutine: bool = False) -> Any:
    """A provider whose `complete` returns this, or raises it."""

    def complete(*args: Any, **kwargs: Any) -> Any:
        if isinstance(returned, BaseException):
            raise returned
        return returned

    async def complete_later(*args: Any, **kwargs: Any) -> Any:
        await asyncio.sleep(0)
        return complete()

    return SimpleNamespace(complete=complete_later if coroutine else complete)


@pytest.mark.parametrize("coroutine", [False, True], ids=["plain", "coroutine"])
@pytest.mark.parametrize(
    "error",
    [OverloadedError("busy", status=529), AttributeError("bug"), Cancelled("in time"), SystemExit(3)],
    ids=lambda error: type(error).__name__,
)
def test_a_raised_error_comes_through_as_the_same_object(error: BaseException, coroutine: bool) -> None:
    provider = foreign.normalise(answering(error, coroutine=coroutine))
    with pytest.raises(type(error)) as caught:
        provider.complete(HI)
    assert caught.value is error
    provider.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("coroutine", [False, True], ids=["plain", "coroutine"])
@pytest.mark.parametrize("make", [Outcome, lambda **kw: TurnOutcome("ERROR", **kw)], ids=["outcome", "turn-outcome"])
def test_a_returned_error_is_raised_as_the_same_object(make: Callable[..., Any], coroutine: bool) -> None:
    error = AuthenticationError("bad key", status=401)
    provider = foreign.normalise(answering(make(error=error), coroutine=coroutine), errors="returned")
    with pytest.raises(AuthenticationError) as caught:
        provider.complete(HI)
    assert caught.value is error
    provider.close()  # type: ignore[attr-defined]


def test_what_had_arrived_beside_a_returned_error_is_kept_with_it() -> None:
    error = TransportError("cut")
    provider = foreign.normalise(answering(Outcome(ANSWERS, error)), errors="returned")
    with pytest.raises(TransportError):
        provider.complete(HI)
    assert error.partial == ANSWERS.parts


def test_what_an_error_itself_says_had_arrived_is_not_overwritten() -> None:
    error = TransportError("cut", partial=(Text("Se"),))
    with pytest.raises(TransportError):
        foreign.normalise(answering(Outcome(ANSWERS, error)), errors="returned").complete(HI)
    assert error.partial == (Text("Se"),)


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        (TurnOutcome("ERROR"), "a failure without saying which"),
        (TurnOutcome(Ended.ERROR, ANSWERS), "a failure without saying which"),
        (TurnOutcome("error", error="quota used up"), "quota used up"),
    ],
    ids=["word", "enum", "text-for-an-error"],
)
def test_an_outcome_that_names_a_failure_is_a_provider_error(returned: Any, reason: str) -> None:
    with pytest.raises(ProviderError, match=reason):
        foreign.normalise(answering(returned), errors="returned").complete(HI)


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        (Outcome(), "neither a response nor an error"),
        (None, "None with neither a response nor an error"),
        (TurnOutcome("done", "text"), r"has str as its response .* return ProviderResponse\(\(Text"),  # type: ignore[arg-type]
    ],
    ids=["empty", "none", "odd-response"],
)
def test_what_is_no_outcome_at_all_is_a_type_error(returned: Any, reason: str) -> None:
    """Not a ProviderError: nothing is wrong with the provider, and an adapter must not pass for having typed errors."""
    with pytest.raises(TypeError, match=reason):
        foreign.normalise(answering(returned), errors="returned").complete(HI)


def test_an_outcome_that_was_not_announced_is_refused_with_advice() -> None:
    with pytest.raises(TypeError, match=r'complete\(\) returned Outcome .* errors="returned"'):
        foreign.normalise(answering(Outcome(ANSWERS))).complete(HI)


def test_a_returned_transient_error_is_retried_by_the_session() -> None:
    left: list[Any] = [Outcome(error=OverloadedError("busy")), Outcome(ANSWERS)]
    provider = foreign.normalise(SimpleNamespace(complete=lambda *a, **k: left.pop(0)), errors="returned")
    session = Session(provider, retry=RetryPolicy(), sleep=lambda seconds, token: False)
    assert session.send("Hi").attempts == 2


# Coroutines


def test_all_coroutine_providers_share_one_loop_that_lives_until_the_last_lets_go() -> None:
    loops: list[asyncio.AbstractEventLoop] = []

    async def complete(*args: Any, **kwargs: Any) -> ProviderResponse:
        loops.append(asyncio.get_running_loop())
        return ANSWERS

    one, two = (foreign.ForeignStateless(SimpleNamespace(complete=complete), "full", "raised") for _ in range(2))
    one.complete(HI)
    two.complete(HI)
    one.complete(HI)
    assert len(set(loops)) == 1
    one.close()
    one.close()
    two.complete(HI)
    assert len(set(loops)) == 1
    two.close()
    assert loops[0].is_closed()
    two.complete(HI)  # takes hold again
    assert loops[-1] is not loops[0]
    two.close()


def test_a_provider_that_never_awaits_starts_no_thread() -> None:
    before = set(threading.enumerate())
    provider = foreign.normalise(Full())
    provider.complete(HI)
    assert not set(threading.enumerate()) - before
    provider.close()  # type: ignore[attr-defined]


def test_the_cancel_token_works_across_the_threads() -> None:
    started = threading.Event()

    async def complete(*args: Any, **kwargs: Any) -> ProviderResponse:
        woken, loop = asyncio.Event(), asyncio.get_running_loop()
        forget = kwargs["cancel_token"].on_cancel(lambda: loop.call_soon_threadsafe(woken.set))
        kwargs["on_chunk"]("Hel")
        started.set()
        await woken.wait()  # silence, until the token is set in another thread
        forget()
        return ProviderResponse((Text("Hel"),), USAGE, FinishReason.CANCELLED)

    provider = foreign.normalise(SimpleNamespace(complete=complete))
    session = Session(provider)
    stopper = threading.Thread(target=lambda: (started.wait(), session.stop()))
    stopper.start()
    result = session.send("Hi", on_chunk=lambda text: None)
    stopper.join()
    provider.close()  # type: ignore[attr-defined]
    assert (result.outcome, result.text) == ("cancelled", "Hel")


def test_calls_from_several_threads_run_side_by_side() -> None:
    together = threading.Barrier(3)

    async def complete(messages: Any, *args: Any, **kwargs: Any) -> ProviderResponse:
        await asyncio.get_running_loop().run_in_executor(None, together.wait, 30)
        return ProviderResponse((Text(messages[0].text),), USAGE, FinishReason.STOP)

    provider = foreign.normalise(SimpleNamespace(complete=complete))
    said: dict[str, str] = {}

    def ask(text: str) -> None:
        said[text] = provider.complete([Message.user(text)]).parts[0].text  # type: ignore[union-attr]

    threads = [threading.Thread(target=ask, args=(text,)) for text in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    provider.close()  # type: ignore[attr-defined]
    assert said == {text: text for text in "abc"}


def test_a_coroutine_that_cancels_itself_is_a_provider_error() -> None:
    async def complete(*args: Any, **kwargs: Any) -> ProviderResponse:
        raise asyncio.CancelledError

    provider = foreign.normalise(SimpleNamespace(complete=complete))
    with pytest.raises(ProviderError, match="cancelling itself"):
        provider.complete(HI)
    provider.close()  # type: ignore[attr-defined]


def test_a_call_from_the_loop_itself_is_refused_instead_of_hanging() -> None:
    provider = foreign.normalise(FullCoroutine())
    caught: list[BaseException] = []

    def on_chunk(piece: str) -> None:
        try:
            provider.complete(HI)
        except HarnessError as error:
            caught.append(error)

    provider.complete(HI, on_chunk=on_chunk)
    provider.close()  # type: ignore[attr-defined]
    assert "its own event loop" in str(caught[0])


def test_what_still_runs_when_the_loop_is_let_go_is_cancelled() -> None:
    ended: list[str] = []

    async def linger() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    async def complete(*args: Any, **kwargs: Any) -> ProviderResponse:
        kwargs["keep"].append(asyncio.ensure_future(linger()))
        await asyncio.sleep(0)
        return ANSWERS

    keep: list[Any] = []
    provider = foreign.normalise(SimpleNamespace(complete=lambda *a, **k: complete(*a, **k, keep=keep)))
    provider.complete(HI)
    provider.close()  # type: ignore[attr-defined]
    assert ended == ["cancelled"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_starts_a_loop_of_its_own() -> None:
    assert_passes_alone("forking_foreign.py", passed=1)


# The rest of a provider


class WithLifecycle(FullCoroutine):
    name = "theirs"

    def __init__(self) -> None:
        self.shut = 0

    async def count_tokens(self, messages: Any) -> int:
        return len(messages)

    async def shutdown(self) -> None:
        self.shut += 1


def test_everything_else_is_the_providers_own_and_awaited() -> None:
    theirs = WithLifecycle()
    provider = foreign.ForeignStateless(theirs, "full", "raised")
    assert provider.wrapped is theirs
    assert provider.name == "theirs"
    assert provider.count_tokens(HI) == 1
    provider.shutdown()
    assert theirs.shut == 1
    with pytest.raises(AttributeError, match="set_thinking_config"):
        provider.set_thinking_config(None)


def test_shutdown_is_not_asked_of_a_provider_that_has_none() -> None:
    provider = foreign.ForeignStateless(FullCoroutine(), "full", "raised")
    provider.complete(HI)
    provider.shutdown()


# Legacy


class CoroutineLegacy:
    """A legacy provider in the coroutine form, which answers with what it was sent."""

    def __init__(self, wrap: Callable[[ProviderResponse], Any] = lambda response: response) -> None:
        self.history: list[Message] = []
        self.wrap = wrap

    async def create_session(self, system: Any = None, tools: Any = None, history: Any = None) -> None:
        self.history = list(history or ())

    async def get_history(self) -> list[Message]:
        return list(self.history)

    async def send_message(self, message: str, response_schema: Any = None, cancel_token: Any = None) -> Any:
        return await self._answer(Message.user(message))

    async def send_message_with_parts(self, parts: Any, response_schema: Any = None) -> Any:
        return await self._answer(Message.user(*parts))

    async def send_tool_results(self, results: Any, response_schema: Any = None) -> Any:
        return await self._answer(Message.tool(*results))

    async def send_message_streaming(self, message: str, on_chunk: Any, **kwargs: Any) -> Any:
        return await self._answer(Message.user(message), on_chunk)

    async def send_tool_results_streaming(self, results: Any, on_chunk: Any, **kwargs: Any) -> Any:
        return await self._answer(Message.tool(*results), on_chunk)

    async def _answer(self, message: Message, on_chunk: Any = None) -> Any:
        await asyncio.sleep(0)
        self.history.append(message)
        response = act(self.history, on_chunk, None, None, None)
        self.history.append(Message("model", response.parts))
        return self.wrap(response)


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "batch"])
@pytest.mark.parametrize(("wrap", "errors"), [(lambda response: response, "raised"), (Outcome, "returned")])
def test_a_coroutine_legacy_provider_serves_a_turn_with_tools(wrap: Any, errors: Any, stream: bool) -> None:
    theirs = CoroutineLegacy(wrap)
    provider = foreign.normalise_legacy(theirs, errors=errors)
    assert isinstance(provider, LegacyProvider)
    session = Session(provider, path="legacy", tools=[LOOK])
    shown: list[str] = []
    result = session.send("Hi", on_chunk=shown.append if stream else None)
    assert result.text == "Let me look.Seen."
    assert shown == (["Let me look.", "Seen."] if stream else [])
    assert provider.get_history() == theirs.history
    assert session.history.messages[2].results == (ToolResult("c1", "look", "seen"),)
    session.clear()
    assert theirs.history == []
    provider.close()  # type: ignore[attr-defined]


def test_a_returned_error_of_a_legacy_method_is_raised() -> None:
    error = OverloadedError("busy")
    provider = foreign.normalise_legacy(CoroutineLegacy(lambda response: Outcome(error=error)), errors="returned")
    with pytest.raises(OverloadedError) as caught:
        provider.send_message("Hi")
    assert caught.value is error
    provider.close()  # type: ignore[attr-defined]


def test_what_a_legacy_method_takes_can_still_be_seen() -> None:
    # The session passes a token to the batch methods that have a parameter for it, and to no other.
    import inspect

    provider = foreign.normalise_legacy(CoroutineLegacy())
    assert "cancel_token" in inspect.signature(provider.send_message).parameters
    assert "cancel_token" not in inspect.signature(provider.send_tool_results).parameters


def test_an_adapter_without_defaults_gets_every_argument_of_the_contract() -> None:
    class Strict:
        async def complete(
            self,
            messages: Any,
            system_instruction: Any,
            tools: Any,
            *,
            response_schema: Any,
            cancel_token: Any,
            on_chunk: Any,
            on_usage_update: Any,
            on_function_call: Any,
            on_thinking: Any,
        ) -> ProviderResponse:
            return ANSWERS

    provider: Any = foreign.normalise(Strict())
    assert provider.complete(HI) == ANSWERS
    provider.close()
