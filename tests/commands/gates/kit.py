"""A gate over a handful of scenarios, in this process: enough to open and to close it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from turnproof._base.settings import Config, GateSettings, Settings
from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.commands.gates import CriterionReport, GateOptions, GateReport, State, gate
from turnproof.judge.requirements import load_suite
from turnproof.scenarios import Scenario

SOME = (
    "basics/cleared",
    "basics/plain",
    "cancel/in_text",
    "faults/garbage",
    "faults/unavailable",
    "gc/tool_pairs",
    "persistence/new_provider",
    "persistence/save_load",
    "tools/one",
    "tools/parallel",
)
"""Turns, tools, a cancel, a failure, and the operations of a session; among them what the pilot declares."""


@cache
def scenarios(names: Sequence[str] = SOME) -> list[Scenario]:
    """Scenarios of the suite."""
    known = {scenario.name: scenario for scenario in suite_scenarios(load_suite())}
    return [known[name] for name in names]


def gated(
    phase: int,
    *subjects: str,
    out: Path,
    gates: dict[str, Any] | None = None,
    names: Sequence[str] = SOME,
    **options: Any,
) -> GateReport:
    """The gate of a phase for these subjects, where nothing but these scenarios is asked for."""
    config = Config(Settings(gates=GateSettings(**(gates or {}))), out / "turnproof.toml")
    expected = GateOptions(phase, subjects, out=out, config=config, **{"in_process": True, **options})
    return gate(expected, scenarios(tuple(names)))


def states(report: GateReport) -> dict[str, State]:
    """The state of each criterion of the only subject."""
    (subject,) = report.subjects
    return {criterion.id: criterion.state for criterion in subject.criteria}


def criterion(report: GateReport, id: str) -> CriterionReport:
    """One criterion of the only subject."""
    (subject,) = report.subjects
    return next(criterion for criterion in subject.criteria if criterion.id == id)


def closed(report: GateReport) -> list[str]:
    """The criteria that keep the gate of the only subject closed."""
    return [id for id, state in states(report).items() if state is State.CLOSED]


def undecided(report: GateReport) -> list[str]:
    """The criteria of the only subject that could not be decided."""
    return [id for id, state in states(report).items() if state is State.UNDECIDED]
