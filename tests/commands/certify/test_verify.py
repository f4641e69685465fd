"""`turnproof verify`: verdicts follow from the evidence, or it says which do not."""

from __future__ import annotations

import gzip
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from report.runs import ADAPTER, write_run

from turnproof._base.canonical import canonical
from turnproof.commands.certify import verify
from turnproof.commands.certify.verify import Verification, report_agrees, verify_run
from turnproof.dialects import dialect
from turnproof.errors import UsageError
from turnproof.judge.requirements import (
    Catalogue,
    Check,
    Findings,
    ProfileSet,
    Registry,
    Requirement,
    Suite,
    judge,
)
from turnproof.judge.run_log import RequirementLine, ResultLine, Run, TranscriptLine, read_run
from turnproof.judge.verdict import Status, Verdict, accept_codes, violated
from turnproof.judge.view import View
from turnproof.messages import Message
from turnproof.report.proof import NOT_PROVEN
from turnproof.report.write import write_reports
from turnproof.run.evidence import EvidenceStore
from turnproof.run.transcript import Chunk, HistorySnapshot, RunEnded, RunKey, Transcript, TurnBegan
from turnproof.scenarios.model import Scenario

from .politeness import requirement

KEY = RunKey("core/hello", "stateless")
SCENARIO = Scenario(name="core/hello", title="Hello", turns=(), modes=("stream",))
SUBJECT = msgspec.structs.replace(ADAPTER, paths=("stateless",), capabilities={"streaming": True})
REQUIREMENT = requirement("core/says-good-day", title="It says good day")


def says_good_day(view: View) -> Findings:
    for chunk in view.transcript.of(Chunk):
        if chunk.text == "good day":
            yield "a greeting"
        else:
            yield violated(f"it said {chunk.text!r}")


@pytest.fixture(autouse=True)
def suite(monkeypatch: pytest.MonkeyPatch) -> Suite:
    """A suite of one requirement, in place of the installed one."""
    registry = Registry()
    registry.check(REQUIREMENT.id)(says_good_day)
    profiles = ProfileSet(name="2026.11", profiles={"core": (REQUIREMENT.id,)})
    suite = Suite("a_suite", Catalogue((REQUIREMENT,)), profiles, registry)
    monkeypatch.setattr(verify, "load_suite", lambda *_: suite)
    monkeypatch.setattr(verify, "suite_scenarios", lambda _: [SCENARIO])
    monkeypatch.setattr(verify, "missing_controls", lambda *_: ())  # such a run has none
    return suite


def build_transcript(words: str) -> Transcript:
    return Transcript(
        adapter="anthropic",
        dialect="anthropic-messages",
        model=ADAPTER.model,
        backend="emulate",
        key=KEY,
        seed=0,
        events=(
            TurnBegan(text="hi"),
            Chunk(text=words),
            HistorySnapshot(owner="session", messages=(Message.user("hi"),)),
            RunEnded(how="completed"),
        ),
    )


def a_run(folder: Path, suite: Suite, words: str, verdict: Verdict | None = None, *, cut: bool = False) -> Run:
    """A run with one transcript and the verdict on it: the true one unless another is given."""
    store = EvidenceStore(folder / "evidence")
    digest = store.put(build_transcript(words))
    if verdict is None:
        view = View(build_transcript(words), dialect("anthropic-messages"), SCENARIO, digest)
        verdict = judge(REQUIREMENT, "stateless", [view], registry=suite.registry)
    return write_run(
        folder / "run.ndjson",
        [ResultLine(adapter="anthropic", requirement=REQUIREMENT.id, path="stateless", verdict=verdict)],
        catalogue=[RequirementLine.of(REQUIREMENT, {})],
        adapters=[SUBJECT],
        transcripts=[TranscriptLine(adapter="anthropic", key=KEY, digest=digest)],
        exit_code=None if cut else int(verdict.status is Status.VIOLATED),
    )


def verified(run: Run, folder: Path) -> Verification:
    return verify_run(run, EvidenceStore(folder / "evidence"))


@pytest.mark.parametrize("words", ["good day", "go away"])
def test_a_true_verdict_follows_from_its_evidence(tmp_path: Path, suite: Suite, words: str) -> None:
    run = a_run(tmp_path, suite, words)
    assert run.results[0].verdict.status is (Status.HELD if words == "good day" else Status.VIOLATED)
    assert verified(run, tmp_path) == Verification(complete=True, transcripts=1, verdicts=1, problems=())


