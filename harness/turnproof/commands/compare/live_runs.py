"""A comparison that runs adapters: makes the runs, keeps their evidence, compares them."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Literal, TypeAlias

from ..._base.counts import counted
from ..._base.folder_lock import locked
from ..._base.whole_files import remove
from ...errors import UsageError
from ...judge.declarations import between_adapters, excused_for, with_settings
from ...judge.parity import Comparison, compare_views
from ...judge.parity.bodies import BodyPair, body_pairs
from ...judge.requirements import load_suite
from ...judge.run_log import RunWriter
from ...judge.view import View
from ...provider import PATHS, Difference
from ...report._inline_text import printable
from ...report.begin_run import begin_run
from ...report.comparison import ComparisonReport, Setting, comparison_report
from ...report.progress import place_reports, progress
from ...report.write import COMPARISON_REPORTS
from ...run.backends import Backends, choose_backend
from ...run.bindings import resolve_subject
from ...run.driver.limits import limits_of
from ...run.evidence import EvidenceStore
from ...run.places import run_place
from ...run.transcript import RunKey
from ...scenarios import Scenario
from ...subject import Subject
from ..certify.campaign import Campaign
from ..certify.decide import lacking_for
from ..certify.plan import Plan
from ..certify.resume import ASIDE, Earlier, earlier_runs, set_aside
from ..certify.run_head import adapter_line, header, sources_of
from ..certify.scenarios import chosen_scenarios, files_among, suite_scenarios
from .options import CompareOptions
from .run_pairs import Mode, Pair, adapter_pairs, path_pairs

Views: TypeAlias = Mapping[tuple[str, RunKey], View]

_MODES: tuple[Mode, ...] = ("stream", "batch")


def measure(options: CompareOptions, out: Path, stack: ExitStack) -> ComparisonReport:
    """Compare one or two subjects; the run and its evidence are kept in `out`, whose lock `stack` gets.

    An interrupted comparison leaves the runs it had made, and re-raises KeyboardInterrupt.
    """
    started = time.monotonic()
    subjects = _subjects(options)
    suite = load_suite()
    scenarios, left_out = _select_scenarios(options, subjects, suite_scenarios(suite))
    pairs = _pairs(options, subjects, scenarios)
    user_files = files_among(options.scenarios)
    requested = options.backend or (
        "emulate" if user_files else None
    )  # no cassette has what stands in somebody's own file
    backends = Backends({spec: choose_backend(spec, subject, requested) for spec, subject in subjects.items()})
    if options.resume and backends.has_service:
        raise UsageError("--resume does not go on with a comparison behind a real service: compare without it")
    for spec, subject in subjects.items():
        backends.prepare(spec, subject, {scenario.name for scenario in scenarios})
    labels = _labels(subjects)
    compares: Literal["paths", "adapters"] = "adapters" if len(subjects) == 2 else "paths"
    head = header(
        suite,
        subjects.values(),
        backends,
        options,
        compares=compares,
        files=user_files,
        sources=sources_of(suite, subjects.values()),
    )
    stack.enter_context(locked(out))  # only now: a mistake in usage leaves no folder behind
    store = EvidenceStore(out / "evidence")
    lines = [adapter_line(spec, subject, backends, scenarios) for spec, subject in labels.items()]
    earlier = earlier_runs(out, head, lines, store) if options.resume else Earlier()
    set_aside(out, earlier)
    with begin_run(out, store, COMPARISON_REPORTS if options.resume else (*COMPARISON_REPORTS, ASIDE)) as writer:
        writer.write(head)
        for line in lines:
            writer.write(line)
        views = _measured(options, labels, pairs, backends, writer, store, earlier)
        names = [subject.name for subject in labels.values()] if compares == "adapters" else PATHS
        report = comparison_report(
            Setting(
                compares=compares,
                left=names[0],
                right=names[1],
                backend=head.backend,
                depth=head.depth,
                seed=head.seed,
                started=head.started,
                whole=options.everything,
            ),
            [_compare_pair(pair, views, labels) for pair in pairs],
            _declared(options, subjects),
            reproduce=options.reproduce,
            bodies=[_bodies(pair, views) for pair in pairs] if options.bytes else (),
            left_out=left_out,
        )
        writer.finish(report.exit_code, time.monotonic() - started)
    remove(out, ASIDE)
    for talk in backends.mismatches:
        print(printable(talk), file=sys.stderr)
    return report


def _subjects(options: CompareOptions) -> dict[str, Subject]:
    entries = options.config.settings.declared_difference
    subjects = {spec: with_settings(spec, resolve_subject(spec), entries) for spec in options.subjects}
    if len(subjects) < len(options.subjects):
        raise UsageError(f"{options.subjects[0]} is named twice; name it once to compare its two paths")
    return subjects


def _declared(options: CompareOptions, subjects: Mapping[str, Subject]) -> Sequence[Difference]:
    if len(subjects) == 2:
        left, right = ((subject.name, spec) for spec, subject in subjects.items())
        return between_adapters(left, right, options.config.settings.declared_difference)
    return excused_for(next(iter(subjects.values())), options.config.settings.declared_difference)


def _select_scenarios(
    options: CompareOptions, subjects: Mapping[str, Subject], every: Sequence[Scenario]
) -> tuple[list[Scenario], Counter[str]]:
    """The scenarios to run, and how many are left out for which features that an adapter does not claim."""
    candidates = [
        scenario
        for scenario in chosen_scenarios(every, options.scenarios)
        if (options.scenarios or scenario.is_in(options.depth))
        and all(scenario.subject in ("adapter", subject.kind) for subject in subjects.values())
    ]
    lacking = {scenario.name: _lacking(scenario, subjects.values()) for scenario in candidates}
    selection = [scenario for scenario in candidates if not lacking[scenario.name]]
    return selection, Counter(words for words in lacking.values() if words)


def _lacking(scenario: Scenario, subjects: Iterable[Subject]) -> str:
    found = [name for subject in subjects for name in lacking_for(scenario, subject.claims(), subject.operations)]
    return ", ".join(dict.fromkeys(found))


def _pairs(options: CompareOptions, subjects: Mapping[str, Subject], scenarios: Sequence[Scenario]) -> list[Pair]:
    modes = _MODES if options.mode is None else (options.mode,)
    if len(subjects) == 2:
        return adapter_pairs(subjects, scenarios, modes, options.path)
    ((spec, subject),) = subjects.items()
    return path_pairs(spec, subject, scenarios, modes, options.path)


def _labels(subjects: Mapping[str, Subject]) -> dict[str, Subject]:
    """The subjects under names that tell them apart: two versions of one adapter go by how they were asked for."""
    names = Counter(subject.name for subject in subjects.values())
    return {
        spec: subject if names[subject.name] == 1 else _with_name(spec, subject) for spec, subject in subjects.items()
    }


def _with_name(name: str, subject: Subject) -> Subject:
    if subject.kind != "adapter":
        return dataclasses.replace(subject, session=dataclasses.replace(subject.session, name=name))
    return dataclasses.replace(subject, adapter=dataclasses.replace(subject.adapter, name=name))


def _measured(
    options: CompareOptions,
    subjects: Mapping[str, Subject],
    pairs: Sequence[Pair],
    backends: Backends,
    writer: RunWriter,
    store: EvidenceStore,
    earlier: Earlier,
) -> Views:
    """Make every run that the pairs need, once."""
    runs = tuple({(run.adapter, run.key): run for pair in pairs for run in pair.runs}.values())
    with ExitStack() as stack:
        tracker = stack.enter_context(progress("compare"))
        runner = stack.enter_context(
            run_place(
                options.cluster,
                subjects,
                jobs=options.jobs,
                seed=options.seed,
                in_process=options.in_process,
                responders=backends,
                limits=limits_of(options.config.settings.workers),
                reports=place_reports(tracker),
            )
        )
        known = earlier.lines
        campaign = Campaign(Plan((), runs), subjects, runner, store, (), writer, progress=tracker, known=known)
        try:
            campaign.measure()
        except KeyboardInterrupt:
            campaign.stop.set()
            raise
    if options.resume:
        print(f"resumed: {counted(campaign.taken_over, 'run')} taken over", file=sys.stderr)
    return {(spec, view.key): view for spec in subjects for view in campaign.views(spec)}


def _compare_pair(pair: Pair, views: Views, labels: Mapping[str, Subject]) -> Comparison:
    left, right, again = (views[run.adapter, run.key] for run in pair.runs)
    if pair.left.adapter == pair.right.adapter:
        return compare_views(left, right, again)
    names = labels[pair.left.adapter].name, labels[pair.right.adapter].name
    return compare_views(left, right, again, labels=names)


def _bodies(pair: Pair, views: Views) -> tuple[BodyPair, ...]:
    return body_pairs(views[pair.left.adapter, pair.left.key], views[pair.right.adapter, pair.right.key])
