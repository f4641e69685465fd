"""The tools of a run: they return what the scenario says, and record that they ran."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal

from ...cancel import CancelToken
from ...errors import Cancelled, PayloadError
from ...messages import FunctionCall, ToolResult, ToolSchema, freeze, thaw
from ...scenarios.model import Cut, ToolScript, Turn
from ...session.tools import CANCELLED
from ...subject import Tool, ToolOutput
from ..transcript import Refused, ToolRun
from .recorder import Recorder

PATIENCE = 5.0
"""Seconds that tools of a turn that is over are waited for."""


BACKGROUND_AFTER = 0.0625
"""Seconds after which a tool goes on in the background that a scenario has return late. These pass in real time."""

LATE = 5.0
"""Seconds that such a tool waits for the end of its turn: one that is waited for itself returns then."""


class LateTool:
    """A tool that returns only when its turn is over."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.waited = self.cancelled = False
        self._turn_over = threading.Event()
        self._began = threading.Event()
        self._ended = threading.Event()

    def run(self, token: CancelToken, returned: Callable[[], Any]) -> Any:
        """What it does when it is called: wait, then return."""
        self._began.set()
        forget = token.on_cancel(self._turn_over.set)
        try:
            self.waited = not self._turn_over.wait(LATE)
            self.cancelled = token.is_cancelled
            token.raise_if_cancelled()
            return returned()
        finally:
            forget()
            self._ended.set()

    def end(self) -> bool:
        """The turn is over: wait until the tool has returned. False if it was never called."""
        self._turn_over.set()
        return self._began.is_set() and self._ended.wait(LATE)


class ToolFailedError(Exception):
    """A scripted tool failure."""


