"""What a person reads of an inventory: a row for each method, and below them what the source does not decide."""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path
from typing import TextIO

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..._base.counts import counted
from ...report._inline_text import printable
from ...report.terminal import console_for
from .model import Inventory, MethodUse, TouchKind

_COLUMNS: tuple[tuple[str, tuple[TouchKind, ...]], ...] = (
    ("reads", ("reads",)),
    ("writes", ("writes",)),
    ("of the provider", ("provider-call", "provider-private")),
)


def print_inventory(inventory: Inventory, file: TextIO | None = None) -> None:
    """Write an inventory to `file` (stdout by default). Files are shown relative to the current folder.

    Of a session only what it uses of its provider: that it reads and writes a history of its own is as it should be.
    """
    console = console_for(file or sys.stdout)
    console.print(Text(f"{inventory.name}: {_headline(inventory)}", style="bold"))
    columns = _COLUMNS[2:] if inventory.is_session else _COLUMNS
    columns = tuple(column for column in columns if any(_cell(use, column) for use in inventory.methods))
    rows = [(use, [_cell(use, column) for column in columns]) for use in inventory.methods]
    rows = [(use, cells) for use, cells in rows if use.legacy or any(cells)]
    width = max((len(_method(use)) for use, _ in rows), default=0)
    for path, uses in groupby(rows, key=lambda row: row[0].file):
        console.print(Padding(Text(_relative(path) or "(no source)", style="bright_black"), (0, 0, 0, 2)))
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bright_black")
        table.add_column("line", justify="right", width=5)
        table.add_column("method", width=width)
        for heading, _ in columns:
            table.add_column(heading, overflow="fold", ratio=1)
        for use, cells in uses:
            table.add_row(str(use.line), Text(_method(use)), *map(Text, cells))
        console.print(Padding(table, (0, 0, 0, 2)))
    for problem in inventory.problems:
        console.print(Padding(Text(f"? {printable(_relative(problem))}", style="yellow"), (0, 0, 0, 2)))


def _headline(inventory: Inventory) -> str:
    left = len(inventory.left)
    if inventory.is_session:
        what = f"{left} of its methods use what its provider must lose" if left else "nothing left"
        return f"a session, {what}"
    if inventory.methods:
        return f"{counted(left, 'method')} to do with history, {len(inventory.legacy)} of them legacy methods"
    return "no history found" if inventory.problems else "nothing left"


def _method(use: MethodUse) -> str:
    return f"{use.owner}.{use.name}" + (" (legacy)" if use.legacy else "")


def _cell(use: MethodUse, column: tuple[str, tuple[TouchKind, ...]]) -> str:
    """What is touched, each with its lines."""
    lines: dict[str, list[str]] = {}
    for touch in use.touches:
        if touch.kind in column[1]:
            lines.setdefault(touch.what, []).append(str(touch.line))
    return "\n".join(f"{what}  {','.join(dict.fromkeys(at))}" for what, at in lines.items())


def _relative(file: str) -> str:
    return file.replace(f"{Path.cwd()}/", "")
