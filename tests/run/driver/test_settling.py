"""A cancel waits until the adapter has told of what had arrived, also on a machine that stands still meanwhile."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from turnproof.run.driver.recorder import SETTLE_LIMIT, Recorder
from turnproof.run.transcript import CallBegan
from turnproof.wire.emulator.server_run import Arrived

BEGAN = CallBegan(messages=(), system=None, tools=(), round=0, streamed=True)


class Control:
    """A line to nobody."""

    on_cancel: Any = None

    def event(self, event: object) -> None:
        pass

    def ask(self, kind: str, payload: object = None) -> None:
        pass


class StandsStill(threading.Condition):
    """In its first wait all the time goes by before anybody gets on, the `adapter` neither."""

    def __init__(self, adapter: threading.Thread) -> None:
        super().__init__()
        self._adapter = adapter

    def wait(self, timeout: float | None = None) -> bool:
        if self._adapter.ident is not None:
            return super().wait(timeout)
        self._adapter.start()  # what it has to tell waits for the lock
        time.sleep(SETTLE_LIMIT + 0.1)
        return False


def in_a_call() -> tuple[Recorder, list[int]]:
    """A recorder of a streamed call, and how much text it knew of when the cancel happened."""
    control: Any = Control()
    recorder, known = Recorder(control), list[int]()
    recorder.streamed = True
    recorder.begin_turn(None, lambda: known.append(recorder._text))
    recorder.begin(BEGAN)
    return recorder, known


def test_a_machine_that_stands_still_while_a_cancel_waits_makes_it_no_earlier() -> None:
    recorder, known = in_a_call()
    adapter = threading.Thread(target=lambda: recorder.saw(text=3))
    recorder._seen = StandsStill(adapter)
    recorder._cancel_from_server(Arrived(text=3))
    adapter.join()
    assert known == [3]


def test_a_cancel_does_not_wait_for_ever_for_what_an_adapter_never_tells() -> None:
    recorder, known = in_a_call()
    recorder._cancel_from_server(Arrived(text=3))
    assert known == [0]


def test_a_cancel_behind_the_head_of_an_answer_leaves_the_adapter_time_to_read_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recorder, known = in_a_call()
    monkeypatch.setattr(time, "sleep", lambda seconds: recorder.saw(text=3))  # what it does with that time
    recorder._cancel_from_server(Arrived())
    assert known == [3]
