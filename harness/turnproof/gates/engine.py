"""`turnproof gate`: the project's own tests, the runs with the flag off and on, the criteria, the reports."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from ..certify.backends import Backends, choose_backend
from ..certify.scenarios import chosen_scenarios, suite_scenarios
from ..declarations import excused_for
from ..requirements import Suite, load_suite
from ..scenarios import Scenario
from .deciding import subject_report
from .existing_tests import CommandRun, run_command
from .flag import FlagPlan
from .measured import Measured
from .measuring import Candidate, Laboratory, Runs
from .model import GateReport, State, SubjectReport, exit_code, gate_json, gate_state
from .options import GateOptions
from .phases import Criterion, Phase, Setting, load_phases
from .subjects import gate_subjects
from .summary import gate_md


def gate(options: GateOptions, scenarios: Sequence[Scenario] | None = None) -> GateReport:
    """Decide whether a phase is done; writes everything under `options.out`.

    `scenarios` are those of the suite unless others are given. Raises UsageError for a phase without criteria, for
    subjects or settings that do not exist, and for a command that cannot be started. An interrupted gate leaves the
    runs it had made, and re-raises KeyboardInterrupt.
    """
    started = time.monotonic()
    phases = load_phases()
    phase = phases[options.phase]
    criteria = phases.criteria((*phase.entry, *phase.exit))
    settings = options.config.settings
    subjects = gate_subjects(options.subjects, settings.gates, settings.declared_difference)
    flags = {spec: FlagPlan.of(settings.gates, subject.session) for spec, subject in subjects.items()}
    suite = load_suite()
    every = list(scenarios) if scenarios is not None else suite_scenarios(suite)
    wanted = _wanted(options, every)
    candidates = {spec: Candidate.of(spec, subject, flags[spec], wanted) for spec, subject in subjects.items()}
    wish = options.backend or "emulate"
    backends = Backends({spec: choose_backend(spec, subject, wish) for spec, subject in subjects.items()})
    for spec, one in candidates.items():
        backends.prepare(spec, one.subject, {scenario.name for scenario in one.scenarios})
    tests = _existing_tests(options, criteria, flags)
    with ExitStack() as files:
        laboratory = Laboratory(options, suite, every, backends)
        runs = Runs.make(laboratory, candidates, criteria, options.out / f"gate-{phase.number}", files)
        reports = tuple(
            subject_report(
                _measured(one, runs, suite, options, tests[spec]),
                one,
                phases,
                phase,
                options,
                backends.backend_of(spec),
            )
            for spec, one in candidates.items()
        )
        report = _whole(phase, options, runs, reports, time.monotonic() - started)
        for writer in runs.writers.values():
            writer.finish(exit_code(report.state), report.duration_s)
    (options.out / f"gate-{phase.number}.json").write_bytes(gate_json(report))
    (options.out / f"gate-{phase.number}.md").write_text(gate_md(report), "utf-8")
    for talk in backends.mismatches:
        print(talk, file=sys.stderr)
    return report


def _measured(
    one: Candidate, runs: Runs, suite: Suite, options: GateOptions, tests: Mapping[Setting, CommandRun]
) -> Measured:
    return Measured(
        subject=one.subject,
        phase=options.phase,
        flag=one.flag,
        suite=suite,
        runs=runs.first[one.spec],
        again=runs.again[one.spec],
        excused=excused_for(one.subject, options.config.settings.declared_difference),
        declared=one.subject.declared,
        whole=options.everything,
        tests=tests,
    )


def _whole(
    phase: Phase, options: GateOptions, runs: Runs, reports: tuple[SubjectReport, ...], seconds: float
) -> GateReport:
    """The gate of all subjects. What only some scenarios show can close it, and cannot open it."""
    state = gate_state(report.state for report in reports)
    partial = bool(options.scenarios)
    if partial and state is State.OPEN:
        state = State.UNDECIDED
    return GateReport(
        phase=phase.number,
        name=phase.name,
        goal=phase.goal,
        state=state,
        exit_code=0 if options.report_only else exit_code(state),
        report_only=options.report_only,
        partial=partial,
        depth=options.depth,
        seed=options.seed,
        started=runs.started,
        duration_s=round(seconds, 3),
        runs=tuple(str(folder.relative_to(options.out)) for folder in runs.writers),
        subjects=reports,
    )


def _wanted(options: GateOptions, every: Sequence[Scenario]) -> list[Scenario]:
    return [
        scenario
        for scenario in chosen_scenarios(every, options.scenarios)
        if (options.scenarios or options.depth == "full" or scenario.depth == "quick")
        # No cassettes are kept of what only sessions are judged by.
        and (options.backend != "replay" or scenario.subject == "adapter")
    ]


def _existing_tests(
    options: GateOptions, criteria: Sequence[Criterion], flags: Mapping[str, FlagPlan]
) -> dict[str, dict[Setting, CommandRun]]:
    """Run the project's own tests as the criteria ask, once for each value that the flag of some subject takes."""
    configured = options.config.settings.gates
    asked = {setting for criterion in criteria if criterion.check == "existing-tests" for setting in criterion.flag}
    done: dict[tuple[str, str], CommandRun] = {}
    ended: dict[str, dict[Setting, CommandRun]] = {spec: {} for spec in flags}
    if not configured.existing_tests:
        return ended
    for spec, flag in flags.items():
        for setting in sorted(asked):
            variable, value = flag.flag.variable, flag.value(setting) or ""
            if (variable, value) not in done:
                print(f"existing tests with {flag.words(setting)}: {configured.existing_tests}", file=sys.stderr)
                done[variable, value] = run_command(
                    configured.existing_tests, options.folder, {variable: value}, configured.existing_tests_seconds
                )
            ended[spec][setting] = done[variable, value]
    return ended
