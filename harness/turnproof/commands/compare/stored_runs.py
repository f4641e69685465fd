"""A comparison of what is on disk: the paths of one run, or two runs. No adapter and no server takes part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec.structs import replace

from ..._base.counts import counted
from ..._base.suggestions import did_you_mean
from ...errors import UsageError
from ...judge.declarations import between_adapters, between_paths
from ...judge.parity import Comparison, compare_views
from ...judge.parity.bodies import BodyPair, body_pairs
from ...judge.requirements import load_suite
from ...judge.run_log import AdapterLine, Run, TranscriptLine
from ...judge.view import View
from ...provider import Difference
from ...report.comparison import ComparisonReport, Setting, comparison_report
from ...report.run_folders import RUN_FILE, unedited_run
from ...run.evidence import EvidenceStore
from ...run.transcript import RunKey
from ...scenarios import Scenario, load
from ..certify.scenarios import recorded_view, suite_scenarios
from .options import CompareOptions

_LIMITING = frozenset({"--only", "--skip", "--profile", "--scenario", "--path", "--mode"})
"""The options of a run that leave something out."""


def is_recorded(subject: str) -> bool:
    """Whether a subject is a folder that holds a run, and no adapter: `reports`, or `reports@anthropic`."""
    return (Path(subject.partition("@")[0]) / RUN_FILE).is_file()


@dataclass(frozen=True, slots=True)
class Recorded:
    """One adapter of a run on disk; its transcripts are read when they are asked for."""

    name: str
    run: Run
    store: EvidenceStore
    adapter: AdapterLine

    @classmethod
    def read(cls, subject: str) -> Recorded:
        """Read `folder` or `folder@adapter`. Raises UsageError where several adapters are there and none is named."""
        folder, _, name = subject.partition("@")
        run = unedited_run(Path(folder))
        if not name and len(run.adapters) != 1:
            known = ", ".join(f"{folder}@{adapter}" for adapter in run.adapters)
            raise UsageError(f"{folder} has the runs of {counted(len(run.adapters), 'adapter')}: name one of {known}")
        found = run.adapters.get(name or next(iter(run.adapters), ""))
        if found is None:
            raise UsageError(f"{folder} has no runs of {name!r}{did_you_mean(name, run.adapters)}")
        return cls(subject, run, EvidenceStore(Path(folder) / "evidence"), found)

    @property
    def everything(self) -> bool:
        """Whether nothing was left out of the run, as far as its header tells."""
        head = self.run.header
        return self.run.complete and head.depth == "full" and _LIMITING.isdisjoint(head.command)

    def lines(self) -> dict[RunKey, TranscriptLine]:
        """Its transcripts by key."""
        return {line.key: line for line in self.run.transcripts if line.adapter == self.adapter.name}

    def view(self, key: RunKey, scenarios: Mapping[str, Scenario]) -> View:
        """One of its transcripts, read. Raises UsageError where it is missing, damaged, or not what it was."""
        line = self.lines()[key]
        if problem := self.store.verify(line.digest):
            raise UsageError(problem)
        return recorded_view(self.run, line, self.store, scenarios)


@dataclass(frozen=True, slots=True)
class _Plan:
    """Two sides, and the keys of the runs that stand side by side: left, right, and the right one made again."""

    left: Recorded
    right: Recorded
    labels: tuple[str, str]
    keys: Sequence[tuple[RunKey, RunKey, RunKey]]
    declared: Sequence[Difference]


def compare_recorded(options: CompareOptions) -> ComparisonReport:
    """Compare one or two runs from their evidence.

    One run: both paths of its adapter, or its two adapters where it was made to compare them. Two runs: each run of a
    scenario with its counterpart. Raises UsageError for what is missing, damaged, or has nothing in common.
    """
    plan = _planned(options)
    files = dict.fromkeys((*plan.left.run.header.files, *plan.right.run.header.files))
    known = [*suite_scenarios(load_suite()), *map(load, files)]
    scenarios = {scenario.name: scenario for scenario in known}
    comparisons: list[Comparison] = []
    bodies: list[Sequence[BodyPair]] = []
    theirs = plan.right.lines()
    for one, other, repeated in plan.keys:
        left, right = plan.left.view(one, scenarios), plan.right.view(other, scenarios)
        again = plan.right.view(repeated, scenarios) if repeated in theirs else None
        comparisons.append(compare_views(left, right, again, labels=plan.labels))
        if options.bytes:
            bodies.append(body_pairs(left, right))
    head = plan.left.run.header
    limited = bool(options.scenarios or options.mode or options.path)
    setting = Setting(
        compares="runs" if len(options.subjects) == 2 else head.compares or "paths",
        left=plan.labels[0],
        right=plan.labels[1],
        backend=head.backend,
        depth=head.depth,
        seed=head.seed,
        started=head.started,
        whole=not limited and all(side.everything for side in (plan.left, plan.right)),
    )
    return comparison_report(setting, comparisons, plan.declared, reproduce=options.reproduce, bodies=bodies)


def _planned(options: CompareOptions) -> _Plan:
    entries = options.config.settings.declared_difference
    if len(options.subjects) == 1:
        folder = options.subjects[0].partition("@")[0]
        run = unedited_run(Path(folder))
        if run.header.compares == "adapters":
            store = EvidenceStore(Path(folder) / "evidence")
            left, right = (Recorded(adapter.name, run, store, adapter) for adapter in run.adapters.values())
        else:
            return _paths(Recorded.read(options.subjects[0]), options)
    else:
        left, right = (Recorded.read(subject) for subject in options.subjects)
    declared = between_adapters(_names(left), _names(right), entries)
    return _Plan(left, right, (left.name, right.name), _same_keys(left, right, options), declared)


def _paths(side: Recorded, options: CompareOptions) -> _Plan:
    if options.path is not None:
        raise UsageError(f"one path of {side.name} cannot be compared with itself: leave out --path, or name two runs")
    reasons, blank = side.adapter.reasons, "declared when the run was made"
    in_binding = [Difference(name, reasons.get(name, blank)) for name in side.adapter.declared]
    declared = between_paths(_names(side), in_binding, options.config.settings.declared_difference)
    lines = side.lines()
    keys = [
        (key, other, replace(other, repeat=1))
        for key in _select_keys(lines, options)
        if key.path == "stateless" and (other := replace(key, path="legacy")) in lines
    ]
    return _Plan(side, side, ("stateless", "legacy"), keys, declared)


def _same_keys(left: Recorded, right: Recorded, options: CompareOptions) -> list[tuple[RunKey, RunKey, RunKey]]:
    theirs = right.lines()
    return [(key, key, replace(key, repeat=1)) for key in _select_keys(left.lines(), options) if key in theirs]


def _select_keys(lines: Iterable[RunKey], options: CompareOptions) -> list[RunKey]:
    """The first runs that the options let through. Raises UsageError for a pattern that no scenario matches."""
    keys = list(lines)
    names = {key.scenario for key in keys}
    for pattern in options.scenarios:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise UsageError(f"no scenario of {options.subjects[0]} matches {pattern!r}{did_you_mean(pattern, names)}")
    return [
        key
        for key in keys
        if key.repeat == 0
        and (not options.scenarios or any(fnmatchcase(key.scenario, pattern) for pattern in options.scenarios))
        and options.mode in (None, key.mode)
        and options.path in (None, key.path)
    ]


def _names(side: Recorded) -> tuple[str, str]:
    return side.adapter.name, side.adapter.spec
