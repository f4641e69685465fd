"""Runs that a folder keeps, over time: their order, what changed, and what cannot be read."""

from __future__ import annotations

import json
import shutil
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import msgspec
import pytest

from turnproof.commands.cli import main
from turnproof.errors import UsageError
from turnproof.judge.run_log import Environment
from turnproof.judge.verdict import Status
from turnproof.report import write_reports
from turnproof.report.certification_diff import Kind
from turnproof.report.history import History, RunStanding, history, history_json
from turnproof.report.history_html import history_badge, history_html, status_of
from turnproof.report.history_text import changes_in_words, history_md, history_text
from turnproof.run.evidence import EvidenceStore

from .page import Page
from .runs import ADAPTER, GOOD, HEADER, HOSTILE, RESULTS, result, write_run
from .verdicts import OK

SCHEMA = json.loads((files("turnproof.report") / "history.schema.json").read_text())
CALLS = "tools/results-answer-every-call"


def keep(folder: Path, name: str, day: int, results: Any = GOOD, **more: Any) -> None:
    """A run of that day, with its reports, in a folder of its own."""
    header = msgspec.structs.replace(
        HEADER, started=f"2026-11-{day:02}T10:00:00Z", allowed_only=(), **more.pop("header", {})
    )
    run = write_run(folder / name / "run.ndjson", results, header=header, **more)
    write_reports(run, folder / name, EvidenceStore(folder / name / "evidence"))


@pytest.fixture
def runs_folder(tmp_path: Path) -> Path:
    """Three runs: held, violated, held again with a newer package. Their names are in another order than their days."""
    keep(tmp_path, "c", 1)
    keep(tmp_path, "deep/down/a", 2, RESULTS)
    newer = Environment(python="3.11.7", platform="Linux", packages={"anthropic": "3.0.0"})
    keep(tmp_path, "b", 3, header={"environment": newer})
    return tmp_path


def anthropic(report: History) -> Any:
    return report.adapters["anthropic"]


def test_runs_are_in_the_order_of_their_start_at_any_depth(runs_folder: Path) -> None:
    found = anthropic(history(runs_folder))
    assert [one.run for one in found.runs] == ["c", "deep/down/a", "b"]
    assert [one.contract for one in found.runs] == ["yes", "no", "yes"]
    assert [one.today for one in found.runs] == ["yes", "no", "yes"]
    assert [one.must for one in found.runs] == [(3, 3), (1, 3), (3, 3)]
    assert [one.packages["anthropic"] for one in found.runs] == ["2.12.0", "2.12.0", "3.0.0"]


def test_what_changed_is_what_diff_says_with_the_circumstances(runs_folder: Path) -> None:
    broken, mended = anthropic(history(runs_folder)).changes
    assert (broken.before, broken.after) == ("c", "deep/down/a")
    assert broken.requirements[Kind.NEW] == (CALLS,)
    assert not broken.circumstances
    assert mended.requirements[Kind.FIXED] == (CALLS,)
    assert [(one.what, one.before, one.after) for one in mended.circumstances] == [("anthropic", "2.12.0", "3.0.0")]
    assert "not the same: anthropic 2.12.0 → 3.0.0" in list(changes_in_words(mended))


def test_a_run_of_a_part_is_a_line_and_what_it_left_out_is_no_longer_measured(runs_folder: Path) -> None:
    keep(runs_folder, "part", 4, [result("core/text-arrives", "stateless", OK)])
    found = anthropic(history(runs_folder))
    assert (found.runs[-1].contract, found.runs[-1].standing) == (
        "unknown",
        "not certified: not everything was measured",
    )
    assert CALLS in found.changes[-1].requirements[Kind.GONE]


def test_an_adapter_is_compared_with_its_own_last_run(runs_folder: Path) -> None:
    other = msgspec.structs.replace(ADAPTER, name="gemini")
    keep(runs_folder, "other", 2, [msgspec.structs.replace(line, adapter="gemini") for line in GOOD], adapters=[other])
    report = history(runs_folder)
    assert list(report.adapters) == ["anthropic", "gemini"]
    assert [one.run for one in report.adapters["gemini"].runs] == ["other"]
    assert not report.adapters["gemini"].changes
    assert len(anthropic(report).runs) == 3


def test_a_report_without_its_run_is_enough(runs_folder: Path) -> None:
    (runs_folder / "c" / "run.ndjson").unlink()
    assert [one.run for one in anthropic(history(runs_folder)).runs] == ["c", "deep/down/a", "b"]


def test_a_report_from_before_the_two_answers_has_none(runs_folder: Path) -> None:
    (runs_folder / "c" / "run.ndjson").unlink()
    file = runs_folder / "c" / "certification.json"
    data = json.loads(file.read_text())
    del data["adapters"]["anthropic"]["layers"]
    file.write_text(json.dumps(data))
    first = anthropic(history(runs_folder)).runs[0]
    assert (first.today, first.contract, first.certified) == (None, None, True)


def test_a_damaged_run_is_named_and_left_out_and_the_exit_code_says_so(runs_folder: Path) -> None:
    log = runs_folder / "deep/down/a/run.ndjson"
    log.write_bytes(log.read_bytes().replace(b'"line":"requirement"', b'"line":"requiremend"', 1))
    report = history(runs_folder)
    (left,) = report.skipped
    assert (left.run, left.why) == ("deep/down/a", "damaged")
    assert "line 2 is damaged" in left.reason
    assert report.exit_code == 2
    assert [one.run for one in anthropic(report).runs] == ["c", "b"]
    for text in (history_text(report), history_md(report), Page(history_html(report)).text):
        assert "deep/down/a" in text


