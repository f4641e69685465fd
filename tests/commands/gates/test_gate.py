"""Gates over real runs: sessions that are right, before and after the flip, and sessions that are wrong on purpose."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from turnproof.commands.compare import CompareOptions, compare
from turnproof.commands.gates import State
from turnproof.errors import CassetteError, HarnessError, UsageError
from turnproof.judge.run_log import read_run
from turnproof.run.evidence import EvidenceStore

from .kit import closed, criterion, gated, scenarios, states, undecided
from .sessions import VARIABLE

FEW = ("tools/one", "cancel/in_text")

# -- the first phase ------------------------------------------------------------------------------------------------


def test_the_reference_session_passes_the_first_gate_and_every_operation_is_counted(tmp_path: Path) -> None:
    report = gated(1, out=tmp_path)
    assert (report.state, report.exit_code) == (State.OPEN, 0)
    assert states(report) == {
        "1/turns-come-to-an-end": State.OPEN,
        "1/turns-are-answered": State.OPEN,
        "1/histories-agree": State.OPEN,
        "1/existing-tests-pass": State.NOT_ASKED,
    }
    measured = " ".join(criterion(report, "1/histories-agree").measured)
    for operation in ("a turn", "round of tools", "a cancelled turn", "a failed turn", "a collection", "a reset",
                      "saving and loading", "a swap of the provider"):  # fmt: skip
        assert operation in measured


def test_a_history_that_drifts_after_a_cancel_closes_the_first_gate(tmp_path: Path) -> None:
    report = gated(1, "commands.gates.sessions:DRIFTS", out=tmp_path, names=FEW)
    assert (report.state, report.exit_code) == (State.CLOSED, 1)
    assert closed(report) == ["1/histories-agree"]
    found = criterion(report, "1/histories-agree")
    assert found.message.startswith(
        f"with {VARIABLE}=0: cancel/in_text/legacy/stream: "
        "The session's history is not the provider's. turn 1: expected "
    )
    assert found.message.endswith(" at $[3] after a cancelled turn, as the provider has it; got nothing")
    (first,) = found.findings
    assert (first.finding.code, first.setting) == ("gate/histories-agree/differs", "off")
    assert (first.finding.place.run, first.finding.place.turn) == ("cancel/in_text/legacy/stream", 1)
    expected: Any = first.finding.expected
    assert expected["role"] == "model"
    assert (
        found.reproduce
        == "turnproof gate --phase 1 commands.gates.sessions:DRIFTS --scenario cancel/in_text --in-process"
    )
    store = EvidenceStore(tmp_path / "gate-1" / "evidence")
    assert [store.get(digest).key.scenario for digest in found.evidence] == ["cancel/in_text"]


def test_a_drift_closes_the_second_gate_at_its_entry(tmp_path: Path) -> None:
    report = gated(2, "commands.gates.sessions:DRIFTS", out=tmp_path, names=FEW)
    assert report.state is State.CLOSED
    assert "1/histories-agree" in closed(report)
    assert criterion(report, "1/histories-agree").side == "entry"


def test_a_session_that_shows_no_history_of_its_provider_is_undecided(tmp_path: Path) -> None:
    report = gated(1, "commands.gates.sessions:MUTE", out=tmp_path, names=FEW)
    assert (report.state, report.exit_code) == (State.UNDECIDED, 3)
    assert undecided(report) == ["1/histories-agree"]


@pytest.mark.parametrize("phase", [1, 2])
def test_the_first_two_phases_need_a_legacy_path_and_say_so_before_anything_is_run(tmp_path: Path, phase: int) -> None:
    with pytest.raises(UsageError) as refused:
        gated(phase, "commands.gates.sessions:ONLY_STATELESS", out=tmp_path, names=FEW)
    assert str(refused.value) == "only-stateless has no legacy path; phases 1 and 2 need one"
    assert list(tmp_path.iterdir()) == []


def test_several_without_a_legacy_path_are_all_named(tmp_path: Path) -> None:
    only = "commands.gates.sessions:ONLY_STATELESS"
    subjects = (only, f"reference@{only}", "anthropic")
    with pytest.raises(UsageError, match=r"^only-stateless, \S+ have no legacy path"):
        gated(1, *subjects, out=tmp_path, names=FEW)


def test_a_session_that_insists_on_a_path_that_the_adapter_lacks_is_a_mistake_of_the_setup(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="could not be run: only-stateless has no legacy path"):
        gated(4, "commands.gates.sessions:IGNORES_FLAG@commands.gates.sessions:ONLY_STATELESS", out=tmp_path, names=FEW)


# -- the second phase, before and after the flip ----------------------------------------------------------------------


def test_the_reference_session_passes_the_second_gate_with_its_flag_off_by_default(tmp_path: Path) -> None:
    report = gated(2, out=tmp_path)
    assert (report.state, report.exit_code) == (State.OPEN, 0), undecided(report) + closed(report)
    assert states(report)["2/declared-differences-occur"] is State.OPEN


@pytest.mark.parametrize(
    ("session", "flip", "state"),
    [
        ("anthropic", 3, State.OPEN),
        ("anthropic", 2, State.OPEN),
        ("commands.gates.sessions:UNFLIPPED", 3, State.OPEN),
        ("commands.gates.sessions:UNFLIPPED", 2, State.CLOSED),
        ("commands.gates.sessions:FLIPPED", 2, State.OPEN),
        ("commands.gates.sessions:FLIPPED", 3, State.CLOSED),
    ],
)
def test_the_default_has_to_flip_in_its_phase_and_not_before(
    tmp_path: Path, session: str, flip: int, state: State
) -> None:
    report = gated(2, session, out=tmp_path, gates={"flip_phase": flip}, names=("tools/one", "faults/garbage"))
    assert report.state is state
    assert closed(report) == ([] if state is State.OPEN else ["2/default-as-planned"])


def test_a_stateless_path_that_loses_what_a_tool_said_closes_the_gate(tmp_path: Path) -> None:
    report = gated(2, "commands.gates.sessions:LOSES_RESULTS", out=tmp_path, names=("tools/one", "cancel/in_text"))
    assert closed(report) == ["2/paths-agree"]
    found = criterion(report, "2/paths-agree")
    assert found.message.startswith("tools/one/stateless/stream: ")
    assert 'turn 0 round 1 (call 1): expected "41 %" at wire $.request.body.messages[2]' in found.message
    assert ", as on the legacy path; got nothing on the stateless path" in found.message
    assert found.findings[0].finding.code == f"gate/paths-agree/{found.left[0]}"
    assert found.left[0] in found.message
    assert "[[tool.turnproof.declared-difference]]" in found.remedy
    store = EvidenceStore(tmp_path / "gate-2" / "evidence")
    assert {store.get(digest).key.path for digest in found.evidence[:2]} == {"stateless", "legacy"}


def test_a_session_that_ignores_its_flag_is_not_taken_for_one_whose_paths_agree(tmp_path: Path) -> None:
    report = gated(2, "commands.gates.sessions:IGNORES_FLAG", out=tmp_path, names=FEW)
    assert closed(report) == ["2/flag-on-is-stateless"]
    assert "2/paths-agree" in undecided(report)


def test_a_session_that_only_says_that_it_follows_its_flag_is_found_out(tmp_path: Path) -> None:
    report = gated(2, "commands.gates.sessions:PRETENDS", out=tmp_path, names=FEW)
    assert closed(report) == ["2/flag-on-is-stateless"]
    found = criterion(report, "2/flag-on-is-stateless")
    assert "expected calls on the stateless path, which it names; got calls on the legacy path" in found.message


@pytest.mark.long
def test_a_session_whose_path_cannot_be_seen_is_undecided(tmp_path: Path) -> None:
    report = gated(2, "commands.gates.sessions:BLIND", out=tmp_path, names=("basics/plain", "tools/one"))
    assert report.state is State.UNDECIDED
    assert {"2/default-as-planned", "2/flag-off-is-legacy", "2/flag-on-is-stateless"} <= set(undecided(report))


def test_a_session_that_cannot_be_opened_with_the_flag_on_closes_the_gate(tmp_path: Path) -> None:
    report = gated(2, "commands.gates.sessions:FAILS_WHEN_ON", out=tmp_path, names=("basics/plain",))
    assert closed(report) == ["2/turns-come-to-an-end"]
    assert "complete() is not there yet" in criterion(report, "2/paths-agree").message


def test_a_declared_difference_that_is_gone_closes_the_gate(tmp_path: Path) -> None:
    report = gated(2, "commands.gates.sessions:DECLARES", out=tmp_path, names=("tools/one",))
    assert closed(report) == ["2/declared-differences-occur"]
    assert (
        "stream-usage-late (the old path reads usage after the stream)"
        in criterion(report, "2/declared-differences-occur").message
    )


@pytest.mark.long
def test_a_flag_that_is_read_while_a_module_is_imported_is_set_by_then(tmp_path: Path) -> None:
    """In workers, as everybody runs it: each setting of the flag gets processes of its own."""
    report = gated(
        2, "commands.gates.sessions:READS_AT_IMPORT", out=tmp_path, names=("tools/one",), in_process=False, jobs=1
    )
    assert not closed(report)
    assert states(report)["2/flag-on-is-stateless"] is State.OPEN
    assert states(report)["2/flag-off-is-legacy"] is State.OPEN


def test_the_flag_may_have_another_name_and_other_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_FLAG", "as it was")
    gates = {"flag": "MY_FLAG", "flag_off": "no", "flag_on": "yes"}
    report = gated(2, "anthropic", out=tmp_path, gates=gates, names=("tools/one", "faults/garbage"))
    assert report.state is State.OPEN
    assert report.subjects[0].flag.variable == "MY_FLAG"
    assert os.environ["MY_FLAG"] == "as it was"


def test_what_the_environment_has_set_is_no_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "1")
    assert gated(2, "anthropic", out=tmp_path, names=("tools/one", "faults/garbage")).state is State.OPEN
    assert os.environ[VARIABLE] == "1"


# -- the project's own tests ------------------------------------------------------------------------------------------

SCRIPT = f"""
import os, sys
on = os.environ["{VARIABLE}"]
with open("seen", "a") as seen:
    seen.write(on)
