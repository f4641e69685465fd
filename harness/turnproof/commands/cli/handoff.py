"""`turnproof handoff`: a conversation that moves from adapter to adapter, and back."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from ..._base.exit_codes import Exit
from ..._base.whole_files import write_whole
from . import completion
from .cluster_option import cluster_options
from .options import AdaptersInProcess, Cluster, Jobs, KeepRuns, ShownSeed, names_argument, names_option
from .prestart import prepare_workers


def handoff(
    adapters: Annotated[
        list[str] | None,
        names_argument(
            completion.adapters,
            "ADAPTER[=MODEL]...",
            "Who takes part; with another model than its own after `=`. Default: every installed adapter.",
            show_default=False,
        ),
    ] = None,
    scenario: Annotated[
        str | None,
        names_option(completion.scenarios, "NAME", "The conversation. Default: handoff/journey; files (*.yaml) work."),
    ] = None,
    after: Annotated[
        list[int] | None, typer.Option(metavar="N", help="Change after so many turns. Default: after each in turn.")
    ] = None,
    path: Annotated[Literal["stateless", "legacy"] | None, typer.Option(help="Only this path of each adapter.")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where the reports go. Default: reports/handoff.")
    ] = None,
    jobs: Jobs = None,
    cluster: Cluster = None,
    resume: KeepRuns = False,
    seed: ShownSeed = 0,
    in_process: AdaptersInProcess = False,
    json: Annotated[bool, typer.Option("--json", help="Print handoff.json instead of the tables.")] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Show each part that could not travel.")] = False,
) -> Exit:
    """Move a conversation between any two adapters and back.

    Each adapter takes part on each of its paths. Reports what is lost on the way, and what that breaks.
    """
    from ..._base.settings import load_config
    from ...run.bindings import runnable_adapters

    parties = tuple(adapters or runnable_adapters())
    config = load_config(Path.cwd())
    elsewhere = cluster_options(cluster, config, jobs)
    if elsewhere is None:
        prepare_workers(parties, in_process=in_process)
    from ...report.handoff_text import handoff_json, handoff_md, print_handoff
    from ...run.driver.limits import limits_of
    from ..handoff import HandoffOptions, hand_over
    from ..handoff.engine import JOURNEY
    from .certify import configured_out

    options = HandoffOptions(
        adapters=parties,
        scenario=scenario or JOURNEY,
        after=tuple(after or ()),
        path=path,
        out=out or configured_out(config.file, config.settings.out) / "handoff",
        jobs=jobs or config.settings.jobs,
        seed=seed,
        cluster=elsewhere,
        resume=resume,
        in_process=in_process,
        limits=limits_of(config.settings.workers),
    )
    matrix = hand_over(options)
    assert options.out is not None
    write_whole(options.out / "handoff.json", handoff_json(matrix))
    write_whole(options.out / "handoff.md", handoff_md(matrix))
    if json:
        sys.stdout.write(handoff_json(matrix).decode())
    else:
        print_handoff(matrix, verbose=verbose)
    print(f"reports: {options.out / 'handoff.md'}", file=sys.stderr)
    return matrix.exit_code
