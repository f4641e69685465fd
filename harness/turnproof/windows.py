"""Windows: how much of a conversation a session sends at the most, as a binding claims it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from .errors import UsageError

_CLAIM = re.compile(r"([1-9][0-9]*) (message|turn)s?")


@dataclass(frozen=True, slots=True)
class Window:
    """The last so many messages, or the last so many turns, of what was said before the turn that is running."""

    count: int
    unit: Literal["message", "turn"]

    @classmethod
    def of_claim(cls, text: str) -> Window | None:
        """The window that a binding claims: `6 messages`, `1 turn`; None for `none`. Raises UsageError for others."""
        if text == "none":
            return None
        found = _CLAIM.fullmatch(text)
        if found is None:
            raise UsageError(f"window={text!r} is no window: say how many, as '6 messages' or '3 turns', or 'none'")
        return cls(int(found[1]), "message" if found[2] == "message" else "turn")

    def __str__(self) -> str:
        return f"{self.count} {self.unit}{'' if self.count == 1 else 's'}"
