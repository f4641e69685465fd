"""The scenarios of a suite: YAML files in its package's `scenarios` folder."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path

from .._suggest import did_you_mean
from ..errors import UsageError
from ..requirements import Suite
from ..scenarios import Scenario, load_all


def suite_scenarios(suite: Suite) -> list[Scenario]:
    """All scenarios of a suite, by name. Raises ScenarioError for the first one that is wrong."""
    module = import_module(suite.package)
    folder = Path(next(iter(module.__path__))) / "scenarios"
    return list(load_all(folder).values())


def chosen_scenarios(scenarios: Sequence[Scenario], patterns: Sequence[str]) -> list[Scenario]:
    """The scenarios whose names match (all without patterns). Raises UsageError for a pattern that matches none."""
    names = [scenario.name for scenario in scenarios]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise UsageError(f"no scenario matches {pattern!r}{did_you_mean(pattern, names)}")
    return [
        scenario
        for scenario in scenarios
        if not patterns or any(fnmatchcase(scenario.name, pattern) for pattern in patterns)
    ]
