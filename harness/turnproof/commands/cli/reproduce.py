"""`turnproof reproduce`: a finding as one file that shows it with the library alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..._base.exit_codes import Exit
from ..._base.whole_files import write_whole
from . import completion
from .options import OnePath, Scenarios, names_option


def reproduce(
    finding: Annotated[
        str,
        typer.Argument(metavar="FINDING", help="The code of a finding, or a requirement that is violated."),
    ],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder with run.ndjson.")] = Path("reports"),
    adapter: Annotated[
        str | None, names_option(completion.adapters, "NAME", "The adapter, where the run has several.")
    ] = None,
    scenario: Scenarios = None,
    path: OnePath = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the file goes. Default: it is printed.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Also run it in a clean environment, with the library and nothing else.")
    ] = False,
) -> Exit:
    """Write a file that shows a finding without turnproof.

    It has at most sixty lines: the library, a server that sends the bytes of the run, and what was expected. Exit
    codes: 0 the file shows the finding (with --check, in the clean environment too); 3 no file does, with the reason.
    """
    from ..reproduce.engine import reproduce as engine
    from ..reproduce.run_findings import UnreproducibleError

    try:
        reproducer = engine(folder, finding, adapter=adapter, scenarios=tuple(scenario or ()), path=path)
    except UnreproducibleError as error:
        print(f"no reproducer: {error}", file=sys.stderr)
        return Exit.UNDECIDED
    if out is None:
        sys.stdout.write(reproducer.source)
    else:
        write_whole(out, reproducer.source)
        print(f"reproducer: {out}", file=sys.stderr)
    print(reproducer.trial.sentence, file=sys.stderr)
    if not check:
        return Exit.OK
    checked = reproducer.check()
    print(f"in a clean environment with {', '.join(reproducer.requirements)}: {checked.sentence}", file=sys.stderr)
    return Exit.OK if checked.shown else Exit.UNDECIDED