print("ran with", on)
sys.exit({{}})
"""


def with_tests(folder: Path, code: str) -> dict[str, str]:
    """Settings with a script for the project's own tests that ends like this."""
    (folder / "own.py").write_text(SCRIPT.format(code))
    return {"existing_tests": f"'{sys.executable}' own.py"}


def test_the_projects_own_tests_run_with_the_flag_off_and_on(tmp_path: Path) -> None:
    report = gated(2, out=tmp_path, gates=with_tests(tmp_path, "0"), names=("tools/one", "faults/garbage"))
    assert report.state is State.OPEN
    assert sorted((tmp_path / "seen").read_text()) == ["0", "1"]
    assert criterion(report, "2/existing-tests-pass").measured == (
        f"existing tests with {VARIABLE}=0",
        f"existing tests with {VARIABLE}=1",
    )


def test_the_first_gate_runs_them_with_the_flag_off_alone(tmp_path: Path) -> None:
    assert gated(1, out=tmp_path, gates=with_tests(tmp_path, "0"), names=("tools/one",)).state is State.OPEN
    assert (tmp_path / "seen").read_text() == "0"


def test_tests_that_fail_only_with_the_flag_on_close_the_gate(tmp_path: Path) -> None:
    report = gated(2, out=tmp_path, gates=with_tests(tmp_path, "int(on) * 3"), names=("tools/one", "faults/garbage"))
    assert closed(report) == ["2/existing-tests-pass"]
    found = criterion(report, "2/existing-tests-pass")
    assert found.message.endswith("; got exit status 3")
    assert found.detail == "ran with 1"
    assert found.reproduce == f"{VARIABLE}=1 {sys.executable} own.py"


