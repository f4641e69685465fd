"""The session of a run: how it is opened and closed, and what it is asked for to be put down."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from ...cancel import CancelToken
from ...errors import ProviderError
from ...messages import Message, ToolResult
from ...provider import Path
from ...scenarios.model import Cut
from ...subject import Enricher, SessionSetup, Subject
from ..tracebacks import text_of
from ..transcript import (
    Accounts,
    CallBegan,
    ContextReport,
    Event,
    Failed,
    HistorySnapshot,
    Refused,
    Retried,
    SessionOpened,
    ToolWentOn,
    UsageReport,
)
from .job import Job
from .provider_watch import ProviderWatch
from .providers import Providers
from .recorder import Recorder
from .retention_probe import look_at_adapter
from .tap import failed
from .tools import BACKGROUND_AFTER, ScriptedTools

if TYPE_CHECKING:
    from .spans import RunSpans


TOLD_WITHIN = 2.0
"""Seconds in which a session knows of a tool that has returned."""

_LOOK = 0.005
"""Seconds between two looks at what the session tells of it."""


class RunSession:
    """One session with what it needs around it. `calls` are the provider calls that it showed."""

    def __init__(self, job: Job, subject: Subject, recorder: Recorder) -> None:
        self.job = job
        self.subject = subject
        self.session = subject.session
        self.recorder = recorder
        recorder.session_alone = subject.kind == "session"
        self.calls: list[CallBegan] = []
        self.handle: Any = None
        self.watcher = ProviderWatch(recorder) if job.watch != "nothing" else None
        self.providers = Providers(job, subject.adapter, recorder, self._current_history, self.watcher)
        self.tools = ScriptedTools(
            job.scenario.tools,
            recorder,
            self_reporting=subject.kind != "adapter",
            late={turn.background for turn in job.scenario.turns if turn.background is not None},
        )
        self.child_handles: dict[int, Any] = {}
        """The children that were spawned, by number."""
        self._system = job.scenario.system
        self._ids = itertools.count(1)
        self._cut: Cut | None = None
        self._more_setup: Callable[[], dict[str, Any]] = dict
        self._attempt = 0
        self._waits = 0
        self._retry_error = ""
        self._retry_failure: Failed | None = None
        self._spans = self._watched()
        recorder.on_begin = self._call_begins

    def open(self) -> None:
        """Open the session."""
        with self.watched_while("open"):
            self.handle = self.session.open(self.setup())
        if self.session.path is not None:
            self.recorder.event(SessionOpened(path=self.session.path(self.handle)))

    def setup(self) -> SessionSetup:
        """What a session of this run is opened, or loaded, with."""
        return SessionSetup(
            endpoint=self.providers.endpoint,
            open_provider=self.providers.tapped,
            paths=tuple(path for path in self.subject.paths if self.subject.adapter.opener(path) is not None),
            path=None if self.job.flag is not None else self.job.key.path,
            sleep=self._sleep,
            random=random.Random(self.job.seed),
            ids=lambda: f"m{next(self._ids)}",
            on_tool=self.tools.ended,
            on_retry=self._retried,
            system=self._system,
            tools=self.tools.tools,
            keep_turns=self.job.scenario.keep_turns,
            cache_plugin=self.providers.cache_plugin,
            parallel_tools=not any(turn.cut and "tool" in turn.cut.at for turn in self.job.scenario.turns),
            flag=self.job.flag or self.session.flag,
            enrichers=tuple(Enricher(one.priority, one.applied) for one in self.job.scenario.enrichers),
            tracer_provider=self._spans.provider if self._spans is not None else None,
            watch=self.providers.watch,
            **self._more_setup(),
        )

    def _watched(self) -> RunSpans | None:
        """The spans of a session that is judged by them."""
        if self.subject.kind != "session" or "spans" not in self.subject.operations:
            return None
        from .spans import RunSpans  # needs the SDK, which only such a session does

        return RunSpans(self.recorder)

    def _current_history(self) -> Sequence[Message]:
        """What is held by the session whose turn it is, this one or its child."""
        return self.history_of(self.child_handles[0] if self.recorder.child else self.handle)

    @property
    def streams(self) -> bool:
        """Whether answers are asked for as streams."""
        return self.job.key.mode == "stream"

    @property
    def system(self) -> str | None:
        """The system text in force."""
        return self._system

    @property
    def path(self) -> Path:
        """The path that the session is on, as far as it tells."""
        return self.session.path(self.handle) if self.session.path is not None else self.job.key.path

    def history(self) -> Sequence[Message]:
        """The messages that the session holds, as it hands them out. Raises TypeError for anything else."""
        return self.history_of(self.handle)

    def history_of(self, handle: Any) -> Sequence[Message]:
        """The same of the session behind another handle."""
        messages = self.session.history(handle)
        if not isinstance(messages, Sequence) or isinstance(messages, str | bytes):
            raise TypeError(f"history() returned {type(messages).__name__} instead of a list of Messages")
        for index, message in enumerate(messages):
            if not isinstance(message, Message):
                raise TypeError(
                    f"history() has a {type(message).__name__} at index {index} instead of a Message: the binding has "
                    "to translate what its session holds into turnproof.messages.Message"
                )
        return messages

    def snapshot(self, after: str) -> None:
        """Record what the session holds and what that takes, and on the legacy path what its provider holds."""
        self._report_context()
        where: dict[str, Any] = {"turn": self.recorder.turn}
        try:
            messages = tuple(self.history())
        except Exception as error:
            self.refused("history", error)
            return
        self.recorder.event(HistorySnapshot(owner="session", messages=messages, after=after, **where))
        if self.session.provider_history is None or self.path != "legacy":
            return
        try:
            messages = tuple(self.session.provider_history(self.handle))
        except Exception as error:
            self.recorder.event(failed("call", error, self.recorder.raised(error), **where))
            return
        self.recorder.event(HistorySnapshot(owner="provider", messages=messages, after=after, **where))

    def _report_usage(self) -> None:
        self._report("usage", self.session.usage, lambda usage: UsageReport(usage=usage, turn=self.recorder.turn))

    def _report_context(self) -> None:
        self._report("context", self.session.context, self._context_report)

    def _context_report(self, tokens: object) -> ContextReport:
        if isinstance(tokens, bool) or not isinstance(tokens, int):
            raise TypeError(f"context() returned {type(tokens).__name__} instead of a number of tokens")
        return ContextReport(tokens=tokens, turn=self.recorder.turn)

    def _report(self, name: str, read: Callable[[Any], Any] | None, event: Callable[[Any], Event]) -> None:
        """Record what the session reports, if it can, or that this raised."""
        if read is None:
            return
        try:
            with self.watched_while(name):
                value = read(self.handle)
            self.recorder.event(event(value))
        except Exception as error:
            self.refused(name, error)

    def refused(self, operation: str, error: BaseException) -> None:
        """Record that an operation raised."""
        recorder = self.recorder
        recorder.event(
            Refused(
                operation=operation,
                error=type(error).__name__,
                message=text_of(error),
                raised=recorder.raised(error),
                turn=recorder.turn,
            )
        )

    def account(self, at: Literal["before", "after"]) -> None:
        """Put down what the session accounts for around a reset, where it is watched."""
        if self.watcher is None:
            return
        session = self.session
        try:
            with self.watched_while("usage"):
                usage = session.usage(self.handle) if session.usage is not None else None
                turns = len(session.accounting(self.handle)) if session.accounting is not None else None
        except Exception as error:
            self.refused("accounting", error)
        else:
            self.recorder.event(Accounts(at=at, usage=usage, turns=turns, turn=self.recorder.turn))

    def look(self) -> None:
        """The conversation is over: what the providers hold is put down, and with everything, what the adapter has."""
        if self.watcher is None:
            return
        self.watcher.look([message for call in self.calls for message in call.messages])
        if self.job.watch == "everything":
            look_at_adapter(self.providers, self.watcher, self.recorder)

    @contextmanager
    def watched_while(self, doing: str) -> Iterator[None]:
        """What is used of a provider meanwhile is put down as used for this."""
        before = self.recorder.doing
        if self.watcher is not None:
            self.recorder.doing = doing
        try:
            yield
        finally:
            self.recorder.doing = before

    # -- what the session tells --------------------------------------------------------------------------------

    def _call_begins(self, began: CallBegan) -> None:
        self.tools.flush()
        if not began.probe and not began.child:
            self.calls.append(began)

    def end_late_tool(self) -> None:
        """The turn is over: the tool that waited for that returns, and the session tells of it."""
        late, background_results = self.tools.late, self.session.background
        if late is None or background_results is None or not late.end():
            return
        results: tuple[ToolResult, ...] = ()
        try:
            until = time.monotonic() + TOLD_WITHIN
            while (
                not (results := tuple(background_results(self.handle))) and time.monotonic() < until and not late.waited
            ):
                time.sleep(_LOOK)
        except Exception as error:
            self.refused("background", error)
        wrong = next((one for one in results if not isinstance(one, ToolResult)), None)
        if wrong is not None:
            raise TypeError(f"background() has a {type(wrong).__name__} instead of a ToolResult")
        self.recorder.event(
            ToolWentOn(
                name=late.name,
                waited=late.waited,
                cancelled=late.cancelled,
                results=results,
                turn=self.recorder.turn,
            )
        )

    def _sleep(self, seconds: float, token: CancelToken | None) -> bool:
        if seconds == BACKGROUND_AFTER and token is not None:
            return token.wait(seconds)
        turn = self.recorder.turn
        failure, self._retry_failure = self._retry_failure, None
        self.recorder.event(
            Retried(attempt=self._attempt, delay=float(seconds), error=self._retry_error, failure=failure, turn=turn)
        )
        # A session that never calls `on_retry`: its waits are counted instead.
        number = self._attempt - 1 if self._attempt else self._waits
        self._waits += 1
        if self._cut is not None and self._cut.at == "backoff" and number == self._cut.index:
            self.recorder.cancel()
        return token is not None and token.is_cancelled

    def _retried(self, attempt: int, delay: float, error: BaseException) -> None:
        self._attempt, self._retry_error = attempt, type(error).__name__
        if self.recorder.session_alone and isinstance(error, ProviderError):
            self._retry_failure = failed("call", error, self.recorder.raised(error), turn=self.recorder.turn)

    def close(self) -> None:
        """Let go of the session and of every provider that was opened."""
        if self.session.close is not None:
            # Each by itself: a child that does not close leaves its parent to be closed.
            for handle in (*self.child_handles.values(), self.handle):
                try:
                    self.session.close(handle)
                except Exception as error:
                    self.refused("close", error)
        self.providers.close()

    def _close_spans(self) -> None:
        if self._spans is not None:
            self._spans.close()
