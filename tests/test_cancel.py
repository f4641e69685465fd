"""`CancelToken`: set once, seen by everybody, from any thread."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled, ProviderError


def test_a_new_token_is_not_cancelled() -> None:
    token = CancelToken()
    assert not token.is_cancelled
    assert token.wait(0) is False
    token.raise_if_cancelled()
    assert repr(token) == "CancelToken(is_cancelled=False)"


def test_cancelling_is_seen_and_idempotent() -> None:
    token, calls = CancelToken(), []
    token.on_cancel(lambda: calls.append(1))
    token.cancel()
    token.cancel()
    assert token.is_cancelled
    assert token.wait(0) is True
    assert calls == [1]


def test_raise_if_cancelled_raises_cancelled_which_is_no_provider_error() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled) as failure:
        token.raise_if_cancelled()
    assert not isinstance(failure.value, ProviderError)


def test_callbacks_run_in_the_order_of_registration() -> None:
    token, calls = CancelToken(), []
    for number in range(5):
        token.on_cancel(lambda number=number: calls.append(number))  # type: ignore[misc]
    token.cancel()
    assert calls == [0, 1, 2, 3, 4]


def test_a_callback_registered_late_runs_at_once() -> None:
    token, calls = CancelToken(), []
    token.cancel()
    forget = token.on_cancel(lambda: calls.append(1))
    assert calls == [1]
    forget()


def test_an_unregistered_callback_does_not_run_and_unregistering_twice_is_harmless() -> None:
    token, calls = CancelToken(), []
    forget = token.on_cancel(lambda: calls.append("forgotten"))
    token.on_cancel(lambda: calls.append("kept"))
    forget()
    forget()
    token.cancel()
    forget()
    assert calls == ["kept"]


@pytest.mark.parametrize("late", [False, True], ids=["registered-before", "registered-after"])
def test_a_callback_that_raises_stops_neither_the_others_nor_the_canceller(
    late: bool, caplog: pytest.LogCaptureFixture
) -> None:
    token, calls = CancelToken(), []

    def broken() -> None:
        raise RuntimeError("broken")

    with caplog.at_level(logging.ERROR):
        if late:
            token.cancel()
        token.on_cancel(broken)
        token.on_cancel(lambda: calls.append(1))
        token.cancel()
    assert calls == [1]
    assert "a cancellation callback failed" in caplog.text


def test_a_callback_may_use_the_token_it_belongs_to() -> None:
    token, seen = CancelToken(), []

    def callback() -> None:
        token.cancel()
        seen.append(f"cancelled: {token.is_cancelled}")
        token.on_cancel(lambda: seen.append("nested"))

    token.on_cancel(callback)
    token.cancel()
    assert seen == ["cancelled: True", "nested"]


def test_a_waiting_thread_is_woken() -> None:
    token, woken = CancelToken(), []
    thread = threading.Thread(target=lambda: woken.append(token.wait(60)))
    thread.start()
    token.cancel()
    thread.join(60)
    assert woken == [True]


def test_callbacks_run_in_the_thread_that_cancels() -> None:
    token, ran_in = CancelToken(), []
    token.on_cancel(lambda: ran_in.append(threading.current_thread()))
    thread = threading.Thread(target=token.cancel)
    thread.start()
    thread.join()
    assert ran_in == [thread]


def test_whatever_the_threads_do_each_callback_runs_exactly_once() -> None:
    # Registration races with cancellation: a callback must be neither lost between the two nor run by both.
    for _ in range(50):
        token, lock, start = CancelToken(), threading.Lock(), threading.Barrier(8)
        runs: dict[tuple[int, int], int] = {}

        def note(key: tuple[int, int], runs: dict[tuple[int, int], int] = runs, lock: threading.Lock = lock) -> None:
            with lock:
                runs[key] = runs.get(key, 0) + 1

        def work(worker: int, token: CancelToken = token, start: threading.Barrier = start) -> None:
            start.wait()
            for number in range(20):
                token.on_cancel(lambda key=(worker, number): note(key))  # type: ignore[misc]
                if worker < 2 and number == 10:
                    token.cancel()

        threads = [threading.Thread(target=work, args=(worker,)) for worker in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert runs == {(worker, number): 1 for worker in range(8) for number in range(20)}


# -- for coroutines


def test_cancelling_from_another_thread_interrupts_the_task_which_then_goes_on() -> None:
    token, arrived = CancelToken(), asyncio.Event()

    async def call() -> str:
        with token.interrupting():
            threading.Thread(target=token.cancel).start()
            await arrived.wait()
            return "an answer"
        await asyncio.sleep(0)  # the cancellation is used up
        return "what had arrived"

    assert asyncio.run(call()) == "what had arrived"


async def ends_cancelled(call: Callable[[], Coroutine[Any, Any, None]], *before: Callable[[], object]) -> bool:
    """Whether a running task ends as cancelled when it is cancelled, after what comes `before` that."""
    task = asyncio.create_task(call())
    for interruption in before:
        await asyncio.sleep(0)
        interruption()
    await asyncio.sleep(0)
    task.cancel()
    return isinstance((await asyncio.gather(task, return_exceptions=True))[0], asyncio.CancelledError)


def test_a_task_that_is_cancelled_for_another_reason_ends() -> None:
    async def call() -> None:
        with CancelToken().interrupting():
            await asyncio.Event().wait()

    assert asyncio.run(ends_cancelled(call))


def test_a_task_that_is_cancelled_for_both_reasons_ends() -> None:
    token = CancelToken()

    async def call() -> None:
        with token.interrupting():
            await asyncio.Event().wait()

    assert asyncio.run(ends_cancelled(call, token.cancel))


def test_a_token_that_is_set_already_lets_no_coroutine_begin() -> None:
    token = CancelToken()
    token.cancel()

    async def call() -> None:
        with token.interrupting():
            pytest.fail("it began")

    with pytest.raises(Cancelled):
        asyncio.run(call())


def test_cancelling_after_the_block_interrupts_nothing() -> None:
    token = CancelToken()

    async def call() -> str:
        with token.interrupting():
            # Scheduled while inside, run when outside.
            token.cancel()
        await asyncio.sleep(0)
        return "an answer"

    assert asyncio.run(call()) == "an answer"


def test_only_a_task_can_be_interrupted() -> None:
    with pytest.raises(RuntimeError), CancelToken().interrupting():
        pytest.fail("there is no task here")
