"""`turnproof gate`: is a phase of the migration to session-owned history done?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..._base.depth import Depth
from ..._base.exit_codes import Exit
from ..._base.settings import Backend, GateMode
from . import completion
from .cluster_option import cluster_options
from .options import (
    Annotations,
    Cluster,
    Jobs,
    KeepRuns,
    ReportsFolder,
    Seed,
    in_process_option,
    names_argument,
    names_option,
)

if TYPE_CHECKING:
    from ..gates import GateReport


def gate(
    subjects: Annotated[
        list[str] | None,
        names_argument(
            completion.subjects,
            "SUBJECT",
            "An adapter, a session, or SESSION@ADAPTER. Default: what [tool.turnproof.gates] names.",
        ),
    ] = None,
    phase: Annotated[
        int | None, typer.Option(metavar="N", help="The phase whose gate it is. Default: the one configured.")
    ] = None,
    all_phases: Annotated[
        bool,
        typer.Option("--all", help="The gates of all phases in turn. Runs that several need are made once."),
    ] = False,
    scenario: Annotated[
        list[str] | None,
        names_option(completion.scenarios, "NAME", "Only these scenarios, to look at one; opens no gate."),
    ] = None,
    backend: Annotated[Backend | None, typer.Option(help="What answers. Default: emulate.")] = None,
    depth: Annotated[Depth | None, typer.Option(help="quick, or full: all scenarios. Default: full.")] = None,
    out: ReportsFolder = None,
    jobs: Jobs = None,
    cluster: Cluster = None,
    resume: KeepRuns = False,
    seed: Seed = None,
    mode: Annotated[
        GateMode | None,
        typer.Option(
            help="report: always exit with 0; shadow: fail only if an open criterion has closed; enforce (the "
            "default): the exit code is the gate's."
        ),
    ] = None,
    update_baseline: Annotated[
        bool, typer.Option("--update-baseline", help="Record the state of the gate, for later runs in shadow mode.")
    ] = False,
    annotations: Annotations = False,
    in_process: Annotated[bool, in_process_option("sessions")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print gate-N.json instead of the table.")] = False,
) -> Exit:
    """Open or close the gate of a migration phase.

    Exit codes: 0 the gate is open; 1 it is closed; 3 it could not be decided; 2 and 130 as everywhere. With --mode
    report it is always 0, with --mode shadow only a step back counts. With --all the worst gate decides it.
    """
    from ..._base.settings import load_config
    from ...errors import UsageError
    from ...report.annotations import add_to_step_summary, on_github, write
    from ..gates import (
        GateOptions,
        State,
        gate_annotations,
        gate_every_phase,
        gate_json,
        gate_md,
        print_gate,
        print_phases,
        worst_exit_code,
    )
    from ..gates import gate as engine
    from .certify import configured_out

    config = load_config(Path.cwd())
    settings = config.settings
    phase_number = phase if phase is not None else settings.gates.phase
    if all_phases and (phase is not None or json):
        which = "--phase" if phase is not None else "--json"
        raise UsageError(
            f"--all and {which} do not go together: {which} is about one gate; --all writes gate-N.json each"
        )
    if phase_number is None and not all_phases:
        raise UsageError("which phase? Give --phase N, or phase = N in [tool.turnproof.gates]")
    options = GateOptions(
        phase=phase_number or 1,
        subjects=tuple(dict.fromkeys(subjects or ())),
        scenarios=tuple(scenario or ()),
        backend=backend or settings.backend,
        depth=depth or settings.depth or "full",
        out=out or configured_out(config.file, settings.out),
        jobs=jobs or settings.jobs,
        cluster=cluster_options(cluster, config, jobs),
        resume=resume,
        seed=seed if seed is not None else settings.seed or 0,
        mode=mode or settings.gates.mode,
        update_baseline=update_baseline,
        in_process=in_process,
        config=config,
        command=("turnproof", *sys.argv[1:]),
    )

    def show(report: GateReport) -> None:
        if json:
            sys.stdout.write(gate_json(report).decode())
        elif not all_phases or report.state is not State.OPEN:
            print_gate(report)
        print(f"reports: {options.out / f'gate-{report.phase}.md'}", file=sys.stderr)
        if update_baseline:
            print(f"recorded: {options.baseline}", file=sys.stderr)
        if on_github(annotations):
            write(gate_annotations(report, options.folder), sys.stderr)
            add_to_step_summary(gate_md(report))
        print(f"the gate of phase {report.phase} is {report.state}{_in(report)}", file=sys.stderr)

    if not all_phases:
        report = engine(options)
        show(report)
        return Exit(report.exit_code)
    reports = gate_every_phase(options, show)
    print_phases(reports)
    return worst_exit_code(reports)


def _in(report: GateReport) -> str:
    """What the mode makes of the state."""
    if report.mode == "enforce":
        return ""
    return f"; mode {report.mode}: enforced, the exit code would be {report.gate_exit_code}"
