"""One input down two paths, shown side by side; every difference is declared, or a violation.

`compare_adapter` runs an adapter down both of its paths, and `compare` does whatever `turnproof compare` can be asked
for.
"""

from __future__ import annotations

from .engine import compare, compare_adapter
from .options import CompareOptions

__all__ = ["CompareOptions", "compare", "compare_adapter"]
