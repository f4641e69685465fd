"""Tools that take longer than the conversation should wait: their calls are answered with a handle.

A call has one result, and the handle is it. What the tool returns in the end belongs to the task: it is there for
whoever asks, the model through the tool `task_result`, the application through `Session.tasks`, and goes into the
history only by `Session.announce`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from ..cancel import CancelToken
from ..errors import UsageError
from ..messages import FunctionCall, MessageIds, ToolResult, ToolSchema
from ..subject import Tool, ToolOutput

TaskStatus: TypeAlias = Literal["running", "done", "failed", "cancelled"]

TASK_RESULT = "task_result"
"""The tool by which a model asks for what became of a task. Offered with every tool that has `background_after`."""


class Task:
    """One call whose tool went on in the background. May be looked at from any thread.

    `id` is what the model knows it by. `result` is what the tool returned, None before that and for a cancelled task.
    """

    def __init__(self, call: FunctionCall, token: CancelToken) -> None:
        self.id = ""
        self.call = call
        self.result: ToolResult | None = None
        self._token = token
        self._over = threading.Event()
        self._lock = threading.Lock()

    @property
    def status(self) -> TaskStatus:
        """`failed` if the tool ended with an error."""
        if self.result is not None:
            return "failed" if self.result.is_error else "done"
        return "cancelled" if self._over.is_set() else "running"

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is over; False if that takes more than `timeout` seconds."""
        return self._over.wait(timeout)

    def cancel(self) -> None:
        """Tell the tool to stop. The task is over at once, and what the tool still returns is dropped."""
        with self._lock:
            self._over.set()
        self._token.cancel()

    def finish(self, result: ToolResult) -> None:
        """The tool returned."""
        with self._lock:
            if not self._over.is_set():
                self.result = result
                self._over.set()

    def handle(self) -> ToolResult:
        """The result of its call."""
        return ToolResult(self.call.id, self.call.name, {"task_id": self.id, "status": "running"})

    def report(self) -> ToolOutput:
        """What there is to say of it now: its id, its status, and its result if there is one."""
        known: dict[str, Any] = {"task_id": self.id, "status": self.status}
        if self.result is None:
            return ToolOutput(known)
        return ToolOutput({**known, "result": self.result.result}, attachments=self.result.attachments)


class Tasks:
    """The tasks of a session, in the order in which their calls were answered. They are not saved with it."""

    def __init__(self, ids: MessageIds) -> None:
        self._ids = ids
        self._tasks: dict[str, Task] = {}

    def __len__(self) -> int:
        return len(self._tasks)

    def __iter__(self) -> Iterator[Task]:
        return iter(tuple(self._tasks.values()))

    def __getitem__(self, task_id: str) -> Task:
        """The task that the model knows by this id. Raises UsageError for one that this session does not have."""
        try:
            return self._tasks[task_id]
        except KeyError:
            raise UsageError(f"there is no task {task_id!r} in this session") from None

    def add(self, task: Task) -> Task:
        """Give it an id and keep it."""
        task.id = self._ids()
        self._tasks[task.id] = task
        return task

    def drop_from(self, position: int) -> None:
        """Cancel and forget those behind the first `position`: nobody knows their ids."""
        for task_id in list(self._tasks)[position:]:
            self._tasks.pop(task_id).cancel()

    def tool(self) -> Tool:
        """`task_result`, for the model."""

        def run(args: dict[str, Any], token: CancelToken) -> ToolOutput:
            task_id = args.get("task_id")
            try:
                return self[str(task_id)].report()
            except UsageError as error:
                return ToolOutput(str(error), is_error=True)

        parameters = {"type": "object", "properties": {"task_id": {"type": "string"}}, "required": ["task_id"]}
        about = (
            "What became of a tool call that was answered with a task_id: its status, and its result once it is done."
        )
        return Tool(ToolSchema(TASK_RESULT, about, parameters), run)
