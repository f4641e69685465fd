"""The engine, end to end: what it counts as caught, and what it does not, on real runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from turnproof._base.exit_codes import Exit
from turnproof.commands.certify import kill_matrix
from turnproof.commands.certify import mutants as certify_mutants
from turnproof.commands.certify.decide import decide
from turnproof.commands.certify.mutants import exit_code, mutants, select
from turnproof.commands.certify.options import MutantsOptions
from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.errors import CatalogueError, HarnessError
from turnproof.judge.requirements import load_suite
from turnproof.run.driver import Runner, RunSpec
from turnproof.run.evidence import digest
from turnproof.run.transcript import RunKey

pytestmark = pytest.mark.long

FIVE = (
    "only-first-text-kept",  # outputs
    "system-dropped-with-history",  # inputs
    "calls-announced-twice",  # callbacks
    "parallel-result-dropped",  # wire, outgoing
    "call-ids-replaced",  # wire, incoming
)

FAKES = ("Survivor", "Clumsy", "IdleWrapper", "IdleProxy", "Unmeasured", "HalfCaught", "OnePathApart")


def run(out: Path, *only: str, adapter: str = "anthropic", as_json: bool = False) -> tuple[int, dict[str, Any]]:
    code = mutants(MutantsOptions(adapter=adapter, only=only, out=out, json=as_json))
    return code, json.loads((out / "mutants.json").read_text())


def fakes(*names: str) -> list[str]:
    return [f"mutants.fakes:{name}" for name in names]


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, dict[str, Any]]:
    return run(tmp_path_factory.mktemp("proved"), *FIVE)


@pytest.fixture(scope="module")
def proving_nothing(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, dict[str, Any]]:
    return run(tmp_path_factory.mktemp("nothing"), *fakes(*FAKES))


def row(found: tuple[int, dict[str, Any]], name: str) -> dict[str, Any]:
    return next(one for one in found[1]["mutants"] if one["mutant"] == name)


def test_one_mutant_a_seam_is_caught_on_both_paths(proved: tuple[int, dict[str, Any]]) -> None:
    code, matrix = proved
    assert code == Exit.OK
    assert matrix["counts"] == {"caught": 5}
    for name in FIVE:
        assert row(proved, name)["paths"] == {"legacy": "caught", "stateless": "caught"}


def test_each_mutant_trips_few_requirements_beside_its_own(proved: tuple[int, dict[str, Any]]) -> None:
    assert all(len(one["trips"]) <= kill_matrix.MOST_OTHERS for one in proved[1]["mutants"])


def test_the_matrix_says_which_requirements_were_proved(proved: tuple[int, dict[str, Any]]) -> None:
    matrix = proved[1]
    assert matrix["schema"] == "turnproof.mutants/1"
    assert matrix["requirements"]["tools/call-ids-are-kept"]["caught"] == ["call-ids-replaced"]
    assert matrix["control"] == {}


def test_what_its_requirement_does_not_notice_is_a_survivor(proving_nothing: tuple[int, dict[str, Any]]) -> None:
    assert proving_nothing[0] == Exit.VIOLATIONS
    found = row(proving_nothing, "survivor")
    assert (found["outcome"], found["paths"]) == ("survived", {"legacy": "missed", "stateless": "missed"})
    assert "core/finish-reason-says-why" in found["trips"]


def test_a_crash_is_not_counted_as_a_detection(proving_nothing: tuple[int, dict[str, Any]]) -> None:
    found = row(proving_nothing, "clumsy")
    assert found["outcome"] == "crashed"
    assert found["paths"]["stateless"] == "caught"
    assert "AttributeError: 'NoneType' object has no attribute 'parts'" in found["detail"]


@pytest.mark.parametrize("name", ["idle-wrapper", "idle-proxy"])
def test_a_mutant_whose_runs_equal_the_controls_never_ran(
    name: str, proving_nothing: tuple[int, dict[str, Any]]
) -> None:
    found = row(proving_nothing, name)
    assert (found["outcome"], found["trips"]) == ("never-ran", [])
    assert "its runs equal the control's (legacy, stateless). Either nothing in " in found["detail"]
    assert "runs do not record what it changes" in found["detail"]


def test_a_requirement_that_looks_at_nothing_catches_nothing(proving_nothing: tuple[int, dict[str, Any]]) -> None:
    found = row(proving_nothing, "unmeasured")
    assert found["outcome"] == "no-control"
    assert "inconclusive" in found["detail"]


def test_a_mutant_has_to_be_caught_on_every_path_it_breaks(proving_nothing: tuple[int, dict[str, Any]]) -> None:
    found = row(proving_nothing, "half-caught")
    assert (found["outcome"], found["paths"]) == ("survived", {"legacy": "missed", "stateless": "caught"})


def test_a_mutant_of_one_path_may_be_caught_by_the_comparison_of_both(
    proving_nothing: tuple[int, dict[str, Any]],
) -> None:
    found = row(proving_nothing, "one-path-apart")
    assert (found["outcome"], found["paths"]) == ("caught", {"legacy": "caught"})
    assert "The two paths of the adapter differ" in found["detail"]


def test_a_mutant_that_hangs_on_purpose_is_caught_in_short_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, matrix = run(tmp_path, *fakes("Hanging"))
    assert (code, matrix["counts"], matrix["mutants"][0]["runs"]) == (Exit.OK, {"caught": 1}, 1)
    shown = capsys.readouterr().out
    assert "1 mutant of anthropic: 1 caught (1 run)" in shown
    assert "core/turns-come-to-an-end" in shown


def test_a_control_that_is_silent_for_longer_than_a_hanging_mutant_is_waited_for_does_not_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certify_mutants, "HANG_LIMIT", 0.5)
    code, matrix = run(tmp_path, *fakes("Hanging"), adapter="mutants.fakes:SLOW")
    assert (code, matrix["control"], matrix["counts"]) == (Exit.OK, {}, {"caught": 1})


def test_nothing_measured_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, matrix = run(tmp_path, "call-ids-replaced", adapter="mutants.fakes:TOOL_LESS", as_json=True)
    assert code == Exit.UNDECIDED
    assert matrix["counts"] == {"not-claimed": 1}
    assert "the adapter does not claim" in matrix["mutants"][0]["detail"]
    assert json.loads(capsys.readouterr().out) == matrix


def test_a_check_that_falls_over_is_a_fault_and_no_survivor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(requirement: Any, path: Any, views: Any, *rest: Any) -> Any:
        every = list(views)
        if any("DEBUG" in view.transcript.end.stdout for view in every):
            raise HarnessError("the check of core/finish-reason-says-why failed")
        return decide(requirement, path, every, *rest)

    monkeypatch.setattr(kill_matrix, "decide", failing)
    code, matrix = run(tmp_path, "answer-printed")
    assert (code, matrix["counts"]) == (Exit.FAULT, {"fault": 1})
    assert "the check of core/finish-reason-says-why failed" in capsys.readouterr().out


def test_a_control_that_violates_a_must_fails_the_run() -> None:
    assert exit_code((), {}) == Exit.UNDECIDED
    assert exit_code((), {"core/finish-reason-says-why [legacy]": "the wire said"}) == Exit.VIOLATIONS


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("call-ids-replace", "no mutant matches 'call-ids-replace'; did you mean 'call-ids-replaced'"),
        ("mutants.fakes:NO_MUTANT", "is a object, not a Mutant"),
        ("mutants.fakes:Nobody", "no mutant 'mutants.fakes:Nobody'"),
    ],
)
def test_a_name_that_is_no_mutant_is_refused(name: str, complaint: str) -> None:
    with pytest.raises(CatalogueError) as refused:
        select([name])
    assert complaint in str(refused.value)


@pytest.mark.parametrize(
    ("name", "complaint"), [("HOMELESS", "no requirement 'basics/plain'"), ("NOWHERE", "no scenario matches 'no/such'")]
)
def test_a_mutant_that_does_not_fit_the_suite_is_refused(name: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match=complaint):
        run(tmp_path, *fakes(name))


def test_outside_its_scenarios_and_paths_a_mutant_equals_its_control() -> None:
    """Mutants that would show in any run at all: only the runner can have kept them out."""
    scenarios = {scenario.name: scenario for scenario in suite_scenarios(load_suite())}
    elsewhere = {
        "answer-printed": ("tools/one", "stateless"),
        "chunks-doubled": ("tools/one", "stateless"),
        "other-model-asked": ("tools/one", "legacy"),
        "request-counted-in-the-prompt": ("basics/four_turns", "legacy"),
    }
    with Runner(jobs=1) as runner:
        for name, (scenario, path) in elsewhere.items():
            key = RunKey(scenario, path)  # type: ignore[arg-type]
            broken = RunSpec("anthropic", scenarios[scenario], key, name)
            control = RunSpec("anthropic", scenarios[scenario], key)
            assert digest(runner.run(broken)) == digest(runner.run(control)), name
