"""The line between a run and its parent, on a real pipe."""

from __future__ import annotations

import multiprocessing
import threading

import pytest

from turnproof.run.driver.parent_channel import Control, ControlLost


def hold(until: threading.Event) -> None:
    until.wait(60)


def test_an_ack_does_not_overtake_a_cancel() -> None:
    """The handler of a cancel has begun when an ack that was sent behind it arrives."""
    ours, theirs = multiprocessing.Pipe()
    control, over = Control(theirs), threading.Event()
    control.on_cancel = lambda arrived: hold(over)
    try:
        for number in range(1, 21):
            ours.send(("cancel", None))
            ours.send(("ack", "yes"))
            assert control.ask("arm", 0) == "yes"
            assert [thread.name for thread in threading.enumerate()].count("turnproof-cancel") == number
            assert ours.recv() == ([], [], "arm", 0)
    finally:
        over.set()


def test_who_asks_is_told_that_the_parent_is_gone() -> None:
    ours, theirs = multiprocessing.Pipe()
    control = Control(theirs)
    ours.close()
    assert control.next_job.get(timeout=5) is None
    with pytest.raises((ControlLost, OSError)):
        control.ask("arm", 0)
