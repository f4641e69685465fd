"""`turnproof certify`: measure adapters and sessions and report which requirements they meet."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..._base.depth import DEFAULT_DEPTH, Depth
from ..._base.exit_codes import Exit
from . import completion
from .cluster_option import cluster_options
from .options import (
    AdaptersInProcess,
    Annotations,
    AnyBackend,
    CertificationJson,
    Cluster,
    Jobs,
    OnePath,
    Prices,
    ReportsFolder,
    Scenarios,
    Seed,
    ViolationDetails,
    names_argument,
    names_option,
)
from .prestart import prepare_workers

if TYPE_CHECKING:
    from ..certify.options import CertifyOptions


def certify(
    adapters: Annotated[
        list[str] | None,
        names_argument(
            completion.subjects,
            "ADAPTER",
            "Adapters or sessions: installed names, or module:attribute; SESSION@ADAPTER runs a session with another "
            "adapter. Default: those configured.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        names_option(completion.requirements, "ID", "Only these requirements; patterns like 'tools/*' work."),
    ] = None,
    skip: Annotated[
        list[str] | None, names_option(completion.requirements, "ID", "Without these requirements.")
    ] = None,
    profile: Annotated[list[str] | None, names_option(completion.profiles, "NAME", "Only these profiles.")] = None,
    scenario: Scenarios = None,
    failed: Annotated[
        bool, typer.Option("--failed", help="Only what was violated or undecided in the last run in --out.")
    ] = False,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on with an interrupted run in --out: what it has is not measured again."),
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Measure again whenever a file of the subject changes (extra `watch`).")
    ] = False,
    path: OnePath = None,
    backend: AnyBackend = None,
    cassettes: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Answer from the cassettes in this folder, as `record --out DIR` wrote them."),
    ] = None,
    max_cost: Annotated[
        float, typer.Option(metavar="USD", help="With --backend live: refuse what may cost more.")
    ] = 1.0,
    price: Prices = None,
    depth: Annotated[Depth | None, typer.Option(help="quick (the default) or full.")] = None,
    out: ReportsFolder = None,
    jobs: Jobs = None,
    cluster: Cluster = None,
    seed: Seed = None,
    accept: Annotated[
        bool, typer.Option("--accept", help="Write known issues for everything that is violated, valid for 90 days.")
    ] = False,
    in_process: AdaptersInProcess = False,
    json: CertificationJson = False,
    annotations: Annotations = False,
    verbose: ViolationDetails = False,
) -> Exit:
    """Certify adapters and sessions.

    Drives them through scripted conversations over real HTTP and reports which requirements they meet, with evidence.
    """
    from ..._base.settings import load_config
    from ...run.bindings import runnable_adapters

    config = load_config(Path.cwd())
    settings = config.settings
    folder = out or configured_out(config.file, settings.out)
    requested = tuple(dict.fromkeys(adapters or ()))
    requirements, scenarios = tuple(only or ()), tuple(scenario or ())
    if failed:
        requested, requirements, scenarios = _failed(folder, requested, requirements, scenarios)
    subjects = requested or tuple(dict.fromkeys(settings.adapters or runnable_adapters()))
    elsewhere = cluster_options(cluster, config, jobs)
    if not watch and elsewhere is None:
        prepare_workers(subjects, in_process=in_process)
    from ...errors import UsageError
    from ...judge.run_log import read_run
    from ...report.annotations import add_to_step_summary, on_github, run_annotations, write
    from ..certify.last_failures import PART
    from ..certify.options import CertifyOptions

    # A full report is not overwritten by that of a part.
    part = failed or (any((requirements, scenarios, skip, profile, path)) and out is None)
    options = CertifyOptions(
        adapters=subjects,
        only=requirements,
        skip=tuple(skip or ()),
        profiles=tuple(profile or ()),
        scenarios=scenarios,
        path=path,
        backend=backend or ("replay" if cassettes is not None else settings.backend),
        cassettes=cassettes,
        max_cost=max_cost,
        prices=price,
        depth=depth or settings.depth or DEFAULT_DEPTH,
        out=folder / PART if part else folder,
        jobs=jobs or settings.jobs,
        cluster=elsewhere,
        seed=seed if seed is not None else settings.seed or 0,
        accept=accept,
        resume=resume,
        in_process=in_process,
        config=config,
        command=("turnproof", *sys.argv[1:]),
    )
    if watch and resume:
        raise UsageError("--watch measures again by itself: --resume goes on with a run that was interrupted")
    if watch and elsewhere is not None:
        raise UsageError("--watch measures on this machine: leave --cluster away")
    if watch:
        return _watch(options, json=json, verbose=verbose)
    code = _measure(options, json=json, verbose=verbose)
    if on_github(annotations):
        write(run_annotations(read_run(options.out / "run.ndjson")), sys.stderr)
        add_to_step_summary((options.out / "summary.md").read_text("utf-8"))
    return code


def _failed(
    folder: Path, adapters: tuple[str, ...], only: tuple[str, ...], scenarios: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """What to measure of the last failures. Without any, everything is measured, and a line says so."""
    from ...judge.requirements import load_suite
    from ..certify.last_failures import failed_last_time

    failures = failed_last_time(folder, adapters, load_suite().catalogue)
    if not failures.requirements:
        print(f"nothing had failed in {folder}: everything is measured", file=sys.stderr)
        return adapters, only, scenarios
    return failures.adapters, only or failures.requirements, scenarios or failures.scenarios


def _watch(options: CertifyOptions, *, json: bool, verbose: bool) -> Exit:
    """Measure now and after every change, until somebody ends it."""
    import contextlib
    from dataclasses import replace
    from importlib import import_module

    from ...judge.requirements import load_suite
    from ...run.bindings import resolve_subject
    from ...run.driver.ownership import own_modules
    from ..certify.watch import watch

    import_module("turnproof.commands.certify.engine")  # before the first fork: no fork imports it again
    load_suite()

    def subjects() -> list[str]:
        found = [resolve_subject(name) for name in options.adapters]
        for library in (name for subject in found for name in subject.modules):
            with contextlib.suppress(ImportError):
                import_module(library)
        return [module for subject in found for module in own_modules(subject)]

    def measure() -> int:
        return _measure(replace(options, watching=True), json=json, verbose=verbose)

    return Exit(watch(measure, subjects, lambda words: print(words, file=sys.stderr, flush=True), options.out))


def _measure(options: CertifyOptions, *, json: bool, verbose: bool) -> Exit:
    from ..certify.engine import certify as engine

    run_file = options.out / "run.ndjson"
    before = _changed(run_file)
    try:
        code = Exit(engine(options))
    except KeyboardInterrupt:
        if _changed(run_file) in (before, None):
            raise  # stopped before anything was measured: an older run must not be shown for this one
        code = Exit.INTERRUPTED
    _print_result(run_file, json=json, verbose=verbose)
    print(f"reports: {options.out / 'index.html'}", file=sys.stderr)
    return code


def _print_result(run_file: Path, *, json: bool, verbose: bool) -> None:
    from ...judge.run_log import read_run
    from ...report import certification, certification_json, print_summary
    from ...run.evidence import EvidenceStore

    run = read_run(run_file)
    if json:
        found = certification(run, EvidenceStore(run_file.parent / "evidence"))
        sys.stdout.write(certification_json(found).decode())
    else:
        print_summary(run, certification(run), verbose=verbose, folder=run_file.parent)


def configured_out(file: Path | None, out: str | None) -> Path:
    """A configured folder is relative to the settings file; the default is relative to the current folder."""
    return file.parent / out if file is not None and out is not None else Path("reports")


def _changed(file: Path) -> int | None:
    return file.stat().st_mtime_ns if file.exists() else None
