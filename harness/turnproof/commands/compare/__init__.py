"""One input down two paths, shown side by side; every difference is declared, or a violation.

`compare_views` compares two runs that are at hand, `compare_adapter` runs an adapter down both of its paths, and
`compare` does whatever `turnproof compare` can be asked for.
"""

from __future__ import annotations

from ...judge.parity import Comparison, Found, compare_views
from ...report.comparison import ComparisonReport, JudgedDifference, ScenarioComparison, Standing
from .engine import compare, compare_adapter
from .options import CompareOptions

__all__ = [
    "CompareOptions",
    "Comparison",
    "ComparisonReport",
    "Found",
    "JudgedDifference",
    "ScenarioComparison",
    "Standing",
    "compare",
    "compare_adapter",
    "compare_views",
]
