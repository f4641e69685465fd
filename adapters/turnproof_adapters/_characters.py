"""Whole characters: what a proxy cut in the middle of a surrogate pair is joined again, and what is lost is visible.

A gateway that cuts texts where JavaScript counts leaves half of a pair at the end of one piece and the other half at
the beginning of the next. UTF-8 has no form for either: kept as it is, the text could never be sent again.
"""

from __future__ import annotations

import re

_HALF = re.compile("[\ud800-\udfff]")


def is_whole(text: str) -> bool:
    """Whether no half of a pair stands in the text."""
    return text.isascii() or not _HALF.search(text)


def whole_characters(text: str) -> str:
    """The text with the halves of pairs joined; one whose other half never came is U+FFFD."""
    if is_whole(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class Joiner:
    """Pieces of one text on their way to a callback. The first half of a pair waits for the piece after it."""

    __slots__ = ("_half",)

    def __init__(self) -> None:
        self._half = ""

    def feed(self, piece: str) -> str:
        """What can be shown now of what has come."""
        if piece.isascii() and not self._half:
            return piece
        joined, self._half = self._half + piece, ""
        if "\ud800" <= joined[-1:] <= "\udbff":
            joined, self._half = joined[:-1], joined[-1]
        return whole_characters(joined)

    def rest(self) -> str:
        """The text is over: what stands for a half that still waits, else nothing."""
        half, self._half = self._half, ""
        return whole_characters(half)
