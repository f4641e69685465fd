"""Many certifications in one report: a column for each cell of a matrix, a row for each profile of an adapter.

A cell is a run somewhere: with some Python, some version of an SDK. What differs between the cells of one adapter is
what somebody who looks at a matrix wants to know, so it is told by itself. A cell that was expected and is not there is
a column too: nothing was measured, and that is no success.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from .._base.canonical import canonical
from .._base.counts import counted
from .._base.exit_codes import Exit, heaviest
from ..errors import UsageError
from ._inline_text import LOOKS, one_line
from ._markdown import escape
from .certification import AdapterReport, Certification
from .run_folders import CERTIFICATION_FILE as FILE
from .run_folders import read_certification

SCHEMA = "turnproof.matrix/1"


class Cell(msgspec.Struct, frozen=True):
    """One run. `versions` are those of the SDKs that took part; `missing` says why there is none."""

    name: str
    python: str = ""
    versions: dict[str, str] = {}
    exit_code: int | None = None
    complete: bool = False
    certified: dict[str, bool] = {}
    missing: str = ""


class Row(msgspec.Struct, frozen=True):
    """One profile of one adapter: `cells` has MUSTs held and claimed, by the names of those cells that ran it."""

    adapter: str
    profile: str
    cells: dict[str, tuple[int, int]]


class Split(msgspec.Struct, frozen=True):
    """A requirement that does not stand alike in all cells of its adapter."""

    adapter: str
    requirement: str
    cells: dict[str, str]


class Matrix(msgspec.Struct, frozen=True):
    """The merged report."""

    cells: tuple[Cell, ...]
    rows: tuple[Row, ...]
    split: tuple[Split, ...]
    schema: str = SCHEMA

    @property
    def exit_code(self) -> Exit:
        """The heaviest of the cells' codes; a cell that is missing or was cut is undecided."""
        codes = [cell.exit_code if cell.complete else None for cell in self.cells]
        return heaviest(Exit.UNDECIDED if code is None else code for code in codes) if codes else Exit.UNDECIDED


def merge(folder: Path, expected: Sequence[str] = ()) -> Matrix:
    """The runs in the folders below `folder`, each with its `certification.json`; a cell is named by its folder.

    Without `expected` all that is there is taken. With it these cells are the columns, in this order: one without a run
    is missing, and what else lies there is left aside. Raises UsageError where there is nothing at all, and for a file
    that is no certification.
    """
    names = list(expected) or sorted(path.parent.name for path in folder.glob(f"*/{FILE}"))
    found = {name: _read_certification(folder / name / FILE) for name in names}
    reports = {name: report for name, report in found.items() if report is not None}
    if not reports:
        raise UsageError(f"{folder} has no folder with a {FILE}: certify into folders below it first (--out)")
    return Matrix(
        cells=tuple(_cell(name, report) for name, report in found.items()),
        rows=tuple(_rows(reports)),
        split=tuple(_splits(reports)),
    )


def matrix_json(matrix: Matrix) -> bytes:
    """`matrix.json`: indented, with sorted keys."""
    return msgspec.json.format(canonical(matrix), indent=2) + b"\n"


def matrix_md(matrix: Matrix) -> str:
    """`matrix.md`: a table for each adapter, the cells that differ, and those that are missing."""
    return "\n".join(_lines(matrix, escape)) + "\n"


def matrix_text(matrix: Matrix) -> str:
    """The same for a terminal, where nothing has to be escaped but control characters."""
    return "\n".join(_lines(matrix, one_line)) + "\n"