@pytest.mark.parametrize("paths", [("stateless",), ("stateless", "legacy")])
def test_an_adapter_of_one_path_is_not_asked_for_what_takes_two(
    tmp_path: Path, suite: Suite, monkeypatch: pytest.MonkeyPatch, paths: tuple[str, ...]
) -> None:
    """As when the run was made: otherwise what nobody could measure would be given another reason."""
    claims: list[Any] = []

    def decide(requirement: Requirement, path: str, views: object, claimed: Any, registry: Registry) -> Verdict:
        claims.append(claimed)
        return run.results[0].verdict

    run = a_run(tmp_path, suite, "good day")
    run.adapters["anthropic"] = msgspec.structs.replace(run.adapters["anthropic"], paths=paths)
    monkeypatch.setattr(verify, "decide", decide)
    assert verified(run, tmp_path).problems == ()
    assert ("other_path" in claims[0].operations) == (len(paths) == 2)


def test_a_verdict_that_does_not_follow_is_named_with_what_does(tmp_path: Path, suite: Suite) -> None:
    run = a_run(tmp_path, suite, "go away", Verdict(Status.HELD, compared=("a greeting",)))
    assert verified(run, tmp_path).problems == (
        "anthropic core/says-good-day [stateless]: was held, and the evidence shows violated: it said 'go away'",
    )


def test_another_finding_is_another_verdict(tmp_path: Path, suite: Suite) -> None:
    true = a_run(tmp_path, suite, "go away").results[0].verdict
    other = msgspec.structs.replace(true.findings[0], facts={"message": "it said nothing"})
    run = a_run(tmp_path, suite, "go away", msgspec.structs.replace(true, findings=(other,)))
    (problem,) = verified(run, tmp_path).problems
    assert "has another findings than the evidence gives" in problem


def test_an_improved_reason_is_no_other_verdict(tmp_path: Path, suite: Suite) -> None:
    true = a_run(tmp_path, suite, "go away").results[0].verdict
    reworded = msgspec.structs.replace(true, message="in other words", detail="and more of them")
    assert verified(a_run(tmp_path, suite, "go away", reworded), tmp_path).problems == ()


def test_a_known_issue_is_a_violation_that_was_accepted(tmp_path: Path, suite: Suite) -> None:
    words = "accepted until 2027-01-01: known"
    true = a_run(tmp_path, suite, "go away").results[0].verdict
    accepted = msgspec.structs.replace(true, status=Status.KNOWN_ISSUE, message=words)
    assert verified(a_run(tmp_path, suite, "go away", accepted), tmp_path).problems == ()
    run = a_run(tmp_path, suite, "good day", accepted)
    (problem,) = verified(run, tmp_path).problems
    assert "was known-issue, and the evidence shows held" in problem


