"""What a person reads at the end of a run: it fits a screen, and says where to read on.

One sentence, where each adapter stands, the first violation explained in full, and a line for what else is not held.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..runlog import ResultLine, Run
from ..verdict import Status
from ._text import LOOKS, one_line, printable, shortened
from .certification import Certification
from .failures import SHOWN, Failure, explanation, failures
from .page.sentence import sentence
from .standings_text import print_standings

_FEW = 12
"""Up to so many results are told one by one, also those that are held: somebody asked for just these. And so many
failures of a kind have their line without being asked for."""
_PLAIN_WIDTH = 120


def print_summary(
    run: Run, report: Certification, file: TextIO | None = None, *, verbose: bool = False, folder: Path | None = None
) -> None:
    """Write the summary to `file` (stdout by default). Without a terminal it is 120 columns wide and has no colour.

    With `verbose` all that is not held is told in full, and the matrix has a row for each path. `folder` is where the
    reports are, for those who want to read on.
    """
    console = console_for(file or sys.stdout)
    console.print()
    said = sentence(report)
    look = LOOKS[said.status]
    words = ", ".join(filter(None, (said.text, said.proof)))
    console.print(Text(f"{look.symbol} {one_line(words)}.", style=f"bold {look.colour}"))
    if not report.broken:
        print_standings(console, run, report, verbose=verbose)
        _failures(console, run, folder, verbose=verbose)
    _kept(console, run)
    for problem in report.problems:
        console.print(Text(f"problem: {one_line(problem)}", style="red"))
    console.print(Text(_counted(run, report), style="dim"))


def console_for(file: TextIO, plain_width: int = _PLAIN_WIDTH) -> Console:
    """A console for data: no markup, no highlighting. Without a terminal no colour, and `plain_width` columns."""
    console = Console(file=file, markup=False, highlight=False, emoji=False, no_color="NO_COLOR" in os.environ or None)
    if console.is_terminal:
        return console
    return Console(file=file, markup=False, highlight=False, emoji=False, color_system=None, width=plain_width)


# -- what is not held --------------------------------------------------------------------------------------------


def _failures(console: Console, run: Run, folder: Path | None, *, verbose: bool) -> None:
    page = folder / "index.html" if folder is not None else None
    for status in SHOWN:
        every = failures(run, status)
        rest = every
        if status is Status.VIOLATED and every:
            console.print()
            _explained(console, every[0], page)
            rest = every[1:]
        if not rest:
            continue
        look = LOOKS[status]
        console.print()
        if verbose:
            for failure in rest:
                _in_full(console, failure)
            continue
        also = "also " if len(rest) < len(every) else ""
        console.print(Text(f"{also}{look.word} ({len(rest)})", style=look.colour))
        for failure in rest[:_FEW]:
            _on_a_line(console, failure, named=len(run.adapters) > 1)
        if len(rest) > _FEW:
            where = f"turnproof report {shlex.quote(str(folder))} -v" if folder is not None else "-v"
            console.print(Text(f"  and {len(rest) - _FEW} more: {where}"), soft_wrap=True)


def _explained(console: Console, failure: Failure, page: Path | None) -> None:
    look = LOOKS[failure.verdict.status]
    name = f"{one_line(failure.name)} of {one_line(failure.adapter.name)}"
    console.print(Text(f"{look.symbol} {look.word} {name}", style=f"bold {look.colour}"))
    rows = list(explanation(failure, page))
    wide = max(len(label) for label, _ in rows)
    for label, words in rows:
        head = f"  {label:<{wide}}  "
        if label in ("again", "all of it"):
            # Never wrapped: it is there to be copied.
            console.print(Text.assemble((head, "dim"), printable(words)), soft_wrap=True)
        elif not label:
            _on_one_line(console, Text(f"{head}{words}", style=_DIFF.get(words[:1], "dim")))
        else:
            table = Table.grid(padding=0)
            table.add_column(width=len(head))
            table.add_column(overflow="fold")
            table.add_row(Text(head, style="dim"), Text(one_line(words)))
            console.print(table)


_DIFF = {"+": "green", "-": "red"}


def _on_a_line(console: Console, failure: Failure, *, named: bool) -> None:
    look = LOOKS[failure.verdict.status]
    name = f"{failure.adapter.name} {failure.name}" if named else failure.name
    said = one_line(failure.verdict.message)
    line = Text.assemble((f"  {look.symbol} ", look.colour), one_line(name), (f"  {said}", "dim"))
    _on_one_line(console, line)


def _on_one_line(console: Console, text: Text) -> None:
    console.print(text, no_wrap=True, overflow="ellipsis")


def _in_full(console: Console, failure: Failure) -> None:
    look = LOOKS[failure.verdict.status]
    console.print(Text(f"{look.symbol} {look.word} {failure.name} of {one_line(failure.adapter.name)}", look.colour))
    console.print(Padding(Text(one_line(failure.said)), (0, 0, 0, 2), expand=False))
    for row in shortened(printable(failure.verdict.detail), 4000).splitlines():
        console.print(Text(f"    {row}"))
    console.print(Text(f"  {printable(failure.reproduce)}", style="dim"), soft_wrap=True)


# -- what is ------------------------------------------------------------------------------------------------------


def _kept(console: Console, run: Run) -> None:
    """What is held or not claimed, one by one, where there are few results in all."""
    kept = [line for line in run.results if line.verdict.status not in SHOWN]
    if not kept or len(run.results) > _FEW:
        return
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


def _counted(run: Run, report: Certification) -> str:
    counts = [
        f"{count} {LOOKS[status].word}"
        for status in Status
        if (count := sum(line.verdict.status is status for line in run.results))
    ]
    seconds = f", {report.duration_s:.0f} s" if report.duration_s is not None else ""
    verdicts = f"{len(run.results)} verdicts ({', '.join(counts)})" if counts else "no verdicts"
    return f"\n{verdicts} from {len(run.transcripts)} runs{seconds}; depth {report.depth}, seed {report.seed}"
