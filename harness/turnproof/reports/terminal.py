"""What a person reads at the end of a run: the profiles, and for all that is not held the command to see it again."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..runlog import AdapterLine, ResultLine, Run
from ..verdict import Status
from ._text import LOOKS, one_line, printable, shortened
from .certification import Certification, reproduce
from .overview import Overview, overview
from .standing import profile_standing, proof_of, standing, wire_of

_SHOWN = (Status.VIOLATED, Status.INCONCLUSIVE, Status.KNOWN_ISSUE)
_ABBREVIATED = 4
"""Letters of a profile at the head of a column: with all of it no adapter's row would fit on a line."""

_FEW = 12
"""Up to so many results are told one by one, also those that are held: somebody asked for just these."""
_PLAIN_WIDTH = 120


def print_summary(run: Run, report: Certification, file: TextIO | None = None, *, verbose: bool = False) -> None:
    """Write the summary to `file` (stdout by default). Without a terminal it is 120 columns wide and has no colour.

    With `verbose` the details of each failure (the wire diff) are shown too.
    """
    console = console_for(file or sys.stdout)
    if not report.complete:
        console.print(Text("This run was cut. It certifies nothing; what follows is what was there.", style="bold red"))
    for adapter in run.adapters.values() if not report.broken else ():
        _adapter(console, run, report, adapter, verbose=verbose)
    if (matrix := overview(report)) is not None:
        _overview(console, matrix)
    for problem in report.problems:
        console.print(Text(f"problem: {one_line(problem)}", style="red"))
    if not run.results:
        console.print(Text("Nothing was measured.", style="bold"))


def _overview(console: Console, matrix: Overview) -> None:
    """Paths against profiles; a path that holds all that it claims of a profile has the number alone."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("MUST held", no_wrap=True)
    for profile in matrix.profiles:
        table.add_column(profile[:_ABBREVIATED], justify="right", no_wrap=True)
    for row in matrix.rows:
        cells = [_held_of(cell) for cell in row.cells]
        table.add_row(Text(f"{one_line(row.adapter)} {row.path}", style="green" if row.certified else "red"), *cells)
    console.print()
    console.print(table)


def _held_of(cell: tuple[int, int] | None) -> Text:
    if cell is None:
        return Text("-", style="dim")
    held, claimed = cell
    return Text(str(held)) if held == claimed else Text(f"{held}/{claimed}", style="red")


def console_for(file: TextIO, plain_width: int = _PLAIN_WIDTH) -> Console:
    """A console for data: no markup, no highlighting. Without a terminal no colour, and `plain_width` columns."""
    console = Console(file=file, markup=False, highlight=False, emoji=False, no_color="NO_COLOR" in os.environ or None)
    if console.is_terminal:
        return console
    return Console(file=file, markup=False, highlight=False, emoji=False, color_system=None, width=plain_width)


def _adapter(console: Console, run: Run, report: Certification, adapter: AdapterLine, *, verbose: bool) -> None:
    found = report.adapters[adapter.name]
    style = "bold green" if found.certified else "bold red"
    console.print()
    console.print(
        Text.assemble((one_line(adapter.name), "bold"), ": ", (standing(found, complete=report.complete), style)),
        Text(f"{one_line(wire_of(found))}, {one_line(adapter.model)}, {proof_of(found)}, profiles {report.profiles}"),
        sep="\n",
    )
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for column in ("profile", "MUST", "SHOULD", "standing"):
        table.add_column(column, justify="right" if column in ("MUST", "SHOULD") else "left")
    left_out = [name for name, profile in found.profiles.items() if profile.unmeasured and not profile.must[1]]
    for name, profile in found.profiles.items():
        if name in left_out:
            continue
        must, should = ("/".join(map(str, pair)) for pair in (profile.must, profile.should))
        words = profile_standing(profile, complete=report.complete)
        table.add_row(name, must, should, Text(words, style="green" if profile.certified else ""))
    if table.row_count:
        console.print(table)
    if left_out:
        console.print(Text(f"not measured: {', '.join(left_out)}"))
    lines = [line for line in run.results if line.adapter == adapter.name]
    for status in _SHOWN:
        for line in lines:
            if line.verdict.status is status:
                _failure(console, run, adapter, line, verbose=verbose)
    kept = [line for line in lines if line.verdict.status not in _SHOWN]
    if kept and len(lines) <= _FEW:
        console.print()
        for line in kept:
            look = LOOKS[line.verdict.status]
            console.print(Text(f"{look.symbol} {look.word} {line.requirement} [{line.path}]", style=look.colour))
            console.print(Padding(Text(_why(line)), (0, 0, 0, 2), expand=False))


def _why(line: ResultLine) -> str:
    """What a result that is no failure rests on."""
    if not line.verdict.compared:
        return one_line(line.verdict.message)
    first, *others = line.verdict.compared
    return one_line(first + (f" (and in {len(others)} more)" if others else ""))


def _failure(console: Console, run: Run, adapter: AdapterLine, line: ResultLine, *, verbose: bool) -> None:
    look = LOOKS[line.verdict.status]
    level = "" if run.requirements[line.requirement].level == "MUST" else ", SHOULD"
    head = f"{look.symbol} {look.word} {line.requirement} [{line.path}]{level}"
    console.print()
    console.print(Text(head, style=look.colour))
    seen = f"{line.verdict.where}: " if line.verdict.where else ""
    console.print(Padding(Text(one_line(seen + line.verdict.message)), (0, 0, 0, 2), expand=False))
    if verbose and line.verdict.detail:
        for row in shortened(printable(line.verdict.detail), 4000).splitlines():
            console.print(Text(f"    {row}"))
    # Never wrapped: it is there to be copied.
    console.print(Text(f"  {printable(reproduce(run, adapter, line.requirement))}", style="dim"), soft_wrap=True)
