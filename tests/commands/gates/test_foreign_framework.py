"""A framework that is not ours, at twelve stages of its migration: the gate of each is right, for the right reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from foreign_framework.bindings import STAGES, Stage

from turnproof.commands.gates import GateReport, State

from .kit import closed, criterion, gated, undecided

pytestmark = pytest.mark.long

TURNS = ("basics/cleared", "basics/plain", "cancel/in_text", "faults/unavailable", "tools/one", "tools/parallel")
OPERATIONS = ("basics/four_turns", "gc/context_limit", "gc/tool_pairs", "history/reset", "persistence/save_load_tools")
"""What the last phases ask about as well: calls that are made again, collections, resets and saves."""

WRONG = [stage for stage in STAGES if stage.closed]
RIGHT = [stage for stage in STAGES if not stage.closed]


def report_of(stage: Stage, out: Path) -> GateReport:
    """The gate of the phase that the framework is in."""
    session = f"foreign_framework.bindings:{stage.attribute}"
    providers = [f"foreign_framework.bindings:{one.__name__}" for one in stage.others]
    settings: dict[str, Any] = {}
    if stage.phase >= 4:
        settings["protocol"] = "foreign_framework.providers:Wire"
    if stage.phase == 5 and stage.on is not None:
        settings["session_class"] = f"foreign_framework.sessions:{stage.on.__name__}"
    subjects = [session, *(f"{session}@{one}" for one in providers)]
    return gated(
        stage.phase, *subjects, out=out, gates=settings, names=TURNS if stage.phase < 4 else TURNS + OPERATIONS
    )


@pytest.mark.parametrize("stage", RIGHT, ids=lambda stage: stage.name)
def test_a_phase_that_is_done_opens_its_gate(stage: Stage, tmp_path: Path) -> None:
    report = report_of(stage, tmp_path)
    messages = {id: criterion(report, id).message for id in (*closed(report), *undecided(report))}
    assert messages == {}
    assert report.state is State.OPEN


@pytest.mark.parametrize("stage", WRONG, ids=lambda stage: stage.name)
def test_what_is_wrong_closes_the_gate_where_it_is_wrong(stage: Stage, tmp_path: Path) -> None:
    report = report_of(stage, tmp_path)
    assert report.state is State.CLOSED
    closing = [one for subject in report.subjects for one in subject.criteria if one.state is State.CLOSED]
    assert any(stage.says in one.message for one in closing if one.id == stage.closed)
    # What is closed beside it follows from the same cause.
    assert {one.id for one in closing} == {stage.closed, *stage.also_closed}
