"""A turn that somebody else asks the same agent for, while another one runs."""

from __future__ import annotations

import threading

from ...cancel import CancelToken
from ...errors import TurnproofError
from ...subject import SessionTurn
from ..tracebacks import text_of
from ..transcript import SaidBeside
from .run_session import RunSession

AT_ONCE = 2.0
"""Seconds in which a refusal comes; a turn that waits does so until the other one has ended."""

PATIENCE = 10.0
"""Seconds that it may take behind the other one."""


class ConcurrentTurn:
    """Says something in a thread of its own. `came_of_it` tells what, once it is `over`."""

    def __init__(self, run: RunSession, text: str) -> None:
        self.over = threading.Event()
        self.came_of_it = SaidBeside(outcome="open")
        self._run = run
        self._text = text
        threading.Thread(target=self._send, daemon=True, name="turnproof-beside").start()

    def _send(self) -> None:
        try:
            reply = self._run.session.send(self._run.handle, self._text, SessionTurn(CancelToken()))
            self.came_of_it = SaidBeside(outcome="answer", text=reply.text)
        except Exception as error:
            typed = isinstance(error, TurnproofError)
            self.came_of_it = SaidBeside(
                outcome="error",
                error=type(error).__name__,
                message=text_of(error),
                typed=typed,
                raised=self._run.recorder.raised(error),
            )
        finally:
            self.over.set()
