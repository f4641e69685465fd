"""What a ratio is: the median of the quotients within rounds, with the lowest and the highest of them.

Both sides of a quotient met the same disturbances. The quotient of two best rounds, which need not be of one round, can
lie outside of all of them.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import NamedTuple


class Spread(NamedTuple):
    """`value` is never outside of `low` and `high`."""

    value: float
    low: float
    high: float


def spread(quotients: Sequence[float]) -> Spread:
    """The ratio of two things, from at least one quotient."""
    return Spread(statistics.median(quotients), min(quotients), max(quotients))
