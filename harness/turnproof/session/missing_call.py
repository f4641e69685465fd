"""A response that ends as if it called a tool and calls none: the model is told so, a few times.

Some models do that when they garble a call. The remark is sent as a message of the user and stays in the history as
one: what is held is what was sent, and what a provider has cached stays the beginning of every later request.
"""

from __future__ import annotations

from .._base.counts import counted
from ..errors import TurnproofError
from ..messages import Message, MessageIds, Text

NUDGE = "Your answer ended as if it called a tool, but there is no call in it. Call the tool, or answer without one."
"""What the model is told."""

MAX_NUDGES = 3
"""How often in one turn."""


class CallMissing(TurnproofError):
    """The model kept on ending its responses with `tool_use`, and called nothing; the turn was taken back."""

    def __init__(self, nudges: int) -> None:
        super().__init__(
            f"the model ended its response with tool_use and called no tool, also after it was told so "
            f"{counted(nudges, 'time')}; the history is as before the turn"
        )
        self.nudges = nudges


class MissingCalls:
    """Counts what was said in one turn."""

    def __init__(self, ids: MessageIds) -> None:
        self._ids = ids
        self._nudges = 0

    def next(self) -> Message:
        """What to say now. Raises CallMissing when it has been said often enough."""
        if self._nudges >= MAX_NUDGES:
            raise CallMissing(self._nudges)
        self._nudges += 1
        return Message("user", (Text(NUDGE),), self._ids())
