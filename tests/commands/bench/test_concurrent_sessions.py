"""Many sessions at once: all of them inside before one goes on, one answer for all, one failure for all."""

from __future__ import annotations

import threading

import pytest

from turnproof.commands.bench.canned_provider import allow_connections
from turnproof.commands.bench.concurrent_sessions import ConcurrentSessions, crowd_of
from turnproof.errors import ProviderError

from .sample_outcomes import Scripted


def idle() -> None:
    pass


def test_every_session_takes_one_turn_at_the_same_time_as_the_others() -> None:
    together = threading.Barrier(5)

    def turn() -> str:
        # Alone it would wait in vain.
        together.wait(30)
        return "hello"

    done: list[str] = []
    crowd = ConcurrentSessions([turn] * 5, lambda: done.append("ready"), lambda: done.append("close"))
    for _ in range(2):
        crowd.ready()
        assert crowd.ask() == "hello"
    texts: list[str] = []
    crowd.ready()
    crowd.stream(texts.append)
    crowd.close()
    assert (done, texts) == (["ready"] * 3 + ["close"], ["hello"])


def test_nobody_begins_before_all_are_asked() -> None:
    caller = Scripted()
    crowd = ConcurrentSessions([caller.ask] * 3, idle, idle)
    crowd.ready()
    assert caller.done == []
    crowd.ask()
    assert caller.done == ["ask"] * 3


def test_a_session_that_fails_fails_the_crowd() -> None:
    def fail() -> str:
        raise OverflowError("enough")

    crowd = ConcurrentSessions([lambda: "hello", fail], idle, idle)
    crowd.ready()
    with pytest.raises(OverflowError, match="enough"):
        crowd.ask()


def test_sessions_that_hear_different_things_are_no_crowd() -> None:
    crowd = ConcurrentSessions([lambda: "hello", lambda: "goodbye"], idle, idle)
    crowd.ready()
    with pytest.raises(ProviderError, match="2 different ones were heard"):
        crowd.ask()


def test_a_crowd_that_is_closed_leaves_no_thread_waiting() -> None:
    before = set(threading.enumerate())
    crowd = crowd_of(Scripted(), 4)
    crowd.ready()
    assert len(set(threading.enumerate()) - before) == 4
    crowd.close()
    assert not set(threading.enumerate()) - before


def test_one_caller_may_be_shared_by_all() -> None:
    caller = Scripted()
    crowd = crowd_of(caller, 4)
    crowd.ready()
    assert crowd.ask() == "hello"
    crowd.close()
    assert caller.done == ["ready", *["ask"] * 4, "close"]


def test_the_limit_of_open_files_is_raised_and_never_lowered() -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
        allow_connections(300)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 300
        allow_connections(10)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 300
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
