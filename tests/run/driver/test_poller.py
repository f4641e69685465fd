"""The wait for a run's next word, on a real pipe."""

from __future__ import annotations

import multiprocessing

import pytest

from turnproof.run.driver.parent_channel import poller


def test_a_message_that_is_there_is_told_until_it_is_read() -> None:
    ours, theirs = multiprocessing.Pipe()
    poll = poller(ours)
    assert not poll(0)
    theirs.send("word")
    assert poll(60)
    assert poll(60)
    assert ours.recv() == "word"
    assert not poll(0.01)


def test_an_end_that_is_gone_is_told_as_something_to_read() -> None:
    ours, theirs = multiprocessing.Pipe()
    poll = poller(ours)
    theirs.close()
    assert poll(60)
    with pytest.raises(EOFError):
        ours.recv()


def test_a_line_that_we_closed_is_an_error() -> None:
    ours, _theirs = multiprocessing.Pipe()
    poll = poller(ours)
    ours.close()
    with pytest.raises(OSError, match="closed"):
        poll(0)
