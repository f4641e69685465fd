"""How a program that runs as a child process came to its end, in the words of an error.

What it says on stderr is for people, and often tells why: the end of it is kept.
"""

from __future__ import annotations

import signal
from collections.abc import Callable

GRACE = 2.0
"""Seconds given to a program to end by itself before it is killed."""

_TOLD = 4000
"""Bytes of stderr that are kept."""


class LastWords:
    """What a program said last on stderr. `scrub` makes it fit to be shown."""

    def __init__(self, scrub: Callable[[str], str]) -> None:
        self._scrub = scrub
        self._told = b""

    def hear(self, piece: bytes) -> None:
        """Take what it says, in pieces of any size."""
        self._told = (self._told + piece)[-_TOLD:]

    def __str__(self) -> str:
        """As it stands behind an error's own words; empty where nothing was said."""
        told = self._told
        if len(told) == _TOLD:
            told = told.partition(b"\n")[2] or told  # the first line is cut off
        said = told.decode("utf-8", "replace").strip()
        return f"; on stderr: {self._scrub(said)}" if said else ""


def how_it_ended(code: int | None) -> str:
    """What became of a program that has said its last line: its exit code, negative for a signal; None for one that had
    to be ended."""
    if code is None:
        return "hung up without ending"
    return f"was ended by {_signal_name(-code)}" if code < 0 else f"ended with exit code {code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # most real-time signals have no name
        return f"signal {number}"
