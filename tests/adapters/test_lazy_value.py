"""A value that takes a request to make: one thread makes it, the others wait, and nobody waits longer than he likes."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled
from turnproof_adapters._lazy_value import LazyValue

from .background_call import BackgroundCall, wait_until
from .scripted_server import LIMIT


def always(value: object) -> bool:
    return True


def test_a_value_is_made_once_and_then_kept() -> None:
    calls: list[int] = []
    lazy_value: LazyValue[str] = LazyValue()

    def make() -> str:
        calls.append(1)
        return "it"

    assert [lazy_value.get(always, make, None) for _ in range(3)] == ["it"] * 3
    assert len(calls) == 1


def test_a_value_that_is_good_no_more_is_made_anew() -> None:
    lazy_value = LazyValue("old")
    assert lazy_value.get(lambda value: value == "new", lambda: "new", None) == "new"
    assert lazy_value.value == "new"


def test_a_value_that_could_not_be_made_is_tried_by_the_next() -> None:
    lazy_value: LazyValue[str] = LazyValue()

    def fail() -> str:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        lazy_value.get(always, fail, None)
    assert lazy_value.get(always, lambda: "it", None) == "it"


class Making:
    """A value on its way: `start` says that somebody makes it, `go` lets it be made."""

    def __init__(self) -> None:
        self.lazy_value: LazyValue[str] = LazyValue()
        self.start, self.go = threading.Event(), threading.Event()
        self.count = 0

    def get(self, token: CancelToken | None = None) -> str:
        return self.lazy_value.get(always, self._make, token)

    def _make(self) -> str:
        self.count += 1
        self.start.set()
        assert self.go.wait(LIMIT)
        return "it"


def waits(running: BackgroundCall[str]) -> Callable[[], bool]:
    return lambda: "_wait" in running.frames


def test_of_many_threads_one_makes_it_and_all_get_it() -> None:
    making = Making()
    first = BackgroundCall(making.get)
    assert making.start.wait(LIMIT)
    others = [BackgroundCall(making.get) for _ in range(5)]
    for other in others:
        wait_until(waits(other))
    making.go.set()
    assert [each.result() for each in (first, *others)] == ["it"] * 6
    assert making.count == 1


def test_who_waits_can_be_cancelled_alone() -> None:
    making = Making()
    first = BackgroundCall(making.get)
    assert making.start.wait(LIMIT)
    second, third = BackgroundCall(making.get), BackgroundCall(making.get)
    for each in (second, third):
        wait_until(waits(each))
    second.token.cancel()
    assert isinstance(second.result(), Cancelled)
    assert first.is_alive
    assert third.is_alive
    making.go.set()
    assert [first.result(), third.result()] == ["it", "it"]


def test_where_the_maker_fails_one_of_those_who_wait_makes_it() -> None:
    """Whoever was cancelled while he made it, for one: the others have done nothing wrong."""
    lazy_value: LazyValue[str] = LazyValue()
    start, go = threading.Event(), threading.Event()

    def fail() -> str:
        start.set()
        assert go.wait(LIMIT)
        raise Cancelled("mine")

    first = BackgroundCall(lambda token: lazy_value.get(always, fail, token))
    assert start.wait(LIMIT)
    second = BackgroundCall(lambda token: lazy_value.get(always, lambda: "it", token))
    wait_until(waits(second))
    go.set()
    assert isinstance(first.result(), Cancelled)
    assert second.result() == "it"
