"""How the parts of a comparison read, alike on the page and on the terminal."""

from __future__ import annotations

import msgspec

from .._base.canonical import canonical
from ._inline_text import StatusStyle, printable, shorten
from .comparison import JudgedDifference, ScenarioComparison, Standing

FEW = 6
"""Up to so many comparisons are shown in full, whatever their standing."""

STANDINGS = {
    Standing.VIOLATED: StatusStyle("✗", "violated", "red"),
    Standing.INCONCLUSIVE: StatusStyle("?", "inconclusive", "yellow"),
    Standing.DECLARED: StatusStyle("≈", "declared", "magenta"),
    Standing.EQUAL: StatusStyle("✓", "equal", "green"),
}
"""How the standing of a comparison is shown: always symbol and word; the colour is an extra."""


def difference_count(one: ScenarioComparison, aspect: str) -> int:
    """How many differences an aspect of a scenario has."""
    return sum(found.aspect == aspect for found in one.differences)


def place_text(found: JudgedDifference) -> str:
    """Where a difference is, in words: the first place, and how many more."""
    more = f" (and {len(found.also)} more)" if found.also else ""
    return f"{found.place}{more}"


def side_text(value: object, limit: int, indent: int = 1) -> str:
    """One side of a difference as JSON, or that there is nothing. An `indent` of 0 puts it on one line."""
    if value is msgspec.UNSET:
        return "(absent)"
    text = canonical(value)
    return shorten(printable((msgspec.json.format(text, indent=indent) if indent else text).decode()), limit)
