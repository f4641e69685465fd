"""What a census is asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ANONYMOUS = "anonymous"


@dataclass(frozen=True, slots=True)
class CensusOptions:
    """Which service is asked, by whom, and what it may cost. `prices` are US dollars a million tokens, in and out.

    With `record`, what is asked of the service is kept in that folder; with `cassettes`, such a folder answers.
    """

    dialect: str
    out: Path
    live: bool = False
    only: tuple[str, ...] = ()
    model: str | None = None
    contributor: str = ANONYMOUS
    max_cost: float = 0.10
    prices: tuple[float, float] | None = None
    record: Path | None = None
    cassettes: Path | None = None
