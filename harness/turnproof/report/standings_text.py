"""Where adapters stand, in tables: each adapter with what it holds, against profiles, and one by itself."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .._base.counts import counted
from ..judge.run_log import AdapterLine, Run
from ..judge.verdict import Status
from ._inline_text import LOOKS, one_line
from .certification import AdapterReport, Certification, ProfileReport
from .overview import Cell, Overview, overview
from .standing import held_of_all, model_of, profile_standing, proof_of, standing, today_apart, wire_of

_ABBREVIATED = 4
"""Letters of a profile at the head of a column: with all of it no adapter's row would fit on a line."""


def print_standings(console: Console, run: Run, report: Certification, *, verbose: bool) -> None:
    """One adapter profile by profile; several in a row each, and against profiles where there is room for it.

    With `verbose` the matrix has a row for each path, and each adapter is shown by itself, too.
    """
    if len(report.adapters) > 1:
        _adapters(console, report)
        if verbose and (matrix := overview(report)) is not None:
            _paths(console, matrix)
        else:
            _profiles(console, report)
    for adapter in run.adapters.values() if len(report.adapters) == 1 or verbose else ():
        _adapter(console, report, adapter)


def _adapters(console: Console, report: Certification) -> None:
    """A row for each adapter: its standing, what it holds, and as far as there is room which profiles it does not."""
    room = [name for name, columns in _ROOMY.items() if console.width >= columns]
    table = _table("adapter", "standing", "MUST", "SHOULD", *room)
    for column in table.columns:
        column.no_wrap, column.overflow = True, "ellipsis"
    if room:  # the last column alone gives way
        table.expand, table.columns[-1].ratio = True, 1
    for name, found in report.adapters.items():
        must, should = _total(found, "must", sum(one.all for one in found.profiles.values())), _total(found, "should")
        words = standing(found, complete=report.complete).partition(":")[0]
        more: dict[str, str | Text] = {"model": one_line(found.model), "not held, or not claimed": _lacking(found)}
        style = "green" if found.certified else "red"
        table.add_row(
            f"{_symbol(found, complete=report.complete)} {one_line(name)}",
            Text(words, style=style),
            must,
            should,
            *(more[each] for each in room),
        )
    console.print()
    console.print(table)


_ROOMY = {"model": 100, "not held, or not claimed": 72}
"""Columns that a row of an adapter has on a screen of this width."""


def _symbol(found: AdapterReport, *, complete: bool) -> str:
    if not complete:
        return LOOKS[Status.INCONCLUSIVE].symbol
    status = Status.HELD if found.certified else Status.KNOWN_ISSUE if found.conditional else Status.VIOLATED
    return LOOKS[status].symbol


def _total(found: AdapterReport, level: str, every: int = 0) -> str:
    pairs = [getattr(profile, level) for profile in found.profiles.values()]
    return held_of_all((sum(count for count, _ in pairs), sum(claimed for _, claimed in pairs)), every)


def _lacking(found: AdapterReport) -> Text:
    """The profiles that are not held whole, with numbers, then those of which nothing is claimed."""
    parts = [f"{name} {'/'.join(map(str, one.must))}" for name, one in found.profiles.items() if _is_short(one.must)]
    unmeasured = [name for name, one in found.profiles.items() if one.unmeasured and not one.must[1]]
    not_claimed = [name for name, one in found.profiles.items() if not one.must[1] and not one.unmeasured]
    text = Text(", ".join(parts), style="red")
    for word, names in (("not measured", unmeasured), ("not claimed", not_claimed)):
        if names:
            many = counted(len(names), "profile") if len(names) > 3 else ", ".join(names)
            text.append(f"{'; ' if text else ''}{word}: {many}", style="dim not bold default")
    return text


def _is_short(pair: tuple[int, int]) -> bool:
    return pair[0] < pair[1]


def _profiles(console: Console, report: Certification) -> None:
    """Adapters against profiles, with the MUSTs held; left out where it would not fit on the screen's lines."""
    names = list(dict.fromkeys(name for found in report.adapters.values() for name in found.profiles))
    profiles = [
        name for name in names if any(name in one.profiles and one.profiles[name].must[1] for one in _of(report))
    ]
    rows = [
        (
            name,
            found.certified,
            [_cell(_cell_of(found.profiles[each]) if each in found.profiles else None) for each in profiles],
        )
        for name, found in report.adapters.items()
    ]
    _matrix(console, profiles, rows, optional=True)


def _of(report: Certification) -> list[AdapterReport]:
    return list(report.adapters.values())


def _paths(console: Console, matrix: Overview) -> None:
    """The same, with a row for each path."""
    rows = [(f"{row.adapter} {row.path}", row.certified, [_cell(cell) for cell in row.cells]) for row in matrix.rows]
    _matrix(console, list(matrix.profiles), rows, optional=False)


def _matrix(console: Console, profiles: list[str], rows: list[tuple[str, bool, list[Text]]], *, optional: bool) -> None:
    if not profiles:
        return
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("MUST held", no_wrap=True)
    for profile in profiles:
        table.add_column(profile[:_ABBREVIATED], justify="right", no_wrap=True)
    for name, certified, cells in rows:
        table.add_row(Text(one_line(name), style="green" if certified else "red"), *cells)
    roomy = console.options.update(max_width=10_000)
    if optional and console.measure(table, options=roomy).maximum > console.width:
        return
    console.print()
    console.print(table)


def _cell_of(profile: ProfileReport) -> Cell:
    return Cell(profile.must, profile.all)


def _cell(cell: Cell | None) -> Text:
    """Held of claimed of all, as short as it can be: `15`, `14/15`, `9 of 15`, `8/9 of 15`."""
    if cell is None or not cell.must[1]:
        return Text("-", style="dim")
    count, claimed = cell.must
    if count != claimed:
        return Text(held_of_all(cell.must, cell.all), style="red")
    return Text.assemble(str(count), (f" of {cell.all}" if cell.all > claimed else "", "dim"))


def _adapter(console: Console, report: Certification, adapter: AdapterLine) -> None:
    """One adapter by itself, profile by profile."""
    found = report.adapters[adapter.name]
    style = "bold green" if found.certified else "bold red"
    console.print()
    console.print(
        Text.assemble((one_line(adapter.name), "bold"), ": ", (standing(found, complete=report.complete), style)),
        Text(f"{one_line(wire_of(found))}, {one_line(model_of(found))}, {proof_of(found)}, profiles {report.profiles}"),
        sep="\n",
    )
    if apart := today_apart(found):
        console.print(Text(apart))
    table = _table("profile", "MUST", "SHOULD", "standing")
    left_out = [name for name, profile in found.profiles.items() if profile.unmeasured and not profile.must[1]]
    for name, profile in found.profiles.items():
        if name in left_out:
            continue
        must, should = held_of_all(profile.must, profile.all), held_of_all(profile.should)
        words = profile_standing(profile, complete=report.complete)
        table.add_row(name, must, should, Text(words, style="green" if profile.certified else ""))
    if table.row_count:
        console.print(table)
    if left_out:
        console.print(Text(f"not measured: {', '.join(left_out)}"))
    if found.decided_on:
        answers, faults = found.decided_on.get("answers", 0), found.decided_on.get("faults", 0)
        console.print(
            Text(f"decided on the answers of the service: {answers}; on faults that turnproof made, not live: {faults}")
        )
    if found.unproven:
        console.print(Text(f"claimed, and no requirement shows it: {', '.join(found.unproven)}"))


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, justify="right" if column in ("MUST", "SHOULD") else "left")
    return table
