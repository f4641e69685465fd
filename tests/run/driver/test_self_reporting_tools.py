"""Tools record that they ran, in the turn in which they were called, unless the session reports their results."""

from __future__ import annotations

import threading
from typing import Any

from turnproof.cancel import CancelToken
from turnproof.messages import FunctionCall, ToolResult, ToolSchema
from turnproof.run.driver.tools import ScriptedTools
from turnproof.run.transcript import Event, ToolRun
from turnproof.scenarios.model import ToolScript, Turn


class Recorder:
    """Keeps the events. `at_work` waits until it may go on."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.turn = 1
        self.last_calls: tuple[Any, ...] = ()
        self.started, self.goes_on = threading.Event(), threading.Event()

    def event(self, event: Event) -> None:
        self.events.append(event)

    def at_work(self, name: str) -> None:
        self.started.set()
        assert self.goes_on.wait(60)


def test_a_tool_that_ends_after_its_turn_is_recorded_with_that_turn() -> None:
    recorder = Recorder()
    tools = ScriptedTools((ToolSchema(name="count"),), recorder, self_reporting=True)  # type: ignore[arg-type]
    tools.begin(Turn(user=(), rounds=(), results={"count": ToolScript(result=38)}))
    working = threading.Thread(target=tools.tools[0].run, args=({"shed": "left"}, CancelToken()))
    working.start()
    assert recorder.started.wait(60)
    recorder.turn = 2
    telling = threading.Thread(target=tools.flush)
    telling.start()
    telling.join(0.05)
    assert telling.is_alive(), "what runs is waited for"
    recorder.goes_on.set()
    telling.join(60)
    working.join(60)
    (event,) = recorder.events
    assert isinstance(event, ToolRun)
    assert (event.turn, event.name, event.args, event.outcome) == (1, "count", {"shed": "left"}, "ok")


def tool_events(self_reporting: bool, *, reported: bool) -> list[Event]:
    """The events of a tool that ran, whose result the session reported, or did not."""
    recorder = Recorder()
    recorder.goes_on.set()
    tools = ScriptedTools((ToolSchema(name="count"),), recorder, self_reporting=self_reporting)  # type: ignore[arg-type]
    tools.begin(Turn(user=(), rounds=(), results={"count": ToolScript(result=38)}))
    tools.tools[0].run({"shed": "left"}, CancelToken())
    if reported:
        tools.ended(FunctionCall("call_1", "count", {"shed": "left"}), ToolResult("call_1", "count", 38))
    tools.flush()
    return recorder.events


def test_a_run_of_a_tool_is_recorded_once_and_by_the_session_where_that_reports_it() -> None:
    assert tool_events(self_reporting=True, reported=True) == [
        ToolRun(call_id="call_1", name="count", args={"shed": "left"}, outcome="ok", turn=1)
    ]
    assert tool_events(self_reporting=True, reported=False) == [
        ToolRun(call_id="", name="count", args={"shed": "left"}, outcome="ok", turn=1)
    ]
    assert tool_events(self_reporting=False, reported=False) == []
