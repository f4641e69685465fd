"""Tools as a session runs them: results in call order, failures as results, never an exception.

A tool returns JSON, `(ok, JSON)`, or a `ToolOutput`; whatever it does instead becomes an error result that the model
can read. A cancelled turn does not wait for tools that are still running: a result counts if it was in before the
token was set, and every other call is answered with "cancelled".
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from functools import partial
from typing import Any

from ..cancel import CancelToken
from ..errors import PayloadError, UsageError
from ..messages import FunctionCall, ToolResult, thaw
from ..subject import Tool, ToolOutput
from .observer import SessionObserver

MAX_WORKERS = 8
"""Tools of one response that run at the same time."""

CANCELLED = "cancelled"
"""The result of a call whose tool had not finished when the turn was cancelled."""

_log = logging.getLogger(__name__)


def to_result(call: FunctionCall, returned: Any) -> ToolResult:
    """What a tool returned, as the answer to its call.

    A string stays itself, `(ok, data)` sets the error flag and a failed `{"error": text}` is flattened to its text,
    keys that begin with `_` are the tool's own and stay here. Raises PayloadError for what is not JSON.
    """
    match returned:
        case ToolOutput():
            output = returned
        case (bool(ok), data) if isinstance(returned, tuple):
            output = ToolOutput(data if ok else _flat(data), is_error=not ok)
        case _:
            output = ToolOutput(returned)
    result = output.result
    if isinstance(result, Mapping):
        result = {key: value for key, value in result.items() if not (isinstance(key, str) and key.startswith("_"))}
    return ToolResult(call.id, call.name, result, is_error=output.is_error, attachments=tuple(output.attachments))


def _flat(data: Any) -> Any:
    return data["error"] if isinstance(data, Mapping) and set(data) == {"error"} else data


class ToolBox:
    """The tools of a session, by name. Raises UsageError for two tools of one name."""

    def __init__(
        self, tools: Sequence[Tool] = (), *, parallel: bool = True, observer: SessionObserver | None = None
    ) -> None:
        self.tools = tuple(tools)
        self.schemas = tuple(tool.schema for tool in self.tools)
        self._by_name = {tool.schema.name: tool for tool in self.tools}
        if len(self._by_name) != len(self.tools):
            names = [tool.schema.name for tool in self.tools]
            twice = sorted({name for name in names if names.count(name) > 1})
            raise UsageError(f"several tools are named {', '.join(map(repr, twice))}: a call could mean any of them")
        self._parallel = parallel
        self._observer = observer or SessionObserver()

    def run(self, calls: Sequence[FunctionCall], token: CancelToken) -> tuple[ToolResult, ...]:
        """One result for each call, in call order; returns as soon as all are in or the token is set.

        The observer is told of each call in call order, in this thread, also of those that were cancelled.
        """
        batch = _Batch(calls, self._run_one, token)
        forget = token.on_cancel(batch.wake)
        try:
            if self._parallel:
                for call in calls:
                    self._observer.on_tool_began(call)
                batch.start(range(len(calls)))
            results = []
            for index, call in enumerate(calls):
                if not self._parallel:
                    self._observer.on_tool_began(call)
                    batch.start([index])
                result = batch.wait(index) or ToolResult(call.id, call.name, CANCELLED, is_error=True)
                results.append(result)
                self._observer.on_tool_ended(call, result)
            if not token.is_cancelled:
                batch.join()
            return tuple(results)
        finally:
            forget()

    def _run_one(self, call: FunctionCall, token: CancelToken) -> ToolResult:
        tool = self._by_name.get(call.name)
        if tool is None:
            known = ", ".join(sorted(self._by_name)) or "none"
            text = f"there is no tool {call.name!r}; known tools: {known}"
            return ToolResult(call.id, call.name, text, is_error=True)
        try:
            return to_result(call, tool.run(thaw(call.args), token))
        except PayloadError as error:
            text = f"tool {call.name!r} returned something that is not JSON: {error}"
        except BaseException as error:  # a tool's thread ends here: also SystemExit must become an answer
            _log.debug("tool %r failed", call.name, exc_info=True)
            text = f"{type(error).__name__}: {error}"
        return ToolResult(call.id, call.name, text, is_error=True)


class _Batch:
    """The calls of one response on worker threads of their own.

    The threads are daemons, not an executor's: a tool that ignores the token must hold up neither the turn nor the
    interpreter's exit.
    """

    def __init__(
        self,
        calls: Sequence[FunctionCall],
        run_one: Callable[[FunctionCall, CancelToken], ToolResult],
        token: CancelToken,
    ) -> None:
        self._calls = calls
        self._run_one = run_one
        self._token = token
        self._changed = threading.Condition()
        self._results: dict[int, ToolResult] = {}
        self._threads: list[threading.Thread] = []

    def start(self, indexes: Sequence[int]) -> None:
        """Run the tools of these calls, at most MAX_WORKERS at a time."""
        pending = deque(indexes)
        for _ in range(min(MAX_WORKERS, len(pending))):
            # Copied per thread: one context cannot be entered twice at the same time.
            work = partial(copy_context().run, self._work, pending)
            thread = threading.Thread(target=work, name="turnproof-tool", daemon=True)
            self._threads.append(thread)
            thread.start()

    def wait(self, index: int) -> ToolResult | None:
        """The result of a call once it is in; None if the token was set first."""
        with self._changed:
            self._changed.wait_for(lambda: index in self._results or self._token.is_cancelled)
            return self._results.get(index)

    def join(self) -> None:
        """Wait until the threads, whose tools have all finished, are gone."""
        for thread in self._threads:
            thread.join()

    def wake(self) -> None:
        """Let `wait` look at the token."""
        with self._changed:
            self._changed.notify_all()

    def _work(self, pending: deque[int]) -> None:
        while not self._token.is_cancelled:
            try:
                index = pending.popleft()
            except IndexError:
                return
            result = self._run_one(self._calls[index], self._token)
            with self._changed:
                if not self._token.is_cancelled:
                    self._results[index] = result
                self._changed.notify_all()
