"""`turnproof merge`: many certifications in one report, a column for each."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..._base.exit_codes import Exit
from ..._base.whole_files import write_whole


def merge(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder with a folder for each cell, as `certify --out` wrote it.")
    ] = Path("reports/matrix"),
    expect: Annotated[
        list[str] | None,
        typer.Option(metavar="CELL", help="The cells that must be there, in this order. Default: those that are."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print matrix.json instead of the tables.")] = False,
) -> Exit:
    """Merge certifications into one report.

    Writes `matrix.json` and `matrix.md` into the folder. A cell that is expected and missing gives exit code 3.
    """
    from ...report.merged_matrix import matrix_json, matrix_md, matrix_text
    from ...report.merged_matrix import merge as engine

    matrix = engine(folder, tuple(expect or ()))
    write_whole(folder / "matrix.json", matrix_json(matrix))
    write_whole(folder / "matrix.md", matrix_md(matrix))
    sys.stdout.write(matrix_json(matrix).decode() if json else matrix_text(matrix))
    print(f"reports: {folder / 'matrix.md'}", file=sys.stderr)
    return matrix.exit_code
