"""The calls of one response on worker threads of their own.

The threads are daemons, not an executor's: a tool that ignores the token must hold up neither the turn nor the
interpreter's exit.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial

from ..cancel import CancelToken
from ..messages import FunctionCall, ToolResult
from .background import Task
from .retry import Sleep
from .spans import ToolSpan

MAX_WORKERS = 8
"""Tools of one response that run at the same time. One that went into the background is not counted any more."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a batch does with a call.

    refused:  the result of a call that may not be run, or None. Asked of one call at a time, in call order.
    run:      the result of running it, in its span; raises nothing.
    patience: the seconds after which a call goes on in the background, or None, which is never.
    sleep:    waits for so many seconds or until a token is set; True if it was set.
    """

    refused: Callable[[FunctionCall, CancelToken], ToolResult | None] | None
    run: Callable[[FunctionCall, CancelToken, ToolSpan], ToolResult]
    patience: Callable[[FunctionCall], float | None]
    sleep: Sleep


class Batch:
    """Runs calls, and has for each a result, a task that goes on, or nothing where the token was set first.

    What is done with a call is done in its span, which is in `spans` once it is started.
    """

    def __init__(
        self, calls: Sequence[FunctionCall], work: Work, token: CancelToken, spans: Sequence[ToolSpan]
    ) -> None:
        self._calls = calls
        self._do = work
        self._token = token
        self._spans = spans
        self._changed = threading.Condition()
        self._ended: dict[int, ToolResult | Task] = {}
        self._pending: deque[int] = deque()
        self._workers = 0
        self._threads: set[threading.Thread] = set()

    def start(self, indexes: Sequence[int]) -> None:
        """Run these calls, at most MAX_WORKERS at a time."""
        if self._do.refused is None:
            self._offer(indexes)
        else:
            self._thread(partial(self._request_permission, indexes, self._do.refused))

    def wait(self, index: int) -> ToolResult | Task | None:
        """What became of a call, once that is known; None if the token was set first."""
        with self._changed:
            self._changed.wait_for(lambda: index in self._ended or self._token.is_cancelled)
            return self._ended.get(index)

    def join(self) -> None:
        """Wait until all threads are gone but those of tasks. To be called when every call has its answer."""
        while True:
            with self._changed:
                if not self._threads:
                    return
                thread = self._threads.pop()
            thread.join()

    def wake(self) -> None:
        """Let `wait` look at the token."""
        with self._changed:
            self._changed.notify_all()

    # Threads

    def _thread(self, run: Callable[[], None]) -> None:
        # A copy for each thread: one context cannot be entered twice at the same time.
        thread = threading.Thread(target=partial(copy_context().run, run), name="turnproof-tool", daemon=True)
        # Together: it must be known before it can go into the background, and be running before it is joined.
        with self._changed:
            self._threads.add(thread)
            thread.start()

    def _request_permission(
        self, indexes: Sequence[int], refused: Callable[[FunctionCall, CancelToken], ToolResult | None]
    ) -> None:
        for index in indexes:
            if self._token.is_cancelled:
                return
            with self._spans[index]:
                denial = refused(self._calls[index], self._token)
            if denial is None:
                self._offer([index])
            else:
                self._end(index, denial)

    def _offer(self, indexes: Sequence[int]) -> None:
        with self._changed:
            self._pending.extend(indexes)
            free = min(MAX_WORKERS - self._workers, len(self._pending))
            self._workers += free
        for _ in range(free):
            self._thread(self._work)

    def _work(self) -> None:
        while True:
            with self._changed:
                if self._token.is_cancelled or not self._pending:
                    self._workers -= 1
                    return
                index = self._pending.popleft()
            if (patience := self._do.patience(self._calls[index])) is None:
                self._end(index, self._run(index, self._token))
            elif self._run_for(index, patience):
                return

    def _run(self, index: int, token: CancelToken) -> ToolResult:
        with self._spans[index] as span:
            return self._do.run(self._calls[index], token, span)

    def _end(self, index: int, result: ToolResult) -> None:
        with self._changed:
            # A result counts if it was in before the token was set.
            if not self._token.is_cancelled:
                self._ended.setdefault(index, result)
            self._changed.notify_all()

    # In the background

    def _run_for(self, index: int, patience: float) -> bool:
        """Run a call that may take longer than `patience` seconds. True if it did, and another thread took over."""
        call, own, over = self._calls[index], CancelToken(), CancelToken()
        slow = _Slow(Task(call, own), self._token.on_cancel(own.cancel), threading.current_thread())
        forget = self._token.on_cancel(over.cancel)
        self._thread(partial(self._watch, index, patience, slow, over))
        result = self._run(index, own)
        slow.task.finish(result)
        self._end(index, result)
        over.cancel()
        forget()
        slow.let_go()
        return self._ended.get(index) is slow.task

    def _watch(self, index: int, patience: float, slow: _Slow, over: CancelToken) -> None:
        if self._do.sleep(patience, over):
            return
        with self._changed:
            if index in self._ended:
                return
            # From here on it is a task's token: neither this turn's cancel nor its failure reaches it any more.
            slow.let_go()
            if self._token.is_cancelled:
                slow.task.cancel()
                return
            self._threads.discard(slow.thread)
            self._ended[index] = slow.task
            self._workers -= 1
            self._changed.notify_all()
        self._offer(())


@dataclass(frozen=True, slots=True)
class _Slow:
    """A call that may go on in the background: what it becomes then, and what ties it to the turn until then."""

    task: Task
    let_go: Callable[[], None]
    thread: threading.Thread
