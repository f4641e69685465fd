"""Windows: how much of a conversation a session sends at the most, as a binding claims it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from .errors import UsageError

Unit: TypeAlias = Literal["message", "turn", "item"]
_CLAIM = re.compile(r"([1-9][0-9]*) (message|turn|item)s?")


@dataclass(frozen=True, slots=True)
class Window:
    """The last so many messages, items or turns of what was said before the turn that is running.

    An item is a text, a call or a result by itself: a window of items may begin between the calls of one message.
    """

    count: int
    unit: Unit

    @classmethod
    def of_claim(cls, text: str) -> Window | None:
        """The window that a binding claims: `6 messages`, `1 turn`; None for `none`. Raises UsageError for others."""
        if text == "none":
            return None
        found = _CLAIM.fullmatch(text)
        if found is None:
            raise UsageError(
                f"window={text!r} is no window: say how many, as '6 messages', '6 items' or '3 turns', or 'none'"
            )
        unit = next(unit for unit in get_args(Unit) if unit == found[2])
        return cls(int(found[1]), unit)

    def __str__(self) -> str:
        return f"{self.count} {self.unit}{'' if self.count == 1 else 's'}"
