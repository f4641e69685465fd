"""`turnproof gate`: the project's own tests, the runs with the flag off and on, the criteria, the reports."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from ..._base.counts import counted
from ..._base.folder_lock import locked
from ..._base.settings import GateSettings
from ..._base.whole_files import remove, write_whole
from ...errors import UsageError
from ...judge.declarations import excused_for
from ...judge.requirements import Suite, load_suite
from ...run.backends import Backends, choose_backend
from ...run.cluster.options import ClusterOptions
from ...scenarios import Scenario
from ...subject import Subject
from ..certify.run_store import MadeWith
from ..certify.scenarios import chosen_scenarios, suite_scenarios
from .baseline import Baseline, check_depth, read_baseline, record, regressions
from .class_source import Source, configured
from .decide import subject_report
from .exemptions import check_exemptions, names_of
from .existing_tests import CommandRun, run_command
from .flag import FlagPlan
from .gate_run_store import GateRunStore
from .measure import Candidate, GateRunner, Runs
from .measurement import Measured
from .model import GateReport, State, SubjectReport, exit_code, exit_code_in, gate_json, gate_state
from .options import GateOptions
from .phases import ON_THE_LEGACY_PATH, Criterion, Phase, Phases, Setting, load_phases
from .subjects import gate_subjects, pilot_adapter
from .summary import gate_md


def gate(
    options: GateOptions, scenarios: Sequence[Scenario] | None = None, run_store: GateRunStore | None = None
) -> GateReport:
    """Decide whether a phase is done; writes everything under `options.out`.

    `scenarios` are those of the suite unless others are given. `run_store` has runs of other gates, which are not made
    again, and gets those that are made. Raises UsageError for a phase without criteria, for
    subjects or settings that do not exist, and for a command that cannot be started. An interrupted gate leaves the
    runs it had made, and re-raises KeyboardInterrupt.
    """
    started = time.monotonic()
    if options.update_baseline and options.scenarios:
        raise UsageError("a gate of some scenarios is no record: leave out --update-baseline, or --scenario")
    phases = load_phases()
    phase = phases[options.phase]
    criteria = (*phases.entry(phase), *phases.exit(phase))
    settings = options.config.settings
    subjects = subjects_of(options, phase)
    named = [names_of(spec, subject) for spec, subject in subjects.items()]
    every_adapter = phase.subjects == "all" and not options.subjects
    check_exemptions(settings.gates.exemption, phases, phase.number, named, every=every_adapter)
    baseline = read_baseline(options.baseline)
    if baseline is not None and options.mode == "shadow":
        check_depth(options.baseline, baseline, phase.number, options.depth)
    classes = Classes.of(settings.gates)
    flags = {spec: FlagPlan.from_settings(settings.gates, subject.session) for spec, subject in subjects.items()}
    suite = load_suite()
    every = list(scenarios) if scenarios is not None else suite_scenarios(suite)
    chosen = _select_scenarios(options, every)
    candidates = {spec: Candidate.of(spec, subject, flags[spec], chosen) for spec, subject in subjects.items()}
    wish = options.backend or "emulate"
    backends = Backends({spec: choose_backend(spec, subject, wish) for spec, subject in subjects.items()})
    for spec, one in candidates.items():
        backends.prepare(spec, one.subject, {scenario.name for scenario in one.scenarios})
    tests = _existing_tests(options, criteria, flags)
    folder = options.out / f"gate-{phase.number}"
    with ExitStack() as files:
        files.enter_context(locked(folder))
        remove(options.out, f"{folder.name}.json", f"{folder.name}.md")
        own_store = _run_store(options, suite, candidates, folder) if run_store is None else None
        laboratory = GateRunner(options, suite, every, backends, _cluster(options, files), run_store or own_store)
        runs = Runs.make(laboratory, candidates, criteria, folder, files)
        reports = tuple(
            subject_report(
                _measurement(one, runs, suite, options, tests[spec], every, classes),
                one,
                phases,
                phase,
                options,
                backends.backend_of(spec),
            )
            for spec, one in candidates.items()
        )
        report = _gate_report(phases, phase, options, runs, reports, time.monotonic() - started, baseline)
        for writer in runs.writers.values():
            writer.finish(exit_code(report.state), report.duration_s)
        write_whole(options.out / f"{folder.name}.json", gate_json(report))
        write_whole(options.out / f"{folder.name}.md", gate_md(report))
        if own_store is not None:
            own_store.remove()
            print(f"resumed: {counted(own_store.taken_over, 'run')} taken over", file=sys.stderr)
    if options.update_baseline:
        record(report, baseline, options.baseline)
    for talk in backends.mismatches:
        print(talk, file=sys.stderr)
    return report


def subjects_of(options: GateOptions, phase: Phase) -> dict[str, Subject]:
    """Who has to pass, by the name that opens each of them in a run.

    Raises BindingError for what does not exist, UsageError where there is no legacy path and the phase needs one.
    """
    settings = options.config.settings
    adapters = settings.adapters if phase.subjects == "all" else None
    subjects = gate_subjects(options.subjects, settings.gates, settings.declared_difference, adapters, phase.number)
    _refuse_without_legacy_path(phase.number, subjects.values())
    return subjects


def _cluster(options: GateOptions, held: ExitStack) -> ClusterOptions | None:
    """The cluster for all runs of the gate, which are made by one runner for each value of the flag."""
    if options.cluster is None:
        return None
    if options.in_process:
        raise UsageError("--cluster makes runs on the cluster's workers: leave --in-process away")
    from ...run.cluster.connection import standing  # gates without a cluster start sooner

    return replace(options.cluster, address=held.enter_context(standing(options.cluster.address)))


def _run_store(
    options: GateOptions, suite: Suite, candidates: Mapping[str, Candidate], folder: Path
) -> GateRunStore | None:
    """Where runs are stored for a gate that may be interrupted; None where nobody has asked for that."""
    if not options.resume:
        return None
    subjects = [one.subject for one in candidates.values()]
    return GateRunStore(options.out / f"{folder.name}.kept", MadeWith.here(suite, subjects, options.seed))


def _refuse_without_legacy_path(phase: int, subjects: Iterable[Subject]) -> None:
    """Raise UsageError where a phase would run for minutes to find that there is nothing to hold anything against."""
    lacking = [subject.name for subject in subjects if subject.kind != "agent" and "legacy" not in subject.paths]
    if lacking and phase in ON_THE_LEGACY_PATH:
        first, last = ON_THE_LEGACY_PATH
        has = "has" if len(lacking) == 1 else "have"
        raise UsageError(f"{', '.join(lacking)} {has} no legacy path; phases {first} and {last} need one")


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes that the settings name."""

    protocol: Source | None
    named: tuple[Source, ...]
    session: Source | None

    @classmethod
    def of(cls, gates: GateSettings) -> Classes:
        """Find them. Raises UsageError, with the setting, for one that is not there."""
        return cls(
            configured("protocol", gates.protocol) if gates.protocol else None,
            tuple(configured("providers", name) for name in gates.providers),
            configured("session_class", gates.session_class) if gates.session_class else None,
        )