def _lines(matrix: Matrix, shown: Callable[[str], str]) -> Iterator[str]:
    cells_run = [cell for cell in matrix.cells if not cell.missing]
    yield f"# Matrix: {len(cells_run)} of {counted(len(matrix.cells), 'cell')} ran"
    for adapter, rows in _grouped(matrix.rows).items():
        own_cells = [cell for cell in cells_run if adapter in cell.certified]
        good = sum(cell.certified[adapter] for cell in own_cells)
        yield ""
        yield f"## {shown(adapter)}: certified in {good} of {counted(len(own_cells), 'cell')}"
        yield ""
        yield f"| MUST held | {' | '.join(shown(cell.name) for cell in own_cells)} |"
        yield "|---" * (len(own_cells) + 1) + "|"
        yield f"| with | {' | '.join(shown(_with(cell)) for cell in own_cells)} |"
        for row in rows:
            counts = (_held_count(row.cells.get(cell.name)) for cell in own_cells)
            yield f"| {shown(row.profile)} | {' | '.join(counts)} |"
        verdicts = ["certified" if cell.certified[adapter] else "**not certified**" for cell in own_cells]
        yield f"| | {' | '.join(verdicts)} |"
    yield ""
    yield "## What differs between cells"
    yield ""
    yield from [shown(_split_text(split)) for split in matrix.split] or ["Nothing."]
    if missing := [cell for cell in matrix.cells if cell.missing]:
        yield ""
        yield "## Missing cells"
        yield ""
        yield from (f"- {shown(cell.name)}: {shown(cell.missing)}" for cell in missing)


def _read_certification(path: Path) -> Certification | None:
    return read_certification(path) if path.is_file() else None


def _cell(name: str, report: Certification | None) -> Cell:
    if report is None:
        return Cell(name, missing="there is no report: the interpreter is not installed, or the run failed before it")
    return Cell(
        name=name,
        python=report.environment.python,
        versions=report.environment.packages | dict(_programs(report)),
        exit_code=report.exit_code,
        complete=report.complete,
        certified={adapter: found.certified for adapter, found in report.adapters.items()},
    )


def _programs(report: Certification) -> Iterator[tuple[str, str]]:
    """The programs behind agents, each with its version."""
    for found in report.adapters.values():
        for program in found.programs:
            name, _, version = program.rpartition(" ")
            yield (name, version) if name else (version, "")


def _rows(reports: Mapping[str, Certification]) -> Iterator[Row]:
    for adapter, cells in _by_adapter(reports).items():
        profiles = dict.fromkeys(profile for found in cells.values() for profile in found.profiles)
        for profile in profiles:
            musts = {name: found.profiles[profile].must for name, found in cells.items() if profile in found.profiles}
            yield Row(adapter, profile, musts)


def _splits(reports: Mapping[str, Certification]) -> Iterator[Split]:
    for adapter, cells in _by_adapter(reports).items():
        for requirement in sorted({id for found in cells.values() for id in found.requirements}):
            standing = {
                name: str(found.requirements[requirement].status) if requirement in found.requirements else "left out"
                for name, found in cells.items()
            }
            if len(set(standing.values())) > 1:
                yield Split(adapter, requirement, standing)


def _by_adapter(reports: Mapping[str, Certification]) -> dict[str, dict[str, AdapterReport]]:
    adapters = dict.fromkeys(adapter for report in reports.values() for adapter in report.adapters)
    return {
        adapter: {name: report.adapters[adapter] for name, report in reports.items() if adapter in report.adapters}
        for adapter in adapters
    }


def _grouped(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.adapter, []).append(row)
    return found


def _with(cell: Cell) -> str:
    return ", ".join(
        [f"Python {cell.python}", *(f"{name} {version}".rstrip() for name, version in cell.versions.items())]
    )


def _held_count(must: tuple[int, int] | None) -> str:
    if must is None:
        return "-"
    count, claimed = must
    return f"{count}/{claimed}" if count == claimed else f"**{count}/{claimed}**"


def _split_text(split: Split) -> str:
    looks = {str(status): look for status, look in LOOKS.items()}
    standing: dict[str, list[str]] = {}
    for cell, status in split.cells.items():
        standing.setdefault(looks[status].word if status in looks else status, []).append(cell)
    words = "; ".join(f"{word} in {', '.join(cells)}" for word, cells in standing.items())
    return f"- {split.adapter} {split.requirement}: {words}"
