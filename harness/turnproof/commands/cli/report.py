"""`turnproof report`: all reports again, from a run that is on disk."""

from __future__ import annotations

import sys
from pathlib import Path

from ..._base.exit_codes import Exit
from .options import CertificationJson, RunFolder, ViolationDetails


def report(
    folder: RunFolder = Path("reports"),
    json: CertificationJson = False,
    verbose: ViolationDetails = False,
) -> Exit | None:
    """Write the reports of a run again.

    Reports of an interrupted run say that it was cut, and the exit code is 3.
    """
    from ..._base.folder_lock import locked
    from ...report import certification_json, print_summary, write_reports
    from ...report.run_folders import certified_run
    from ...run.evidence import EvidenceStore

    run = certified_run(folder)
    with locked(folder):
        certified = write_reports(run, folder, EvidenceStore(folder / "evidence"))
    if json:
        sys.stdout.write(certification_json(certified).decode())
    else:
        print_summary(run, certified, verbose=verbose, folder=folder)
    print(f"reports: {folder / 'index.html'}", file=sys.stderr)
    return None if run.complete else Exit.UNDECIDED
