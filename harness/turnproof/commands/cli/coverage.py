"""`turnproof coverage`: which fields and rules of a dialect the traffic of a run had."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def coverage(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the run.")] = Path("reports"),
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Name every field and rule.")] = False,
) -> None:
    """Show which fields and rules of a dialect a run has used.

    Runs nothing. Fields are compared with the traffic of the reference adapters in all scenarios, and
    not against everything that the API has.
    """
    from ...report.run_folders import unedited_run
    from ...report.wire_coverage import coverage as engine
    from ...report.wire_coverage import coverage_json
    from ...report.wire_coverage_text import coverage_text
    from ...run.evidence import EvidenceStore

    report = engine(unedited_run(folder), EvidenceStore(folder / "evidence"))
    sys.stdout.write(coverage_json(report).decode() if json else coverage_text(report, verbose=verbose))
