"""A kill matrix as a picture: a dot for each requirement that was violated in a mutant's runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

CELL = 12
"""Pixels between two mutants, and between two requirements."""

_LETTER = 5.2
_GAP = 16


class Killed(Protocol):
    """What the picture needs to know of a mutant."""

    @property
    def mutant(self) -> str: ...
    @property
    def expected(self) -> str: ...
    @property
    def outcome(self) -> str: ...
    @property
    def trips(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class Dot:
    """`kind` is `own` for the requirement that is to notice the mutant and does, `missed` where it does not, `other`
    for one that notices it as well."""

    x: int
    y: int
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class Picture:
    """`rows` are mutants and `columns` requirements, each dot in the units of both. Sizes are in pixels."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    dots: tuple[Dot, ...]

    @property
    def left(self) -> int:
        """Room for the names of mutants."""
        return _room(self.rows)

    @property
    def top(self) -> int:
        """Room for the names of requirements, which stand upright."""
        return _room(self.columns)

    @property
    def width(self) -> int:
        """Of the whole picture."""
        return self.left + len(self.columns) * CELL

    @property
    def height(self) -> int:
        """Of the whole picture."""
        return self.top + len(self.rows) * CELL


def _room(names: Iterable[str]) -> int:
    return _GAP + round(max(map(len, names), default=0) * _LETTER)


def kill_picture(mutants: Iterable[Killed], requirements: Sequence[str]) -> Picture:
    """The picture of the mutants that broke something, in the order of the requirements that are to notice them."""
    rows = list(mutants)
    order = {name: n for n, name in enumerate(requirements)}
    seen = {name for row in rows for name in (row.expected, *row.trips)}
    columns = [name for name in requirements if name in seen]
    place = {name: n for n, name in enumerate(columns)}
    rows.sort(key=lambda row: order.get(row.expected, len(order)))
    dots = []
    for y, row in enumerate(rows):
        own = "own" if row.outcome == "caught" else "missed"
        marks = [(row.expected, own), *((name, "other") for name in row.trips)]
        dots += [Dot(place[name], y, kind, f"{row.mutant}: {name}") for name, kind in marks if name in place]
    return Picture(tuple(row.mutant for row in rows), tuple(columns), tuple(dots))
