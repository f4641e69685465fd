"""The outcome for people: times with their ratios, counts, goals, and what is worse than before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO, get_args

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from ..reports._text import one_line
from ..reports.terminal import console_for
from .report import AdapterBench, Bench, Comparison, Count, Figure, GoalResult, Ratio, Time

ENOUGH_ROUNDS = 5
"""With fewer, even the best round may be a disturbed one."""

_OWN = "own shortest"

_LOOKS = {"met": ("✓", "green"), "missed": ("✗", "red"), "not measured": ("–", "dim")}


def print_bench(bench: Bench, file: TextIO) -> None:
    """Write the outcome to `file`."""
    console = console_for(file)
    for name, adapter in bench.adapters.items():
        _adapter(console, bench, name, adapter)
    for goal in bench.goals:
        _goal(console, goal)
    if bench.comparison is not None:
        _comparison(console, bench.comparison)


def _adapter(console: Console, bench: Bench, name: str, adapter: AdapterBench) -> None:
    few = "" if bench.rounds >= ENOUGH_ROUNDS else f" (take fewer than {ENOUGH_ROUNDS} for a hint)"
    console.print(Text(one_line(name), style="bold"))
    console.print(Text(f"{one_line(adapter.dialect)}, {one_line(adapter.model)}, rounds: {bench.rounds}{few}"))
    console.print()
    if adapter.times:
        _print_whole(console, _times(adapter))
        console.print()
    if adapter.counts:
        _print_whole(console, _counts(adapter))
        console.print()
    for problem in adapter.problems:
        console.print(Text(f"✗ not measured: {one_line(problem)}", style="red"))
    if adapter.problems:
        console.print()


def _print_whole(console: Console, table: Table) -> None:
    """Figures are not cut off where the terminal is narrow: there the lines wrap."""
    needed = Measurement.get(console, console.options.update(max_width=10_000), table).maximum
    console.width = max(console.width, needed)
    console.print(table)


def _table(words: tuple[str, ...], numbers: tuple[str, ...]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in words:
        table.add_column(column, no_wrap=True)
    for column in numbers:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _times(adapter: AdapterBench) -> Table:
    """A row for each time: what it is over the plain calls, over the legacy path, and over its own shortest history."""
    others = [*adapter.plain_calls, "legacy"]
    heads = (*(f"/ {one_line(other)}" for other in others), f"/ {_OWN}")
    table = _table(("figure", "caller"), ("messages", "CPU ms", *heads))
    ratios = {
        (each.figure, each.caller, each.messages, _OWN if each.to == each.caller else each.to): each
        for each in adapter.ratios
    }
    for time in _in_order(adapter):
        cells = [time.figure, one_line(time.caller), str(time.messages), f"{time.ms:.4f}"]
        for other in (*others, _OWN):
            ratio = ratios.get((time.figure, time.caller, time.messages, other))
            cells.append("" if ratio is None else _ratio(ratio, spread=other == others[0]))
        table.add_row(*map(Text, cells))
    return table


def _in_order(adapter: AdapterBench) -> Iterator[Time]:
    """Figure by figure, length by length, and in each the plain calls first."""
    callers = [*adapter.plain_calls, "stateless", "legacy"]
    for figure in get_args(Figure):
        rows = [time for time in adapter.times if time.figure == figure]
        yield from sorted(rows, key=lambda time: (time.messages, callers.index(time.caller)))


def _ratio(ratio: Ratio, *, spread: bool) -> str:
    return f"{ratio.value:.3g}" + (f" [{ratio.low:.3g}–{ratio.high:.3g}]" if spread else "")


def _counts(adapter: AdapterBench) -> Table:
    table = _table(("operation", "path"), ("messages", "requests", "read", "taken"))
    table.add_column("provider calls")
    for count in sorted(adapter.counts, key=_count_order):
        numbers = (count.messages, count.requests, count.read, count.taken)
        calls = ", ".join(f"{many} {name}" for name, many in count.calls.items())
        table.add_row(count.operation, count.path, *map(str, numbers), Text(one_line(calls)))
    return table


def _count_order(count: Count) -> tuple[int, int, str]:
    return ("turn", "stream", "collect", "restore").index(count.operation), count.messages, count.path


def _goal(console: Console, goal: GoalResult) -> None:
    symbol, style = _LOOKS[goal.standing]
    value = "" if goal.value is None else f": {goal.value:.3g}, at best {goal.best:.3g}"
    line = f"{symbol} goal {goal.standing}: {goal.adapter}: {goal.words} at most {goal.at_most:g}{value}"
    console.print(Text(one_line(line), style=style))


def _comparison(console: Console, compared: Comparison) -> None:
    extent = f"{compared.counts} counts and {compared.ratios} ratios compared with {one_line(compared.baseline)}"
    console.print(Text(f"{extent}, ratios at most {compared.max_ratio:g} times: {len(compared.worse)} worse"))
    for change in compared.worse:
        line = f"✗ {change.adapter}: {change.what}: {change.before} before, {change.now} now"
        console.print(Text(one_line(line), style="red"))