def test_a_run_that_started_at_no_moment_is_damaged(runs_folder: Path) -> None:
    keep(runs_folder, "d", 4)
    file = runs_folder / "d" / "certification.json"
    (runs_folder / "d" / "run.ndjson").unlink()
    file.write_text(file.read_text().replace("2026-11-04T10:00:00Z", "yesterday"))
    (left,) = history(runs_folder).skipped
    assert "'yesterday' is no moment" in left.reason


def test_runs_of_a_comparison_and_copies_are_named_and_no_fault(runs_folder: Path) -> None:
    write_run(
        runs_folder / "compared" / "run.ndjson",
        [],
        header=msgspec.structs.replace(HEADER, compares="paths"),
        catalogue=[],
    )
    shutil.copytree(runs_folder / "b", runs_folder / "z-copy")
    report = history(runs_folder)
    assert [(one.run, one.why) for one in report.skipped] == [("compared", "comparison"), ("z-copy", "copy")]
    assert report.exit_code == 0
    assert len(anthropic(report).runs) == 3


def test_a_run_that_was_cut_is_a_line_of_which_nothing_is_known(runs_folder: Path) -> None:
    keep(runs_folder, "cut", 4, exit_code=None)
    last = anthropic(history(runs_folder)).runs[-1]
    assert (last.complete, last.contract, last.certified) == (False, "unknown", False)
    assert status_of(last) is Status.INCONCLUSIVE


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda folder: folder.mkdir(), "has no certification in it or below it"),
        (lambda folder: folder.write_text(""), "is a file: name the folder that has the runs"),
        (lambda folder: None, "there is no such folder"),
        (lambda folder: write_run(folder / "x/run.ndjson", [], catalogue=[]), "x: the runs of a comparison"),
    ],
    ids=["empty", "file", "missing", "comparisons"],
)
def test_a_folder_without_a_certification_is_an_error_that_says_what_is_there(
    tmp_path: Path, make: Any, says: str
) -> None:
    make(tmp_path / "kept")
    with pytest.raises(UsageError, match=says):
        history(tmp_path / "kept")


def test_the_document_keeps_its_schema(runs_folder: Path) -> None:
    (runs_folder / "damaged").mkdir()
    (runs_folder / "damaged" / "run.ndjson").write_text("{")
    document = json.loads(history_json(history(runs_folder)))
    jsonschema.validate(document, SCHEMA)
    assert document["schema"] == "turnproof.history/1"


def test_the_badge_has_a_square_for_each_run_with_its_day_and_standing(runs_folder: Path) -> None:
    svg = history_badge("anthropic", anthropic(history(runs_folder)))
    root = ElementTree.fromstring(svg)
    titles = [one.text for one in root.iter("{http://www.w3.org/2000/svg}title")]
    assert titles == [
        "turnproof anthropic: certified",
        "1 November 2026, turnproof 0.1.0: certified",
        "2 November 2026, turnproof 0.1.0: not certified",
        "3 November 2026, turnproof 0.1.0: certified",
    ]


def test_markup_in_names_is_text_everywhere(tmp_path: Path) -> None:
    adapter = msgspec.structs.replace(ADAPTER, name=HOSTILE)
    for day in (1, 2):
        results = [msgspec.structs.replace(line, adapter=HOSTILE) for line in GOOD]
        keep(tmp_path, f"run-{day}", day, results, adapters=[adapter])
    report = history(tmp_path)
    assert not [tag for tag, _ in Page(history_html(report)).tags if tag in ("script", "img")]
    assert ElementTree.fromstring(history_badge(HOSTILE, report.adapters[HOSTILE])) is not None
    assert "<img" not in history_md(report)
    assert "\x1b" not in history_text(report)


def test_the_look_of_a_run_is_its_certificates() -> None:
    stood = RunStanding(
        run="a", started="", turnproof="", packages={}, profiles="", depth="", dialect="", model="", proof="",
        complete=True, standing="", certified=False, conditional=False, must=(1, 2),
    )  # fmt: skip
    assert status_of(stood) is Status.VIOLATED
    assert status_of(msgspec.structs.replace(stood, contract="unknown")) is Status.INCONCLUSIVE
    assert status_of(msgspec.structs.replace(stood, conditional=True)) is Status.KNOWN_ISSUE
    assert status_of(msgspec.structs.replace(stood, certified=True)) is Status.HELD


def test_the_command_prints_writes_and_judges_nothing(runs_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", str(runs_folder), "--out", str(runs_folder / "out")]) == 0
    assert "✗ 1 new: tools/results-answer-every-call" in capsys.readouterr().out
    assert sorted(file.name for file in (runs_folder / "out").iterdir()) == [
        "history-anthropic.svg",
        "history.html",
        "history.json",
        "history.md",
    ]
    assert main(["history", str(runs_folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["adapters"]["anthropic"]["runs"][0]["run"] == "c"
    (runs_folder / "b" / "run.ndjson").write_text("{")
    assert main(["history", str(runs_folder)]) == 2
    assert "left out: b (damaged)" in capsys.readouterr().out
