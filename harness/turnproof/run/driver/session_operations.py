"""What is done with the sessions that outlive the process: taken up again, forked, listed, deleted, and lost.

Each step is recorded with the session that was open before and after it, and what came of it; the run goes on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

from msgspec.structs import replace

from ...errors import TurnproofError
from ...messages import FunctionCall
from ...scenarios.model import EVERYWHERE, SessionStep, Turn
from ...sessions import SessionCapabilities, SessionInfo, last_update
from ...wire.emulator.server_run import CANARY_KEY
from ..tracebacks import text_of
from ..transcript import Killed, LeftBehind, SessionInForce, SessionListed, SessionStepped
from .agent_sandbox import AgentSandbox, Untold
from .concurrent_turn import AT_ONCE, PATIENCE, ConcurrentTurn
from .parent_channel import ControlLost
from .run_session import RunSession

_KNOWN = tuple(field.name for field in fields(SessionCapabilities))


class SessionOperations:
    """The sessions of one run's agent, and the sandbox it stands on."""

    def __init__(self, run: RunSession) -> None:
        self._run = run
        self._recorder = run.recorder
        self._sandbox = AgentSandbox(run.job.sandbox_root)
        self._denied: tuple[str, ...] = ()
        self._selection: dict[str, Any] = {}
        self._concurrent_turn: ConcurrentTurn | None = None
        self._steps: dict[str, Callable[[SessionStep], SessionStepped]] = {
            "open": self._open,
            "new": self._new,
            "resume": self._resume,
            "continue": self._continue,
            "fork": self._fork,
            "delete": self._delete,
            "list": self._list,
            "damage": self._damage,
            "later": self._later,
        }

    def setup(self) -> dict[str, Any]:
        """What of a session's setup concerns it."""
        sandbox = self._sandbox
        cwd = str(sandbox.folder(sandbox.cwd))
        return {"home": str(sandbox.home), "cwd": cwd, "permits": self._permits, **self._selection}

    def begin(self, turn: Turn) -> None:
        """A turn starts: what it has of steps is done, and what it denies is from now on."""
        self._denied = turn.denied
        other = turn.beside
        self._run.tools.meanwhile = (lambda: self._send_concurrently(other)) if other is not None else (lambda: None)
        for step in turn.sessions:
            self._perform(step)

    def report(self) -> None:
        """Say which session is open after a turn, and what the agent says can be done with it."""
        try:
            session = self._current_session()
            can = self._capability_fields()
        except Exception as error:
            self._run.refused("session_id", error)
            return
        known = tuple(name for name in _KNOWN if can.get(name) is True)
        unknown_names = tuple(
            sorted(name for name, value in can.items() if name not in _KNOWN or type(value) is not bool)
        )
        self._sandbox.processes.look(CANARY_KEY)
        program, turn = self._program(), self._recorder.turn
        event = SessionInForce(session=session, can=known, unknown=unknown_names, program=program, turn=turn)
        self._recorder.event(event)

    def _send_concurrently(self, turn: Turn) -> None:
        """Ask for another turn from another thread. It may be refused at once, or wait for the one that runs."""
        self._concurrent_turn = ConcurrentTurn(self._run, turn.text)
        self._concurrent_turn.over.wait(AT_ONCE)

    def join(self) -> None:
        """Wait for the turn that was asked for beside the one that has ended, and record what came of it."""
        turn, self._concurrent_turn = self._concurrent_turn, None
        if turn is not None:
            turn.over.wait(PATIENCE)
            self._recorder.event(replace(turn.came_of_it, turn=self._recorder.turn))

    def kill(self, at: str) -> None:
        """End every process of the agent's, as the system does when it is out of memory."""
        processes = self._sandbox.processes
        # Told first: the turn may be over before the last of them is.
        running = len(processes.look(CANARY_KEY))
        self._recorder.event(Killed(at=at, processes=running, **self._recorder.place))
        processes.kill(CANARY_KEY)

    def close(self) -> None:
        """The agent was shut down: look at what it has left."""
        sandbox = self._sandbox
        processes = sandbox.processes.kill_remaining(CANARY_KEY)
        started, exposed = sandbox.processes.started, sandbox.processes.exposed
        self._recorder.event(LeftBehind(processes=processes, files=sandbox.changed(), started=started, exposed=exposed))

    # -- steps -------------------------------------------------------------------------------------------------

    def _perform(self, step: SessionStep) -> None:
        recorder, was = self._recorder, self._current_session()
        recorder.control.ask("operation-begins")
        recorder.doing = step.do
        try:
            stepped = self._steps[step.do](step)
        except ControlLost:
            raise
        except Untold as error:
            stepped = SessionStepped(do=step.do, outcome="nothing", message=str(error))
        except Exception as error:
            stepped = SessionStepped(
                do=step.do,
                outcome="refused",
                error=type(error).__name__,
                message=self._without_ids(text_of(error)),
                typed=isinstance(error, TurnproofError),
                unsupported=isinstance(error, NotImplementedError),
                raised=recorder.raised(error),
            )
        finally:
            recorder.doing = ""
        recorder.control.ask("operation-ended")
        self._sandbox.processes.look(CANARY_KEY)
        placed = {"asked": step.session, "cwd": step.cwd or "", "last": step.last, "turn": recorder.turn}
        recorder.event(replace(stepped, was=was, now=self._current_session(), **placed))
        self._run.snapshot(step.do)

    def _open(self, step: SessionStep) -> SessionStepped:
        labels = self._sandbox.labels
        session_id = labels.id_of(step.session) if step.session is not None else None
        self._close()
        self._sandbox.cwd = step.cwd or self._sandbox.cwd
        labels.expect(step.label or "")
        self._selection = {"session": session_id, "continue_last": step.last}
        try:
            self._run.open()
        finally:
            self._selection = {}
        return SessionStepped(do="open", outcome="done")

    def _close(self) -> None:
        session = self._run.session
        if session.close is not None:
            try:
                session.close(self._run.handle)
            except Exception as error:
                self._run.refused("close", error)

    def _new(self, step: SessionStep) -> SessionStepped:
        self._sandbox.labels.expect(step.label or "")
        self._needed("new_session")(self._run.handle)
        return SessionStepped(do="new", outcome="done")

    def _resume(self, step: SessionStep) -> SessionStepped:
        session_id = self._sandbox.labels.id_of(step.session or "")
        self._needed("resume_session")(self._run.handle, session_id)
        return SessionStepped(do="resume", outcome="done")

    def _continue(self, step: SessionStep) -> SessionStepped:
        session_id = self._needed("continue_last")(self._run.handle, self._folder_of(step))
        if session_id is None:
            return SessionStepped(do="continue", outcome="nothing")
        return SessionStepped(do="continue", outcome="done", returned=self._sandbox.labels.label_in_list(session_id))

    def _fork(self, step: SessionStep) -> SessionStepped:
        labels = self._sandbox.labels
        labels.expect(step.label or "")
        return SessionStepped(
            do="fork", outcome="done", returned=labels.label_of_session(self._needed("fork_session")(self._run.handle))
        )

    def _delete(self, step: SessionStep) -> SessionStepped:
        self._needed("delete_session")(self._run.handle, self._sandbox.labels.id_of(step.session or ""))
        return SessionStepped(do="delete", outcome="done")

    def _list(self, step: SessionStep) -> SessionStepped:
        found = self._needed("list_sessions")(self._run.handle, self._folder_of(step))
        return SessionStepped(do="list", outcome="done", listed=self._list_events(found))

    def _list_events(self, sessions: Sequence[SessionInfo]) -> tuple[SessionListed, ...]:
        for info in sessions:
            if not isinstance(info, SessionInfo):
                raise TypeError(f"the list of sessions has a {type(info).__name__} instead of a SessionInfo")
        times = sorted({last_update(info) for info in sessions if info.updated_at is not None}, reverse=True)
        entries = [
            SessionListed(
                session=self._sandbox.labels.label_in_list(info.session_id),
                cwd=self._sandbox.label_of(info.cwd),
                titled=bool(info.title),
                age=times.index(last_update(info)) if info.updated_at is not None else None,
                problem=info.problem is not None,
            )
            for info in sessions
        ]
        # The order is the agent's own; evidence has one that does not hang on its clock.
        return tuple(sorted(entries, key=lambda entry: (entry.session, entry.cwd)))

    def _damage(self, step: SessionStep) -> SessionStepped:
        count = self._sandbox.damage(self._sandbox.labels.id_of(step.session or ""))
        return SessionStepped(do="damage", outcome="done" if count else "nothing")

    def _later(self, step: SessionStep) -> SessionStepped:
        # The clock is the agent's own, which nobody can move. Some keep times in whole seconds: the next has to begin.
        time.sleep(1.02 - time.time() % 1.0)
        return SessionStepped(do="later", outcome="done")

    # -- what there is -----------------------------------------------------------------------------------------

    def _folder_of(self, step: SessionStep) -> str | None:
        if step.cwd == EVERYWHERE:
            return None
        return str(self._sandbox.folder(step.cwd or self._sandbox.cwd))

    def _current_session(self) -> str | None:
        session_id = self._run.session.session_id
        assert session_id is not None
        try:
            found = session_id(self._run.handle)
        except Exception as error:
            self._run.refused("session_id", error)
            return None
        return self._sandbox.labels.label_of_session(found)

    def _capability_fields(self) -> dict[str, Any]:
        """What the agent says it can do, with whatever it says beside that."""
        capabilities = self._run.session.session_capabilities
        if capabilities is None:
            return {}
        capability_set = capabilities(self._run.handle)
        names = {name for name in dir(capability_set) if name.startswith("can_")} | set(
            getattr(capability_set, "__dict__", ())
        )
        return {name: getattr(capability_set, name) for name in sorted(names)}

    def _program(self) -> str:
        """What the program behind the agent calls itself: one line, and nothing where it has not told."""
        if self._run.session.program is None:
            return ""
        try:
            program_name = self._run.session.program(self._run.handle)
        except Exception as error:
            self._run.refused("program", error)
            return ""
        return " ".join(str(program_name or "").replace(CANARY_KEY, "[key]").split())[:80]

    def _permits(self, call: FunctionCall) -> bool:
        return call.name not in self._denied

    def _needed(self, name: str) -> Callable[..., Any]:
        found: Callable[..., Any] | None = getattr(self._run.session, name)
        if found is None:
            raise NotImplementedError(f"{self._run.session.name!r} has no {name}")
        return found

    def _without_ids(self, text: str) -> str:
        return self._sandbox.labels.labelled(text).replace(str(self._sandbox.home.parent), "")
