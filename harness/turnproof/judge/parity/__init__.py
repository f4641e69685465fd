"""Two runs side by side: what differs, under which name, and which of it was declared.

`compare_views` is a pure function of two views. The parity verdicts of a certification, `turnproof compare` and the
gates of a migration all rest on it.
"""

from __future__ import annotations

from .compare import compare_paths, compare_views
from .declared_differences import check_declared, reason_for, stale, violations
from .difference_names import KIND_NAMES, KINDS, Kind, kind
from .model import ASPECTS, Aspect, Comparison, Found, Place, Side

__all__ = [
    "ASPECTS",
    "KINDS",
    "KIND_NAMES",
    "Aspect",
    "Comparison",
    "Found",
    "Kind",
    "Place",
    "Side",
    "check_declared",
    "compare_paths",
    "compare_views",
    "kind",
    "reason_for",
    "stale",
    "violations",
]
