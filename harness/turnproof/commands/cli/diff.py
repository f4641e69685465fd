"""`turnproof diff`: what two certifications say of the same things."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..._base.exit_codes import Exit
from ..._base.whole_files import write_whole


def diff(
    before: Annotated[
        Path,
        typer.Argument(metavar="RUN_A", help="The earlier run: its folder, or its certification.json alone."),
    ],
    after: Annotated[Path, typer.Argument(metavar="RUN_B", help="The later run.")],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Write diff.json, diff.md, and comment.md for a pull request there. Default: nowhere."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print diff.json instead of the text.")] = False,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Show everything, with the text of both sides.")
    ] = False,
) -> Exit:
    """Show what is new, fixed, still there or no longer measured.

    Runs nothing. Exit codes: 1 a new violation; 3 a run was cut, or nothing was measured on both
    sides; 0 otherwise.
    """
    from ...report.certification_diff import diff as engine
    from ...report.certification_diff import diff_json
    from ...report.certification_diff_text import diff_md, print_diff
    from ...report.comment import comment_md

    report = engine(before, after)
    if out is not None:
        write_whole(out / "diff.json", diff_json(report))
        write_whole(out / "diff.md", diff_md(report))
        write_whole(out / "comment.md", comment_md(report))
    if json:
        sys.stdout.write(diff_json(report).decode())
    else:
        print_diff(report, verbose=verbose)
    if out is not None:
        print(f"reports: {out / 'diff.md'}", file=sys.stderr)
    return Exit(report.exit_code)
