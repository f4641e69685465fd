"""`turnproof explore`: search for scenarios that fail."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..._base.exit_codes import Exit
from . import completion
from .cluster_option import cluster_options
from .options import Cluster, Jobs, KeepRuns, OnePath, in_process_option, names_argument, names_option
from .prestart import prepare_workers


def explore(
    subject: Annotated[
        str,
        names_argument(
            completion.subjects,
            "ADAPTER",
            "An adapter or a session: an installed name, or module:attribute; SESSION@ADAPTER runs a session with "
            "another adapter.",
            show_default=False,
        ),
    ],
    examples: Annotated[
        int, typer.Option("-n", "--examples", min=1, metavar="N", help="How many scenarios are tried.")
    ] = 300,
    seed: Annotated[int, typer.Option(metavar="N", help="All of them follow from it.")] = 0,
    most: Annotated[int, typer.Option(min=1, metavar="N", help="Stop after so many findings.")] = 5,
    only: Annotated[
        list[str] | None,
        names_option(
            completion.requirements, "ID", "Judge by these requirements; patterns work, too. Default: all MUSTs."
        ),
    ] = None,
    skip: Annotated[
        list[str] | None, names_option(completion.requirements, "ID", "Judge without these requirements.")
    ] = None,
    path: OnePath = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where scenarios go, in a folder explored. Default: reports.")
    ] = None,
    jobs: Jobs = None,
    cluster: Cluster = None,
    resume: KeepRuns = False,
    in_process: Annotated[bool, in_process_option("the adapter")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> Exit:
    """Search for scenarios that fail.

    Tries random conversations, operations and faults against the emulator, makes each failing one as small as it can,
    and writes it to a file that `certify --scenario` takes.
    """
    from ..._base.settings import load_config

    config = load_config(Path.cwd())
    elsewhere = cluster_options(cluster, config, jobs)
    if elsewhere is None:
        prepare_workers((subject,), in_process=in_process)
    from ...report.progress import progress
    from ..explore import ExploreOptions
    from ..explore import explore as engine
    from ..explore.report import to_json
    from ..explore.terminal import print_exploration
    from .certify import configured_out

    options = ExploreOptions(
        subject=subject,
        examples=examples,
        seed=seed,
        most=most,
        only=tuple(only or ()),
        skip=tuple(skip or ()),
        path=path,
        out=out or configured_out(config.file, config.settings.out),
        jobs=jobs or config.settings.jobs,
        cluster=elsewhere,
        resume=resume,
        in_process=in_process,
        config=config,
    )
    with progress("explore") as tracker:
        tracker.stage("scenarios")
        exploration = engine(options, tracker)
    if json:
        sys.stdout.write(to_json(exploration))
    else:
        print_exploration(exploration, sys.stdout)
    return exploration.exit_code
