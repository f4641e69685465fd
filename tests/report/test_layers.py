"""Works with today's models, and the whole contract: two answers from one run."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import msgspec
import pytest

from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.dialects import dialect_names
from turnproof.judge.requirements import AllowedOnly, load_suite
from turnproof.judge.run_log import ResultLine
from turnproof.judge.verdict import Status, Verdict
from turnproof.report import write_reports
from turnproof.report.certification import certification
from turnproof.report.layers import Layers
from turnproof.report.standing import today_apart
from turnproof.report.terminal import print_summary
from turnproof.run.evidence import EvidenceStore

from .page import Page
from .runs import ADAPTER, GOOD, HEADER, result, seen_in, write_run
from .verdicts import BAD, OK, UNSURE

DRIP = AllowedOnly(name="faults/drip", reason="Nobody writes single bytes.")
TABLE = msgspec.structs.replace(HEADER, allowed_only=(DRIP,))
CALLS = "tools/results-answer-every-call"


def answers(tmp_path: Path, *changed: ResultLine, **more: Any) -> Layers:
    """Both answers of the good run with some verdicts changed."""
    instead = {(line.requirement, line.path): line for line in changed}
    results = [instead.get((line.requirement, line.path), line) for line in GOOD]
    run = write_run(tmp_path / "run.ndjson", results, **{"header": TABLE, **more})
    found = certification(run).adapters["anthropic"].layers
    assert found is not None
    return found


def violated_in(*scenarios: str) -> ResultLine:
    """A violation on the legacy path with a finding in one run of each scenario."""
    verdicts = [seen_in(BAD, f"{scenario}/legacy/stream") for scenario in scenarios]
    verdict = msgspec.structs.replace(
        verdicts[0],
        findings=tuple(finding for one in verdicts for finding in one.findings),
        total=len(verdicts),
        failing={key: count for one in verdicts for key, count in one.failing.items()},
    )
    return result(CALLS, "legacy", verdict)


def test_a_run_that_holds_everything_answers_both_with_yes(tmp_path: Path) -> None:
    found = answers(tmp_path)
    assert found.today is not None
    assert (found.today.answer, found.contract.answer) == ("yes", "yes")
    assert found.today.must == found.contract.must == (3, 3)


def test_a_violation_that_no_service_shows_counts_against_the_whole_contract_alone(tmp_path: Path) -> None:
    found = answers(tmp_path, violated_in("faults/drip"))
    assert found.today is not None
    assert (found.today.answer, found.today.must, found.today.set_aside) == ("yes", (2, 2), (CALLS,))
    assert (found.contract.answer, found.contract.must, found.contract.violated) == ("no", (2, 3), (CALLS,))


def test_one_failing_run_of_another_scenario_counts_in_both(tmp_path: Path) -> None:
    found = answers(tmp_path, violated_in("faults/drip", "tools/one"))
    assert found.today is not None
    assert (found.today.answer, found.today.set_aside) == ("no", ())


def test_points_of_a_swept_scenario_belong_to_it(tmp_path: Path) -> None:
    found = answers(tmp_path, violated_in("faults/drip#reset@3"))
    assert found.today is not None
    assert found.today.answer == "yes"


def test_a_finding_without_its_run_is_never_set_aside(tmp_path: Path) -> None:
    found = answers(tmp_path, result(CALLS, "legacy", BAD))
    assert found.today is not None
    assert found.today.answer == "no"


def test_an_entry_for_other_wire_apis_says_nothing_of_this_one(tmp_path: Path) -> None:
    elsewhere = msgspec.structs.replace(DRIP, dialects=("gemini",))
    here = msgspec.structs.replace(DRIP, dialects=("gemini", ADAPTER.dialect))
    for entry, answer in ((elsewhere, "no"), (here, "yes")):
        header = msgspec.structs.replace(HEADER, allowed_only=(entry,))
        found = answers(tmp_path, violated_in("faults/drip"), header=header)
        assert found.today is not None
        assert found.today.answer == answer


def test_what_is_undecided_is_unknown_in_both(tmp_path: Path) -> None:
    found = answers(tmp_path, result("core/order-kept", "legacy", UNSURE))
    assert found.today is not None
    assert (found.today.answer, found.contract.answer) == ("unknown", "unknown")
    assert found.today.undecided == ("core/order-kept",)


def test_what_is_undecided_on_the_other_path_is_not_hidden_by_what_is_set_aside(tmp_path: Path) -> None:
    found = answers(tmp_path, violated_in("faults/drip"), result(CALLS, "stateless", UNSURE))
    assert found.today is not None
    assert (found.today.answer, found.today.undecided, found.today.set_aside) == ("unknown", (CALLS,), ())


def test_a_known_issue_is_neither_a_yes_nor_a_no(tmp_path: Path) -> None:
    found = answers(tmp_path, result(CALLS, "legacy", Verdict(Status.KNOWN_ISSUE, message="accepted")))
    assert found.today is not None
    assert (found.today.answer, found.contract.answer) == ("known-issues", "known-issues")


@pytest.mark.parametrize("changed", [(), (violated_in("tools/one"),)])
def test_a_run_that_was_cut_answers_nothing(tmp_path: Path, changed: tuple[ResultLine, ...]) -> None:
    found = answers(tmp_path, *changed, exit_code=None)
    assert found.today is not None
    assert (found.today.answer, found.contract.answer) == ("unknown", "unknown")


def test_what_the_run_left_out_is_unknown(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run.ndjson", [result("core/text-arrives", "stateless", OK)], header=TABLE)
    found = certification(run).adapters["anthropic"].layers
    assert found is not None
    assert (found.contract.answer, found.contract.unmeasured) == ("unknown", 3)


def test_a_run_from_before_the_list_has_the_whole_contract_alone(tmp_path: Path) -> None:
    found = answers(tmp_path, header=HEADER)
    assert found.today is None
    assert found.contract.answer == "yes"


def test_the_shipped_list_names_scenarios_and_wire_apis_that_there_are() -> None:
    suite = load_suite()
    table = suite.allowed_only
    assert table
    assert {one.name for one in table} <= {scenario.name for scenario in suite_scenarios(suite)}
    assert {name for one in table for name in one.dialects} <= set(dialect_names())
    assert len({one.name for one in table}) == len(table)


def test_reports_say_so_where_the_two_answers_differ(tmp_path: Path) -> None:
    results = [violated_in("faults/drip") if (one.requirement, one.path) == (CALLS, "legacy") else one for one in GOOD]
    run = write_run(tmp_path / "run.ndjson", results, header=TABLE)
    report = write_reports(run, tmp_path, EvidenceStore(tmp_path / "evidence"))
    words = "works with today's models: yes, with 1 MUST set aside"
    out = io.StringIO()
    print_summary(run, report, out)
    assert words in out.getvalue()
    assert f"W{words[1:]}" in (tmp_path / "summary.md").read_text()
    assert words in Page((tmp_path / "index.html").read_text()).text


def test_reports_say_nothing_more_where_the_answers_are_the_same(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run.ndjson", GOOD, header=TABLE)
    assert today_apart(certification(run).adapters["anthropic"]) == ""
