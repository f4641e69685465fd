"""The sessions of an agent program over the Agent Client Protocol: which is open, and how another one is."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from acp import RequestError

from turnproof.agents import AgentSetup
from turnproof.errors import AuthenticationError, ProviderError, ResumeError, TransportError, UsageError
from turnproof.messages import Message
from turnproof.sessions import SessionCapabilities, SessionPage, every_session, newest

from .._agent import AgentTurns, one_at_a_time
from .calls import Calls
from .failures import error_text, typed_error
from .program import Program
from .restarting_program import RestartingProgram
from .session_list import page
from .transcript import Transcript

_log = logging.getLogger(__name__)

_QUIET = 0.3
"""Seconds without an update after which a late replay counts as told to its end."""


class AcpSessions(AgentTurns):
    """What an agent does with its sessions. The program is started when it is first needed.

    What can be done is what the program says at its start; what it does not say is not asked of it. A program may be in
    the middle of telling a loaded session when that counts as loaded (Gemini CLI): what it tells is history.
    """

    def __init__(self, program: Program, setup: AgentSetup) -> None:
        super().__init__()
        self._program = program
        self._setup = setup
        self._link = RestartingProgram(program, setup)
        self._alone = threading.Lock()
        self._session_chosen = setup.session is not None or setup.continue_last
        """Whether the setup asks for a session that was not looked for yet."""
        self._open: str | None = None
        """The session that the running program has open."""
        self._has_begun = False
        """Whether a message was said in the session."""
        self._history: list[Message] = []
        self._replay: Transcript | None = None
        self._calls = self._no_calls()
        self._closed = False

    # -- sessions -------------------------------------------------------------------------------------------------

    @property
    def session_capabilities(self) -> SessionCapabilities:
        """What the program says of itself; it is started for it."""
        self._check_open()
        return self._link.started().sessions

    @property
    def session_id(self) -> str | None:
        """The session that is open; what the setup asks for is opened for it."""
        self._settle()
        return self._session_id

    @property
    def program(self) -> str | None:
        """What the program calls itself, with its version, since it was started; None before."""
        return self._link.introduced

    @property
    def history(self) -> Sequence[Message]:
        """What was said, as far as the program has shown it."""
        self._settle()
        if self._alone.acquire(blocking=False):
            try:
                self._hear_replay()
            finally:
                self._alone.release()
        return tuple(self._history)

    def list_sessions(self, *, cwd: str | None = None, cursor: str | None = None) -> SessionPage:
        """As the program lists them, of `cwd` alone. Empty where it does not list."""
        self._check_open()
        if not self._link.started().can("list"):
            return SessionPage()
        parameters = {name: value for name, value in (("cwd", cwd), ("cursor", cursor)) if value is not None}
        try:
            return page(self._link.ask("session_list", **parameters), self._program.name, cwd)
        except RequestError as error:
            raise typed_error(error, "", self._link.scrub) from None

    def resume_session(self, session_id: str) -> None:
        """Load it. Raises ResumeError where the program cannot, and all stays as it was."""
        with self._one_at_a_time():
            super().resume_session(session_id)
            self._session_chosen = False

    def continue_last(self, cwd: str | None = None) -> str | None:
        """Load the session of `cwd` that was updated last; None is the agent's own folder."""
        self._check_open()
        return super().continue_last(self._setup.cwd if cwd is None else cwd)

    def new_session(self) -> None:
        """Let go of the session; the next message begins another."""
        with self._one_at_a_time():
            super().new_session()

    def fork_session(self) -> str:
        """Go on in a copy."""
        with self._one_at_a_time():
            self._open_wanted()
            return super().fork_session()

    def delete_session(self, session_id: str) -> None:
        """Remove it. Raises ResumeError where the program has none of that id."""
        with self._one_at_a_time():
            if not self.session_capabilities.can_delete:
                raise NotImplementedError(f"{self._program.name} cannot delete a session")
            self._delete(session_id)
            if session_id == self._session_id:
                super().new_session()

    def _load(self, session_id: str) -> None:
        transcript, calls = self._reopen(session_id)
        self._history, self._replay, self._calls, self._has_begun = [], transcript, calls, True
        self._hear_replay()

    def _begin(self) -> None:
        self._leave()
        self._session_chosen = False
        self._history, self._replay, self._calls, self._has_begun = [], None, self._no_calls(), False

    def _fork(self, session_id: str) -> str:
        self._ensure_session()
        try:
            answer = self._link.open("session_fork", sessionId=session_id)
        except RequestError as error:
            raise typed_error(error, "", self._link.scrub) from None
        copy = answer.get("sessionId")
        if not isinstance(copy, str) or not copy:
            raise TransportError(f"{self._program.name} forked a session, and did not say where to")
        self._hear_replay()
        self._leave()
        self._open, self._replay = copy, None
        return copy

    def _delete(self, session_id: str) -> None:
        if self._link.started().can("list"):
            known = {info.session_id for info in every_session(self)}
            if session_id not in known and session_id != self._session_id:
                raise ResumeError(f"{self._program.name} has no session {session_id!r}", session_id=session_id)
        if session_id == self._open:
            self._leave()
        try:
            self._link.ask("session_delete", sessionId=session_id)
        except RequestError as error:
            text = error_text(error, self._link.scrub)
            raise ResumeError(
                f"{self._program.name} cannot delete session {session_id!r}: {text}", session_id=session_id
            ) from None

    # -- opening --------------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Open what the setup asks for, if nobody is at it."""
        if self._session_chosen and not self._closed and self._alone.acquire(blocking=False):
            try:
                self._open_wanted()
            finally:
                self._alone.release()

    def _open_wanted(self) -> None:
        """The session that the setup asks for, or the last one; opening does not fail for either."""
        if not self._session_chosen:
            return
        self._link.started()
        self._session_chosen = False
        if self._setup.session is not None and self._try_load(self._setup.session):
            return
        if self._setup.continue_last:
            try:
                last = newest(self, self._setup.cwd) if self.session_capabilities.can_continue_last else None
            except ProviderError as error:
                _log.debug("%s: its sessions cannot be listed: %s", self._program.name, error)
                return
            if last is not None:
                self._try_load(last.session_id)

    def _try_load(self, session_id: str) -> bool:
        try:
            if not self._link.started().sessions.can_load:
                return False
            self._load(session_id)
        except ProviderError as error:
            _log.debug("%s: session %s cannot be opened: %s", self._program.name, session_id, error)
            return False
        self._session_id = session_id
        return True

    def _reopen(self, session_id: str) -> tuple[Transcript, Calls]:
        """Have the program open a stored session; what it tells of it goes into the transcript."""
        run = self._link.started()
        self._hear_replay()
        ways = [way for way in ("load", "resume") if run.can(way)]
        refused = "it can open no session again"
        for way in ways:
            calls = self._no_calls()
            transcript = Transcript(calls, self._program.noise)
            if way == "load" and self._program.before_load is not None:
                self._program.before_load(Path(self._setup.home), session_id)
            try:
                self._link.open(f"session_{way}", sessionId=session_id)
            except RequestError as error:
                self._drain(None)
                refused = error_text(error, self._link.scrub)
                _log.debug("%s: session/%s of %s: %s", self._program.name, way, session_id, refused)
                known = typed_error(error, "", self._link.scrub)
                if isinstance(known, AuthenticationError):
                    raise known from None
                continue
            if self._open != session_id:
                self._leave()
            self._open = session_id
            self._drain(transcript, quiet=self._program.replays_late and way == "load")
            return transcript, calls
        raise ResumeError(
            f"{self._program.name} cannot resume session {session_id!r}: {refused}. Its home is {self._setup.home}, "
            "and a session belongs to the folder it was begun in: list_sessions() tells what there is",
            session_id=session_id,
        )

    def _ensure_session(self) -> None:
        """Have a session open in the running program: the one that was open, or the one that is wanted, or a new."""
        if self._link.running is None:
            self._open = None
        self._link.started()
        self._open_wanted()
        if self._open is not None:
            return
        if self._session_id is not None:
            try:
                self._reopen(self._session_id)
                self._replay = None  # it is known already, without the turn that was lost
                return
            except ResumeError:
                if self._history:
                    raise
                _log.debug("%s: a session in which nothing was said is begun anew", self._program.name)
        try:
            answer = self._link.open("session_new")
        except RequestError as error:
            raise typed_error(error, "", self._link.scrub) from None
        created = answer.get("sessionId")
        if not isinstance(created, str) or not created:
            raise TransportError(f"{self._program.name} began a session, and did not say which")
        self._open = self._session_id = created
        self._has_begun = False

    def _leave(self) -> None:
        """Have the program forget the session that is open: what is stored of it stays."""
        run, left, self._open = self._link.running, self._open, None
        if run is not None and left is not None and run.can("close"):
            with contextlib.suppress(RequestError, TransportError):
                self._link.ask("session_close", sessionId=left)

    # -- what is heard between turns ------------------------------------------------------------------------------

    def _hear_replay(self) -> None:
        """Take what has come since: a replay's are history, and all else is nobody's."""
        self._drain(self._replay)
        if self._replay is not None:
            self._history = self._replay.messages()

    def _drain(self, transcript: Transcript | None, *, quiet: bool = False) -> None:
        while True:
            try:
                session_update = self._link.inbox.get(timeout=_QUIET) if quiet else self._link.inbox.get_nowait()
            except queue.Empty:
                return
            if session_update is not None and transcript is not None and session_update[0] == self._open:
                transcript.feed(session_update[1])

    # -- the agent itself -----------------------------------------------------------------------------------------

    def shutdown(self) -> None:
        """End the program, and the thread that speaks to it."""
        self._closed = True
        self._link.close()

    def _drop(self) -> None:
        self._open = None
        self._link.drop()

    def _no_calls(self) -> Calls:
        return Calls(tool.schema.name for tool in self._setup.tools)

    def _check_open(self) -> None:
        if self._closed:
            raise UsageError(f"{self._program.name} was shut down")

    @contextlib.contextmanager
    def _one_at_a_time(self) -> Iterator[None]:
        self._check_open()
        busy = f"{self._program.name} is in the middle of a turn: wait for it, or cancel it"
        with one_at_a_time(self._alone, busy):
            yield
