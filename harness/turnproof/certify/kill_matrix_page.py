"""`mutants.html`: the kill matrix as a picture and as tables. One self-contained page that runs no script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..reports.html import anchor, template
from .kill_matrix import MOST_OTHERS, Matrix, Outcome, Row

CELL = 9
"""Pixels between two mutants, and between two requirements, in the picture."""

_SYMBOLS = {Outcome.CAUGHT: "✓", Outcome.NOT_CLAIMED: "–", Outcome.FAULT: "!"}
_STYLES = {Outcome.CAUGHT: "held", Outcome.NOT_CLAIMED: "not-claimed", Outcome.FAULT: "inconclusive"}


@dataclass(frozen=True, slots=True)
class _Dot:
    x: int
    y: int
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class _Picture:
    """A dot for each requirement that was violated in a mutant's runs: `own` where it is the one to notice."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    dots: tuple[_Dot, ...]


def matrix_page(matrix: Matrix) -> str:
    """The page of one matrix."""
    ran = [row for row in matrix.mutants if row.outcome is not Outcome.NOT_CLAIMED]
    caught = [row for row in ran if row.outcome is Outcome.CAUGHT]
    return template("mutants.html.j2").render(
        matrix=matrix,
        ran=ran,
        caught=caught,
        picture=_picture(ran, list(matrix.requirements)),
        others=_others(caught),
        most=MOST_OTHERS,
        cell=CELL,
        symbol=lambda row: _SYMBOLS.get(row.outcome, "✗"),
        style=lambda row: _STYLES.get(row.outcome, "violated"),
        anchor=anchor,
    )


def _picture(rows: Sequence[Row], requirements: Sequence[str]) -> _Picture:
    order = {name: n for n, name in enumerate(requirements)}
    seen = {name for row in rows for name in (row.expected, *row.trips)}
    columns = [name for name in requirements if name in seen]
    place = {name: n for n, name in enumerate(columns)}
    rows = sorted(rows, key=lambda row: order.get(row.expected, len(order)))
    dots = []
    for y, row in enumerate(rows):
        own = "own" if row.outcome is Outcome.CAUGHT else "missed"
        marks = [(row.expected, own), *((name, "other") for name in row.trips)]
        dots += [_Dot(place[name], y, kind, f"{row.mutant}: {name}") for name, kind in marks if name in place]
    return _Picture(tuple(row.mutant for row in rows), tuple(columns), tuple(dots))


def _others(caught: Sequence[Row]) -> dict[int, int]:
    """How many mutants trip how many requirements beside their own."""
    counts = [len(row.trips) for row in caught]
    return {number: counts.count(number) for number in range(max(counts, default=-1) + 1)}
