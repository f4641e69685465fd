"""Annotations as GitHub's runner reads them, and the step's summary: nothing that others wrote may end or begin one."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from turnproof.judge.verdict import Status, Verdict
from turnproof.report.annotations import Annotation, add_to_step_summary, on_github, relative_to, run_annotations, write

from .runs import result, write_run
from .verdicts import BAD, OK, UNCLAIMED, UNSURE


@pytest.mark.parametrize(
    ("annotation", "line"),
    [
        (
            Annotation("error", "4/x is closed", "what", "src/a.py", 12),
            "::error file=src/a.py,line=12,title=4/x is closed::what",
        ),
        (Annotation("warning", "t", "100 % sure\r\nof it"), "::warning title=t::100 %25 sure%0D%0Aof it"),
        (Annotation("notice", "a: b, c", "m"), "::notice title=a%3A b%2C c::m"),
        (Annotation("error", "t", "m", "odd,name:1.py"), "::error file=odd%2Cname%3A1.py,title=t::m"),
        (Annotation("error", "two\nlines", "::add-mask::x"), "::error title=two lines::::add-mask::x"),
    ],
)
def test_an_annotation_is_one_line_with_everything_escaped(annotation: Annotation, line: str) -> None:
    assert str(annotation) == line


def test_a_message_cannot_begin_a_command_of_its_own() -> None:
    stream = io.StringIO()
    write([Annotation("error", "t", "what the model said\n::set-env name=PATH::/tmp")], stream)
    assert len(stream.getvalue().splitlines()) == 1
    assert stream.getvalue().startswith("::error title=t::what the model said%0A::set-env")


def test_no_more_than_github_shows_and_the_rest_is_counted() -> None:
    stream = io.StringIO()
    write([Annotation("warning", "t", str(n)) for n in range(13)] + [Annotation("error", "t", "first")], stream)
    lines = stream.getvalue().splitlines()
    assert lines[0] == "::error title=t::first"
    assert len(lines) == 11
    assert lines[-1] == "::warning title=turnproof::and 4 more in the summary"


@pytest.mark.parametrize(
    ("value", "is_requested", "expected"), [("true", False, True), ("", False, False), ("", True, True)]
)
def test_they_are_written_on_github_or_when_asked_for(
    value: str, is_requested: bool, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", value)
    assert on_github(is_requested) is expected


def test_a_file_is_named_from_the_root_of_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    inside = tmp_path / "part" / "src" / "a.py"
    assert relative_to(str(inside), tmp_path / "part") == "part/src/a.py"
    assert relative_to("/usr/lib/x.py", tmp_path) == "/usr/lib/x.py"
    monkeypatch.delenv("GITHUB_WORKSPACE")
    assert relative_to(str(inside), tmp_path / "part") == "src/a.py"


def test_the_summary_is_added_to_what_stands_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "summary"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(file))
    add_to_step_summary("# One\n")
    add_to_step_summary("# Two\n")
    assert file.read_text() == "# One\n# Two\n"


def test_a_summary_that_is_too_long_is_cut_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "summary"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(file))
    add_to_step_summary("ä" * 1024 * 1024)
    assert file.stat().st_size <= 1024 * 1024
    assert file.read_text().endswith("The rest is in the reports of the run.\n")


def test_a_summary_that_cannot_be_written_fails_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "none" / "summary"))
    add_to_step_summary("# One\n")
    assert "the step summary cannot be written to" in capsys.readouterr().err
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    add_to_step_summary("# One\n")


def test_a_certification_shows_what_is_not_held(tmp_path: Path) -> None:
    found = write_run(
        tmp_path / "run.ndjson",
        [
            result("core/text-arrives", "stateless", OK),
            result("core/order-kept", "stateless", UNSURE),
            result("core/nice-names", "stateless", BAD),
            result("core/nice-names", "legacy", UNSURE),
            result("tools/results-answer-every-call", "stateless", BAD),
            result(
                "tools/results-answer-every-call", "legacy", Verdict(Status.KNOWN_ISSUE, "accepted until 2027-01-31")
            ),
            result("thinking/signature-kept", "stateless", UNCLAIMED),
        ],
        problems=("known issue anthropic core/x [legacy]: it expired",),
    )
    assert [(one.level, one.title) for one in run_annotations(found)] == [
        ("warning", "anthropic: core/order-kept [stateless] is inconclusive"),
        ("warning", "anthropic: core/nice-names [stateless] is violated"),
        ("error", "anthropic: tools/results-answer-every-call [stateless] is violated"),
        ("notice", "anthropic: tools/results-answer-every-call [legacy] is known-issue"),
        ("error", "known issues"),
    ]
