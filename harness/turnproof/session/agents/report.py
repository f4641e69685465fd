"""`Report`: what a subagent tells its parent, once."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from ...messages import FinishReason

ReportKind: TypeAlias = Literal["completed", "idle", "cancelled", "error"]
"""`completed`, `cancelled` and `error` end a run of the subagent; `idle` says that it now waits to be spoken to."""


class Report(msgspec.Struct, frozen=True):
    """How a run ended: with an answer, with what had been said until a cancel, or with an error in words.

    `finish` is why the model stopped, where it answered: an answer may have been cut off.
    """

    agent: str
    kind: ReportKind
    text: str = ""
    finish: FinishReason | None = None

    @property
    def ending(self) -> str:
        """How, in a word or two: `completed`, or `completed, max_tokens` where the model did not stop by itself."""
        return self.kind if self.finish in (None, FinishReason.STOP) else f"{self.kind}, {self.finish}"

    def __str__(self) -> str:
        """The words in which the parent's model reads it."""
        head = f"[subagent {self.agent}: {self.ending.upper()}]"
        return f"{head}\n{self.text}" if self.text else head
