"""`turnproof verify`: is the evidence still what the verdicts were given on, and do they follow from it?"""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from ..._base.counts import counted
from ..._base.exit_codes import Exit
from .options import RunFolder


def verify(
    folder: RunFolder = Path("reports"),
) -> Exit:
    """Judge a run again from its evidence.

    Compares the digest of every transcript, runs the same checks over them, and looks for anything that is missing.
    Runs no adapter, and opens nothing outside the folder.
    """
    from ..._base.foreign_files import refuse_links
    from ...report._inline_text import printable
    from ...report.run_folders import run_in
    from ...report.scenario_copies import scenario_copies
    from ...run.evidence import EvidenceStore
    from ..certify.verify import report_agrees, verify_run

    refuse_links(folder, "evidence")
    run, store = run_in(folder), EvidenceStore(folder / "evidence")
    verification = verify_run(run, store, scenario_copies(folder, run.header.files))
    problems = [*verification.problems, *report_agrees(run, store, folder)]
    for problem in problems:
        typer.echo(printable(problem))
    if not verification.complete:
        typer.echo("the run was cut: what is there was checked, and it certifies nothing")
    print(
        f"{counted(verification.transcripts, 'transcript')} and {counted(verification.verdicts, 'verdict')} checked",
        file=sys.stderr,
    )
    if problems:
        return Exit.VIOLATIONS
    return Exit.OK if verification.complete and verification.verdicts else Exit.UNDECIDED
