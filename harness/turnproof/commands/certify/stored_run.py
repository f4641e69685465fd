"""A run that is on disk, read back: its evidence as views."""

from __future__ import annotations

from collections.abc import Mapping

from ..._base.suggestions import did_you_mean
from ...dialects import dialect
from ...errors import UsageError
from ...judge.run_log import Run, TranscriptLine
from ...judge.view import View
from ...run.evidence import EvidenceStore
from ...scenarios import Scenario
from ...scenarios.sweep import scenario_named


def recorded_view(run: Run, line: TranscriptLine, store: EvidenceStore, scenarios: Mapping[str, Scenario]) -> View:
    """One transcript of a run. Raises UsageError when its evidence is missing or damaged, or its scenario is gone."""
    name = line.key.scenario
    scenario = scenario_named(name, scenarios)
    if scenario is None:
        hint = did_you_mean(name, scenarios)
        raise UsageError(f"scenario {name!r} of this run is no longer part of its suite{hint}")
    wire = dialect(run.adapters[line.adapter].dialect)
    return View(store.get(line.digest), wire, scenario, line.digest)