class ScriptedTools:
    """Answers calls by the script of the turn, and cancels the turn where the scenario does that in a tool."""

    def __init__(
        self,
        schemas: Sequence[ToolSchema],
        recorder: Recorder,
        *,
        self_reporting: bool = False,
        late: Collection[str] = (),
    ) -> None:
        """`self_reporting`: each tool records that it ran, for a session that does not call `on_tool`. `late` are the
        names of those that may go on in the background."""
        self._self_reporting = self_reporting
        self._late_names = frozenset(late)
        self.late: LateTool | None = None
        self.declare(schemas)
        self._recorder = recorder
        self._script: dict[str, ToolScript] = {}
        self._delegated: dict[str, Callable[[CancelToken], str]] = {}
        self.meanwhile: Callable[[], None] = _nothing
        """Called while the first tool of a turn runs."""
        self._cut: Cut | None = None
        self._count = itertools.count()
        self._tool_runs: list[ToolRun] = []
        self._reported: list[ToolRun] = []
        self._refused: list[Refused] = []
        self._lock = threading.Lock()
        self._at_work = 0
        self._over = threading.Condition(self._lock)

    def declare(self, schemas: Sequence[ToolSchema]) -> None:
        """These are the tools from now on."""
        tools = self._recording if self._self_reporting else self._running
        late = dict.fromkeys(self._late_names, BACKGROUND_AFTER)
        self.tools = tuple(Tool(schema, tools(schema), late.get(schema.name)) for schema in schemas)

    def begin(self, turn: Turn) -> None:
        """Follow the script of this turn."""
        self._script, self._cut = dict(turn.results), turn.cut
        self._delegated = {}
        self.late = LateTool(turn.background) if turn.background is not None else None
        self._count = itertools.count()

    def delegate(self, name: str, ask: Callable[[CancelToken], str]) -> None:
        """In this turn the tool of that name returns what `ask` does with its token."""
        self._delegated = {name: ask}

    def ended(self, call: FunctionCall, result: ToolResult) -> None:
        """The session tells of a result."""
        known = any(tool.schema.name == call.name for tool in self.tools)
        outcome: Literal["ok", "error", "unknown", "cancelled"] = "error" if result.is_error else "ok"
        if not known:
            outcome = "unknown"
        elif result.is_error and result.result == CANCELLED:
            outcome = "cancelled"
        turn = self._recorder.turn
        event = ToolRun(call_id=call.id, name=call.name, args=call.args, outcome=outcome, turn=turn)
        with self._lock:
            self._reported.append(event)

    def flush(self) -> None:
        """Record the tools that ended since the last time, in call order whatever order they ended in."""
        with self._lock:
            # A turn can end before its tools do: of an agent that was killed, or one that does not wait for them.
            self._over.wait_for(lambda: not self._at_work, PATIENCE)
            tool_runs, self._tool_runs = sorted(self._tool_runs, key=lambda event: (event.name, repr(event.args))), []
            reported, self._reported = self._reported, []
            refused, self._refused = self._refused, []
        for one in refused:
            self._recorder.event(one)
        order = {call.id: position for position, call in enumerate(self._recorder.last_calls)}
        # A session that calls `on_tool` does so for every result, with the id of its call: then its report is used.
        for event in sorted(reported or tool_runs, key=lambda event: order.get(event.call_id, len(order))):
            self._recorder.event(event)

    def _recording(self, schema: ToolSchema) -> Any:
        """A tool that records that it ran, and with which arguments. It cannot know the id of its call."""
        running = self._running(schema)

        def run(args: Any, token: CancelToken) -> Any:
            turn = self._recorder.turn  # the turn may end before the tool does
            arguments = self._arguments(schema, args, turn)
            outcome: Literal["ok", "error", "cancelled"] = "error"
            if self.late is not None and schema.name == self.late.name:
                with self._lock:  # it runs, and nobody is to wait until it has
                    self._tool_runs.append(
                        ToolRun(call_id="", name=schema.name, args=arguments, outcome="ok", turn=turn)
                    )
                return running(args, token)
            with self._lock:
                self._at_work += 1
            try:
                result = running(args, token)
                outcome = "error" if isinstance(result, ToolOutput) and result.is_error else "ok"
                return result
            except Cancelled:
                outcome = "cancelled"
                raise
            finally:
                event = ToolRun(call_id="", name=schema.name, args=arguments, outcome=outcome, turn=turn)
                with self._lock:
                    self._tool_runs.append(event)
                    self._at_work -= 1
                    self._over.notify_all()

        return run

    def _arguments(self, schema: ToolSchema, args: Any, turn: int) -> Any:
        """The arguments, frozen. Raises PayloadError for what is no JSON, and records it: most libraries tell the model
        that the tool failed, and go on."""
        try:
            return freeze(args)
        except PayloadError as error:
            message = f"the tool {schema.name} was given {error}"
            with self._lock:
                self._refused.append(Refused(operation="tool", error=type(error).__name__, message=message, turn=turn))
            raise

    def _running(self, schema: ToolSchema) -> Any:
        def run(args: Any, token: CancelToken) -> Any:
            self._recorder.at_work(schema.name)
            with self._lock:
                position = next(self._count)
            if position == 0:
                self.meanwhile()
            late = self.late
            if late is not None and schema.name == late.name:
                script = self._script[schema.name].for_args(args)
                return late.run(token, lambda: thaw(script.result))
            if (ask := self._delegated.get(schema.name)) is not None:
                return ask(token)
            script = self._script.get(schema.name, ToolScript(result=f"{schema.name} is fine")).for_args(args)
            if self._is_cut("tool", position):
                self._recorder.cancel()
                token.raise_if_cancelled()
            try:
                if script.error is not None:
                    raise ToolFailedError(script.error)
                result = thaw(script.result)
                return ToolOutput(result, attachments=script.attachments) if script.attachments else result
            finally:
                if self._is_cut("between-tools", position):
                    self._recorder.cancel()

        return run

    def _is_cut(self, at: str, position: int) -> bool:
        return self._cut is not None and self._cut.at == at and self._cut.index == position


def _nothing() -> None:
    pass
