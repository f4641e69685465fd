"""Where a stream cuts a text: deterministic, and awkward on purpose.

A cut may fall between the code points of one visible character. A client that treats a piece as more than a run of
characters does not survive this.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

_SIZES = (5, 11, 3, 17, 8, 2, 13)


def cut_text(text: str, draw: int) -> tuple[str, ...]:
    """A text in pieces of varying length; joined, they are the text. No pieces for the empty text."""
    return cut(text, steps(len(text), draw))


def steps(length: int, draw: int) -> list[int]:
    """Places to cut something of that length, ascending, without its two ends."""
    at, n, cuts = 0, draw % len(_SIZES), []
    while (at := at + _SIZES[n % len(_SIZES)]) < length:
        cuts.append(at)
        n += 1
    return cuts


def cut(text: str, cuts: Sequence[int]) -> tuple[str, ...]:
    """The pieces between ascending cuts, without empty ones."""
    edges = [0, *cuts, len(text)]
    return tuple(text[a:b] for a, b in pairwise(edges) if a < b)
