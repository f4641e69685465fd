"""`turnproof verify`: is the evidence still what the verdicts were given on, and do they follow from it?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..exits import Exit


def verify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder with run.ndjson.")] = Path("reports"),
) -> Exit:
    """Give the verdicts again from the evidence.

    Checks the digest of every transcript, then runs the same checks over them. Runs no adapter.
    """
    from ..certify.verifying import verify_run
    from ..evidence import EvidenceStore
    from ..reports._text import printable
    from ..runlog import read_run

    found = verify_run(read_run(folder / "run.ndjson"), EvidenceStore(folder / "evidence"))
    for problem in found.problems:
        typer.echo(printable(problem))
    print(f"{found.transcripts} transcripts and {found.verdicts} verdicts checked", file=sys.stderr)
    if found.problems:
        return Exit.VIOLATIONS
    return Exit.OK if found.complete and found.verdicts else Exit.UNDECIDED
