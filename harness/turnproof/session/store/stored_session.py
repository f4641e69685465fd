"""`KeptSession`: a session whose turns are on the disk before anybody is told that they are done."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from ..._base.closeable import Closeable
from ...background_answers import RunningAnswer
from ...errors import UsageError
from ...messages import FunctionCall, Message, Part, Text, TokenUsage, ToolResult
from ..conversation import quietly
from ..inbox import Sender
from ..observer import SessionObserver
from ..persistence import Connection, InterruptedTurn, SessionState, UserInput
from ..result import TurnResult
from ..session import Session
from .errors import StoreError
from .journal import Problem
from .log_records import AnswerBegan, Began, Called, Changed, Changes, Ended, Returned
from .session_log import SessionLog
from .signals import uninterrupted
from .unsaved import Difference, Stored

T = TypeVar("T")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """How often a session is written whole, and what time it is."""

    checkpoint_every: int
    now: Callable[[], datetime]


@dataclass(slots=True)
class _RunningTurn:
    """The number of a turn, what was said to begin it, and what is noticed while it runs.

    `answer` is what the service works on in the background, `noted_ids` are the messages that the log has already.
    """

    number: int
    content: tuple[Part, ...]
    first: Message | None = None
    inputs: list[UserInput] = field(default_factory=list)
    answer: RunningAnswer | None = None
    noted_ids: set[str] = field(default_factory=set)


class KeptSession(Closeable):
    """Takes turns with a session, and stores each. Made by `FileStore.create` and `FileStore.resume`.

    What `send` has returned will be there after a crash, of this process or of the machine. Between turns the session
    may be used directly; what was changed so is stored with the next turn, or by `save`, or at once through `change`.
    One thing at a time: whatever comes while a turn runs raises UsageError. A `SessionManager` lets several clients
    wait for each other instead.

    Leaving it as a context manager saves and closes it, whatever the reason.
    """

    def __init__(self, session: Session, log: SessionLog, checkpoints: Checkpoints) -> None:
        self.session = session
        self._log = log
        self._checkpoints = checkpoints
        self._busy = threading.Lock()
        self._turn: _RunningTurn | None = None
        self._since_checkpoint = 0
        state = log.state
        self._connection = state.connection
        self._stored = Stored(session, state)
        self._forget = session.observe(_Notes(self))
        session.history.mark_saved()

    # What is stored

    @property
    def session_id(self) -> str:
        """The id by which the store has it."""
        return self._log.session_id

    @property
    def state(self) -> SessionState:
        """The session as it would be loaded now."""
        return self._log.state

    @property
    def interrupted(self) -> InterruptedTurn | None:
        """The turn that a process died in, or that failed while the service worked on its answer in the background.

        Until the next one begins. With an `answer` it can be taken up.
        """
        return self._log.interrupted

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What was not as it should be when the session was loaded. What could be read of it is here all the same."""
        return self._log.problems

    # Turns

    def send(self, content: str | Sequence[Part], **options: Any) -> TurnResult:
        """A turn: `Session.send`, with its options, and the turn is on the disk when this returns.

        Raises StoreError before anything is sent if nothing can be written. If the end of the turn cannot be written,
        the error has it as `result`: the session goes on from it, and it is written before anything else is.
        """
        parts = Message.user(*([content] if isinstance(content, str) else content)).parts
        with self._alone():
            return self._run_turn(parts, lambda: self.session.send(content, **options))

    def send_waiting(self, **options: Any) -> TurnResult | None:
        """A turn on what was said to the session and still waits; None if nothing does."""
        with self._alone():
            if not self.session.waiting:
                return None
            return self._run_turn((), lambda: self.session.send_waiting(**options))

    def take_up(self, **options: Any) -> TurnResult:
        """Go on with the interrupted turn, whose answer the service has or works on: `Session.take_up`.

        Raises UsageError where `interrupted` has no `answer`.
        """
        with self._alone():
            turn = self._log.interrupted
            if turn is None or turn.answer is None:
                raise UsageError("no interrupted turn of this session has an answer that can be taken up")
            running = _RunningTurn(self._log.next_turn, turn.content, answer=turn.answer)
            running.noted_ids.update(message.message_id for message in turn.messages)
            return self._finish(running, lambda: self.session.take_up(turn, **options))

    def stop(self) -> bool:
        """Cancel the running turn, from any thread. False if none is running."""
        return self.session.stop()

    # Changes

    def change(self, action: Callable[[Session], T], *, connection: Connection | None = None) -> T:
        """Do something to the session between turns, and store what came of it.

        `connection` names the provider from now on, for an action that swaps it.
        """
        with self._alone():
            done = action(self.session)
            self._connection = connection or self._connection
            self._store_changes()
            return done

    def describe(self, description: str | None) -> None:
        """Say what the session is about, for people who choose from a list."""
        with self._alone():
            self._log.keep(Changed(at=self._checkpoints.now(), changes=Changes(description=description)))

    def save(self) -> None:
        """Store what has changed, and write the whole state. Raises StoreError; the older state is then still there."""
        with self._alone():
            self._save()

    def close(self) -> None:
        """Store what has changed, and let others open the session, even if that fails. Calling it twice is harmless.

        In a process that was forked from the one which opened the session nothing is stored, and it stays open there.
        """
        if self._log.closed:
            return
        if self._log.is_copy:
            self._log.close()
            return
        with self._alone():
            try:
                self._store_changes()
                if self._log.due:
                    self._log.checkpoint()
            finally:
                self._forget()
                self._log.close()

    # Inside

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self._log.refuse_copies()  # before the lock, whose holder may not be in this process
        if not self._busy.acquire(blocking=False):
            raise UsageError("a turn of this session is running: wait for it, or stop() it first")
        try:
            if self._log.closed:
                raise UsageError("this session is closed: resume it from the store")
            yield
        finally:
            self._busy.release()

    def _run_turn(self, content: tuple[Part, ...], run: Callable[[], T]) -> T:
        self._log.flush()
        turn = _RunningTurn(self._log.next_turn, content)
        self._log.note(Began(at=self._checkpoints.now(), turn=turn.number, content=content))
        return self._finish(turn, run)

    def _finish(self, turn: _RunningTurn, run: Callable[[], T]) -> T:
        self._turn = turn
        try:
            result = run()
        except BaseException as error:
            kind = type(error).__name__
            # With an answer at the service the turn is only interrupted.
            if turn.answer is None:
                quietly("storing the end of a failed turn", lambda: self._end(turn, error=kind))
            raise
        finally:
            self._turn = None
        assert isinstance(result, TurnResult)
        try:
            self._end(turn, result)
        except StoreError as error:
            error.result = result
            raise
        self._checkpoint_if_due(turn.number)
        return result

    def _end(self, turn: _RunningTurn, result: TurnResult | None = None, *, error: str | None = None) -> None:
        new = self._stored.difference(self.session, self._connection, turn.first)
        added, user = new.added.messages, None
        if result and turn.content and added and added[0].role == "user" and added[0].parts == turn.content:
            user, added = added[0].message_id, added[1:]
        if result and new.changes.get("usage") == result.usage:
            del new.changes["usage"]
        ended = Ended(
            at=self._checkpoints.now(),
            turn=turn.number,
            outcome=result.outcome if result else "failed",
            user=user,
            messages=added,
            typed=new.added.typed,
            inputs=tuple(turn.inputs),
            usage=result.usage if result else TokenUsage(),
            rounds=result.rounds if result else 0,
            attempts=result.attempts if result else 0,
            error=error,
            changes=Changes(**new.changes) if new.changes else None,
        )
        self._keep(ended, new)

    def _save(self) -> None:
        self._store_changes()
        self._log.checkpoint()
        self._since_checkpoint = 0

    def _store_changes(self) -> None:
        new = self._stored.difference(self.session, self._connection, whole=True)
        if new.changes:
            self._keep(Changed(at=self._checkpoints.now(), changes=Changes(**new.changes)), new)
        else:
            self._log.flush()

    def _keep(self, record: Ended | Changed, new: Difference) -> None:
        # The record and the note of what it contains belong together: a Ctrl-C comes before both or after both.
        with uninterrupted():
            try:
                self._log.keep(record)
            except StoreError:
                self._stored.mark_stored(new)  # it will be stored before anything else is
                raise
            self._stored.mark_stored(new)
            self.session.history.mark_saved()

    def _checkpoint_if_due(self, turn: int) -> None:
        self._since_checkpoint += 1
        # The first turn gives a session its title in lists, which are made of states.
        if turn > 0 and (self._since_checkpoint < self._checkpoints.checkpoint_every or not self._log.due):
            return
        try:
            self._log.checkpoint()
        except StoreError:
            # The turn is in the log, and so acknowledged; the state is written at the next occasion.
            _log.exception("the state of session %r could not be written", self.session_id)
        else:
            self._since_checkpoint = 0


