"""One side of a diff: what a certification found, by adapter, requirement and path, and under which circumstances.

Read from a folder with `run.ndjson`, which says everything, or from a `certification.json` alone, which lacks two
things: the messages of all but the deciding path, and which scenarios were run. Findings stand in both; a file of an
earlier version has none.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..errors import UsageError
from ..judge.finding import UNSTRUCTURED
from ..judge.run_log import Run
from ..judge.verdict import MOST_FINDINGS, Status
from .certification import AdapterReport, Certification, FindingReport, RequirementReport, certification
from .overview import PATHS
from .run_folders import CERTIFICATION_FILE, RUN_FILE, certified_run, read_certification, run_in


class Spot(NamedTuple):
    """What has one verdict."""

    adapter: str
    requirement: str
    path: str


@dataclass(frozen=True, slots=True)
class Found:
    """A verdict in a spot. `message` is None where the file does not tell it; `runs` are those it was seen in.

    `findings` are those that the side keeps, accepted ones among them, of `total` in all. `cut_short` has the runs with
    findings that are not kept; `vague` says that nobody knows which runs have some.
    """

    status: Status
    message: str | None = None
    where: str = ""
    runs: frozenset[str] = frozenset()
    findings: tuple[FindingReport, ...] = ()
    total: int = 0
    cut_short: frozenset[str] = frozenset()
    vague: bool = False

    @property
    def in_words(self) -> bool:
        """Whether something of it is told in free words alone, without a place."""
        return not self.findings or any(map(_is_in_words, self.findings))

    def tells_all_of(self, run: str) -> bool:
        """Whether every finding in a run was kept: what is not there was not found."""
        return not self.vague and run not in self.cut_short


@dataclass(frozen=True, slots=True)
class Side:
    """`run_keys` has the keys of each adapter's runs; None where the file does not tell them."""

    name: str
    report: Certification
    found: Mapping[Spot, Found]
    run_keys: Mapping[str, frozenset[str]] | None

    def requirement(self, spot: Spot) -> RequirementReport | None:
        """The report on a spot's requirement; None where it was not measured."""
        adapter = self.report.adapters.get(spot.adapter)
        return None if adapter is None else adapter.requirements.get(spot.requirement)

    def limited(self, spot: Spot) -> bool:
        """Whether only some scenarios were run for a spot."""
        if self.report.scenarios is not None:
            return bool(self.report.scenarios)
        # A report of an earlier turnproof tells it by the command that measures it again.
        found = self.requirement(spot)
        return found is not None and "--scenario" in shlex.split(found.reproduce)


def read_side(path: Path) -> Side:
    """A folder that `certify` wrote, or a `certification.json`. Raises UsageError for anything else."""
    if path.is_file():
        if path.name == RUN_FILE:
            return _from_run(path.parent, certified_run(path.parent))
        return _from_report(path)
    if not (path / RUN_FILE).exists() and (path / CERTIFICATION_FILE).exists():
        return _from_report(path / CERTIFICATION_FILE)
    if not path.is_dir():
        run_in(path)  # says what is wrong with it
    return _from_run(path, certified_run(path))


def _from_run(folder: Path, run: Run) -> Side:
    report = certification(run)
    keys = {(line.adapter, line.digest): str(line.key) for line in run.transcripts}
    found: dict[Spot, Found] = {}
    for line in run.results:
        spot = Spot(line.adapter, line.requirement, line.path)
        if spot in found:
            raise UsageError(f"{folder / RUN_FILE}: two verdicts on {' '.join(spot)}: the run was edited")
        if line.adapter not in report.adapters or line.requirement not in run.requirements:
            raise UsageError(f"{folder / RUN_FILE}: a verdict on {' '.join(spot)}, which the run does not have")
        requirement = report.adapters[line.adapter].requirements[line.requirement]
        seen = (*line.verdict.failing, *(keys.get((line.adapter, digest), "") for digest in line.verdict.evidence))
        found[spot] = _path_verdict(requirement, line.path, run.message(line.verdict), seen)
    run_keys = {
        name: frozenset(str(line.key) for line in run.transcripts if line.adapter == name) for name in run.adapters
    }
    return Side(str(folder), report, found, run_keys)


def _from_report(file: Path) -> Side:
    report = read_certification(file)
    found = {}
    for name, adapter in report.adapters.items():
        for id, requirement in adapter.requirements.items():
            for path in requirement.paths:
                message = requirement.message if path == _heaviest_path(requirement) else None
                seen = (run for run in requirement.failing if f"/{path}/" in run)
                found[Spot(name, id, path)] = _path_verdict(requirement, path, message, seen)
    return Side(str(file), report, found, None)


def _path_verdict(requirement: RequirementReport, path: str, message: str | None, seen: Iterable[str] = ()) -> Found:
    """The verdict of one path. Which runs were cut short is known of all paths together, and holds for each."""
    findings = tuple(one for one in requirement.findings if one.path == path)
    kept_counts = Counter(one.finding.place.run for one in requirement.findings)
    counts = {**requirement.failing, "": requirement.total - sum(requirement.failing.values())}
    total = requirement.totals.get(path, 0)
    kinds = Counter((one.finding.root, one.finding.code) for one in findings if one.accepted)
    return Found(
        requirement.paths[path],
        message,
        findings[0].finding.place.run if findings else "",
        frozenset((*(one.finding.place.run for one in findings), *seen)) - {""},
        findings,
        total,
        frozenset(run for run, count in counts.items() if count > kept_counts[run]),
        (total > len(findings) and any(map(_is_in_words, findings))) or max(kinds.values(), default=0) >= MOST_FINDINGS,
    )


def _is_in_words(report: FindingReport) -> bool:
    return report.finding.code.rpartition("/")[2] == UNSTRUCTURED


def _heaviest_path(requirement: RequirementReport) -> str | None:
    """The path whose message a requirement's report has: the first one with the heaviest status."""
    return next((path for path in PATHS if requirement.paths.get(path) is requirement.status), None)


def proof(adapter: AdapterReport) -> str:
    """What answered, without the date of a recording."""
    words = adapter.claim.partition(", ")[0]
    return words if words.startswith("live") else words.rstrip(")")
