"""Every report says why something could not be decided, and what to do about it."""

from __future__ import annotations

import io
from pathlib import Path

from turnproof.judge.undecided import Obstacle, Undecided
from turnproof.judge.verdict import Status, Verdict
from turnproof.report.certification import certification, certification_json
from turnproof.report.junit import junit_xml
from turnproof.report.summary import summary_md
from turnproof.report.terminal import print_summary

from .runs import result, write_run

SILENT = Undecided(kind=Obstacle.CALLBACK_NEVER_CAME, callback="on_usage_update", scenarios=("basics/plain",))
MISSING = Undecided(kind=Obstacle.CLAIM_MISSING, scenarios=("tools/one", "tools/two"), lacks=("tools",))
UNDECIDED = Verdict(
    Status.INCONCLUSIVE, message="no run had anything to compare", empty=True, undecided=(SILENT, MISSING)
)
WHY = "your adapter never called on_usage_update in the scenario basics/plain that would show it"
TODO = "call on_usage_update while the answer arrives"


def test_every_report_says_why_and_what_to_do(tmp_path: Path) -> None:
    paths = ("stateless", "legacy")
    run = write_run(tmp_path / "run.ndjson", [result("core/text-arrives", path, UNDECIDED) for path in paths])
    report, out = certification(run), io.StringIO()
    print_summary(run, report, out)
    texts = {
        "terminal": " ".join(out.getvalue().split()),
        "summary": summary_md(run, report).replace("\\", "").replace("<code>", "").replace("</code>", ""),
        "junit": junit_xml(run).decode(),
        "json": certification_json(report).decode(),
    }
    for name, text in texts.items():
        assert WHY in text, name
        assert TODO in text, name
        assert "the 2 scenarios that show it need tools, which is not claimed" in text, name
    assert f"on stateless, legacy {WHY}" in texts["terminal"]
    assert "no run had anything to compare" not in "".join(texts.values())
    found = report.adapters["anthropic"].requirements["core/text-arrives"]
    assert [(one.reason, one.path) for one in found.undecided] == [
        (reason, path) for path in paths for reason in (SILENT, MISSING)
    ]


def test_a_known_issue_has_advice_of_its_own(tmp_path: Path) -> None:
    accepted = Verdict(Status.KNOWN_ISSUE, message="accepted until 2027-01-31: known")
    run = write_run(tmp_path / "run.ndjson", [result("core/text-arrives", "legacy", accepted)])
    report, out = certification(run), io.StringIO()
    print_summary(run, report, out, verbose=True)
    assert "mend it before the day on which the known issue ends" in out.getvalue()
    assert "mend it before the day on which the known issue ends" in summary_md(run, report)
