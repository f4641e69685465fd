"""The program while it runs: one process for turn after turn of one session."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from turnproof.cancel import CancelToken
from turnproof.errors import ProviderError

from .._child_process import Child, ChildLost
from .._errors import hide_secret
from .._program import GRACE
from ..claude_cli.lines import Line, ProgramRequest
from ..claude_cli.pipe import Pipe
from .settings import Running

PATIENCE = 4.0
"""Seconds given to the program to end a turn that is interrupted, before it is killed."""


class Live:
    """A process. Its questions go to `answers`, which every turn sets anew."""

    def __init__(
        self, running: Running, session_id: str | None, answers: Callable[[Pipe, str, ProgramRequest], bool]
    ) -> None:
        secret = running.program.api_key
        self._child = Child(
            running.command(session_id),
            environment=running.environment(),
            folder=running.program.folder,
            silence=running.silence,
            scrub=partial(hide_secret, secret=secret),
        )
        self.pipe = Pipe(self._child, secret)
        self.answers = answers
        self._lines = self.lines()

    @property
    def has_ended(self) -> bool:
        """Whether it has ended by itself meanwhile."""
        return self._child.has_ended

    def begin(self) -> None:
        """Wait until it is ready. Raises ProviderError where it is not going to be."""
        self.pipe.open(self._lines)

    def lines(self) -> Iterator[Line]:
        """What it says, to the end of its output. May be asked for anew after ChildLost, which says it is silent."""
        return self.pipe.lines(self._handle_request)

    def loss(self) -> ChildLost:
        """End it, for an output that ended too soon."""
        return self._child.loss()

    def end(self, *, grace: bool = True) -> None:
        """End it and what it has started. With `grace` it may store what it has to before."""
        self._child.end(grace=GRACE if grace else 0)

    def kill(self) -> None:
        """Kill it, from whatever thread."""
        self._child.kill()

    def _handle_request(self, number: str, request: ProgramRequest) -> None:
        if not self.answers(self.pipe, number, request):
            self.pipe.refuse(number, request)


class Brake:
    """What a cancel does to a turn, from whatever thread it comes.

    Before the turn is asked for it ends the process. Afterwards it interrupts the turn, which keeps what was said, and
    ends the process only where that does not help.
    """

    def __init__(self, live: Live, turn: CancelToken) -> None:
        self._live = live
        self._turn = turn
        self._lock = threading.Lock()
        self._killing = threading.Timer(PATIENCE, live.kill)
        self._killing.daemon = True
        self._is_requested = self._pulled = self._over = False

    def ask(self, line: dict[str, Any], token: CancelToken) -> None:
        """Ask for the turn. Raises Cancelled if the token is set."""
        with self._lock:
            token.raise_if_cancelled()
            self._is_requested = True
        self._live.pipe.write(line)

    def pull(self) -> None:
        """The turn is cancelled."""
        with self._lock:
            if self._over or self._pulled:
                return
            self._pulled = True
            if not self._is_requested:
                self._live.kill()
                return
            # First: the program may have stopped reading.
            self._killing.start()
        # One that is gone needs no telling; whoever reads its lines finds out.
        with contextlib.suppress(ProviderError):
            request = {"subtype": "interrupt"}
            self._live.pipe.write({"type": "control_request", "request_id": "stop", "request": request})
        self._turn.cancel()

    def release(self) -> None:
        """The turn is over: nothing ends the process any more."""
        with self._lock:
            self._over = True
            self._killing.cancel()
