"""Differences that are meant: declared by name, with a reason, and gone from the list once they no longer occur."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..._base.suggestions import did_you_mean
from ...errors import CatalogueError
from ...provider import Difference
from .difference_names import KIND_NAMES
from .model import Comparison, Found


def check_declared(declared: Sequence[Difference]) -> None:
    """Raise CatalogueError for a name that no kind of difference has, a blank reason, or a name declared twice."""
    seen: set[str] = set()
    for difference in declared:
        if difference.name not in KIND_NAMES:
            hint = did_you_mean(difference.name, KIND_NAMES) or f"; known: {', '.join(KIND_NAMES)}"
            raise CatalogueError(f"declared difference {difference.name!r}: no kind of difference has this name{hint}")
        if not difference.reason.strip():
            raise CatalogueError(f"declared difference {difference.name!r} gives no reason")
        if difference.name in seen:
            raise CatalogueError(f"declared difference {difference.name!r} is declared twice")
        seen.add(difference.name)


def reason_for(found: Found, declared: Iterable[Difference]) -> str | None:
    """Why a difference is meant; None where nobody said so: then it is a violation."""
    return next((difference.reason for difference in declared if difference.name == found.name), None)


def violations(comparison: Comparison, declared: Sequence[Difference]) -> tuple[Found, ...]:
    """The differences that nobody declared."""
    return tuple(found for found in comparison.differences if reason_for(found, declared) is None)


def stale(declared: Sequence[Difference], comparisons: Iterable[Comparison]) -> tuple[Difference, ...]:
    """The declared differences that none of the comparisons shows. Only all that could show them make it certain."""
    shown = {name for comparison in comparisons for name in comparison.names}
    return tuple(difference for difference in declared if difference.name not in shown)