def test_what_was_accepted_by_its_code_still_follows_from_the_evidence(
    tmp_path: Path, suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    late, loss = (suite.registry.finding(f"{REQUIREMENT.id}/{what}", "It is wrong.") for what in ("late", "lost"))

    def finds_two(view: View) -> Findings:
        yield late(view.at_event(view.transcript.end, "detail"))
        yield loss(view.at_event(view.transcript.end, "detail"))

    monkeypatch.setitem(suite.registry._checks, REQUIREMENT.id, Check(REQUIREMENT.id, single=finds_two))
    true = a_run(tmp_path, suite, "go away").results[0].verdict
    in_part = msgspec.structs.replace(accept_codes(true, {loss.code}), message="1 of 2 accepted")
    assert [one.code for one in in_part.findings] == [late.code]
    assert verified(a_run(tmp_path, suite, "go away", in_part), tmp_path).problems == ()
    hidden = msgspec.structs.replace(in_part, accepted=())
    assert "has another findings, total" in verified(a_run(tmp_path, suite, "go away", hidden), tmp_path).problems[0]


def test_changed_evidence_is_found_before_anything_is_judged_on_it(tmp_path: Path, suite: Suite) -> None:
    run = a_run(tmp_path, suite, "good day")
    (file,) = (tmp_path / "evidence").iterdir()
    file.write_bytes(gzip.compress(gzip.decompress(file.read_bytes()).replace(b"good day", b"good dax")))
    (problem,) = verified(run, tmp_path).problems
    assert "was changed" in problem
    file.unlink()
    (problem,) = verified(run, tmp_path).problems
    assert "is missing" in problem


def test_a_changed_line_is_found(tmp_path: Path, suite: Suite) -> None:
    run = a_run(tmp_path, suite, "good day")
    line = msgspec.structs.replace(run.transcripts[0], how="hung")
    file = tmp_path / "run.ndjson"
    rows = file.read_bytes().splitlines(keepends=True)
    changed = [canonical(line) + b"\n" if b'"transcript"' in row else row for row in rows]
    file.write_bytes(b"".join(changed))
    assert "no longer have the digest of its footer" in verified(read_run(file), tmp_path).problems[0]


def test_a_cut_run_is_verified_as_far_as_it_goes(tmp_path: Path, suite: Suite) -> None:
    found = verified(a_run(tmp_path, suite, "good day", cut=True), tmp_path)
    assert not found.complete
    assert found.problems == ()


def test_a_scenario_that_is_gone_is_said(tmp_path: Path, suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    run = a_run(tmp_path, suite, "good day")
    monkeypatch.setattr(verify, "suite_scenarios", lambda _: [])
    with pytest.raises(UsageError, match="scenario 'core/hello' of this run is no longer part of its suite"):
        verified(run, tmp_path)


@pytest.mark.parametrize("path", ["/dev/zero", "/etc/passwd", "a pipe"])
def test_no_path_of_a_run_is_opened_but_in_its_folder(tmp_path: Path, suite: Suite, path: str) -> None:
    if path == "a pipe":
        os.mkfifo(tmp_path / path)
        path = str(tmp_path / path)
    run = a_run(tmp_path, suite, "good day")
    run = replace(run, header=msgspec.structs.replace(run.header, files=(path,)))
    assert verified(run, tmp_path).problems == ()


def report_problems(run: Run, folder: Path) -> list[str]:
    return report_agrees(run, EvidenceStore(folder / "evidence"), folder)


@pytest.mark.parametrize(
    "name", ["junit.xml", "turnproof.sarif", "summary.md", "badge-anthropic.json", "picture-anthropic.svg"]
)
def test_a_report_that_says_something_else_is_named(tmp_path: Path, suite: Suite, name: str) -> None:
    run = a_run(tmp_path, suite, "good day")
    write_reports(run, tmp_path, EvidenceStore(tmp_path / "evidence"))
    assert report_problems(run, tmp_path) == []
    file = tmp_path / name
    file.write_bytes(file.read_bytes() + b" ")
    (problem,) = report_problems(run, tmp_path)
    assert problem.startswith(f"{file} is not what the run comes to")
    file.unlink()
    assert report_problems(run, tmp_path) == []
    os.mkfifo(file)
    assert report_problems(run, tmp_path) == [f"{file} is no regular file: it is not read"]


def test_reports_are_written_in_place_of_links_and_pipes_and_never_through_them(tmp_path: Path, suite: Suite) -> None:
    outside, folder = tmp_path / "mine.txt", tmp_path / "foreign"
    outside.write_text("mine")
    run = a_run(folder, suite, "good day")
    (folder / "index.html").symlink_to(outside)
    os.mkfifo(folder / "summary.md")
    write_reports(run, folder, EvidenceStore(folder / "evidence"))
    assert outside.read_text() == "mine"
    assert (folder / "index.html").read_text().startswith("<!DOCTYPE html>")
    assert report_problems(run, folder) == []


def test_a_badge_of_an_adapter_that_took_no_part_is_named(tmp_path: Path, suite: Suite) -> None:
    run = a_run(tmp_path, suite, "good day")
    write_reports(run, tmp_path, EvidenceStore(tmp_path / "evidence"))
    (tmp_path / "badge-other.json").write_text("{}")
    assert report_problems(run, tmp_path) == [
        f"{tmp_path / 'badge-other.json'} speaks for an adapter that is no part of the run"
    ]


def test_the_reports_of_another_version_may_be_worded_otherwise(tmp_path: Path, suite: Suite) -> None:
    run = a_run(tmp_path, suite, "good day")
    run = replace(run, header=msgspec.structs.replace(run.header, turnproof="0.0.1"))
    (tmp_path / "junit.xml").write_text("older")
    assert report_problems(run, tmp_path) == []


def test_every_report_says_what_it_does_not_prove(tmp_path: Path, suite: Suite) -> None:
    write_reports(a_run(tmp_path, suite, "good day"), tmp_path, EvidenceStore(tmp_path / "evidence"))
    for name in ("summary.md", "index.html"):
        assert NOT_PROVEN in (tmp_path / name).read_text("utf-8")
