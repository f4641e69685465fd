"""A conversation with one session: its turns, and a snapshot of the history after each step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from ...cancel import CancelToken
from ...errors import Cancelled as CancelledError
from ...messages import Part, ProviderResponse, Text
from ...scenarios.model import Cut, Turn
from ...subject import SessionReply, SessionTurn, Subject
from ..transcript import Cancelled, Event, Interjected, TurnBegan, TurnEnded
from .agent_watch import AgentWatch
from .children import Children
from .job import Job
from .operations import Operations
from .parent_channel import ControlLost
from .recorder import Recorder
from .run_session import RunSession
from .session_operations import SessionOperations
from .session_probes import SessionProbes
from .shown_turn import ShownTurn
from .tap import failed, plain_response


class Run(RunSession):
    """A conversation with the session of a run: the scenario's turns, one after the other."""

    def __init__(self, job: Job, subject: Subject, recorder: Recorder) -> None:
        super().__init__(job, subject, recorder)
        self.session_operations = SessionOperations(self) if subject.keeps_sessions else None
        if self.session_operations is not None:
            self._more_setup = self.session_operations.setup
        self.children = Children(self)
        self._operations = Operations(self, self.children)
        self.agent_watch = AgentWatch(self)
        self.probes = SessionProbes(self)

    def open(self) -> None:
        """Open the session, and begin to watch its agents where the scenario has that."""
        super().open()
        if self.recorder.turn < 0:  # and not again, as a session that outlives its process is
            self.agent_watch.report("open")

    # -- one turn ------------------------------------------------------------------------------------------

    def turn(self, index: int, turn: Turn) -> None:
        """Do what the scenario has for this turn: operations first, then what the user says."""
        recorder = self.recorder
        recorder.turn = index
        recorder.control.ask("arm", index)
        token = CancelToken()
        self.tools.begin(turn)
        self._cut, self._waits = turn.cancel, 0
        recorder.begin_turn(*self._breaking_off(turn, token), on_piece=turn.cancel.on_piece if turn.cancel else 0)
        if self.session_operations is not None:
            self.session_operations.begin(turn)
        recorder.children_beside(frozenset(one.text for one in turn.beside_parent))
        self._prepare(turn)
        if not turn.user:
            self.snapshot("actions")
            return
        self.probes.note(index, turn)
        recorder.event(TurnBegan(text=turn.text, turn=index))
        if turn.cancel is not None and turn.cancel.at == "before-start":
            recorder.cancel()
        ended = self._send(turn, token)
        recorder.event(ended)
        self.tools.flush()
        if ended.outcome == "answer":
            self._report_usage()
        if self.session_operations is not None:
            self.session_operations.report()
        self.end_late_tool()
        if turn.child_tool is not None:
            self.children.end()
        self.snapshot("turn")
        self.agent_watch.report("turn")
        if turn.child_outlives:
            self._operations.end_outliving()

    def _breaking_off(self, turn: Turn, token: CancelToken) -> tuple[Event | None, Callable[[], object]]:
        """What is done at the turn's cut, where it has one, and the event that tells of it."""
        where = self.recorder.place
        if self.session_operations is not None and turn.cancel is not None and turn.cancel.by == "kill":
            operations, at = self.session_operations, _cut_name(turn.cancel)
            return None, lambda: operations.kill(at)
        if (interjection := turn.interject) is not None:
            return Interjected(
                at=_cut_name(interjection.cut), text=interjection.text, **where
            ), lambda: self._interject(interjection.text)
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
            self._operations.perform(action)
        if turn.revert is not None:
            self._operations.revert(turn.revert)
        if turn.inject is not None:
            self._operations.inject(turn.inject)
        if turn.children:
            self._operations.children(turn.children)
        if turn.child is None:
            return
        if turn.child_tool is not None:
            child = turn.child
            self._operations.spawn()
            self.tools.delegate(turn.child_tool, lambda token: self.children.turn_by_tool(child, token))
        elif turn.child_outlives:
            self._operations.begin_outliving(turn.child)
        else:
            self._operations.child(turn.child)
            self.agent_watch.report("child")

    def _send(self, turn: Turn, token: CancelToken) -> TurnEnded:
        recorder = self.recorder
        shown = ShownTurn(recorder)
        recorder.streamed = self.job.key.mode == "stream"
        alone = recorder.streamed and recorder.session_alone
        session_turn = SessionTurn(
            token,
            shown.show if recorder.streamed else None,
            turn.response_schema,
            shown.take_back if recorder.streamed and turn.take_back else None,
            shown.think if alone else None,
            shown.announce if alone else None,
            shown.count if alone else None,
        )
        recorder.control.ask("operation-begins")
        recorder.doing = "turn"
        try:
            reply = self._send_content(turn.user, session_turn)
        except ControlLost:
            raise
        except BaseException as error:
            # A session may raise anything at all, SystemExit included; the run goes on and the event tells.
            recorder.control.ask("operation-ended")
            recorder.event(failed("turn", error, recorder.raised(error), turn=recorder.turn))
            how: Literal["cancelled", "error"] = "cancelled" if isinstance(error, CancelledError) else "error"
            return TurnEnded(outcome=how, shown=shown.text, turn=recorder.turn)
        finally:
            recorder.doing = ""
            shown.close()
        recorder.control.ask("operation-ended")
        return TurnEnded(
            outcome=reply.outcome, shown=shown.text, text=reply.text, answer=reply.response, turn=recorder.turn
        )

    def _send_content(self, content: Sequence[Part], turn: SessionTurn) -> SessionReply:
        match content:
            case (Text(text=text),):
                reply = self.session.send(self.handle, text, turn)
            case _ if self.session.send_parts is not None:
                reply = self.session.send_parts(self.handle, content, turn)
            case _:
                raise TypeError(f"session {self.session.name!r} has no send_parts")
        if not isinstance(reply, SessionReply):
            raise TypeError(f"the session returned {type(reply).__name__}, not a SessionReply")
        if not isinstance(reply.response, ProviderResponse | None):
            kind = type(reply.response).__name__
            raise TypeError(f"the session's reply has {kind} as its `response`, not a ProviderResponse")
        # Where a provider call shows the answer, that is what counts.
        shown = reply.response if self.recorder.session_alone else None
        reply = replace(reply, response=None if shown is None else plain_response(shown))
        if self.session_operations is not None:
            self.session_operations.join()
        return reply

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

    def close(self) -> None:
        """Let go of the session and of every provider that was opened, and look at what an agent has left."""
        super().close()
        if self.session_operations is not None:
            self.session_operations.close()
        self._close_spans()


def _cut_name(cut: Cut | None) -> str:
    if cut is None:
        return ""
    place = cut.after if cut.after is not None else str(cut.index)
    return f"{cut.at} {place} of round {cut.round}"
