"""Children of a run's session: each a session of its own, spoken to alone, or while others are under way."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from ...cancel import CancelToken
from ...errors import Cancelled as CancelledError
from ...scenarios.model import Turn
from ...subject import SessionReply, SessionTurn
from ..tracebacks import text_of
from ..transcript import ChildEnded
from .recorder import in_child
from .run_session import RunSession
from .tools import PATIENCE

ASKING_LIMIT = 5.0
"""Seconds that the request of a child may take while others wait for their answers."""

_LOOK = 0.005
"""Seconds between two looks whether it has come."""


class Children:
    """The children of one session, by number; each is spawned when it is first spoken to."""

    def __init__(self, run: RunSession) -> None:
        self._run = run
        self._concurrent_turns: list[_BesideTurn] = []

    def handle(self, number: int = 0) -> Any:
        """The child of that number."""
        run = self._run
        if number not in run.child_handles:
            assert run.session.spawn is not None
            run.child_handles[number] = run.session.spawn(run.handle)
        return run.child_handles[number]

    def turn(self, turn: Turn) -> None:
        """A whole turn of the first child. Raises what the session raises."""
        run, child = self._run, self.handle()
        run.recorder.child, run.recorder.streamed = True, run.streams
        try:
            run.session.send(child, turn.text, SessionTurn(CancelToken(), _unseen if run.streams else None))
        finally:
            run.recorder.child = False
            run.tools.flush()

    def turns_at_once(self, turns: Sequence[Turn]) -> None:
        """A turn of each child. All of them ask before the first is answered, as far as the session has them do so."""
        for number in range(len(turns)):
            self.handle(number)
        self._concurrent_turns = [
            _BesideTurn(self._run, self.handle(number), number, turn) for number, turn in enumerate(turns)
        ]
        for one in self._concurrent_turns:
            one.begin()
        self.end()

    def begin_outliving(self, turn: Turn) -> None:
        """A turn of the first child begins, which gets its answer when `end` is called."""
        self._concurrent_turns = [_BesideTurn(self._run, self.handle(), 0, turn)]
        self._concurrent_turns[0].begin()

    def end(self) -> None:
        """The turns beside others come to their end, and are put down in the order of the children."""
        turns, self._concurrent_turns = self._concurrent_turns, []
        for one in turns:
            one.end()
        self._run.recorder.control.ask("children-are-over")
        for one in turns:
            self._run.recorder.event(one.ended)

    def turn_by_tool(self, turn: Turn, token: CancelToken) -> str:
        """A turn of the first child under the token that a tool was given: what the child answers.

        Raises what the session raises, and `Cancelled` where the turn of the child was cancelled.
        """
        self._concurrent_turns = [_BesideTurn(self._run, self.handle(), 0, turn, token)]
        return self._concurrent_turns[0].run_in_tool()


class _BesideTurn:
    """A turn of a child that others go on beside. `ended` is how, once it has."""

    def __init__(self, run: RunSession, handle: Any, number: int, turn: Turn, token: CancelToken | None = None) -> None:
        self.ended = ChildEnded(child=number, outcome="open", turn=run.recorder.turn)
        self._run = run
        self._handle = handle
        self._number = number
        self._turn = turn
        self._token = token or CancelToken()
        self._thread: threading.Thread | None = None
        self._over = threading.Event()
        self._has_requested = False

    def begin(self) -> None:
        """Speak to the child, in a thread of its own, and wait until its request has come or it ended without one."""
        control = self._run.recorder.control
        control.ask("child-begins", (self._number, True))
        self._thread = threading.Thread(target=self._send_quietly, daemon=True, name=f"turnproof-child-{self._number}")
        self._thread.start()
        until = time.monotonic() + ASKING_LIMIT
        while time.monotonic() < until and not self._has_requested:
            self._has_requested = control.ask("child-has-asked", self._number)
            if not self._has_requested and self._over.wait(_LOOK):
                break

    def end(self) -> None:
        """Have the child answered, and wait for the end of its turn. One in a tool has ended with the tool, which a
        session that leaves its turn may have left running."""
        if self._thread is None:
            self._over.wait(PATIENCE)
            return
        self._run.recorder.control.ask("child-may-be-answered", self._number)
        self._thread.join()
        self._run.recorder.control.ask("child-is-over", self._number)

    def run_in_tool(self) -> str:
        """All of it, in the thread of the tool."""
        control = self._run.recorder.control
        control.ask("child-begins", (self._number, False))
        try:
            reply = self._send()
        finally:
            control.ask("child-is-over", self._number)
            self._over.set()
        if reply.outcome == "cancelled":
            raise CancelledError
        return reply.text

    def _send_quietly(self) -> None:
        try:
            self._send()
        except BaseException:  # told by `ended`
            return
        finally:
            self._over.set()

    def _send(self) -> SessionReply:
        run, was = self._run, self.ended
        marked = in_child.set(True)
        try:
            listener = run.recorder.hear if run.streams else None
            reply = run.session.send(self._handle, self._turn.text, SessionTurn(self._token, listener))
            if not isinstance(reply, SessionReply):
                raise TypeError(f"the session returned {type(reply).__name__}, not a SessionReply")
        except BaseException as error:
            cancelled = isinstance(error, CancelledError)
            self.ended = replace(
                was,
                outcome="cancelled" if cancelled else "error",
                asked=self._has_requested,
                error=type(error).__name__,
                message=text_of(error),
                raised=run.recorder.raised(error),
            )
            raise
        finally:
            in_child.reset(marked)
        self.ended = replace(was, outcome=reply.outcome, text=reply.text, asked=self._has_requested)
        return reply


def _unseen(text: str) -> None:
    """What a child says is for its parent's user only if the parent says so."""
