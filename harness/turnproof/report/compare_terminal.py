"""What a person reads at the end of a comparison: a line for each scenario, and a block for each that differs."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TextIO

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .._base.counts import counted
from ..judge.parity import ASPECTS
from ..judge.parity.bodies import BodyPair
from ._inline_text import one_line, printable, shorten
from .compare_text import FEW, STANDINGS, difference_count, place_text, side_text
from .comparison import ComparisonReport, JudgedDifference, ScenarioComparison, Standing
from .terminal import console_for

_VALUE_LIMIT = 300
_BODY_LIMIT = 6000


def print_comparison(report: ComparisonReport, file: TextIO | None = None, *, verbose: bool = False) -> None:
    """Write the comparison to `file` (stdout by default). Without a terminal it is 120 columns wide and has no colour.

    Of each kind of difference in a scenario the first is shown, violations first. What is declared has its line, and is
    shown where only a few scenarios were compared. With `verbose` everything is, values whole and noise listed.
    """
    console = console_for(file or sys.stdout)
    of = f" of {', '.join(report.adapters)}" if report.adapters else ""
    head = f"{report.left} | {report.right}{of}"
    console.print(Text(one_line(head), style="bold"))
    console.print(Text(f"backend {report.backend}, depth {report.depth}, seed {report.seed}"))
    console.print()
    for one in report.scenarios:
        _line(console, report, one)
    for one in report.scenarios:
        if _is_told(one, verbose=verbose or len(report.scenarios) <= FEW):
            _block(console, one, verbose=verbose)
    _foot(console, report)


def _is_told(one: ScenarioComparison, *, verbose: bool) -> bool:
    """Whether a scenario has more than a line: what nobody declared always, all else where there is room."""
    if one.problem or one.violations or one.bodies:
        return True
    return verbose and bool(one.differences or one.noise)


def _line(console: Console, report: ComparisonReport, one: ScenarioComparison) -> None:
    look = STANDINGS[one.standing]
    path = f" {one.left.key.path}" if report.compares != "paths" else ""
    counts = [f"{aspect} {count}" for aspect in ASPECTS if (count := difference_count(one, aspect))]
    more = one.problem or ", ".join(counts) or f"{counted(sum(one.compared.values()), 'reading')} compared"
    line = Text(f"{look.symbol} {look.word:<12} ", style=look.colour)
    line.append(f"{one.scenario} [{one.mode}{path}]  ", style="default").append(one_line(more), style="dim")
    console.print(line)


def _block(console: Console, one: ScenarioComparison, *, verbose: bool) -> None:
    look = STANDINGS[one.standing]
    console.print()
    console.print(Text(f"{look.symbol} {one.scenario} [{one.mode}]", style=f"bold {look.colour}"))
    for words in (one.problem, f"not compared from here on: {one.cut}" if one.cut else ""):
        if words:
            console.print(Padding(Text(one_line(words)), (0, 0, 0, 2), expand=False))
    if one.differences:
        console.print(_table(one, verbose=verbose))
    if one.noise:
        console.print(
            Text(f"  {counted(len(one.noise), 'place')} of noise: different between two runs of {one.right.label}")
        )
        for words in one.noise if verbose else ():
            console.print(Text(f"    {printable(words)}", style="dim"))
    for pair in one.bodies:
        _bodies(console, one, pair)
    if one.reproduce and one.standing is not Standing.EQUAL:
        # Never wrapped: it is there to be copied.
        console.print(Text(f"  {printable(one.reproduce)}", style="dim"), soft_wrap=True)


def _table(one: ScenarioComparison, *, verbose: bool) -> Table:
    table = Table(show_lines=True, expand=True)
    for column, ratio in (("difference", 2), ("where", 2), (one.left.label, 3), (one.right.label, 3)):
        table.add_column(column, ratio=ratio, overflow="fold")
    limit = 100_000 if verbose else _VALUE_LIMIT
    kinds = Counter((found.aspect, found.name) for found in one.differences)
    shown: set[tuple[str, str]] = set()
    for found in sorted(one.differences, key=lambda found: found.reason is not None):
        kind = found.aspect, found.name
        if kind in shown and not verbose:
            continue
        shown.add(kind)
        sides = (Text(side_text(value, limit, indent=0)) for value in (found.left, found.right))
        where = Text(f"{found.aspect}, {place_text(found)}\n{printable(found.path)}")
        table.add_row(_named(found, 0 if verbose else kinds[kind] - 1), where, *sides)
    return table


def _named(found: JudgedDifference, more: int) -> Text:
    look = STANDINGS[Standing.VIOLATED if found.reason is None else Standing.DECLARED]
    name = Text(f"{look.symbol} {found.name}", style=look.colour)
    if more:
        name.append(f"\nand {more} more like it", style="default")
    if found.form:
        name.append("\nform only", style="default")
    return name.append(f"\n{found.title if found.reason is None else one_line(found.reason)}", style="dim")


def _bodies(console: Console, one: ScenarioComparison, pair: BodyPair) -> None:
    if pair.differs_at is None:
        console.print(Text(f"  {pair.place}: both bodies have the same {counted(pair.left_bytes, 'byte')}"))
    else:
        words = f"{pair.left_bytes} and {pair.right_bytes} bytes, the first difference at byte {pair.differs_at}"
        console.print(Text(f"  {pair.place}: {words}"))
    bodies = {one.left.label: pair.left, one.right.label: pair.right}
    for label, body in bodies.items() if pair.differs_at is not None else [("both", pair.left)]:
        text = shorten(printable(body), _BODY_LIMIT) if body is not None else "(not sent)"
        console.print(Text(f"    {label}: {text}"), soft_wrap=True)


def _foot(console: Console, report: ComparisonReport) -> None:
    console.print()
    for declared in report.declared:
        found = f"in {counted(declared.times, 'comparison')}" if declared.times else "not found"
        console.print(Text(f"declared {declared.name} ({found}): {one_line(declared.reason)}"))
    for name in report.stale:
        console.print(Text(f"stale: {name} is declared and no longer occurs; remove it", style="red"))
    if report.declared and not report.whole:
        console.print(Text("Not everything was compared, so nothing is called stale: --depth full does.", style="dim"))
    counts = ", ".join(f"{count} {standing}" for standing, count in report.counts.items() if count)
    console.print(
        Text(f"{counted(len(report.scenarios), 'comparison')}: {counts}" if counts else "Nothing was compared.")
    )
