"""The ratchet and the modes: what was open stays open, what is left does not grow, and what the exit code then says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from refused_files import why_refused

from turnproof._base.exit_codes import Exit
from turnproof.commands.gates import CriterionReport, GateReport, State
from turnproof.commands.gates.baseline import Baseline, check_depth, read_baseline, record, regressions
from turnproof.commands.gates.model import Regression, exit_code_in
from turnproof.errors import UsageError

from .test_documents import ACCEPTED, CLOSED, CRITERION, NOT_ASKED, UNDECIDED, report


def became(criterion: CriterionReport, state: State) -> CriterionReport:
    return structs.replace(criterion, state=state)


def recorded(*criteria: CriterionReport, folder: Path, **fields: Any) -> Baseline:
    """What is read again of a gate that was recorded."""
    file = folder / "gate-baseline.json"
    record(report(*criteria, **fields), read_baseline(file), file)
    found = read_baseline(file)
    assert found is not None
    return found


def steps(before: Baseline, *criteria: CriterionReport, **fields: Any) -> tuple[Regression, ...]:
    return regressions(report(*criteria, **fields), before)


def test_what_stands_as_it_was_recorded_is_no_step_back(tmp_path: Path) -> None:
    criteria = (CRITERION, CLOSED, UNDECIDED, NOT_ASKED, ACCEPTED)
    assert steps(recorded(*criteria, folder=tmp_path), *criteria) == ()


@pytest.mark.parametrize("now", [State.CLOSED, State.UNDECIDED])
@pytest.mark.parametrize("was", [CRITERION, ACCEPTED])
def test_what_was_open_and_has_closed_is_one(tmp_path: Path, was: CriterionReport, now: State) -> None:
    before = recorded(was, folder=tmp_path)
    assert steps(before, became(was, now)) == (Regression("mine", was.id, was.state, now),)


@pytest.mark.parametrize("was", [CLOSED, UNDECIDED, NOT_ASKED])
def test_what_was_not_open_may_close(tmp_path: Path, was: CriterionReport) -> None:
    assert steps(recorded(was, folder=tmp_path), became(was, State.CLOSED)) == ()


def test_what_was_closed_may_not_have_more_left(tmp_path: Path) -> None:
    was = structs.replace(CLOSED, left=("Mine.create_session()", "Mine.get_history()"))
    before = recorded(was, folder=tmp_path)
    assert steps(before, structs.replace(was, left=("Mine.get_history()",))) == ()
    (step,) = steps(before, structs.replace(was, left=("Mine.get_history()", "Mine.send_message()")))
    assert (step.was, step.new) == (State.CLOSED, ("Mine.send_message()",))


def test_some_scenarios_may_leave_something_undecided(tmp_path: Path) -> None:
    before = recorded(CRITERION, folder=tmp_path)
    assert steps(before, became(CRITERION, State.UNDECIDED), partial=True) == ()
    assert steps(before, became(CRITERION, State.CLOSED), partial=True)


def test_a_new_subject_and_a_new_criterion_have_nothing_to_fall_back_from(tmp_path: Path) -> None:
    before = recorded(CRITERION, folder=tmp_path)
    assert steps(before, CLOSED) == ()
    assert regressions(report(became(CRITERION, State.CLOSED), phase=3), before) == ()
    assert regressions(report(CLOSED), None) == ()


def test_a_record_keeps_other_phases_and_other_subjects(tmp_path: Path) -> None:
    file = tmp_path / "gate-baseline.json"
    first = report(CRITERION)
    record(first, None, file)
    record(report(CLOSED, phase=3), read_baseline(file), file)
    other = structs.replace(first.subjects[0], name="other")
    record(structs.replace(first, subjects=(other,)), read_baseline(file), file)
    found = read_baseline(file)
    assert found is not None
    assert set(found.phases) == {"2", "3"}
    assert set(found.phases["2"].subjects) == {"mine", "other"}


def test_a_record_is_the_same_bytes_for_the_same_gate(tmp_path: Path) -> None:
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    record(report(CLOSED, started="2026-11-22T10:00:00+00:00"), None, one)
    record(report(CLOSED, started="2026-11-23T10:00:00+00:00", duration_s=9.0), None, other)
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "cannot be read as a record of gates"),
        ('{"phases": {}, "schema": "turnproof.gate-baseline/9"}', "its schema is 'turnproof.gate-baseline/9'"),
        ('{"phases": {"2": {"depth": "full", "subjects": {"mine": {"1/x": {"state": "ajar"}}}}}}', "'ajar'"),
        ('{"phase": {}}', "unknown field `phase`"),
    ],
)
def test_a_damaged_record_is_told_with_its_file(tmp_path: Path, text: str, says: str) -> None:
    message = why_refused(read_baseline, tmp_path / "gate-baseline.json", text)
    assert says in message
    assert "record it again" in message


def test_what_fewer_scenarios_recorded_is_nothing_to_hold_more_of_them_against(tmp_path: Path) -> None:
    before = recorded(CRITERION, folder=tmp_path, depth="quick")
    with pytest.raises(UsageError, match="phase 2 was recorded with --depth quick, and this is full"):
        check_depth(tmp_path, before, 2, "full")
    check_depth(tmp_path, before, 2, "quick")
    check_depth(tmp_path, before, 3, "full")
    check_depth(tmp_path, recorded(CRITERION, folder=tmp_path, depth="full"), 2, "quick")


BACK = Regression("mine", CRITERION.id, State.OPEN, State.CLOSED)
NOW_UNDECIDED = Regression("mine", CRITERION.id, State.OPEN, State.UNDECIDED)


@pytest.mark.parametrize(
    ("mode", "state", "back", "code"),
    [
        ("enforce", State.OPEN, (), Exit.OK),
        ("enforce", State.CLOSED, (), Exit.VIOLATIONS),
        ("enforce", State.UNDECIDED, (), Exit.UNDECIDED),
        ("shadow", State.CLOSED, (), Exit.OK),
        ("shadow", State.UNDECIDED, (), Exit.OK),
        ("shadow", State.CLOSED, (BACK, NOW_UNDECIDED), Exit.VIOLATIONS),
        ("shadow", State.CLOSED, (NOW_UNDECIDED,), Exit.UNDECIDED),
        ("report", State.CLOSED, (BACK,), Exit.OK),
    ],
)
def test_the_mode_says_what_the_exit_code_is_about(mode: Any, state: State, back: Any, code: Exit) -> None:
    assert exit_code_in(mode, state, back) is code


def test_a_gate_knows_whether_there_was_a_record(tmp_path: Path) -> None:
    assert read_baseline(tmp_path / "gate-baseline.json") is None
    assert isinstance(report(CRITERION), GateReport)
