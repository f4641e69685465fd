"""`compare.html`: both sides in two columns, turn by turn. One self-contained page that runs no script.

First what was compared and how it stands, then each difference with its path and both values, and below each scenario
that is violated or undecided both whole conversations. Where only a few scenarios were compared, they are told of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from ..errors import UsageError
from ..judge.parity import ASPECTS, Side
from ..run.evidence import EvidenceStore
from ..run.transcript import Transcript
from .compare_text import FEW, STANDINGS, difference_count, place_text, side_text
from .comparison import ComparisonReport, ScenarioComparison, Standing
from .html import anchor, template
from .side_by_side import TurnRows, side_by_side

_SHOWN_STANDINGS = (Standing.VIOLATED, Standing.INCONCLUSIVE)
_VALUE_LIMIT = 4000


@dataclass(frozen=True, slots=True)
class _ScenarioRows:
    """A scenario with both of its conversations, or why they cannot be told."""

    one: ScenarioComparison
    turns: tuple[TurnRows, ...]
    problem: str


def compare_html(report: ComparisonReport, stores: Sequence[EvidenceStore]) -> str:
    """The page. Evidence is looked for in each of the stores; what is missing is said where it would stand."""
    few = len(report.scenarios) <= FEW
    scenarios = [
        _tell(one, stores) if few or one.standing in _SHOWN_STANDINGS else _ScenarioRows(one, (), "")
        for one in report.scenarios
        if few or one.standing is not Standing.EQUAL
    ]
    return template("compare.html.j2").render(
        report=report,
        told=scenarios,
        aspects=ASPECTS,
        standings=STANDINGS,
        differing=difference_count,
        side=partial(side_text, limit=_VALUE_LIMIT),
        anchor=anchor,
        places=place_text,
    )


def _tell(one: ScenarioComparison, stores: Sequence[EvidenceStore]) -> _ScenarioRows:
    try:
        left, right = (_transcript(side, stores) for side in (one.left, one.right))
    except UsageError as error:
        return _ScenarioRows(one, (), str(error))
    return _ScenarioRows(one, tuple(side_by_side(left, right)), "")


def _transcript(side: Side, stores: Sequence[EvidenceStore]) -> Transcript:
    """Raises UsageError when no store has it."""
    for store in stores:
        if store.path(side.digest).exists():
            return store.get(side.digest)
    return stores[0].get(side.digest)
