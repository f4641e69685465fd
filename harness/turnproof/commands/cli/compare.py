"""`turnproof compare`: one input down two paths, side by side."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ..._base.counts import counted
from ..._base.depth import DEFAULT_DEPTH, Depth
from ..._base.exit_codes import Exit
from . import completion
from .cluster_option import cluster_options
from .options import AdaptersInProcess, AnyBackend, Cluster, Jobs, Scenarios, Seed, names_argument
from .prestart import prepare_workers

if TYPE_CHECKING:
    from ..._base.settings import Config


def compare(
    subjects: Annotated[
        list[str],
        names_argument(
            completion.adapters,
            "ADAPTER|RUN...",
            "One adapter (its two paths), two adapters, or one or two folders with a run.",
            show_default=False,
        ),
    ],
    scenario: Scenarios = None,
    path: Annotated[
        Literal["stateless", "legacy"] | None, typer.Option(help="Of two adapters or runs, one path alone.")
    ] = None,
    mode: Annotated[Literal["stream", "batch"] | None, typer.Option(help="Only this mode.")] = None,
    backend: AnyBackend = None,
    depth: Annotated[Depth | None, typer.Option(help="quick (the default) or full: all scenarios.")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where run and reports go. Default: reports/compare.")
    ] = None,
    jobs: Jobs = None,
    cluster: Cluster = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on with an interrupted run in --out: what it has is not measured again."),
    ] = False,
    seed: Seed = None,
    bytes: Annotated[bool, typer.Option("--bytes", help="Show the bodies of requests byte for byte.")] = False,
    in_process: AdaptersInProcess = False,
    json: Annotated[bool, typer.Option("--json", help="Print comparison.json instead of the tables.")] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Show values whole, and what is noise.")] = False,
) -> Exit:
    """Compare two paths, adapters or runs.

    Every difference is declared, with a reason, or it is a violation; a declared one that no longer occurs fails too.
    """
    from ..._base.settings import load_config

    config = load_config(Path.cwd())
    elsewhere = cluster_options(cluster, config, jobs)
    if elsewhere is None:
        prepare_workers(subjects, in_process=in_process)  # nothing starts for a run on disk: it is no subject
    from ...report.compare_terminal import print_comparison
    from ...report.comparison import comparison_json
    from ..compare import CompareOptions
    from ..compare import compare as engine
    from ..compare.stored_runs import is_recorded

    settings = config.settings
    recorded = all(is_recorded(subject) for subject in subjects)
    options = CompareOptions(
        subjects=tuple(subjects),
        scenarios=tuple(scenario or ()),
        path=path,
        mode=mode,
        backend=backend or settings.backend,
        depth=depth or settings.depth or DEFAULT_DEPTH,
        # What is on disk already needs no second copy; its reports go where they are asked for.
        out=out or (None if recorded else _default_out(config)),
        jobs=jobs or settings.jobs,
        seed=seed if seed is not None else settings.seed or 0,
        bytes=bytes,
        cluster=elsewhere,
        resume=resume,
        in_process=in_process,
        config=config,
        command=("turnproof", *sys.argv[1:]),
    )
    report = engine(options)
    if json:
        sys.stdout.write(comparison_json(report).decode())
    else:
        print_comparison(report, verbose=verbose)
    for lacking, count in report.left_out.items():
        print(f"left out: {counted(count, 'scenario')}, because {lacking} is not claimed", file=sys.stderr)
    if options.out is not None:
        print(f"reports: {options.out / 'compare.html'}", file=sys.stderr)
    return Exit(report.exit_code)


def _default_out(config: Config) -> Path:
    from .certify import configured_out

    return configured_out(config.file, config.settings.out) / "compare"
