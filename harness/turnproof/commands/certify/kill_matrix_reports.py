"""The kill matrix for people.

In the terminal: a line for each mutant and each requirement, then what deserves a second look. As `mutants.html`: a
picture and tables, in one self-contained page that runs no script.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..._base.counts import counted
from ...report._inline_text import one_line
from ...report.html import anchor, template
from ...report.kill_matrix_image import kill_picture
from ...report.terminal import console_for
from .kill_matrix import MOST_OTHERS, Matrix, Outcome, Row

_SYMBOLS = {Outcome.CAUGHT: "✓", Outcome.NOT_CLAIMED: "–", Outcome.FAULT: "!"}
_STYLES = {Outcome.CAUGHT: "held", Outcome.NOT_CLAIMED: "not-claimed", Outcome.FAULT: "inconclusive"}


def matrix_page(matrix: Matrix) -> str:
    """The page of one matrix."""
    rows_run = [row for row in matrix.mutants if row.outcome is not Outcome.NOT_CLAIMED]
    rows_caught = [row for row in rows_run if row.outcome is Outcome.CAUGHT]
    return template("mutants.html.j2").render(
        matrix=matrix,
        ran=rows_run,
        caught=rows_caught,
        picture=kill_picture(rows_run, list(matrix.requirements)),
        others=_other_trips(rows_caught),
        most=MOST_OTHERS,
        symbol=lambda row: _SYMBOLS.get(row.outcome, "✗"),
        style=lambda row: _STYLES.get(row.outcome, "violated"),
        anchor=anchor,
    )


def _other_trips(rows: Sequence[Row]) -> dict[int, int]:
    """How many mutants trip how many requirements beside their own."""
    counts = [len(row.trips) for row in rows]
    return {number: counts.count(number) for number in range(max(counts, default=-1) + 1)}


_LOOKS = {
    Outcome.CAUGHT: ("✓", "green"),
    Outcome.SURVIVED: ("✗", "red"),
    Outcome.CRASHED: ("✗", "red"),
    Outcome.NEVER_RAN: ("✗", "red"),
    Outcome.NO_CONTROL: ("✗", "red"),
    Outcome.FAULT: ("!", "magenta"),
    Outcome.NOT_CLAIMED: ("–", "dim"),
}


def print_matrix(matrix: Matrix, file: TextIO) -> None:
    """Write the matrix, the mutants that were not caught, and the findings, to `file`."""
    console = console_for(file)
    _table(console, matrix)
    for row in matrix.mutants:
        if row.outcome not in (Outcome.CAUGHT, Outcome.NOT_CLAIMED):
            _failure(console, matrix, row)
    _requirements(console, matrix)
    for place, message in matrix.control.items():
        console.print(Text(one_line(f"✗ the control itself violates {place}: {message}"), style="red"))
    _findings(console, matrix)
    counts = ", ".join(f"{count} {name}" for name, count in matrix.counts.items()) or "nothing to do"
    runs = sum(row.runs for row in matrix.mutants)
    middle = (
        f"; half of those caught trip at most {counted(matrix.median_others, 'other')}"
        if "caught" in matrix.counts
        else ""
    )
    console.print(
        Text(f"{counted(len(matrix.mutants), 'mutant')} of {matrix.adapter}: {counts} ({counted(runs, 'run')}){middle}")
    )


def _table(console: Console, matrix: Matrix) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("mutant", "seam", "expected requirement", "", "others"):
        table.add_column(column, no_wrap=True)
    for row in matrix.mutants:
        symbol, style = _LOOKS[row.outcome]
        others = f"{len(row.trips)}" if row.outcome is Outcome.CAUGHT else ""
        outcome = Text(f"{symbol} {row.outcome}", style=style)
        table.add_row(Text(row.mutant), Text(row.seam), Text(row.expected), outcome, Text(others))
    console.print(table)


def _requirements(console: Console, matrix: Matrix) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("requirement", no_wrap=True)
    for column in ("mutants caught", "by it alone", "others tripped it"):
        table.add_column(column, justify="right")
    for name, standing in matrix.requirements.items():
        counts = (len(standing.caught), len(standing.alone), len(standing.tripped))
        if any(counts):
            table.add_row(Text(name), *(str(count) for count in counts))
    console.print()
    console.print(table)


def _failure(console: Console, matrix: Matrix, row: Row) -> None:
    symbol, style = _LOOKS[row.outcome]
    console.print()
    console.print(Text(one_line(f"{symbol} {row.outcome} {row.mutant}: {row.breaks}"), style=style))
    console.print(Text(f"  {row.expected} was to notice; {one_line(row.detail)}"))
    console.print(Text(f"  turnproof mutants {matrix.adapter} --only {row.mutant}", style="dim"), soft_wrap=True)


def _findings(console: Console, matrix: Matrix) -> None:
    console.print()
    for row in matrix.mutants:
        if len(row.trips) > MOST_OTHERS:
            console.print(
                Text(f"{row.mutant} trips {counted(len(row.trips), 'other')}: {', '.join(row.trips)}", style="yellow")
            )
    idle = [name for name, standing in matrix.requirements.items() if not standing.caught]
    if idle and not matrix.only:
        console.print(Text(f"{counted(len(idle), 'requirement')} caught no mutant: {', '.join(idle)}", style="dim"))
