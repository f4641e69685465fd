"""One run, on the adapter's side: open the adapter, hold the conversation, record everything.

The session's time, randomness, ids and sleep are injected, so that the same seed gives the same run. Back-off
sleeps are virtual: they are recorded, not waited for.
"""

from __future__ import annotations

import itertools
import random
import ssl
import threading
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal

from ..cancel import CancelToken
from ..errors import Cancelled as CancelledError
from ..errors import HarnessError, ProviderError
from ..foreign import normalise, normalise_legacy
from ..gc import TruncateGC
from ..messages import FunctionCall, Text, ToolResult, ToolSchema
from ..provider import Binding, Endpoint
from ..scenarios.model import Cut, Scenario, ToolScript, Turn
from ..session import RetryPolicy, Session, Tool, ToolOutput
from ..session.tools import CANCELLED
from ..transcript import (
    CallBegan,
    Collected,
    HistorySnapshot,
    Loaded,
    Retried,
    RunEnded,
    Saved,
    Swapped,
    ToolRun,
    TurnBegan,
    TurnEnded,
)
from .control import Control, ControlLost
from .job import Job
from .probes import run_probes
from .recorder import Recorder
from .tap import LegacyTap, StatelessTap, failed


@cache
def shared_ssl_context() -> ssl.SSLContext:
    """One TLS context a process: making one costs more than a whole run on loopback."""
    return ssl.create_default_context()


def drive(job: Job, binding: Binding, control: Control) -> RunEnded:
    """Run the whole scenario. Whatever the adapter does ends up in the events, never as an exception here."""
    recorder = Recorder(control)
    run = _Run(job, binding, recorder)
    threads_before = threading.active_count()
    try:
        run.open()
    except ControlLost:
        raise
    except HarnessError as error:
        return RunEnded(how="harness-fault", detail=str(error))
    except BaseException as error:
        return RunEnded(how="open-failed", detail=f"{type(error).__name__}: {error}")
    try:
        for index, turn in enumerate(job.scenario.turns):
            run.turn(index, turn)
        recorder.turn = -1
        if job.scenario.probes and job.key.path == "stateless":
            run_probes(job, binding, recorder, run.calls, run.open_provider)
    finally:
        run.close()
    return RunEnded(how="completed", threads_left=max(0, threading.active_count() - threads_before))