class _Notes(SessionObserver):
    """Notices what happens in a running turn, and which tools were at work, should the process die in it."""

    def __init__(self, stored_session: KeptSession) -> None:
        self._stored_session = stored_session

    def on_turn_began(self, user: Message) -> None:
        """The message from which on everything is new."""
        if turn := self._stored_session._turn:
            turn.first = user

    def on_delivered(self, message: Message, sender: Sender) -> None:
        """What the user says in mid-turn is typed, too."""
        if sender == "user" and (turn := self._stored_session._turn):
            text = "".join(part.text for part in self._stored_session.session.typed(message) if isinstance(part, Text))
            turn.inputs.append(UserInput(at=self._stored_session._checkpoints.now(), text=text))

    def on_answer_began(self, answer: RunningAnswer, messages: Sequence[Message]) -> None:
        """On the disk before anybody waits for it: it can be taken up from now on."""
        if turn := self._stored_session._turn:
            turn.answer = answer
            new = tuple(message for message in messages if message.message_id not in turn.noted_ids)
            typed = self._stored_session.session.typed_records(new)
            now = self._stored_session._checkpoints.now()
            self._stored_session._log.keep(AnswerBegan(at=now, answer=answer, messages=new, typed=typed))
            turn.noted_ids.update(message.message_id for message in new)

    def on_answer_ended(self, answer: RunningAnswer) -> None:
        """It has come, or never will."""
        if turn := self._stored_session._turn:
            turn.answer = None

    def on_tool_began(self, call: FunctionCall) -> None:
        """It may have an effect from now on."""
        if turn := self._stored_session._turn:
            log = self._stored_session._log
            # Where an answer is noted, the log must not forget that a tool of it has begun: it is not taken up then.
            write = log.keep if turn.noted_ids else log.note
            write(Called(at=self._stored_session._checkpoints.now(), call=call))

    def on_tool_ended(self, call: FunctionCall, result: ToolResult) -> None:
        """Its effect is complete, if it has one."""
        if self._stored_session._turn:
            self._stored_session._log.note(Returned(at=self._stored_session._checkpoints.now(), call_id=call.id))
