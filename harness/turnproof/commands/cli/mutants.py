"""`turnproof mutants`: are the suites worth anything? Each adapter broken on purpose must be caught."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..._base.exit_codes import Exit
from ..._base.settings import load_config
from ...errors import UsageError
from . import completion
from .cluster_option import cluster_options
from .options import Cluster, Jobs, KeepRuns, names_option
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
    cluster: Cluster = None,
    resume: KeepRuns = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of the matrix.")] = False,
    right: Annotated[
        bool, typer.Option("--right", help="Run adapters that are right in an unusual way: nothing may accuse them.")
    ] = False,
    combine: Annotated[
        int, typer.Option(metavar="N", min=0, help="With --right: also N random pairs and triples of these changes.")
    ] = 0,
) -> Exit:
    """Break an adapter or a session on purpose, see what is caught.

    Shows which requirement catches which mutant. Exit code 1: nothing catches one of them. With --right the adapter is
    changed in ways that leave it right. Exit code 1: a requirement accuses it.
    """
    if combine and not right:
        raise UsageError("--combine goes with --right")
    if out is not None and right:
        raise UsageError("--right prints what it finds and writes no file: leave --out away")
    if resume and right:
        raise UsageError("--right keeps no runs: leave --resume away")
    config = load_config(Path.cwd())
    elsewhere = cluster_options(cluster, config, jobs)
    prepare_workers((adapter,))
    from ...run.driver.limits import limits_of
    from ..certify.mutants import mutants as break_adapter
    from ..certify.options import MutantsOptions
    from ..certify.right import right as change_adapter

    options = MutantsOptions(
        adapter=adapter,
        only=tuple(only or ()),
        out=out or Path("reports"),
        seed=seed,
        jobs=jobs,
        cluster=elsewhere,
        json=json,
        combine=combine,
        resume=resume,
        limits=limits_of(config.settings.workers),
    )
    return Exit(change_adapter(options) if right else break_adapter(options))