class _Run:
    def __init__(self, job: Job, binding: Binding, recorder: Recorder) -> None:
        self.job = job
        self.binding = binding
        self.recorder = recorder
        self.scenario: Scenario = job.scenario
        self.tools = tuple(self.scenario.tools)
        self.calls: list[CallBegan] = []
        self._ids = itertools.count(1)
        self._script: dict[str, ToolScript] = {}
        self._cut: Cut | None = None
        self._ran: list[ToolRun] = []
        self._tool_count = itertools.count()
        self._tool_lock = threading.Lock()
        self._attempt = 0
        self._retry_error = ""
        self._providers: list[Any] = []
        self._tap: StatelessTap | LegacyTap
        recorder.on_begin = self._call_begins

    def open_provider(self) -> Any:
        """A fresh adapter object on the job's path, in the one calling form."""
        opener = self.binding.opener(self.job.key.path)
        if opener is None:
            raise HarnessError(f"{self.binding.name} has no {self.job.key.path} path")
        options = {"ssl_context": shared_ssl_context(), **self.binding.options, **self.job.options}
        endpoint = Endpoint(self.job.base_url, self.job.api_key, self.job.model, options)
        raw = opener(endpoint)
        provider: Any
        if self.job.key.path == "stateless":
            provider = normalise(raw, signature=self.binding.signature, errors=self.binding.errors)
        else:
            provider = normalise_legacy(raw, errors=self.binding.errors)
        self._providers.append(provider)
        return provider

    def open(self) -> None:
        self.session = self._session(self._tapped(self.open_provider()))

    def _tapped(self, provider: Any) -> StatelessTap | LegacyTap:
        if self.job.key.path == "stateless":
            self._tap = StatelessTap(provider, self.recorder)
            return self._tap
        plugin = self.binding.cache_plugin if self.scenario.cache else None
        if plugin is not None:
            provider.set_cache_plugin(plugin(provider))
        self._tap = LegacyTap(provider, self.recorder, lambda: self.session.history.messages_ref)
        return self._tap

    def _session(self, provider: Any) -> Session:
        stateless = self.job.key.path == "stateless"
        wanted = self.binding.cache_plugin if self.scenario.cache and stateless else None
        plugin = wanted(self._providers[-1]) if wanted is not None else None
        rng = random.Random(self.job.seed)
        return Session(
            provider,
            path=self.job.key.path,
            system=self.scenario.system,
            tools=[self._tool(schema) for schema in self.tools],
            gc=TruncateGC(keep_turns=self.scenario.keep_turns),
            cache_plugin=plugin,
            retry=RetryPolicy(attempts=3, random=rng),
            sleep=self._sleep,
            ids=lambda: f"m{next(self._ids)}",
            parallel_tools=not any(turn.cancel and "tool" in turn.cancel.at for turn in self.scenario.turns),
            on_retry=self._retried,
            on_tool=self._tool_ended,
        )

    # -- one turn ------------------------------------------------------------------------------------------

    def turn(self, index: int, turn: Turn) -> None:
        recorder = self.recorder
        recorder.turn = index
        recorder.control.ask("arm", index)
        token = CancelToken()
        recorder.token, recorder.cancelled = token, False
        self._script, self._cut = dict(turn.results), turn.cancel
        self._tool_count = itertools.count()
        recorder.cut_name = _cut_name(turn.cancel)
        self._prepare(turn)
        if not turn.user:
            self._snapshot("actions")
            return
        said = "".join(part.text for part in turn.user if isinstance(part, Text))
        recorder.event(TurnBegan(text=said, turn=index))
        if turn.cancel is not None and turn.cancel.at == "before-start":
            recorder.cancel(recorder.cut_name)
        self._send(turn, token)
        self._flush_tools()
        self._snapshot("turn")

    def _prepare(self, turn: Turn) -> None:
        where: dict[str, Any] = {"turn": self.recorder.turn}
        if turn.system is not None:
            self.session.set_system(turn.system)
        if turn.tools is not None:
            self.tools = turn.tools
            self.session.set_tools([self._tool(schema) for schema in turn.tools])
        for action in turn.before:
            before = tuple(message.message_id for message in self.session.history.messages_ref)
            match action:
                case "gc":
                    self.session.collect()
                    after = tuple(message.message_id for message in self.session.history.messages_ref)
                    self.recorder.event(Collected(before=before, after=after, **where))
                case "save-load":
                    saved = self.session.save()
                    self.recorder.event(Saved(data=saved, **where))
                    self.session = self._session(self._tapped(self.open_provider()))
                    self.session.restore(saved)
                    self.recorder.event(Loaded(messages=tuple(self.session.history.messages), **where))
                case "new-provider":
                    self.session.swap(self._tapped(self.open_provider()))
                    self.recorder.event(Swapped(name=self.binding.name, **where))
                case "clear":
                    self.session.clear()
            self._snapshot(action)

    def _send(self, turn: Turn, token: CancelToken) -> None:
        recorder = self.recorder
        shown: list[str] = []
        streaming = self.job.key.mode == "stream"
        content: str | Sequence[Any] = turn.user
        if len(turn.user) == 1 and isinstance(turn.user[0], Text):
            content = turn.user[0].text
        try:
            result = self.session.send(
                content,
                cancel_token=token,
                on_chunk=shown.append if streaming else None,
                on_usage_update=(lambda usage: None) if streaming else None,
                on_function_call=(lambda call: None) if streaming else None,
                on_thinking=(lambda text: None) if streaming else None,
                response_schema=turn.response_schema,
            )
        except CancelledError as error:
            recorder.event(failed("turn", error, turn=recorder.turn))
            recorder.event(TurnEnded(outcome="cancelled", shown="".join(shown), turn=recorder.turn))
        except ProviderError as error:
            recorder.event(failed("turn", error, turn=recorder.turn))
            recorder.event(TurnEnded(outcome="error", shown="".join(shown), turn=recorder.turn))
        except ControlLost:
            raise
        except BaseException as error:
            # An adapter may raise anything at all, SystemExit included; the run goes on and the event tells.
            recorder.event(failed("turn", error, turn=recorder.turn))
            recorder.event(TurnEnded(outcome="error", shown="".join(shown), turn=recorder.turn))
        else:
            outcome = "cancelled" if result.outcome == "cancelled" else "answer"
            recorder.event(
                TurnEnded(outcome=outcome, shown="".join(shown), text=result.text, turn=recorder.turn)  # type: ignore[arg-type]
            )

    def _snapshot(self, after: str) -> None:
        where: dict[str, Any] = {"turn": self.recorder.turn}
        self.recorder.event(
            HistorySnapshot(owner="session", messages=tuple(self.session.history.messages), after=after, **where)
        )
        if self.job.key.path != "legacy":
            return
        try:
            messages = tuple(self._tap.provider.get_history())
        except Exception as error:
            self.recorder.event(failed("call", error, **where))
            return
        self.recorder.event(HistorySnapshot(owner="provider", messages=messages, after=after, **where))

    # -- tools and retries -----------------------------------------------------------------------------------

    def _tool(self, schema: ToolSchema) -> Tool:
        def run(args: Any, token: CancelToken) -> Any:
            with self._tool_lock:
                position = next(self._tool_count)
            script = self._script.get(schema.name, ToolScript(result=f"{schema.name} is fine")).for_args(args)
            if self._is_cut("tool", position):
                self.recorder.cancel(self.recorder.cut_name)
                token.raise_if_cancelled()
            try:
                if script.error is not None:
                    raise ToolFailedError(script.error)
                return ToolOutput(script.result, attachments=script.attachments)
            finally:
                if self._is_cut("between-tools", position):
                    self.recorder.cancel(self.recorder.cut_name)

        return Tool(schema, run)

    def _is_cut(self, at: str, position: int) -> bool:
        return self._cut is not None and self._cut.at == at and self._cut.index == position

    def _call_begins(self, began: CallBegan) -> None:
        self._flush_tools()
        if not began.probe:
            self.calls.append(began)

    def _tool_ended(self, call: FunctionCall, result: ToolResult) -> None:
        known = any(schema.name == call.name for schema in self.tools)
        outcome: Literal["ok", "error", "unknown", "cancelled"] = "error" if result.is_error else "ok"
        if not known:
            outcome = "unknown"
        elif result.is_error and result.result == CANCELLED:
            outcome = "cancelled"
        event = ToolRun(call_id=call.id, name=call.name, args=call.args, outcome=outcome, turn=self.recorder.turn)
        with self._tool_lock:
            self._ran.append(event)

    def _flush_tools(self) -> None:
        """Record the tools that ended since the last call, in call order whatever order they ended in."""
        with self._tool_lock:
            ran, self._ran = self._ran, []
        order = {call.id: position for position, call in enumerate(self.recorder.last_calls)}
        for event in sorted(ran, key=lambda event: order.get(event.call_id, len(order))):
            self.recorder.event(event)

    def _sleep(self, seconds: float, token: CancelToken | None) -> bool:
        turn = self.recorder.turn
        self.recorder.event(Retried(attempt=self._attempt, delay=float(seconds), error=self._retry_error, turn=turn))
        if self._cut is not None and self._cut.at == "backoff" and self._attempt - 1 == self._cut.index:
            self.recorder.cancel(self.recorder.cut_name)
        return token is not None and token.is_cancelled

    def _retried(self, attempt: int, delay: float, error: BaseException) -> None:
        self._attempt, self._retry_error = attempt, type(error).__name__

    def close(self) -> None:
        for provider in self._providers:
            shutdown = getattr(provider, "shutdown", None)
            if shutdown is None:
                continue
            try:
                shutdown()
            except Exception as error:
                self.recorder.event(failed("call", error))


class ToolFailedError(Exception):
    """A scripted tool failure."""


def _cut_name(cut: Cut | None) -> str:
    if cut is None:
        return ""
    place = cut.after if cut.after is not None else str(cut.index)
    return f"{cut.at} {place} of round {cut.round}"
