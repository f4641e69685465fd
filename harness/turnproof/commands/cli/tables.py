"""Rows as a table whose names stay whole: a name that is folded can be neither searched nor copied.

Where a terminal is too narrow for that, prose moves to a separate line below each row.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

Row = Mapping[str, Any]

_PROSE = ("title", "breaks", "problem")
"""The columns that people read as sentences."""
_READABLE = 30
"""A column of prose is not made narrower."""
_GAP = 2


def print_rows(lists: Mapping[str, Sequence[Row]]) -> None:
    """Print each list to stdout, under its name if there are several. Behind a pipe one row is one line, for grep."""
    from ...report.terminal import console_for

    console = console_for(sys.stdout, plain_width=2000)
    for number, (name, rows) in enumerate(lists.items()):
        if number:
            console.print()
        if len(lists) > 1:
            console.print(Text(f"{name} ({len(rows)})", style="bold"))
        if not rows:
            console.print(Text("none"))
            continue
        columns = list(dict.fromkeys(key for row in rows for key in row))
        widths = _widths(columns, rows, console.width)
        if widths is None:
            _print_below_each_other(console, columns, rows)
        else:
            _print_table(console, columns, rows, widths)


def print_indented(console: Console, text: Text) -> None:
    """Print text two columns from the left, wrapped at its words."""
    for line in text.wrap(console, console.width - _GAP):
        line.rstrip()
        line.pad_left(_GAP)
        console.print(line, soft_wrap=True)


def _widths(columns: Sequence[str], rows: Sequence[Row], width: int) -> list[int] | None:
    """How wide each column is; None where names would have to be folded."""
    natural = [max(cell_len(text) for text in (column, *(_cell(row, column) for row in rows))) for column in columns]
    least = [min(wide, _least(column, rows, wide)) for column, wide in zip(columns, natural, strict=True)]
    left = width - _GAP * (len(columns) - 1) - sum(least)
    if left < 0:
        return None
    # Prose first: it gains most from a wider column.
    for number in sorted(range(len(columns)), key=lambda number: columns[number] not in _PROSE):
        more = min(left, natural[number] - least[number])
        least[number] += more
        left -= more
    return least


def _least(column: str, rows: Sequence[Row], natural: int) -> int:
    if column in _PROSE:
        return max(_READABLE, cell_len(column))
    items = [item for row in rows if isinstance(found := row.get(column), list) for item in found]
    # With the comma behind it.
    return max(cell_len(text) + 1 for text in (column, *items)) if items else natural


def _print_table(console: Console, columns: Sequence[str], rows: Sequence[Row], widths: Sequence[int]) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
    for column, width in zip(columns, widths, strict=True):
        table.add_column(column, overflow="fold", width=width)
    for row in rows:
        table.add_row(*(Text(_cell(row, column)) for column in columns))
    console.print(table)


def _print_below_each_other(console: Console, columns: Sequence[str], rows: Sequence[Row]) -> None:
    heads = dict(zip(columns, columns, strict=True))
    for style, row in (("bold", heads), *(("", row) for row in rows)):
        names = [name for column in columns if column not in _PROSE for name in _names(row, column, console.width)]
        for line in _filled(filter(None, names), console.width):
            console.print(Text(line, style), soft_wrap=True)
        for text in filter(None, (_cell(row, column) for column in columns if column in _PROSE)):
            print_indented(console, Text(text, style))


def _filled(names: Iterable[str], width: int) -> list[str]:
    """The names on as few lines as they fit on, those after the first one indented."""
    lines: list[str] = []
    for name in names:
        if lines and cell_len(lines[-1]) + _GAP + cell_len(name) <= width:
            lines[-1] += " " * _GAP + name
        else:
            lines.append(" " * _GAP * bool(lines) + name)
    return lines


def _names(row: Row, column: str, width: int) -> list[str]:
    """What a cell holds: one text, or the items of a list that is too long for a line."""
    value, whole = row.get(column, ""), _cell(row, column)
    if not isinstance(value, list) or cell_len(whole) + _GAP <= width:
        return [whole]
    return [*(f"{item}," for item in value[:-1]), *value[-1:]]


def _cell(row: Row, column: str) -> str:
    value = row.get(column, "")
    return ", ".join(value) if isinstance(value, list) else str(value)
