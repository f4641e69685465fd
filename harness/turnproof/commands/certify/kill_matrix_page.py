"""`mutants.html`: the kill matrix as a picture and as tables. One self-contained page that runs no script."""

from __future__ import annotations

from collections.abc import Sequence

from ...report.html import anchor, template
from ...report.kill_matrix_image import kill_picture
from .kill_matrix import MOST_OTHERS, Matrix, Outcome, Row

_SYMBOLS = {Outcome.CAUGHT: "✓", Outcome.NOT_CLAIMED: "–", Outcome.FAULT: "!"}
_STYLES = {Outcome.CAUGHT: "held", Outcome.NOT_CLAIMED: "not-claimed", Outcome.FAULT: "inconclusive"}


def matrix_page(matrix: Matrix) -> str:
    """The page of one matrix."""
    ran = [row for row in matrix.mutants if row.outcome is not Outcome.NOT_CLAIMED]
    caught = [row for row in ran if row.outcome is Outcome.CAUGHT]
    return template("mutants.html.j2").render(
        matrix=matrix,
        ran=ran,
        caught=caught,
        picture=kill_picture(ran, list(matrix.requirements)),
        others=_others(caught),
        most=MOST_OTHERS,
        symbol=lambda row: _SYMBOLS.get(row.outcome, "✗"),
        style=lambda row: _STYLES.get(row.outcome, "violated"),
        anchor=anchor,
    )


def _others(caught: Sequence[Row]) -> dict[int, int]:
    """How many mutants trip how many requirements beside their own."""
    counts = [len(row.trips) for row in caught]
    return {number: counts.count(number) for number in range(max(counts, default=-1) + 1)}