def _measurement(
    candidate: Candidate,
    runs: Runs,
    suite: Suite,
    options: GateOptions,
    tests: Mapping[Setting, CommandRun],
    scenarios: Sequence[Scenario],
    classes: Classes,
) -> Measured:
    names = names_of(candidate.spec, candidate.subject)
    return Measured(
        subject=candidate.subject,
        phase=options.phase,
        flag=candidate.flag,
        suite=suite,
        runs=runs.first[candidate.spec],
        alone=runs.alone[candidate.spec],
        again=runs.again[candidate.spec],
        excused=excused_for(candidate.subject, options.config.settings.declared_difference),
        declared=candidate.subject.declared,
        whole=options.everything,
        tests=tests,
        scenarios=scenarios,
        issues=[issue for issue in options.config.settings.known_issue if issue.adapter in names],
        protocol=classes.protocol,
        named=classes.named,
        session_class=classes.session,
    )


def _gate_report(
    phases: Phases,
    phase: Phase,
    options: GateOptions,
    runs: Runs,
    reports: tuple[SubjectReport, ...],
    seconds: float,
    baseline: Baseline | None,
) -> GateReport:
    """The gate of all subjects. What only some scenarios show can close it, and cannot open it."""
    state = gate_state(report.state for report in reports)
    partial = bool(options.scenarios)
    if partial and state is State.OPEN:
        state = State.UNDECIDED
    built_on = _built_on(phases, phase, options, reports)
    broken = (one for report in built_on for one in report.criteria if one.side == "entry")
    report = GateReport(
        phase=phase.number,
        name=phase.name,
        goal=phase.goal,
        state=state,
        exit_code=0,
        gate_exit_code=exit_code(state),
        mode=options.mode,
        out_of_order=tuple(dict.fromkeys(one.id for one in broken if one.state is State.CLOSED)),
        recorded=baseline is not None and str(phase.number) in baseline.phases,
        regressions=(),
        partial=partial,
        depth=options.depth,
        seed=options.seed,
        started=runs.started,
        duration_s=round(seconds, 3),
        runs=tuple(str(folder.relative_to(options.out)) for folder in runs.writers),
        subjects=reports,
    )
    steps_back = regressions(report, baseline)
    code = exit_code_in(options.mode, state, steps_back)
    return msgspec.structs.replace(report, regressions=steps_back, exit_code=int(code))


def _built_on(
    phases: Phases, phase: Phase, options: GateOptions, reports: tuple[SubjectReport, ...]
) -> tuple[SubjectReport, ...]:
    """Those who had to pass the phase before. What it brought to the pilot, this one may only bring to the others."""
    before = [one.subjects for one in phases.phase if one.number < phase.number]
    if not before or before[-1] == phase.subjects:
        return reports
    pilot = pilot_adapter(options.config.settings.gates)
    return tuple(report for report in reports if report.adapter == pilot) or reports


def _select_scenarios(options: GateOptions, every: Sequence[Scenario]) -> list[Scenario]:
    return [
        scenario
        for scenario in chosen_scenarios(every, options.scenarios)
        if (options.scenarios or scenario.is_in(options.depth))
        # No cassettes are kept of what only sessions are judged by.
        and (options.backend != "replay" or scenario.subject == "adapter")
    ]


def _existing_tests(
    options: GateOptions, criteria: Sequence[Criterion], flags: Mapping[str, FlagPlan]
) -> dict[str, dict[Setting, CommandRun]]:
    """Run the project's own tests as the criteria ask, once for each value that the flag of some subject takes."""
    configured = options.config.settings.gates
    settings = {setting for criterion in criteria if criterion.check == "existing-tests" for setting in criterion.flag}
    done: dict[tuple[str, str | None], CommandRun] = {}
    ended: dict[str, dict[Setting, CommandRun]] = {spec: {} for spec in flags}
    if not configured.existing_tests:
        return ended
    for spec, flag in flags.items():
        for setting in sorted(settings):
            variable, value = flag.flag.variable, flag.value(setting)
            if (variable, value) not in done:
                print(f"existing tests with {flag.words(setting)}: {configured.existing_tests}", file=sys.stderr)
                done[variable, value] = run_command(
                    configured.existing_tests, options.folder, {variable: value}, configured.existing_tests_seconds
                )
            ended[spec][setting] = done[variable, value]
    return ended
