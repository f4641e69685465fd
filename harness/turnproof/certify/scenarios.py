"""The scenarios of a suite: YAML files in its package's `scenarios` folder."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from ..requirements import Suite
from ..scenarios import Scenario, load_all


def suite_scenarios(suite: Suite) -> list[Scenario]:
    """All scenarios of a suite, by name. Raises ScenarioError for the first one that is wrong."""
    module = import_module(suite.package)
    folder = Path(next(iter(module.__path__))) / "scenarios"
    return list(load_all(folder).values())
