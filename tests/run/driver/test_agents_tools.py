"""Tools of an agent tell themselves that they ran: in the turn that they were called in, however late they end."""

from __future__ import annotations

import threading
from typing import Any

from turnproof.cancel import CancelToken
from turnproof.messages import ToolSchema
from turnproof.run.driver.tools import ScriptedTools
from turnproof.run.transcript import Event, ToolRun
from turnproof.scenarios.model import ToolScript, Turn


class Recorder:
    """Keeps the events. `at_work` waits until it may go on."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.turn = 1
        self.last_calls: tuple[Any, ...] = ()
        self.begun, self.goes_on = threading.Event(), threading.Event()

    def event(self, event: Event) -> None:
        self.events.append(event)

    def at_work(self, name: str) -> None:
        self.begun.set()
        assert self.goes_on.wait(60)


def test_a_tool_that_ends_after_its_turn_is_told_with_that_turn() -> None:
    recorder = Recorder()
    tools = ScriptedTools((ToolSchema(name="count"),), recorder, untold=True)  # type: ignore[arg-type]
    tools.begin(Turn(user=(), rounds=(), results={"count": ToolScript(result=38)}))
    working = threading.Thread(target=tools.tools[0].run, args=({"shed": "left"}, CancelToken()))
    working.start()
    assert recorder.begun.wait(60)
    recorder.turn = 2
    telling = threading.Thread(target=tools.flush)
    telling.start()
    telling.join(0.05)
    assert telling.is_alive(), "what runs is waited for"
    recorder.goes_on.set()
    telling.join(60)
    working.join(60)
    (told,) = recorder.events
    assert isinstance(told, ToolRun)
    assert (told.turn, told.name, told.args, told.outcome) == (1, "count", {"shed": "left"}, "ok")
