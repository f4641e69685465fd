"""The agent: a session that is open, and the process that goes on with it as long as nothing comes between."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from uuid import uuid4

from turnproof.agents import AgentSetup
from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled, ProviderError, ResumeError, UsageError
from turnproof.messages import Message, ProviderResponse
from turnproof.provider import JSONSchema
from turnproof.sessions import SessionCapabilities, SessionPage

from .._agent import AgentTurns, Content, one_at_a_time
from .._answers import Listeners
from .._child_process import ChildLost
from ..anthropic.plain_conversation import arrange_messages
from ..claude_cli.lifecycle import CLAUDE_CLI
from ..claude_cli.lines import Line, Result
from ..claude_cli.pipe import user_line
from ..claude_cli.tools import restorer
from .history import messages
from .live_program import Brake, Live
from .program_requests import ProgramRequests
from .session_files import SessionFiles
from .settings import NAME, SESSIONS, Running
from .turn import Turn, watch_calls

_UNKNOWN_SESSION = "No conversation found"


class ClaudeAgent(AgentTurns):
    """An `Agent`. The program is started by the first turn, and kept for those that follow in the same session."""

    def __init__(self, setup: AgentSetup) -> None:
        """Open the session that the setup asks for, the last one, or none: in this order, as far as they are there.

        Raises UsageError for settings that cannot be used.
        """
        super().__init__()
        names = [tool.schema.name for tool in setup.tools]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise UsageError(f"several tools are named {', '.join(map(repr, twice))}: a call could mean any of them")
        self._setup = setup
        self._running = Running.from_setup(setup)
        self._shelf = SessionFiles(Path(setup.home).absolute(), NAME)
        self._restore = restorer((), [tool.schema for tool in setup.tools])
        self._history: list[Message] = []
        self._version = ""
        self._live: Live | None = None
        self._turn = threading.Lock()
        self._shut = False
        self._take_up()

    def _take_up(self) -> None:
        # Each by itself: whatever is wrong with a session that was kept, there is always a new one.
        if self._setup.session is not None:
            with contextlib.suppress(Exception):
                self.resume_session(self._setup.session)
                return
        if self._setup.continue_last:
            with contextlib.suppress(Exception):
                self.continue_last(self._setup.cwd)

    # -- turns ------------------------------------------------------------------------------------------------------

    @property
    def history(self) -> Sequence[Message]:
        """What was said in the session that is open. Calls and results are the program's; it has no message ids."""
        return tuple(self._history)

    @property
    def program(self) -> str | None:
        """The program with the version that it told in the last turn; None before it has."""
        return f"Claude Code {self._version}" if self._version else None

    def _send(
        self, content: Content, response_schema: JSONSchema | None, listeners: Listeners, token: CancelToken
    ) -> ProviderResponse:
        # Text is streamed with and without `on_chunk`.
        with self._alone("another turn"):
            if self._shut:
                raise UsageError("the agent was shut down: open another one")
            token.raise_if_cancelled()
            if response_schema is not None:
                raise NotImplementedError(f"{NAME} does not heed a response schema")
            message = Message.user(content) if isinstance(content, str) else Message.user(*content)
            (wire,) = arrange_messages([message], CLAUDE_CLI, self._running.model).finish()
            return self._converse(message, wire, listeners, token)

    def _converse(
        self, message: Message, wire: dict[str, object], listeners: Listeners, token: CancelToken
    ) -> ProviderResponse:
        stop = CancelToken()
        errands = ProgramRequests(self._setup, self._restore, stop)
        turn = Turn(CLAUDE_CLI, self._restore, watch_calls(listeners, errands.calls), self._running.program.api_key)
        live, fresh = self._process(errands)
        brake, mark = Brake(live, stop), str(uuid4())
        forget = token.on_cancel(brake.pull)
        has_text = False
        try:
            if fresh:
                live.begin()
            brake.ask({**user_line(wire), "uuid": mark}, token)
            has_text = True
            result = self._result(live, turn, errands)
            response = turn.cancelled(result) if token.is_cancelled else turn.response(result)
        except ProviderError as error:
            if token.is_cancelled and has_text:
                return self._end_cancelled(turn)
            is_unknown = self._session_id is not None and _UNKNOWN_SESSION in str(error)
            if is_unknown:
                error = ResumeError(
                    f"claude: {error}: begin anew, or resume another", session_id=self._session_id or ""
                )
            stop.cancel()
            error.partial = turn.parts
            self._fail(turn, mark, error)
            if token.is_cancelled:
                raise Cancelled("the turn was cancelled before anything was said") from None
            raise error from None
        except BaseException:
            stop.cancel()
            self._fail(turn, mark, None)
            raise
        finally:
            forget()
            brake.release()
            self._version = turn.version or self._version
        self._session_id = turn.session_id or self._session_id
        self._history += [message, *messages(turn.messages, CLAUDE_CLI, self._restore)]
        return response

    def _process(self, errands: ProgramRequests) -> tuple[Live, bool]:
        """The process that the turn is asked of, and whether it was started for it."""
        live = self._live
        if live is not None and live.has_ended:
            self._stop()
            live = None
        if live is not None:
            live.answers = errands.handle
            return live, False
        live = self._live = Live(self._running, self._session_id, errands.handle)
        return live, True

    def _result(self, live: Live, turn: Turn, errands: ProgramRequests) -> Result:
        for line in self._lines(live, errands):
            result = turn.feed(line)
            if result is not None:
                return result
        raise live.loss()

    def _lines(self, live: Live, errands: ProgramRequests) -> Iterator[Line]:
        """Its lines. While a tool of ours runs it has nothing to say."""
        while True:
            try:
                yield from live.lines()
                return
            except ChildLost:
                if live.has_ended or errands.silent_for(self._running.silence):
                    raise

    def _fail(self, turn: Turn, mark: str, error: ProviderError | None) -> None:
        """Leave nothing of the turn: neither here, nor in the session that is gone on with."""
        if isinstance(error, ResumeError):
            self._session_id = None
            self._history.clear()
        # What was told to have ended is stored by then: one that is in the middle of a turn has nothing to add to it.
        self._stop(grace=turn.ended)
        session_id = self._session_id or turn.session_id
        if session_id is not None and not self._shelf.take_back(session_id, mark) and not self._history:
            self._session_id = None

    def _end_cancelled(self, turn: Turn) -> ProviderResponse:
        """The end of a turn that was cancelled, and whose process was ended with it: the session is as it is stored."""
        self._stop(grace=False)
        self._session_id = turn.session_id or self._session_id
        if self._session_id is not None:
            with contextlib.suppress(ResumeError):
                self._history = self._stored(self._session_id)
        return turn.cancelled(None)

    # -- sessions ---------------------------------------------------------------------------------------------------

    @property
    def session_capabilities(self) -> SessionCapabilities:
        """All of them."""
        return SESSIONS

    def list_sessions(self, *, cwd: str | None = None, cursor: str | None = None) -> SessionPage:
        """The sessions that the program has stored, newest first; those that cannot be resumed with the reason."""
        return self._shelf.page(cwd, cursor)

    def continue_last(self, cwd: str | None = None) -> str | None:
        """Resume the session of a folder that was updated last; of the agent's own, if none is given."""
        return super().continue_last(cwd if cwd is not None else self._setup.cwd)

    def _load(self, session_id: str) -> None:
        """Raises ResumeError for a session that is not there, or holds nothing that can be read. One that was begun in
        another folder goes on in this one."""
        with self._alone("a session to be resumed"):
            self._stop()
            self._history = self._stored(session_id)

    def _begin(self) -> None:
        with self._alone("a new session"):
            self._stop()
            self._history = []

    def _fork(self, session_id: str) -> str:
        with self._alone("a session to be forked"):
            self._stop()
            return self._shelf.copy(session_id)

    def _delete(self, session_id: str) -> None:
        with self._alone("a session to be deleted"):
            if session_id == self._session_id:
                self._stop()
            self._shelf.delete(session_id)

    def _stored(self, session_id: str) -> list[Message]:
        return messages(self._shelf.load(session_id).messages, CLAUDE_CLI, self._restore)

    # -- the end ----------------------------------------------------------------------------------------------------

    def shutdown(self) -> None:
        """End the program; a turn that runs fails. The home stays."""
        self._shut = True
        if self._turn.acquire(blocking=False):
            try:
                self._stop()
            finally:
                self._turn.release()
        elif (live := self._live) is not None:
            live.kill()

    def _stop(self, *, grace: bool = True) -> None:
        live, self._live = self._live, None
        if live is not None:
            live.end(grace=grace)

    def _alone(self, what: str) -> AbstractContextManager[None]:
        return one_at_a_time(self._turn, f"a turn is running: {what} has to wait for its end")
