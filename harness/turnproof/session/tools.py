"""Tools as a session runs them: results in call order, failures as results, never an exception.

A tool returns JSON, `(ok, JSON)`, or a `ToolOutput`; whatever it does instead becomes an error result that the model
can read. A cancelled turn does not wait for tools that are still running: a result counts if it was in before the
token was set, and every other call is answered with "cancelled".
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ..cancel import CancelToken
from ..errors import PayloadError, UsageError
from ..messages import FileRef, FunctionCall, InlineData, ToolResult, new_message_id, thaw
from ..subject import Tool, ToolOutput
from .approval import Approve, refused
from .background import Task, Tasks
from .batch import Batch, Work
from .observer import SessionObserver
from .retry import Sleep, wait_for_token
from .spans import ToolSpan
from .tracing import Tracing

CANCELLED = "cancelled"
"""The result of a call whose tool had not finished when the turn was cancelled."""

ATTACHMENTS = "_attachments"
"""The key under which a tool's object may carry files: `{"mime_type": ..., "data": bytes}`, or with a `uri`."""

_log = logging.getLogger(__name__)


def to_output(returned: Any) -> ToolOutput:
    """What a tool returned, in its one form.

    `(ok, data)` sets the error flag, and a failed `{"error": text}` is flattened to its text. Of an object, the keys
    that begin with `_` are the tool's own and stay here, save that files under `_attachments` become attachments.
    Raises PayloadError for attachments that are none.
    """
    match returned:
        case ToolOutput():
            return _visible_output(returned)
        case (True, data) if isinstance(returned, tuple):
            return _visible_output(ToolOutput(data))
        case (False, data) if isinstance(returned, tuple):
            output = _visible_output(ToolOutput(data, is_error=True))
            return replace(output, result=_flat(output.result))
        case _:
            return _visible_output(ToolOutput(returned))


def _visible_output(output: ToolOutput) -> ToolOutput:
    if not isinstance(output.result, Mapping):
        return output
    shown = {key: value for key, value in output.result.items() if not (isinstance(key, str) and key.startswith("_"))}
    return ToolOutput(shown, output.is_error, (*output.attachments, *_attachments(output.result.get(ATTACHMENTS, ()))))


def to_result(call: FunctionCall, returned: Any) -> ToolResult:
    """What a tool returned, as the answer to its call: a string stays itself. Raises PayloadError for no JSON."""
    output = to_output(returned)
    return ToolResult(call.id, call.name, output.result, is_error=output.is_error, attachments=output.attachments)


def _flat(data: Any) -> Any:
    return data["error"] if isinstance(data, Mapping) and set(data) == {"error"} else data


def _attachments(value: Any) -> tuple[InlineData | FileRef, ...]:
    if not isinstance(value, (list, tuple)):
        raise PayloadError(f"$.{ATTACHMENTS}", f"attachments are a list, got {type(value).__name__}")
    return tuple(_attachment(item, f"$.{ATTACHMENTS}[{index}]") for index, item in enumerate(value))


def _attachment(item: Any, path: str) -> InlineData | FileRef:
    match item:
        case InlineData() | FileRef():
            return item
        case {"mime_type": str(mime_type), "data": bytes(data)}:
            return InlineData(mime_type, data)
        case {"mime_type": str(mime_type), "uri": str(uri)}:
            return FileRef(mime_type, uri)
        case _:
            raise PayloadError(path, "an attachment has a mime_type, and data in bytes or a uri")


