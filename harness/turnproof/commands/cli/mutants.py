"""`turnproof mutants`: are the suites worth anything? Each adapter broken on purpose must be caught."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..._base.exit_codes import Exit
from . import completion
from .options import Jobs, names_option
from .prestart import prepare_workers


def mutants(
    adapter: Annotated[
        str, typer.Argument(autocompletion=completion.subjects, help="The control: an adapter or a session.")
    ] = "anthropic",
    only: Annotated[
        list[str] | None, names_option(completion.mutants, "NAME", "Only these mutants; patterns like 'result-*' work.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Where mutants.json goes. Default: reports.")] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Every random choice follows from it.")] = 0,
    jobs: Jobs = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of the matrix.")] = False,
) -> Exit:
    """Break an adapter or a session on purpose, see what is caught.

    Shows which requirement catches which mutant. A survivor gives exit code 1.
    """
    prepare_workers((adapter,))
    from ..certify.mutants import mutants as engine
    from ..certify.options import MutantsOptions

    options = MutantsOptions(
        adapter=adapter, only=tuple(only or ()), out=out or Path("reports"), seed=seed, jobs=jobs, json=json
    )
    return Exit(engine(options))
