"""How reports write what others wrote: adapters, servers and models may put anything into a message."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..verdict import Status

# C0 and C1 controls (but for tab and newline), direction overrides, halves of surrogate pairs, and the two code points
# that XML forbids: none of them may reach a terminal or a parser.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


@dataclass(frozen=True, slots=True)
class Look:
    """How a status is shown: always symbol and word; the colour is an extra."""

    symbol: str
    word: str
    colour: str


LOOKS = {
    Status.VIOLATED: Look("✗", "violated", "red"),
    Status.INCONCLUSIVE: Look("?", "inconclusive", "yellow"),
    Status.KNOWN_ISSUE: Look("!", "known issue", "magenta"),
    Status.HELD: Look("✓", "held", "green"),
    Status.NOT_CLAIMED: Look("–", "not claimed", "bright_black"),
}


def printable(text: str) -> str:
    """Text with everything that could steer a terminal or break a document written as its escape (`\\x1b`)."""
    return _UNPRINTABLE.sub(_escape, text)


def one_line(text: str) -> str:
    """`printable`, on one line."""
    return " ".join(printable(text).split())


def shortened(text: str, limit: int) -> str:
    """The beginning and the end of a text that is longer than `limit` characters, and how much was left out."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    return f"{text[:head]}\n… {len(text) - head - tail} characters left out …\n{text[-tail:]}"


def file_name(name: str) -> str:
    """A name that is safe as part of a file name, for any adapter's name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-") or "adapter"


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
