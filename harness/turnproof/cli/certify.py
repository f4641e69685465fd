"""`turnproof certify`: measure adapters and sessions and say which requirements they meet."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ..config import Backend, Depth
from ..exits import Exit
from .early import prepare_workers

if TYPE_CHECKING:
    from ..certify.options import CertifyOptions


def certify(
    adapters: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ADAPTER",
            help="Adapters or sessions: installed names, or module:attribute; SESSION@ADAPTER runs a session with "
            "another adapter. Default: those configured.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Only these requirements; patterns like 'tools/*' work.")
    ] = None,
    skip: Annotated[list[str] | None, typer.Option(metavar="ID", help="Without these requirements.")] = None,
    profile: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Only these profiles.")] = None,
    scenario: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only these scenarios; patterns like 'cancel/*' work, and files (*.yaml)."),
    ] = None,
    path: Annotated[Literal["stateless", "legacy"] | None, typer.Option(help="One path alone.")] = None,
    backend: Annotated[
        Backend | None, typer.Option(help="What answers. Default: replay with cassettes, else emulate.")
    ] = None,
    depth: Annotated[Depth | None, typer.Option(help="quick (the default) or full.")] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Where reports go. Default: reports.")] = None,
    jobs: Annotated[int | None, typer.Option("-j", "--jobs", min=1, metavar="N", help="Worker processes.")] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="All random choices follow from it. Default: 0.")
    ] = None,
    accept: Annotated[
        bool, typer.Option("--accept", help="Write what is violated down as known issues, for 90 days.")
    ] = False,
    in_process: Annotated[
        bool, typer.Option("--in-process", help="Run adapters in this process, for debugging.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print certification.json instead of the summary.")] = False,
    annotations: Annotated[
        bool, typer.Option("--annotations", help="Annotate as GitHub Actions read it. There it is the default.")
    ] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Show the details of what is not held.")] = False,
) -> Exit:
    """Certify adapters and sessions.

    Drives them through scripted conversations over real HTTP and says which requirements they meet, with evidence.
    """
    from ..bindings import runnable_adapters
    from ..config import load_config

    config = load_config(Path.cwd())
    settings = config.settings
    subjects = tuple(dict.fromkeys(adapters or settings.adapters or runnable_adapters()))
    prepare_workers(subjects, in_process=in_process)
    from ..certify.options import CertifyOptions
    from ..reports.annotations import add_to_step_summary, on_github, run_annotations, write
    from ..runlog import read_run

    options = CertifyOptions(
        adapters=subjects,
        only=tuple(only or ()),
        skip=tuple(skip or ()),
        profiles=tuple(profile or ()),
        scenarios=tuple(scenario or ()),
        path=path,
        backend=backend or settings.backend,
        depth=depth or settings.depth or "quick",
        out=out or configured_out(config.file, settings.out),
        jobs=jobs or settings.jobs,
        seed=seed if seed is not None else settings.seed or 0,
        accept=accept,
        in_process=in_process,
        config=config,
        command=("turnproof", *sys.argv[1:]),
    )
    code = _measure(options, json=json, verbose=verbose)
    if on_github(annotations):
        write(run_annotations(read_run(options.out / "run.ndjson")), sys.stderr)
        add_to_step_summary((options.out / "summary.md").read_text("utf-8"))
    return code


def _measure(options: CertifyOptions, *, json: bool, verbose: bool) -> Exit:
    from ..certify.engine import certify as engine

    run_file = options.out / "run.ndjson"
    before = _changed(run_file)
    try:
        code = Exit(engine(options))
    except KeyboardInterrupt:
        if _changed(run_file) == before:
            raise  # stopped before anything was measured: an older run must not be shown for this one
        code = Exit.INTERRUPTED
    _tell(run_file, json=json, verbose=verbose)
    print(f"reports: {options.out / 'index.html'}", file=sys.stderr)
    return code


def _tell(run_file: Path, *, json: bool, verbose: bool) -> None:
    from ..evidence import EvidenceStore
    from ..reports import certification, certification_json, print_summary
    from ..runlog import read_run

    run = read_run(run_file)
    if json:
        found = certification(run, EvidenceStore(run_file.parent / "evidence"))
        sys.stdout.write(certification_json(found).decode())
    else:
        print_summary(run, certification(run), verbose=verbose, folder=run_file.parent)


def configured_out(file: Path | None, out: str | None) -> Path:
    """A configured folder is meant from where the settings stand; the default from where the user stands."""
    return file.parent / out if file is not None and out is not None else Path("reports")


def _changed(file: Path) -> int | None:
    return file.stat().st_mtime_ns if file.exists() else None
