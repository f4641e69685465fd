"""How reports write what others wrote, and how a status looks in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256

from .._base.counts import counted
from .._base.printable import one_line, printable
from ..judge.verdict import Status

__all__ = ["LOOKS", "StatusStyle", "file_name", "one_line", "printable", "shorten"]


@dataclass(frozen=True, slots=True)
class StatusStyle:
    """How a status is shown: always symbol and word; the colour is an extra."""

    symbol: str
    word: str
    colour: str


LOOKS = {
    Status.VIOLATED: StatusStyle("✗", "violated", "red"),
    Status.INCONCLUSIVE: StatusStyle("?", "inconclusive", "yellow"),
    Status.KNOWN_ISSUE: StatusStyle("!", "known issue", "magenta"),
    Status.HELD: StatusStyle("✓", "held", "green"),
    Status.NOT_CLAIMED: StatusStyle("–", "not claimed", "bright_black"),
}


_LONGEST_NAME = 100


def shorten(text: str, limit: int) -> str:
    """The beginning and the end of a text that is longer than `limit` characters, and how much was left out."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    return f"{text[:head]}\n… {counted(len(text) - head - tail, 'character')} left out …\n{text[-tail:]}"


def file_name(name: str) -> str:
    """A name that is safe as part of a file name, for any adapter's name: of a long one the beginning and a digest."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-") or "adapter"
    if len(safe) <= _LONGEST_NAME:
        return safe
    return f"{safe[:_LONGEST_NAME]}-{sha256(name.encode('utf-8', 'backslashreplace')).hexdigest()[:8]}"
