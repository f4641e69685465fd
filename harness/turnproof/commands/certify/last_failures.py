"""What failed last time: the requirements, and the scenarios that show whether they still do (`certify --failed`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import UsageError
from ...judge.requirements import Requirement
from ...judge.run_log import ResultLine, Run
from ...judge.verdict import Status
from ...report.run_folders import RUN_FILE, certified_run

PART = "part"
"""The folder below the reports in which a run of a part leaves its own: a full report is not overwritten by it."""

_FAILED = (Status.VIOLATED, Status.INCONCLUSIVE)


@dataclass(frozen=True, slots=True)
class Failed:
    """What is to be measured again. Nothing, where nothing had failed."""

    adapters: tuple[str, ...]
    requirements: tuple[str, ...]
    scenarios: tuple[str, ...]


def failed_last_time(folder: Path, adapters: Sequence[str], requirements: Iterable[Requirement]) -> Failed:
    """What was violated or undecided in the reports in `folder`, as far as no later run of a part has mended it.

    `adapters` limits it to these. Of what was undecided every scenario is asked for that the requirement is judged on.
    Raises UsageError where there is no run.
    """
    run = certified_run(folder)
    results = {_key(run, line): line for line in run.results}
    part = folder / PART
    if (part / RUN_FILE).is_file() and _mtime(part) > _mtime(folder):
        later = certified_run(part)
        results |= {_key(later, line): line for line in later.results}
    selection = [
        (spec, line)
        for (spec, _, _), line in results.items()
        if line.verdict.status in _FAILED and (not adapters or spec in adapters)
    ]
    if adapters and (strange := sorted(set(adapters) - {key[0] for key in results})):
        raise UsageError(f"{strange[0]!r} takes no part in the run in {folder}: measure it first, without --failed")
    ids = tuple(dict.fromkeys(line.requirement for _, line in selection))
    scenarios = {_scenario(run, key) for _, line in selection for key in line.verdict.failing}
    if any(line.verdict.status is Status.INCONCLUSIVE for _, line in selection):
        by_id = {requirement.id: requirement for requirement in requirements}
        undecided = {line.requirement for _, line in selection if line.verdict.status is Status.INCONCLUSIVE}
        scenarios |= {pattern for id in undecided if id in by_id for pattern in by_id[id].scenarios}
    return Failed(tuple(dict.fromkeys(spec for spec, _ in selection)), ids, tuple(sorted(scenarios)))


def _key(run: Run, line: ResultLine) -> tuple[str, str, str]:
    return run.adapters[line.adapter].spec, line.requirement, line.path


def _scenario(run: Run, key: str) -> str:
    """The scenario of a run's key, without the point of a sweep; the file where it is somebody's own."""
    name = key.rsplit("/", 2)[0]
    stem = name.rpartition("/")[2].partition("#")[0]
    return next((file for file in run.header.files if Path(file).stem == stem), name)


def _mtime(folder: Path) -> float:
    return (folder / RUN_FILE).stat().st_mtime
