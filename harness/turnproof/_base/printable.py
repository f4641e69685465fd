"""How to show what others wrote: adapters, servers and models may put anything into a message."""

from __future__ import annotations

import re

# C0 and C1 controls (but for tab and newline), direction overrides, halves of surrogate pairs, and the two code points
# that XML forbids: none of them may reach a terminal or a parser.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def printable(text: str) -> str:
    """Text with everything that could steer a terminal or break a document written as its escape (`\\x1b`)."""
    return _UNPRINTABLE.sub(_escape, text)


def one_line(text: str) -> str:
    """`printable`, on one line."""
    return " ".join(printable(text).split())


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
