"""One side of a diff: what a certification found, by adapter, requirement and path, and under which circumstances.

Read from a folder with `run.ndjson`, which says everything, or from a `certification.json` alone, which lacks two
things: the messages of all but the deciding path, and which scenarios were run.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..errors import UsageError
from ..runlog import Run
from ..verdict import Status
from .certification import AdapterReport, Certification, RequirementReport, certification
from .overview import PATHS
from .reading import CERTIFICATION_FILE, RUN_FILE, certified_run, read_certification, run_in


class Spot(NamedTuple):
    """What has one verdict."""

    adapter: str
    requirement: str
    path: str


@dataclass(frozen=True, slots=True)
class Found:
    """A verdict in a spot. `message` is None where the file does not tell it; `runs` are those it was seen in."""

    status: Status
    message: str | None = None
    where: str = ""
    runs: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Side:
    """`ran` has the keys of each adapter's runs; None where the file does not tell them."""

    name: str
    report: Certification
    found: Mapping[Spot, Found]
    ran: Mapping[str, frozenset[str]] | None

    def requirement(self, spot: Spot) -> RequirementReport | None:
        """The report on a spot's requirement; None where it was not measured."""
        adapter = self.report.adapters.get(spot.adapter)
        return None if adapter is None else adapter.requirements.get(spot.requirement)

    def limited(self, spot: Spot) -> bool:
        """Whether only some scenarios were run for a spot, by the command that measures it again."""
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
    keys = {(line.adapter, line.digest): str(line.key) for line in run.transcripts}
    found: dict[Spot, Found] = {}
    for line in run.results:
        spot = Spot(line.adapter, line.requirement, line.path)
        if spot in found:
            raise UsageError(f"{folder / RUN_FILE}: two verdicts on {' '.join(spot)}: the run was edited")
        seen = (keys.get((line.adapter, digest), "") for digest in line.verdict.evidence)
        runs = frozenset((*line.verdict.where.split(" and "), *seen)) - {""}
        found[spot] = Found(line.verdict.status, line.verdict.message, line.verdict.where, runs)
    ran = {name: frozenset(str(line.key) for line in run.transcripts if line.adapter == name) for name in run.adapters}
    return Side(str(folder), certification(run), found, ran)


def _from_report(file: Path) -> Side:
    report = read_certification(file)
    found = {
        Spot(name, id, path): Found(status, requirement.message if path == _deciding(requirement) else None)
        for name, adapter in report.adapters.items()
        for id, requirement in adapter.requirements.items()
        for path, status in requirement.paths.items()
    }
    return Side(str(file), report, found, None)


def _deciding(requirement: RequirementReport) -> str | None:
    """The path whose message a requirement's report has: the first one with the heaviest status."""
    return next((path for path in PATHS if requirement.paths.get(path) is requirement.status), None)


def proof(adapter: AdapterReport) -> str:
    """What answered, without the date of a recording."""
    return adapter.claim.partition(", ")[0].rstrip(")")
