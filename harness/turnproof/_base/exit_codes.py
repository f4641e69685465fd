"""Exit codes: what they mean, and which one wins.

    0    all claimed MUSTs held (or: the command did what it was asked)
    1    violations
    2    usage, environment or harness fault
    3    nothing measured, or a MUST inconclusive
    130  interrupted
    143  terminated, by SIGTERM; otherwise as 130
    141  the reader of the output has gone, as `| head` does; nothing is said about it

Where several apply, the order is 141, 143, 130, 2, 1, 3, 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class Exit(IntEnum):
    """The exit codes of every command."""

    OK = 0
    VIOLATIONS = 1
    FAULT = 2
    UNDECIDED = 3
    INTERRUPTED = 130
    TERMINATED = 143
    READER_GONE = 141  # what a shell shows for a program that SIGPIPE ended

    @property
    def words(self) -> str:
        """What the code says, as printed at the end of a run."""
        return _WORDS[self]


_WORDS = {
    Exit.OK: "ok",
    Exit.VIOLATIONS: "violations",
    Exit.FAULT: "usage, environment or harness fault",
    Exit.UNDECIDED: "nothing measured, or a MUST inconclusive",
    Exit.INTERRUPTED: "interrupted",
    Exit.TERMINATED: "terminated",
    Exit.READER_GONE: "the reader of the output has gone",
}

_PRECEDENCE = (
    Exit.READER_GONE,
    Exit.TERMINATED,
    Exit.INTERRUPTED,
    Exit.FAULT,
    Exit.VIOLATIONS,
    Exit.UNDECIDED,
    Exit.OK,
)


def heaviest(codes: Iterable[int]) -> Exit:
    """The code that wins over the others; `OK` for none."""
    found = set(codes)
    return next((code for code in _PRECEDENCE if code in found), Exit.OK)