class ToolBox:
    """The tools of a session, by name. Raises UsageError for two tools of one name, or a negative `background_after`.

    `approve` is asked before a tool runs. Where a tool may go into the background, `tasks` keep what it does there,
    and the model is offered `task_result`; `tools` are the caller's own all the same.
    """

    def __init__(
        self,
        tools: Sequence[Tool] = (),
        *,
        parallel: bool = True,
        approve: Approve | None = None,
        tasks: Tasks | None = None,
        sleep: Sleep = wait_for_token,
        observer: SessionObserver | None = None,
        tracing: Tracing | None = None,
    ) -> None:
        self.tools = tuple(tools)
        self.tasks = tasks if tasks is not None else Tasks(new_message_id)
        patient = any(_patience(tool) is not None for tool in self.tools)
        offered = (*self.tools, self.tasks.tool()) if patient else self.tools
        self.schemas = tuple(tool.schema for tool in offered)
        self._by_name = {tool.schema.name: tool for tool in offered}
        if len(self._by_name) != len(offered):
            names = [tool.schema.name for tool in offered]
            twice = sorted({name for name in names if names.count(name) > 1})
            raise UsageError(f"several tools are named {', '.join(map(repr, twice))}: a call could mean any of them")
        self._own = {tool.schema.name for tool in self.tools}
        self._parallel = parallel
        self._observer = observer or SessionObserver()
        self._tracing = tracing or Tracing()
        self._work = Work(
            refused=partial(self._refused, approve) if approve is not None else None,
            run=self._run_one,
            patience=lambda call: _patience(self._by_name.get(call.name)),
            sleep=sleep,
        )

    def run(self, calls: Sequence[FunctionCall], token: CancelToken) -> tuple[ToolResult, ...]:
        """One result for each call, in call order; returns as soon as all are in or the token is set.

        The observer is told of each call in call order, in this thread, also of those that were cancelled.
        """
        spans: list[ToolSpan] = []
        batch = Batch(calls, self._work, token, spans)
        forget = token.on_cancel(batch.wake)
        try:
            if self._parallel:
                for call in calls:
                    self._observer.on_tool_began(call)
                    spans.append(self._tracing.tool(call))
                batch.start(range(len(calls)))
            results = []
            for index, call in enumerate(calls):
                if not self._parallel:
                    self._observer.on_tool_began(call)
                    spans.append(self._tracing.tool(call))
                    batch.start([index])
                became = batch.wait(index)
                result = self._result_of(call, became)
                spans[index].end_with(result, cancelled=became is None)
                results.append(result)
                self._observer.on_tool_ended(call, result)
            if not token.is_cancelled:
                batch.join()
            return tuple(results)
        finally:
            forget()

    def _result_of(self, call: FunctionCall, became: ToolResult | Task | None) -> ToolResult:
        match became:
            case ToolResult():
                return became
            case Task():
                return self.tasks.add(became).handle()
            case None:
                return ToolResult(call.id, call.name, CANCELLED, is_error=True)

    def _refused(self, approve: Approve, call: FunctionCall, token: CancelToken) -> ToolResult | None:
        # Nobody needs to be asked about a tool that does not exist, or that only tells of what was allowed before.
        if call.name not in self._own:
            return None
        with self._tracing.permission(call) as span:
            denial = refused(approve, call, token)
            span.decided(denial is None)
        return denial

    def _run_one(self, call: FunctionCall, token: CancelToken, span: ToolSpan) -> ToolResult:
        tool = self._by_name.get(call.name)
        if tool is None:
            known = ", ".join(sorted(self._by_name)) or "none"
            text = f"there is no tool {call.name!r}; known tools: {known}"
            return ToolResult(call.id, call.name, text, is_error=True)
        try:
            return to_result(call, tool.run(thaw(call.args), token))
        except PayloadError as error:
            span.raised(error)
            text = f"tool {call.name!r} returned something that cannot be sent: {error}"
        except BaseException as error:  # a tool's thread ends here: also SystemExit must become an answer
            span.raised(error)
            _log.debug("tool %r failed", call.name, exc_info=True)
            text = f"{type(error).__name__}: {error}"
        return ToolResult(call.id, call.name, text, is_error=True)


def _patience(tool: Tool | None) -> float | None:
    patience = tool.background_after if tool is not None else None
    if tool is not None and patience is not None and not patience >= 0:
        raise UsageError(f"tool {tool.schema.name!r}: background_after is seconds from 0 up, got {patience!r}")
    return patience
