"""Observers that can be left behind: all is passed on until the gate is closed, and nothing afterwards."""

from __future__ import annotations

import threading

from turnproof.session.agents.observer_gate import ObserverGate

from ..fakes import Watching
from .kit import LIMIT, in_thread, over


def test_everything_goes_to_every_observer_until_the_gate_is_closed() -> None:
    first: list[str] = []
    second: list[str] = []
    gate = ObserverGate([Watching(on_status=first.append), Watching(on_status=second.append)])
    gate.on_status("running")
    gate.close(0.0)
    gate.on_status("idle")
    assert (first, second) == (["running"], ["running"])


def test_closing_waits_for_the_observer_that_is_being_told() -> None:
    inside, leave = threading.Event(), threading.Event()
    order: list[str] = []

    def slow(status: str) -> None:
        inside.set()
        assert leave.wait(LIMIT)
        order.append("told")

    gate = ObserverGate([Watching(on_status=slow)])
    telling = in_thread(lambda: gate.on_status("running"))
    assert inside.wait(LIMIT)

    def close() -> None:
        gate.close(LIMIT)
        order.append("closed")

    closing = in_thread(close)
    leave.set()
    over(telling)
    over(closing)
    assert order == ["told", "closed"]


def test_closing_does_not_wait_for_ever() -> None:
    inside, leave = threading.Event(), threading.Event()
    statuses: list[str] = []

    def hangs(status: str) -> None:
        statuses.append(status)
        inside.set()
        assert leave.wait(LIMIT)

    gate = ObserverGate([Watching(on_status=hangs)])
    telling = in_thread(lambda: gate.on_status("running"))
    assert inside.wait(LIMIT)
    gate.close(0.0)
    leave.set()
    over(telling)
    gate.on_status("idle")
    assert statuses == ["running"]


def test_an_observer_may_close_its_own_gate() -> None:
    statuses: list[str] = []

    def close(status: str) -> None:
        statuses.append(status)
        gate.close(LIMIT)

    gate = ObserverGate([Watching(on_status=close)])
    gate.on_status("running")
    gate.on_status("idle")
    assert statuses == ["running"]