def test_a_command_that_cannot_be_started_stops_everything_before_it_begins(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="existing_tests = 'no-such-program' cannot be started"):
        gated(2, out=tmp_path, gates={"existing_tests": "no-such-program"})
    assert not (tmp_path / "gate-2").exists()


# -- how much was asked -----------------------------------------------------------------------------------------------


def test_some_scenarios_show_something_but_open_no_gate(tmp_path: Path) -> None:
    report = gated(1, out=tmp_path, scenarios=("tools/*",))
    assert report.partial
    assert (report.state, report.exit_code) == (State.UNDECIDED, 3)
    assert report.subjects[0].state is State.OPEN
    assert gated(1, "commands.gates.sessions:DRIFTS", out=tmp_path, scenarios=("cancel/*",)).state is State.CLOSED


def test_a_gate_that_only_reports_fails_no_job_and_says_so(tmp_path: Path) -> None:
    report = gated(1, "commands.gates.sessions:DRIFTS", out=tmp_path, names=FEW, mode="report")
    assert (report.state, report.exit_code, report.gate_exit_code) == (State.CLOSED, 0, 1)


@pytest.mark.long
def test_what_a_session_cannot_do_is_left_out_by_name(tmp_path: Path) -> None:
    report = gated(2, "commands.gates.sessions:BLIND", out=tmp_path, names=("basics/plain", "persistence/save_load"))
    assert report.subjects[0].left_out == {"load(), save()": 1}
    assert report.subjects[0].scenarios == 1


def test_each_of_several_subjects_gets_its_own_answer_and_the_heaviest_counts(tmp_path: Path) -> None:
    report = gated(
        1, "anthropic", "commands.gates.sessions:DRIFTS", out=tmp_path, names=("basics/plain", "cancel/in_text")
    )
    assert {subject.name: subject.state for subject in report.subjects} == {
        "anthropic": State.OPEN,
        "drifts": State.CLOSED,
    }
    assert report.state is State.CLOSED


def test_cassettes_answer_where_that_is_asked_for_and_a_session_has_none(tmp_path: Path) -> None:
    report = gated(1, "anthropic", out=tmp_path, backend="replay", names=("basics/plain", "tools/one"))
    assert (report.state, report.subjects[0].backend) == (State.OPEN, "replay")
    with pytest.raises(CassetteError, match="no cassettes are kept of sessions"):
        gated(1, "commands.gates.sessions:MUTE", out=tmp_path, backend="replay")


# -- what is kept -----------------------------------------------------------------------------------------------------


def test_the_runs_are_kept_and_can_be_compared_again_side_by_side(tmp_path: Path) -> None:
    report = gated(2, "anthropic", out=tmp_path, names=("tools/one",))
    assert set(report.runs) == {"gate-2", "gate-2/default"}
    run = read_run(tmp_path / "gate-2" / "run.ndjson")
    assert run.footer is not None
    (scenario,) = scenarios(("tools/one",))
    keys = {(line.key.path, line.key.repeat) for line in run.transcripts if line.key.mode == scenario.modes[0]}
    assert keys == {("legacy", 0), ("legacy", 1), ("stateless", 0)}
    assert len(read_run(tmp_path / "gate-2" / "default" / "run.ndjson").transcripts) == 1
    compared = compare(CompareOptions((str(tmp_path / "gate-2"),), scenarios=("tools/one",)))
    assert compared.same
