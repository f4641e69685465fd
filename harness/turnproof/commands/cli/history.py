"""`turnproof history`: where adapters stood over the runs that a folder keeps."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..._base.exit_codes import Exit
from ..._base.whole_files import write_whole


def history(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder with the runs, each in a folder of its own at any depth.")
    ] = Path("reports"),
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write history.json, history.md, history.html and a history-ADAPTER.svg for each adapter there. "
            "Default: nowhere.",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print history.json instead of the text.")] = False,
) -> Exit:
    """Show how the results of adapters changed from run to run.

    Runs nothing. Reads every certification in the folder and below it. A damaged run is named and
    left out, and gives exit code 2.
    """
    from ...report.history import history as engine
    from ...report.history import history_json
    from ...report.history_html import history_badge, history_badge_file, history_html
    from ...report.history_text import history_md, history_text

    report = engine(folder)
    if out is not None:
        write_whole(out / "history.json", history_json(report))
        write_whole(out / "history.md", history_md(report).encode())
        write_whole(out / "history.html", history_html(report).encode())
        for name, found in report.adapters.items():
            write_whole(out / history_badge_file(name), history_badge(name, found).encode())
    sys.stdout.write(history_json(report).decode() if json else history_text(report))
    for one in report.skipped:
        if json:
            print(f"left out: {one.run} ({one.why}): {one.reason}", file=sys.stderr)
    if out is not None:
        print(f"reports: {out / 'history.html'}", file=sys.stderr)
    return report.exit_code
