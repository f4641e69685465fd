"""What a person reads at the end of a run: it fits a screen, and says where to read on.

One sentence, where each adapter stands, the first violation explained in full, and a line for what else is not held.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .._base.counts import counted
from ..judge.run_log import RequirementLine, ResultLine, Run
from ..judge.verdict import Status
from ..judge.verdict_words import asked_text
from ._inline_text import LOOKS, one_line, printable
from .certification import Certification
from .failures import SHOWN, Failure, explanation, failures, group_rows
from .page.headline import sentence
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
    headline = sentence(report)
    look = LOOKS[headline.status]
    words = " ".join(f"{part}." for part in (headline.text, headline.proof) if part)
    console.print(Text(f"{look.symbol} {one_line(words)}", style=f"bold {look.colour}"))
    if not report.broken:
        print_standings(console, run, report, verbose=verbose)
        _failures(console, run, folder, verbose=verbose)
    _print_results(console, run)
    for problem in report.problems:
        console.print(Text(f"problem: {one_line(problem)}", style="red"))
    console.print(Text(_result_counts(run, report), style="dim"))


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
        if not every:
            continue
        look = LOOKS[status]
        console.print()
        if status is Status.VIOLATED or verbose:
            _causes(console, every, verbose=verbose)
        full = every if verbose else every[: _EXPLAINED.get(status, 0)]
        for number, failure in enumerate(full):
            if number:
                console.print()
            _explained(console, failure, page)
        rest = every[len(full) :]
        if not rest:
            continue
        if full:
            console.print()
        also = "also " if full else ""
        console.print(Text(f"{also}{look.word} ({len(rest)})", style=look.colour))
        for failure in rest[:_FEW]:
            _in_short(console, failure, named=len(run.adapters) > 1)
        if len(rest) > _FEW:
            where = f"turnproof report {shlex.quote(str(folder))} -v" if folder is not None else "-v"
            console.print(Text(f"  and {len(rest) - _FEW} more: {where}"), soft_wrap=True)


_CAUSES = 6
"""Causes that are named without being asked for."""

_EXPLAINED = {Status.VIOLATED: 1, Status.INCONCLUSIVE: 1}
"""Failures of a status that are explained in full without being asked for."""


def _causes(console: Console, every: list[Failure], *, verbose: bool) -> None:
    """Causes from which more than one requirement fails, each once, that of most first: mending one mends all that
    follow."""
    following: dict[str, list[str]] = {}
    for failure in every:
        for cause in dict.fromkeys(filter(None, (group.cause for group in failure.groups))):
            following.setdefault(cause, []).append(failure.requirement.id)
    shared = {cause: list(dict.fromkeys(names)) for cause, names in following.items()}
    ranked = sorted((one for one in shared.items() if len(one[1]) > 1), key=lambda one: -len(one[1]))
    shown = ranked if verbose else ranked[:_CAUSES]
    for cause, names in shown:
        heading = f"{counted(len(names), 'requirement')} fail because {cause}:"
        console.print(Text(one_line(heading), style="bold"))
        console.print(Padding(Text(", ".join(names)), (0, 0, 0, 2), expand=False))
    if left := len(ranked) - len(shown):
        console.print(f"and {counted(left, 'more cause')}: -v")
    if shown:
        console.print()


def _explained(console: Console, failure: Failure, page: Path | None) -> None:
    look = LOOKS[failure.status]
    name = f"{one_line(failure.name)} of {one_line(failure.adapter.name)}"
    console.print(Text(f"{look.symbol} {look.word} {name}", style=f"bold {look.colour}"))
    _rows(console, explanation(failure, page))


def _rows(console: Console, rows: Iterable[tuple[str, str]], indent: str = "  ") -> None:
    """Labelled lines. What is there to be copied is never wrapped; anything else is, at blanks."""
    every = list(rows)
    wide = max(len(label) for label, _ in every)
    for label, words in every:
        if not label and not words:
            console.print()
            continue
        head = f"{indent}{label:<{wide}}  "
        if label in ("reproduce", "show it alone", "report"):
            console.print(Text.assemble((head, "dim"), printable(words)), soft_wrap=True)
            continue
        table = Table.grid(padding=0)
        table.add_column(width=len(head))
        table.add_column(overflow="fold")
        table.add_row(Text(head, style="dim"), Text(one_line(words), style=_SIDES.get(label, "")))
        console.print(table)


_SHORT = ("finding", "expected", "got", "raised", "")
"""What is told of a failure in short, by its label: the last is the line of code that an exception came from."""

_SIDES = {"expected": "green", "got": "red"}


def _in_short(console: Console, failure: Failure, *, named: bool) -> None:
    """Its name, both sides of each kind of finding, and every scenario it was found in."""
    look = LOOKS[failure.status]
    name = f"{failure.adapter.name} {failure.name}" if named else failure.name
    console.print(Text.assemble((f"  {look.symbol} ", look.colour), one_line(name)), soft_wrap=True)
    # What reads alike is shown once, whatever it follows from.
    alike = dict.fromkeys(tuple(row for row in group_rows(group) if row[0] in _SHORT) for group in failure.groups)
    rows = [row for group in alike for row in group]
    if not rows:
        rows = [("why", failure.message)]
    if failure.scenarios:
        rows.append(("scenarios", ", ".join(failure.scenarios)))
    _rows(console, rows, "      ")


# -- what is ------------------------------------------------------------------------------------------------------


def _print_results(console: Console, run: Run) -> None:
    """What is held or not claimed, one by one, where there are few results in all."""
    undisputed = [line for line in run.results if line.verdict.status not in SHOWN]
    if not undisputed or len(run.results) > _FEW:
        return
    console.print()
    for line in undisputed:
        look = LOOKS[line.verdict.status]
        console.print(Text(f"{look.symbol} {look.word} {line.requirement} [{line.path}]", style=look.colour))
        text = _why(line, run.requirements[line.requirement])
        console.print(Padding(Text(text), (0, 0, 0, 2), expand=False))


def _why(line: ResultLine, requirement: RequirementLine) -> str:
    """What a result that is no failure rests on."""
    if not line.verdict.compared:
        return one_line(line.verdict.message)
    first, *others = line.verdict.compared
    asked_words = asked_text(line.verdict, requirement.counts)
    return one_line(
        first + (f" (and in {len(others)} more)" if others else "") + (f"; {asked_words}" if asked_words else "")
    )


def _result_counts(run: Run, report: Certification) -> str:
    counts = [
        f"{count} {LOOKS[status].word}"
        for status in Status
        if (count := sum(line.verdict.status is status for line in run.results))
    ]
    seconds = f", {report.duration_s:.0f} s" if report.duration_s is not None else ""
    verdicts = f"{counted(len(run.results), 'verdict')} ({', '.join(counts)})" if counts else "no verdicts"
    return (
        f"\n{verdicts} from {counted(len(run.transcripts), 'run')}{seconds}; depth {report.depth}, seed {report.seed}"
    )
