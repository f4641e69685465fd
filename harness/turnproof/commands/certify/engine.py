"""`turnproof certify`: plan, run under pytest, apply known issues, write the reports, decide the exit code."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from datetime import date

import msgspec

from ... import __version__
from ..._base.counts import counted
from ..._base.exit_codes import Exit
from ..._base.folder_lock import locked
from ..._base.loopback import is_loopback
from ..._base.site_address import site_base
from ..._base.whole_files import remove
from ...dialects import api_of
from ...errors import UsageError
from ...judge.declarations import with_settings
from ...judge.known_issues import accept, append_accepted, apply_known_issues
from ...judge.parity import compare_paths, stale
from ...judge.requirements import Level, Requirement, Suite, load_suite
from ...judge.run_log import AdapterLine, ControlResult, Header, RequirementLine, RunWriter, read_run
from ...report import write_reports
from ...report._inline_text import printable
from ...report.begin_run import begin_run
from ...report.progress import place_reports, progress
from ...report.scenario_copies import copy_scenarios
from ...run.backends import Backends, choose_backend
from ...run.bindings import resolve_subject
from ...run.driver import RunSpec
from ...run.driver.limits import limits_of
from ...run.driver.runner import LIVE_MAX_TOKENS
from ...run.evidence import EvidenceStore
from ...run.places import run_place
from ...scenarios import Scenario
from ...scenarios.sweep import is_point
from ...subject import Subject
from ...wire.cassettes import check_budget, estimate_cost
from .campaign import Campaign, exit_code
from .control import certify_controls, control_problem
from .options import CertifyOptions
from .plan import Plan, in_part, plan, select
from .pytest_run import run_items
from .resume import ASIDE, Earlier, earlier_runs, set_aside
from .resumed_service import answered_by_service
from .run_head import adapter_line, header, sources_of
from .scenarios import chosen_scenarios, files_among, suite_scenarios
from .sweep import Sweep, base_patterns

_GO_ON = "what the service answered is kept: the same command with --resume makes only the runs that are missing"

_FEW = 3
"""Up to so many subjects are told by themselves what was left out for."""


def certify(options: CertifyOptions) -> int:
    """Certify the adapters and sessions; writes everything under `options.out` and returns the exit code.

    Raises UsageError for subjects, requirements or settings that do not exist. An interrupted run leaves a readable
    partial report and re-raises KeyboardInterrupt.
    """
    started = time.monotonic()
    subjects = _subjects(options)
    # In full means every event, also those that only a cancel leads to. No cassette has them, nor what is in own files.
    own = files_among(options.scenarios)
    requested = options.backend or ("emulate" if options.depth == "full" or own else None)
    backends = Backends(
        {spec: choose_backend(spec, subject, requested, options.cassettes) for spec, subject in subjects.items()}
    )
    with ExitStack() as stack, progress("certify") as tracker:
        runner = stack.enter_context(
            run_place(
                options.cluster,
                subjects,
                jobs=options.jobs,
                seed=options.seed,
                in_process=options.in_process or options.watching,
                responders=backends,
                limits=limits_of(options.config.settings.workers),
                reports=place_reports(tracker),
            )
        )
        tracker.stage("controls")
        runner.warm(module for subject in subjects.values() for module in subject.modules)
        suite = load_suite()
        requirements = select(suite, options.only, options.skip, options.profiles)
        every = suite_scenarios(suite)
        scenarios = chosen_scenarios(every, base_patterns(options.scenarios))
        sweep = _sweep(options, backends)
        showing = not options.scenarios and all(in_part(requirements, suite, one.kind) for one in subjects.values())
        the_plan = plan(
            subjects,
            suite,
            scenarios,
            requirements,
            path=options.path,
            depth=options.depth,
            showing=showing,
            named=bool(options.scenarios),
        )
        for spec, subject in subjects.items():
            backends.prepare(spec, subject, {run.scenario.name for run in the_plan.runs if run.adapter == spec})
            if not options.resume:  # what is taken over costs nothing: see below
                _check_cost(options, spec, subject, backends, the_plan.runs)
        stack.enter_context(locked(options.out))  # only now: a mistake in usage leaves no folder behind
        store = EvidenceStore(options.out / "evidence")
        lines = [
            adapter_line(spec, subject, backends, (run.scenario for run in the_plan.runs if run.adapter == spec))
            for spec, subject in subjects.items()
        ]
        head = _header(options, suite, subjects, backends)
        earlier = earlier_runs(options.out, head, lines, store) if options.resume else Earlier()
        if earlier.head is not None and backends.has_service:
            head = msgspec.structs.replace(head, started=earlier.head.started)  # no claim is newer than its runs
            earlier = answered_by_service(earlier, the_plan.runs, subjects, backends, store)
        for spec, subject in subjects.items() if options.resume else ():
            left = [run for run in the_plan.runs if (subject.name, run.key) not in earlier.lines]
            _check_cost(options, spec, subject, backends, left)
        controls = earlier.controls or _known_controls(options, subjects.values(), store)
        if controls is None:
            controls = certify_controls(runner, suite, (subject.dialect for subject in subjects.values()), store)
        set_aside(options.out, earlier)
        with begin_run(options.out, store, () if options.resume else (ASIDE,)) as writer:
            copy_scenarios(options.out, files_among(options.scenarios))
            _write_head(writer, msgspec.structs.replace(head, controls=controls), suite, lines)
            campaign = Campaign(
                the_plan,
                subjects,
                runner,
                store,
                every,
                writer,
                progress=tracker,
                control=lambda: control_problem(controls),
                sweep=sweep,
                shown=suite.shown,
                live=[spec for spec in subjects if backends.backend_of(spec) == "live"],
                known=earlier.lines,
            )
            _run(campaign, writer, options, store)
            # What is judged on the scenarios alone that show it is not judged on all.
            partly = {one.id for one in requirements} if showing else _in_part(requirements, every, scenarios, options)
            code = _conclude(campaign, writer, options, suite, requirements, partly, started)
        remove(options.out, ASIDE)
        tracker.stage("reports")
        write_reports(read_run(options.out / "run.ndjson"), options.out, store)
    advice = [_GO_ON] if backends.service_faults else []
    resumed = [f"resumed: {counted(campaign.taken_over, 'run')} taken over"] if options.resume else []
    swept = sweep.talk({spec: campaign.views(spec) for spec in subjects}) if sweep is not None else []
    for talk in (
        *backends.service_faults,
        *advice,
        *backends.mismatches,
        *(backends.unplayed() if not earlier.lines else ()),  # what was taken over has played its own
        *resumed,
        *swept,
        *campaign.leftovers.sentences(),
    ):
        print(printable(talk), file=sys.stderr)
    for talk in left_out_talk(the_plan):
        print(talk, file=sys.stderr)
    return code


def _check_cost(
    options: CertifyOptions, spec: str, subject: Subject, backends: Backends, runs: Iterable[RunSpec]
) -> None:
    """Say what these runs may cost before the first live request. Raises UsageError for more than is allowed."""
    if backends.backend_of(spec) != "live" or is_loopback(backends.host(spec)):
        return
    scenarios = {run.scenario.name: run.scenario for run in runs if run.adapter == spec}
    binding = subject.adapter
    estimate = estimate_cost(
        scenarios.values(), binding.dialect, binding.model, max_output=LIVE_MAX_TOKENS, prices=options.prices
    )
    print(f"{spec}: {estimate}", file=sys.stderr)
    check_budget(estimate, options.max_cost)


def _known_controls(
    options: CertifyOptions, subjects: Iterable[Subject], store: EvidenceStore
) -> tuple[ControlResult, ...] | None:
    """The controls that the measurement before a change has judged; None where they have to be judged."""
    file = options.out / "run.ndjson"
    if not options.watching or not file.exists():
        return None
    before = read_run(file).header
    known = {control.dialect: control for control in before.controls if before.turnproof == __version__}
    needed = dict.fromkeys(api_of(subject.dialect) for subject in subjects)
    evidence = [digest for name in needed if name in known for digest in known[name].evidence.values()]
    sound = needed.keys() <= known.keys() and not control_problem(known.values())
    if not sound:
        return None
    try:
        for digest in evidence:
            store.keep(digest)
    except UsageError:  # missing or damaged: made again
        return None
    return tuple(known[name] for name in needed)


def left_out_talk(plan: Plan) -> list[str]:
    """Scenarios that were left out: of a few subjects with what is lacking, of many on one line."""
    if len(plan.left_out) > _FEW:
        counts = ", ".join(f"{spec} {why.total()} of {plan.considered[spec]}" for spec, why in plan.left_out.items())
        return [
            f"scenarios left out, which need capabilities that are not claimed (run one subject for a list): {counts}"
        ]
    return [
        f"{spec}: {why.total()} of {counted(plan.considered[spec], 'scenario')} left out; "
        "they need capabilities that are not claimed: "
        + ", ".join(sorted({feature for reason in why for feature in reason.split(", ")}))
        for spec, why in plan.left_out.items()
    ]


def _sweep(options: CertifyOptions, backends: Backends) -> Sweep | None:
    """What is swept. Raises UsageError for a point that is asked for by name where nothing is swept."""
    if options.depth == "full":
        return Sweep([spec for spec in options.adapters if backends.backend_of(spec) == "emulate"], options.scenarios)
    if point := next(filter(is_point, options.scenarios), None):
        raise UsageError(f"{point!r} is a point of the sweep, which a full certification makes: add --depth full")
    return None


def _subjects(options: CertifyOptions) -> dict[str, Subject]:
    declared = options.config.settings.declared_difference
    subjects = {spec: with_settings(spec, resolve_subject(spec), declared) for spec in options.adapters}
    names = [subject.name for subject in subjects.values()]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise UsageError(f"two subjects are named {sorted(twice)[0]!r}: certify them in separate runs")
    return subjects


def _run(campaign: Campaign, writer: RunWriter, options: CertifyOptions, store: EvidenceStore) -> None:
    """Measure and judge. What an interrupted campaign has so far is reported before the interrupt goes on."""
    try:
        run_items(campaign)
    except KeyboardInterrupt:
        campaign.stop.set()
        for line in campaign.results:
            writer.write(line)
        writer.close()
        write_reports(read_run(options.out / "run.ndjson"), options.out, store)
        raise


def _conclude(
    campaign: Campaign,
    writer: RunWriter,
    options: CertifyOptions,
    suite: Suite,
    requirements: Sequence[Requirement],
    in_part: set[str],
    started: float,
) -> int:
    """Apply the known issues, write results and footer; the exit code."""
    if campaign.broken:
        for line in campaign.results:
            writer.write(line)
        print(printable(campaign.broken), file=sys.stderr)
        writer.finish(Exit.FAULT, time.monotonic() - started, (campaign.broken,))
        return Exit.FAULT
    known = options.config.settings.known_issue
    ids = {requirement.id for requirement in suite.catalogue}
    templates = suite.registry.templates
    results, problems = apply_known_issues(campaign.results, known, date.today(), ids, in_part, templates)
    problems += _stale(campaign.adapters, campaign, options)
    for line in results:
        writer.write(line)
    must = {requirement.id for requirement in requirements if requirement.level is Level.MUST}
    for fault in campaign.faults:
        print(printable(fault), file=sys.stderr)
    problems += campaign.faults
    code = Exit.FAULT if campaign.faults else exit_code(results, must, problems)
    writer.finish(code, time.monotonic() - started, tuple(problems))
    if options.accept:
        append_accepted(options.config.target, accept(results, date.today(), options.config.table, templates))
    return code


def _header(options: CertifyOptions, suite: Suite, subjects: Mapping[str, Subject], backends: Backends) -> Header:
    return header(
        suite,
        subjects.values(),
        backends,
        options,
        reproduce=options.reproduce,
        files=files_among(options.scenarios),
        docs=site_base(options.config.settings),
        sources=sources_of(suite, subjects.values()),
    )


def _write_head(writer: RunWriter, head: Header, suite: Suite, adapters: Iterable[AdapterLine]) -> None:
    writer.write(head)
    templates = suite.registry.templates
    for requirement in suite.requirements:
        writer.write(RequirementLine.of(requirement, templates))
    for line in adapters:
        writer.write(line)


def _in_part(
    requirements: Iterable[Requirement],
    every: Iterable[Scenario],
    scenarios_run: Iterable[Scenario],
    options: CertifyOptions,
) -> set[str]:
    """The requirements that are not looked at in all of their scenarios, and at every point that is swept."""
    full = options.depth == "full"
    swept = full and options.backend in (None, "emulate") and not any(map(is_point, options.scenarios))
    complete = {one.name for one in scenarios_run if one.is_in(options.depth) and (swept or not one.sweep)}
    left = [one.name for one in every if one.name not in complete]
    return {requirement.id for requirement in requirements if any(map(requirement.looks_at, left))}


def _stale(subjects: Mapping[str, Subject], campaign: Campaign, options: CertifyOptions) -> list[str]:
    """Declared differences that no longer occur; only a run over everything can tell."""
    if options.depth != "full" or options.only or options.skip or options.profiles or options.scenarios or options.path:
        return []
    problems = []
    for spec, subject in subjects.items():
        differences = compare_paths(campaign.differing(spec)) if subject.declared else ()
        if not any(comparison.problem for comparison in differences):
            problems += [
                f"{subject.name} declares the difference {difference.name!r}, which no longer occurs: remove it"
                for difference in stale(subject.declared, differences)
            ]
    return problems
