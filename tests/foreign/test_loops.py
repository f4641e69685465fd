"""The loop that all coroutine providers share: threads, cancels, forks, and its end."""

from __future__ import annotations

import asyncio
import os
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from alone import assert_passes_alone

from turnproof import foreign
from turnproof.errors import HarnessError, ProviderError
from turnproof.messages import FinishReason, Message, ProviderResponse, Text
from turnproof.session import Session

from .providers import ANSWERS, HI, USAGE, Full, FullCoroutine


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
    answers: dict[str, str] = {}

    def ask(text: str) -> None:
        answers[text] = provider.complete([Message.user(text)]).parts[0].text  # type: ignore[union-attr]

    threads = [threading.Thread(target=ask, args=(text,)) for text in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    provider.close()  # type: ignore[attr-defined]
    assert answers == {text: text for text in "abc"}


def test_a_coroutine_that_cancels_itself_is_a_provider_error() -> None:
    async def complete(*args: Any, **kwargs: Any) -> ProviderResponse:
        raise asyncio.CancelledError

    provider = foreign.normalise(SimpleNamespace(complete=complete))
    with pytest.raises(ProviderError, match="cancelling itself"):
        provider.complete(HI)
    provider.close()  # type: ignore[attr-defined]


def test_a_call_from_the_loop_itself_is_refused_instead_of_hanging() -> None:
    provider = foreign.normalise(FullCoroutine())
    errors: list[BaseException] = []

    def on_chunk(piece: str) -> None:
        try:
            provider.complete(HI)
        except HarnessError as error:
            errors.append(error)

    provider.complete(HI, on_chunk=on_chunk)
    provider.close()  # type: ignore[attr-defined]
    assert "its own event loop" in str(errors[0])


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
    assert_passes_alone("foreign/forking.py", passed=1)
