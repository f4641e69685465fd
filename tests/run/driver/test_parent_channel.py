"""The line between a run and its parent: whoever asks reads the answer, whatever else comes meanwhile."""

from __future__ import annotations

import multiprocessing
import threading

import pytest

from turnproof.run.driver.parent_channel import Control, ControlLost, Line, new_line


@pytest.fixture
def ends() -> tuple[Line, Line]:
    return new_line(multiprocessing.get_context())


def test_an_answer_reaches_whoever_asked_while_a_cancel_is_on_its_way(ends: tuple[Line, Line]) -> None:
    ours, theirs = ends
    control, cancelled = Control(theirs), threading.Event()
    control.on_cancel = lambda arrived: cancelled.set()
    ours.messages.send(("cancel", None))
    ours.acks.send("yes")
    assert control.ask("arm", 0) == "yes"
    assert ours.messages.recv() == ([], "arm", 0)
    assert cancelled.wait(5)


def test_threads_that_ask_at_the_same_time_each_have_their_own_answer(ends: tuple[Line, Line]) -> None:
    ours, theirs = ends
    control, answers = Control(theirs), dict[int, int]()

    def ask(number: int) -> None:
        answers[number] = control.ask("echo", number)

    def echo() -> None:
        for _ in range(40):
            ours.acks.send(ours.messages.recv()[2])

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(40)]
    for thread in (answering := threading.Thread(target=echo), *threads):
        thread.start()
    for thread in (answering, *threads):
        thread.join(10)
    assert answers == {number: number for number in range(40)}


def test_who_asks_is_told_that_the_parent_is_gone(ends: tuple[Line, Line]) -> None:
    ours, theirs = ends
    control = Control(theirs)
    ours.close()
    with pytest.raises(ControlLost, match="the parent process is gone"):
        control.ask("arm", 0)
    assert control.next_job.get(timeout=5) is None
