"""The scenarios of a suite, YAML files in its package's `scenarios` folder, or of a user, each in a file; and the
views of stored transcripts of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path

from ..._base.suggestions import did_you_mean
from ...dialects import dialect
from ...errors import UsageError
from ...judge.requirements import Suite
from ...judge.run_log import Run, TranscriptLine
from ...judge.view import View
from ...run.evidence import EvidenceStore
from ...scenarios import Scenario, load, load_all
from ...scenarios.sweep import scenario_named


def suite_scenarios(suite: Suite) -> list[Scenario]:
    """All scenarios of a suite, by name. Raises ScenarioError for the first one that is wrong."""
    module = import_module(suite.package)
    folder = Path(next(iter(module.__path__))) / "scenarios"
    return list(load_all(folder).values())


def is_file(pattern: str) -> bool:
    """Whether this names a file of somebody's own, or a folder of such (`DIR/`), and not scenarios of the suite."""
    return pattern.endswith((".yaml", "/"))


def files_among(patterns: Sequence[str]) -> tuple[str, ...]:
    """The absolute paths of the files among some patterns, those of a folder by name.

    Raises UsageError for a folder without scenarios.
    """
    return tuple(str(file.absolute()) for pattern in patterns if is_file(pattern) for file in _files(pattern))


def _files(pattern: str) -> list[Path]:
    if not pattern.endswith("/"):
        return [Path(pattern)]
    found = sorted(Path(pattern).glob("*.yaml"))
    if not found:
        raise UsageError(f"{pattern} holds no scenario (*.yaml)")
    return found


def chosen_scenarios(scenarios: Sequence[Scenario], patterns: Sequence[str]) -> list[Scenario]:
    """The scenarios whose names match (all without patterns), and those in the files among the patterns.

    Raises UsageError for a pattern that matches none, and ScenarioError for a file that is wrong or not there.
    """
    names = [scenario.name for scenario in scenarios]
    own = {scenario.name: scenario for scenario in map(load, files_among(patterns))}
    globs = [pattern for pattern in patterns if not is_file(pattern)]
    for pattern in globs:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise UsageError(f"no scenario matches {pattern!r}{did_you_mean(pattern, names)}")
    selection = [
        scenario
        for scenario in scenarios
        if scenario.name not in own and (not patterns or any(fnmatchcase(scenario.name, pattern) for pattern in globs))
    ]
    return [*selection, *own.values()]


def recorded_view(run: Run, line: TranscriptLine, store: EvidenceStore, scenarios: Mapping[str, Scenario]) -> View:
    """One transcript of a run. Raises UsageError when its evidence is missing or damaged, or its scenario is gone."""
    name = line.key.scenario
    scenario = scenario_named(name, scenarios)
    if scenario is None:
        hint = did_you_mean(name, scenarios)
        raise UsageError(f"scenario {name!r} of this run is no longer part of its suite{hint}")
    wire = dialect(run.adapters[line.adapter].dialect)
    return View(store.get(line.digest), wire, scenario, line.digest)
