"""A conversation with one session: its turns, and a snapshot of the history after each step."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from ..cancel import CancelToken
from ..errors import Cancelled as CancelledError
from ..messages import Message, Part, Text
from ..provider import Path
from ..raised import text_of
from ..scenarios.model import Cut, Turn
from ..subject import SessionReply, SessionSetup, SessionTurn, Subject
from ..transcript import (
    Accounts,
    CallBegan,
    Cancelled,
    ContextReport,
    Event,
    HistorySnapshot,
    Interjected,
    Refused,
    Retried,
    SessionOpened,
    TurnBegan,
    TurnEnded,
    UsageReport,
)
from .control import ControlLost
from .job import Job
from .keeping import Keeping
from .looking import look_at_adapter
from .operations import Operations
from .providers import Providers
from .recorder import Recorder
from .tap import failed
from .tools import ScriptedTools
from .watch import Watcher

if TYPE_CHECKING:
    from .spans import RunSpans


class Run:
    """One session with what it needs around it. `calls` are the provider calls that it showed."""

    def __init__(self, job: Job, subject: Subject, recorder: Recorder) -> None:
        self.job = job
        self.subject = subject
        self.session = subject.session
        self.recorder = recorder
        self.calls: list[CallBegan] = []
        self.handle: Any = None
        self.child: Any = None
        self.watcher = Watcher(recorder) if job.watch != "nothing" else None
        self.providers = Providers(job, subject.adapter, recorder, self._spoken, self.watcher)
        self.keeping = Keeping(self) if subject.keeps_sessions else None
        self.tools = ScriptedTools(job.scenario.tools, recorder, untold=subject.kind == "agent")
        self._system = job.scenario.system
        self._ids = itertools.count(1)
        self._cut: Cut | None = None
        self._attempt = 0
        self._retry_error = ""
        self._operations = Operations(self)
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
            tracer_provider=self._spans.provider if self._spans is not None else None,
            watch=self.providers.watch,
            **(self.keeping.setup() if self.keeping is not None else {}),
        )

    def _watched(self) -> RunSpans | None:
        """The spans of a session that is judged by them."""
        if self.subject.kind != "session" or "spans" not in self.subject.operations:
            return None
        from .spans import RunSpans  # needs the SDK, which only such a session does

        return RunSpans(self.recorder)

    def _spoken(self) -> Sequence[Message]:
        """What is held by the session whose turn it is, this one or its child."""
        return self.session.history(self.child) if self.recorder.child else self.history()

    @property
    def path(self) -> Path:
        """The path that the session is on, as far as it tells."""
        return self.session.path(self.handle) if self.session.path is not None else self.job.key.path

    def history(self) -> Sequence[Message]:
        """The messages that the session holds. Raises TypeError for anything that is no message."""
        held = self.session.history(self.handle)
        for index, message in enumerate(held):
            if not isinstance(message, Message):
                raise TypeError(f"history() has a {type(message).__name__} at index {index} instead of a Message")
        return held

    # -- one turn ------------------------------------------------------------------------------------------

    def turn(self, index: int, turn: Turn) -> None:
        """Do what the scenario has for this turn: operations first, then what the user says."""
        recorder = self.recorder
        recorder.turn = index
        recorder.control.ask("arm", index)
        token = CancelToken()
        self.tools.begin(turn)
        self._cut = turn.cancel
        recorder.begin_turn(*self._breaking_off(turn, token))
        if self.keeping is not None:
            self.keeping.begin(turn)
        self._prepare(turn)
        if not turn.user:
            self.snapshot("actions")
            return
        recorder.event(TurnBegan(text="".join(part.text for part in turn.user if isinstance(part, Text)), turn=index))
        if turn.cancel is not None and turn.cancel.at == "before-start":
            recorder.cancel()
        ended = self._send(turn, token)
        recorder.event(ended)
        self.tools.flush()
        if ended.outcome == "answer":
            self._report_usage()
        if self.keeping is not None:
            self.keeping.report()
        self.snapshot("turn")

    def _breaking_off(self, turn: Turn, token: CancelToken) -> tuple[Event | None, Callable[[], object]]:
        """What is done at the turn's cut, where it has one, and the event that tells of it."""
        where = self.recorder.where
        if self.keeping is not None and turn.cancel is not None and turn.cancel.by == "kill":
            keeping, at = self.keeping, _cut_name(turn.cancel)
            return None, lambda: keeping.kill(at)
        if (said := turn.interject) is not None:
            return Interjected(at=_cut_name(said.cut), text=said.text, **where), lambda: self._interject(said.text)
        stops = turn.cancel is not None and turn.cancel.by == "stop"
        event = Cancelled(at=_cut_name(turn.cancel), stopped=stops, **where)
        return event, self._stop if stops else token.cancel

    def _prepare(self, turn: Turn) -> None:
        if turn.system is not None or turn.tools is not None:
            self._system = turn.system if turn.system is not None else self._system
            if turn.tools is not None:
                self.tools.declare(turn.tools)
            self._operations.configure(self._system, self.tools.tools)
        if self.recorder.turn == 0 and self.job.scenario.given:
            self._operations.adopt(self.job.scenario.given)
        for action in turn.before:
            self._operations.do(action)
        if turn.revert is not None:
            self._operations.revert(turn.revert)
        if turn.inject is not None:
            self._operations.inject(turn.inject)
        if turn.child is not None:
            self._operations.child(turn.child)

    def _send(self, turn: Turn, token: CancelToken) -> TurnEnded:
        recorder = self.recorder
        shown: list[str] = []

        def show(text: str) -> None:
            shown.append(text)
            recorder.show(text)

        recorder.streamed = self.job.key.mode == "stream"
        wanted = SessionTurn(token, show if recorder.streamed else None, turn.response_schema)
        recorder.control.ask("operation-begins")
        recorder.doing = "turn"
        try:
            reply = self._say(turn.user, wanted)
        except ControlLost:
            raise
        except BaseException as error:
            # A session may raise anything at all, SystemExit included; the run goes on and the event tells.
            recorder.control.ask("operation-ended")
            recorder.event(failed("turn", error, recorder.raised(error), turn=recorder.turn))
            how: Literal["cancelled", "error"] = "cancelled" if isinstance(error, CancelledError) else "error"
            return TurnEnded(outcome=how, shown="".join(shown), turn=recorder.turn)
        finally:
            recorder.doing = ""
        recorder.control.ask("operation-ended")
        return TurnEnded(outcome=reply.outcome, shown="".join(shown), text=reply.text, turn=recorder.turn)

    def _say(self, content: Sequence[Part], turn: SessionTurn) -> SessionReply:
        match content:
            case (Text(text=text),):
                reply = self.session.send(self.handle, text, turn)
            case _ if self.session.send_parts is not None:
                reply = self.session.send_parts(self.handle, content, turn)
            case _:
                raise TypeError(f"session {self.session.name!r} has no send_parts")
        if not isinstance(reply, SessionReply):
            raise TypeError(f"the session returned {type(reply).__name__}, not a SessionReply")
        if self.keeping is not None:
            self.keeping.join()
        return reply

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
        if self.session.usage is None:
            return
        try:
            with self.watched_while("usage"):
                usage = self.session.usage(self.handle)
            self.recorder.event(UsageReport(usage=usage, turn=self.recorder.turn))
        except Exception as error:
            self.refused("usage", error)

    def _report_context(self) -> None:
        if self.session.context is None:
            return
        try:
            with self.watched_while("context"):
                tokens = self.session.context(self.handle)
            if isinstance(tokens, bool) or not isinstance(tokens, int):
                raise TypeError(f"context() returned {type(tokens).__name__} instead of a number of tokens")
            self.recorder.event(ContextReport(tokens=tokens, turn=self.recorder.turn))
        except Exception as error:
            self.refused("context", error)

    def child_turn(self, turn: Turn) -> None:
        """A whole turn of the child, the same one each time. Raises what the session raises."""
        assert self.session.spawn is not None
        if self.child is None:
            self.child = self.session.spawn(self.handle)
        self.recorder.child, self.recorder.streamed = True, self.job.key.mode == "stream"
        told = "".join(part.text for part in turn.user if isinstance(part, Text))
        try:
            on_chunk = _unseen if self.recorder.streamed else None
            self.session.send(self.child, told, SessionTurn(CancelToken(), on_chunk))
        finally:
            self.recorder.child = False
            self.tools.flush()

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

    def _interject(self, text: str) -> None:
        assert self.session.interject is not None
        try:
            self.session.interject(self.handle, text)
        except Exception as error:
            self.refused("interject", error)

    def _stop(self) -> None:
        assert self.session.stop is not None
        try:
            self.session.stop(self.handle)
        except Exception as error:
            self.refused("stop", error)

    def _sleep(self, seconds: float, token: CancelToken | None) -> bool:
        turn = self.recorder.turn
        self.recorder.event(Retried(attempt=self._attempt, delay=float(seconds), error=self._retry_error, turn=turn))
        if self._cut is not None and self._cut.at == "backoff" and self._attempt - 1 == self._cut.index:
            self.recorder.cancel()
        return token is not None and token.is_cancelled

    def _retried(self, attempt: int, delay: float, error: BaseException) -> None:
        self._attempt, self._retry_error = attempt, type(error).__name__

    def close(self) -> None:
        """Let go of the session and of every provider that was opened."""
        if self.session.close is not None:
            # Each by itself: a child that does not close leaves its parent to be closed.
            for handle in (self.child, self.handle) if self.child is not None else (self.handle,):
                try:
                    self.session.close(handle)
                except Exception as error:
                    self.refused("close", error)
        self.providers.close()
        if self.keeping is not None:
            self.keeping.close()
        if self._spans is not None:
            self._spans.close()


def _unseen(text: str) -> None:
    """What a child says is for its parent's user only if the parent says so."""


def _cut_name(cut: Cut | None) -> str:
    if cut is None:
        return ""
    place = cut.after if cut.after is not None else str(cut.index)
    return f"{cut.at} {place} of round {cut.round}"
