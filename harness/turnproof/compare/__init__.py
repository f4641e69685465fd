"""`turnproof compare` from Python: one input down two paths or through two subjects, side by side.

`compare_adapter` runs an adapter down both of its paths, `compare_views` compares two runs at hand, and `compare`
does whatever the command can be asked for. The engine is in `commands.compare`.
"""

from ..commands.compare import CompareOptions, compare, compare_adapter
from ..judge.parity import Comparison, Found, compare_views
from ..report.comparison import ComparisonReport, JudgedDifference, ScenarioComparison, Standing

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
