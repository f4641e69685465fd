"""How much of its history a session sends, where it does not send all of it.

A window is made anew for each turn, of what was said before it: the turn that is running is sent whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ..errors import UsageError
from ..gc import turn_starts
from ..messages import Message

SendWindow: TypeAlias = Callable[[Sequence[Message]], int]
"""Where in the history before a turn that begins which is sent."""


def last_turns(count: int) -> SendWindow:
    """So many turns before the running one."""
    _check(count)

    def begin(history: Sequence[Message]) -> int:
        starts = turn_starts(history)
        return starts[-count] if len(starts) > count else 0

    return begin


def last_messages(count: int) -> SendWindow:
    """At the most so many messages before the running turn, from the beginning of a turn on."""
    _check(count)

    def begin(history: Sequence[Message]) -> int:
        first = len(history) - count
        return next((start for start in (0, *turn_starts(history)) if start >= first), len(history))

    return begin


def _check(count: int) -> None:
    if count < 1:
        raise UsageError(f"a window has at least one turn or message, got {count!r}")
