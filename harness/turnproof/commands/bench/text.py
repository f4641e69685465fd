"""The outcome for people: times with their ratios, counts, goals, and what is worse than before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO, TypeVar, get_args

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from ..._base.counts import counted
from ...report._inline_text import one_line
from ...report.terminal import console_for
from .floor import FLOOR
from .report import (
    AdapterBench,
    Bench,
    Comparison,
    Count,
    GoalResult,
    Own,
    Ratio,
    Size,
    SizeFigure,
    Standing,
    Time,
    TimeFigure,
)

ENOUGH_ROUNDS = 5
"""With fewer, even the best round may be a disturbed one."""

_Row = TypeVar("_Row", Time, Size)

_OWN = "own shortest"

_LOOKS: dict[Standing, tuple[str, str]] = {
    "stretch reached": ("✓", "bold green"),
    "reached": ("✓", "green"),
    "missed": ("✗", "red"),
    "not measured": ("–", "dim"),
}


def print_bench(bench: Bench, file: TextIO) -> None:
    """Write the outcome to `file`."""
    console = console_for(file)
    for name, adapter in bench.adapters.items():
        _adapter(console, bench, name, adapter)
    if bench.own is not None:
        _own(console, bench.own)
    for note in bench.notes:
        console.print(Text(one_line(f"– {note}"), style="dim"))
    if bench.goals:
        _goals(console, bench.goals)
    if bench.comparison is not None:
        _comparison(console, bench.comparison)


def _adapter(console: Console, bench: Bench, name: str, adapter: AdapterBench) -> None:
    few = "" if bench.rounds >= ENOUGH_ROUNDS else f" (take fewer than {ENOUGH_ROUNDS} for a hint)"
    console.print(Text(one_line(name), style="bold"))
    console.print(Text(f"{one_line(adapter.dialect)}, {one_line(adapter.model)}, rounds: {bench.rounds}{few}"))
    for peer in adapter.peers:
        versions = ", ".join(f"{name} {version}" for name, version in sorted(peer.versions.items()))
        console.print(Text(one_line(f"{peer.name}: {versions}")))
    console.print()
    if adapter.times:
        _print_whole(console, _times(adapter))
        console.print()
    if adapter.sizes:
        _print_whole(console, _sizes(adapter))
        console.print()
    if adapter.counts:
        _print_whole(console, _counts(adapter))
        console.print()
    for problem in adapter.problems:
        console.print(Text(f"✗ not measured: {one_line(problem)}", style="red"))
    if adapter.problems:
        console.print()


def _own(console: Console, own: Own) -> None:
    console.print(Text("turnproof", style="bold"))
    console.print()
    if own.figures:
        table = _table(("figure", "of"), ("amount",))
        for figure in own.figures:
            table.add_row(one_line(figure.figure), one_line(figure.of), f"{figure.amount:,.4g} {figure.unit}")
        _print_whole(console, table)
        console.print()
    if own.ratios:
        table = _table(("figure", "of", "to"), ("ratio",))
        for ratio in own.ratios:
            text = f"{ratio.value:.3g} [{ratio.low:.3g}–{ratio.high:.3g}]"
            table.add_row(*(Text(one_line(word)) for word in (ratio.figure, ratio.of, ratio.to, text)))
        _print_whole(console, table)
        console.print()
    for problem in own.problems:
        console.print(Text(f"✗ not measured: {one_line(problem)}", style="red"))


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
    """A row for each time: what it is over the floor, plain calls, the legacy path, and its own shortest history."""
    return _held_against(adapter, "CPU ms", [(time, f"{time.ms:.4f}") for time in _in_order(adapter.times, adapter)])


def _sizes(adapter: AdapterBench) -> Table:
    """The same for each size."""
    rows = [(size, f"{size.amount:,.0f} {size.unit}") for size in _in_order(adapter.sizes, adapter)]
    return _held_against(adapter, "memory", rows)


def _held_against(adapter: AdapterBench, head: str, rows: Sequence[tuple[Time | Size, str]]) -> Table:
    others = [FLOOR, *adapter.rivals, "legacy"]
    ratios = {
        (each.figure, each.caller, each.messages, _OWN if each.to == each.caller else each.to): each
        for each in adapter.ratios
    }
    keys = {(each.figure, each.caller, each.messages) for each, _ in rows}
    used = {key[3] for key in ratios if key[:3] in keys}
    columns = [other for other in (*others, _OWN) if other in used]
    table = _table(("figure", "caller"), ("messages", head, *(f"/ {one_line(other)}" for other in columns)))
    for each, amount in rows:
        cells = [each.figure, one_line(each.caller), str(each.messages), amount]
        for other in columns:
            ratio = ratios.get((each.figure, each.caller, each.messages, other))
            cells.append("" if ratio is None else _ratio(ratio, spread=other in (FLOOR, *adapter.plain_calls[:1])))
        table.add_row(*map(Text, cells))
    return table


def _in_order(rows: Sequence[_Row], adapter: AdapterBench) -> list[_Row]:
    """Figure by figure, length by length, and in each the floor and the plain calls first."""
    figures = (*get_args(TimeFigure), *get_args(SizeFigure))
    callers = [FLOOR, *adapter.rivals, "stateless", "legacy"]
    return sorted(rows, key=lambda row: (figures.index(row.figure), row.messages, callers.index(row.caller)))


def _ratio(ratio: Ratio, *, spread: bool) -> str:
    return f"{ratio.value:.3g}" + (f" [{ratio.low:.3g}–{ratio.high:.3g}]" if spread and ratio.low < ratio.high else "")


def _counts(adapter: AdapterBench) -> Table:
    table = _table(("operation", "path"), ("messages", "requests", "read", "taken", "encoded"))
    table.add_column("provider calls")
    for count in sorted(adapter.counts, key=_count_order):
        encoded = "" if count.encoded is None else count.encoded
        numbers = (count.messages, count.requests, count.read, count.taken, encoded)
        calls = ", ".join(f"{many} {name}" for name, many in count.calls.items())
        table.add_row(count.operation, count.path, *map(str, numbers), Text(one_line(calls)))
    return table


def _count_order(count: Count) -> tuple[int, int, str]:
    return ("turn", "stream", "collect", "restore").index(count.operation), count.messages, count.path


def _goals(console: Console, goals: Sequence[GoalResult]) -> None:
    """A row for each goal that was measured; of the others only which they are."""
    measured = [goal for goal in goals if goal.standing != "not measured"]
    if measured:
        table = _table(("goal", "of", "ratio"), ("at most", "stretch", "measured"))
        table.add_column("")
        for goal in measured:
            symbol, style = _LOOKS[goal.standing]
            words = (goal.id, goal.subject, goal.words, f"{goal.at_most:g}", _number(goal.stretch), _measured(goal))
            table.add_row(*(Text(one_line(word)) for word in words), Text(f"{symbol} {goal.standing}", style=style))
        _print_whole(console, table)
        console.print()
    if missing := ", ".join(_missing(goals)):
        console.print(Text(one_line(f"– goals not measured: {missing}"), style="dim"))
        console.print()


def _missing(goals: Sequence[GoalResult]) -> Iterator[str]:
    """The goals that were not measured, those of one name and subject together."""
    alike: dict[tuple[str, str], list[GoalResult]] = {}
    for goal in goals:
        alike.setdefault((goal.id or goal.words, goal.subject), []).append(goal)
    for (name, subject), group in alike.items():
        if missing := sum(goal.standing == "not measured" for goal in group):
            yield f"{name} {subject}" + (f" ({missing} of {len(group)})" if len(group) > 1 else "")


def _measured(goal: GoalResult) -> str:
    return f"{goal.value:.3g} [{goal.low:.3g}–{goal.high:.3g}]"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _comparison(console: Console, comparison: Comparison) -> None:
    extent = f"{counted(comparison.counts, 'count')} and {counted(comparison.ratios, 'ratio')} compared with "
    extent += one_line(comparison.baseline)
    console.print(
        Text(f"{extent}, ratios at most {counted(comparison.max_ratio, 'time')}: {len(comparison.worse)} worse")
    )
    for difference in comparison.elsewhere:
        warned = f"! measured elsewhere: {difference}"
        console.print(Text(one_line(warned), style="yellow"))
    for change in comparison.worse:
        line = f"✗ {change.adapter}: {change.what}: {change.before} before, {change.now} now"
        console.print(Text(one_line(line), style="red"))
