"""`RequestPacer`: how long requests wait for each other, on a clock of the test's own."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled, OverloadedError, UsageError
from turnproof.session import RequestPacer

from .fakes import PATHS, Naps, call, open_session, reply, tool


@dataclass
class Clock:
    """Time passes by sleeping alone."""

    now: float = 100.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float, token: CancelToken) -> bool:
        self.slept.append(seconds)
        if not token.is_cancelled:
            self.now += seconds
        return token.is_cancelled


def test_the_first_request_goes_at_once_and_the_next_ones_at_their_distance() -> None:
    clock, token = Clock(), CancelToken()
    pacer = RequestPacer(2.0, clock=clock)
    for _ in range(3):
        pacer.wait(token, clock.sleep)
    assert clock.slept == [2.0, 2.0]


def test_time_that_has_passed_anyway_is_not_waited_for_again() -> None:
    clock, token = Clock(), CancelToken()
    pacer = RequestPacer(2.0, clock=clock)
    pacer.wait(token, clock.sleep)
    clock.now += 1.5
    pacer.wait(token, clock.sleep)
    clock.now += 60
    pacer.wait(token, clock.sleep)
    assert clock.slept == [0.5]


def test_a_cancelled_wait_raises_and_gives_its_place_back() -> None:
    clock, cancelled = Clock(), CancelToken()
    pacer = RequestPacer(2.0, clock=clock)
    pacer.wait(CancelToken(), clock.sleep)
    cancelled.cancel()
    with pytest.raises(Cancelled):
        pacer.wait(cancelled, clock.sleep)
    pacer.wait(CancelToken(), clock.sleep)
    assert clock.slept == [2.0, 2.0]


def test_a_place_in_the_middle_of_the_queue_is_not_given_to_two() -> None:
    clock = Clock()
    pacer = RequestPacer(2.0, clock=clock)
    pacer.wait(CancelToken(), clock.sleep)
    second, waits = CancelToken(), []

    def sleep(seconds: float, token: CancelToken) -> bool:
        waits.append(seconds)
        if token is second:
            pacer.wait(CancelToken(), sleep)  # a third comes, and is told to wait for the second
            second.cancel()
        return token.is_cancelled

    with pytest.raises(Cancelled):
        pacer.wait(second, sleep)
    pacer.wait(CancelToken(), sleep)
    assert waits == [2.0, 4.0, 6.0]


def test_threads_that_share_a_pacer_get_places_of_their_own() -> None:
    pacer, waits, lock = RequestPacer(1.0, clock=lambda: 0.0), [], threading.Lock()

    def sleep(seconds: float, token: CancelToken) -> bool:
        with lock:
            waits.append(seconds)
        return False

    threads = [threading.Thread(target=pacer.wait, args=(CancelToken(), sleep)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(waits) == [float(n) for n in range(1, 20)]


@pytest.mark.parametrize("interval", [-1.0, float("nan")])
def test_an_interval_that_is_none_is_refused(interval: float) -> None:
    with pytest.raises(UsageError, match="interval between requests"):
        RequestPacer(interval)


# In a session


@pytest.mark.parametrize("path", PATHS)
def test_every_request_of_a_session_is_paced_the_repeated_ones_too(path: str) -> None:
    clock = Clock()
    session, provider = open_session(
        path,
        reply(call()),
        OverloadedError("busy"),
        reply("a"),
        reply("b"),
        tools=[tool()],
        pacer=RequestPacer(5.0, clock=clock),
        sleep=clock.sleep,
    )
    session.send("one")
    session.send("two")
    assert len(provider.requests) == 4
    assert clock.slept == [5.0, 1.0, 4.0, 5.0], "the back-off of a second is part of the interval"


@pytest.mark.parametrize("path", PATHS)
def test_two_sessions_keep_their_distance_from_each_other(path: str) -> None:
    clock = Clock()
    pacer = RequestPacer(5.0, clock=clock)
    for _ in range(2):
        session, _ = open_session(path, reply("ok"), pacer=pacer, sleep=clock.sleep)
        session.send("Hi")
    assert clock.slept == [5.0]


@pytest.mark.parametrize("path", PATHS)
def test_what_is_said_while_a_request_waits_goes_with_it(path: str) -> None:
    naps = Naps()
    session, provider = open_session(
        path, reply("a"), reply("b"), pacer=RequestPacer(5.0, clock=lambda: 0.0), sleep=naps
    )
    session.send("one")
    left = ["two and a half"]

    def say() -> None:
        if left:
            session.interject(left.pop())

    naps.during = say
    assert session.send("two").attempts == 1
    assert [message.text for message in provider.requests[-1].messages] == ["one", "a", "two", "two and a half"]
    assert naps.durations == [5.0, 5.0], "its place was given back, and taken again"
    assert [message.text for message in session.history.messages][2:] == ["two", "two and a half", "b"]
