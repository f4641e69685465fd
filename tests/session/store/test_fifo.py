"""One at a time, in the order in which they came, and nobody waits for themselves."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context

import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled, UsageError
from turnproof.session.store.fifo import Fifo


def started(action: Callable[[], object], *, context: bool = False) -> threading.Thread:
    run = copy_context().run if context else lambda work: work()
    thread = threading.Thread(target=lambda: run(action), daemon=True)
    thread.start()
    return thread


def until(line: Fifo, waiting: int) -> None:
    """Spin until so many stand in line: nothing tells of that, and nothing is slow here."""
    while line.waiting != waiting:
        pass


def test_they_are_let_in_one_by_one_in_the_order_in_which_they_came() -> None:
    line, order, inside = Fifo("it"), [], []

    def take(name: int) -> None:
        with line.turn():
            inside.append(name)
            assert inside == [name]
            order.append(name)
            inside.clear()

    with line.turn():
        threads = []
        for name in range(5):
            threads.append(started(lambda name=name: take(name)))  # type: ignore[misc]
            until(line, name + 1)
        assert order == []
    for thread in threads:
        thread.join(60)
    assert order == [0, 1, 2, 3, 4]


def test_who_is_cancelled_while_waiting_leaves_and_holds_up_nobody() -> None:
    line, token, events = Fifo("it"), CancelToken(), []

    def give_up() -> None:
        try:
            with line.turn(token):
                events.append("in")
        except Cancelled:
            events.append("cancelled")

    def stay() -> None:
        with line.turn():
            events.append("stayed")

    with line.turn():
        first = started(give_up)
        until(line, 1)
        second = started(stay)
        until(line, 2)
        token.cancel()
        first.join(60)
        assert events == ["cancelled"]
    second.join(60)
    assert events == ["cancelled", "stayed"]
    with line.turn(timeout=0):
        pass


def test_a_token_that_is_set_already_lets_nobody_in() -> None:
    line, token = Fifo("it"), CancelToken()
    token.cancel()
    with pytest.raises(Cancelled), line.turn(token):
        raise AssertionError("inside")
    with line.turn(timeout=0):
        pass


def test_who_waits_for_too_long_is_told() -> None:
    line = Fifo("it")
    with line.turn():
        late: list[BaseException] = []

        def wait() -> None:
            try:
                with line.turn(timeout=0):
                    raise AssertionError("inside")
            except TimeoutError as error:
                late.append(error)

        started(wait).join(60)
    assert "it was still busy after 0 seconds" in str(late[0])
    with line.turn(timeout=0):
        pass


@pytest.mark.parametrize("elsewhere", [False, True], ids=["same-thread", "its-own-helper"])
def test_who_is_inside_and_comes_again_is_refused_instead_of_waiting_for_ever(elsewhere: bool) -> None:
    line, messages = Fifo("session 's'"), []

    def again() -> None:
        try:
            with line.turn():
                raise AssertionError("inside")
        except UsageError as error:
            messages.append(str(error))

    with line.turn():
        if elsewhere:
            started(again, context=True).join(60)
        else:
            again()
    assert messages == ["session 's' cannot be used from inside one of its own turns: return from it first"]


def test_a_helper_that_outlives_its_turn_may_come_like_anybody_else() -> None:
    line, go, done = Fifo("it"), threading.Event(), []

    def later() -> None:
        go.wait(60)
        with line.turn():
            done.append(True)

    with line.turn():
        thread = started(later, context=True)
    go.set()
    thread.join(60)
    assert done == [True]


def test_two_lines_do_not_know_each_other() -> None:
    one, other = Fifo("one"), Fifo("other")
    with one.turn(), other.turn():
        with pytest.raises(UsageError, match=r"^one"), one.turn():
            pass
        with pytest.raises(UsageError, match=r"^other"), other.turn():
            pass


def test_an_exception_inside_lets_the_next_one_in() -> None:
    line = Fifo("it")
    with pytest.raises(KeyError), line.turn():
        raise KeyError
    with line.turn(timeout=0):
        pass
