"""HTML, JUnit, Markdown and terminal: parsed as their readers parse them, also when adapters write hostile text."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest

from turnproof.judge.run_log import ResultLine, Run, TranscriptLine
from turnproof.judge.verdict import Status, Verdict, violated
from turnproof.messages import FunctionCall, Message, ProviderResponse, Text, TokenUsage
from turnproof.report import certification, print_summary, write_reports
from turnproof.report._inline_text import file_name, one_line, printable
from turnproof.report.junit import junit_xml
from turnproof.report.summary import summary_md
from turnproof.run import transcript as t
from turnproof.run.evidence import EvidenceStore

from . import runs
from .page import Page
from .runs import ADAPTER, CATALOGUE, GOOD, HEADER, HOSTILE, RESULTS, requirement, result, write_run
from .verdicts import BAD, BAD_IN_WORDS, OK

KEY = t.RunKey("tools/two", "legacy")


def a_transcript(words: str = "How moist is bed 3?") -> t.Transcript:
    many = [{"role": "user", "content": f"message {number} {words}"} for number in range(9)]
    finding = {"rule": "anthropic-messages/orphan", "enforced": True, "path": "$.messages[3]", "message": words}
    return t.Transcript(
        adapter="anthropic",
        dialect="anthropic-messages",
        model="m",
        backend="emulate",
        key=KEY,
        seed=0,
        events=(
            t.TurnBegan(turn=0, text=words),
            t.CallBegan(messages=(Message.user(words),), system=words, tools=(), round=0, streamed=True, call=0),
            t.WireRequest(
                exchange=0,
                method="POST",
                path="/v1/messages",
                headers={},
                body={"messages": many, "model": words},
                digest="d",
                operation="generate",
                findings=(finding,),
            ),
            t.WireResponse(exchange=0, status=400, headers={}, body=words, written=1, ended="completed"),
            t.Chunk(text="Let "),
            t.Chunk(text=words),
            t.Response(
                response=ProviderResponse(
                    parts=(Text(words), FunctionCall("c1", "read", {"bed": words})), usage=TokenUsage(7, 2, 9)
                )
            ),
            t.ToolRun(call_id="c1", name="read", args={"bed": words}, outcome="ok"),
            t.Failed(scope="call", error="InvalidRequestError", message=words, typed=True, status=400),
            t.HistorySnapshot(owner="session", messages=(Message.user(words),)),
            t.TurnEnded(turn=0, outcome="error", shown=words),
            t.RunEnded(how="completed", stdout=words),
        ),
    )


def reports(tmp_path: Path, results: Any = RESULTS, transcript: t.Transcript | None = None, **more: Any) -> Path:
    store = EvidenceStore(tmp_path / "evidence")
    lines = [] if transcript is None else [TranscriptLine(adapter="anthropic", key=KEY, digest=store.put(transcript))]
    run = write_run(tmp_path / "run.ndjson", results, transcripts=lines, **more)
    write_reports(run, tmp_path, store)
    return tmp_path


def seen_in(key: str, verdict: Verdict = BAD) -> list[ResultLine]:
    """The usual results, the violation among them seen in a run."""
    return [
        msgspec.structs.replace(line, verdict=runs.seen_in(verdict, key)) if line.verdict is BAD else line
        for line in RESULTS
    ]


def page(folder: Path) -> Page:
    return Page((folder / "index.html").read_text("utf-8"))


def hostile(tmp_path: Path) -> Path:
    """A run in which everything that others write is hostile."""
    adapter = msgspec.structs.replace(ADAPTER, name=HOSTILE, spec=HOSTILE, model=HOSTILE, dialect=HOSTILE)
    verdict = violated(HOSTILE, detail=f"+ {HOSTILE}\n- {HOSTILE}")
    words: dict[str, Any] = {
        "title": HOSTILE,
        "reason": HOSTILE,
        "provider": HOSTILE,
        "code": HOSTILE,
        "sources": (HOSTILE,),
    }
    catalogue = [requirement("core/x", **words)]
    key = t.RunKey(HOSTILE, "legacy")
    store = EvidenceStore(tmp_path / "evidence")
    digest = store.put(a_transcript(HOSTILE))
    run = write_run(
        tmp_path / "run.ndjson",
        [
            result("core/x", "legacy", runs.seen_in(verdict, key), HOSTILE),
            result("core/x", "parity", Verdict(Status.INCONCLUSIVE, message=HOSTILE), HOSTILE),
            result("core/x", "stateless", Verdict(Status.KNOWN_ISSUE, message=HOSTILE), HOSTILE),
        ],
        header=msgspec.structs.replace(HEADER, command=(HOSTILE,)),
        adapters=[adapter],
        catalogue=catalogue,
        transcripts=[TranscriptLine(adapter=HOSTILE, key=key, digest=digest)],
        problems=(HOSTILE,),
    )
    write_reports(run, tmp_path, store)
    return tmp_path


# -- a run that was cut, and one that measured nothing -----------------------------------------------------------


def test_every_report_of_a_cut_run_says_so(tmp_path: Path) -> None:
    folder = reports(tmp_path, GOOD, exit_code=None)
    run = write_run(tmp_path / "run.ndjson", GOOD, exit_code=None)
    assert "This run was cut, so it certifies nothing" in page(folder).text
    assert "**This run was cut.**" in (folder / "summary.md").read_text()
    assert '"complete": false' in (folder / "certification.json").read_text()
    assert "run was cut" in (folder / "badge-anthropic.json").read_text()
    assert "the run was cut" in (folder / "junit.xml").read_text()
    assert "This run was cut, " in terminal(run)
    for file in ("index.html", "summary.md"):
        assert ": certified" not in (folder / file).read_text()


def test_nothing_measured_is_loud(tmp_path: Path) -> None:
    folder = reports(tmp_path, (), adapters=(), exit_code=3)
    assert "Nothing was measured: no adapter takes part" in page(folder).text
    assert "Nothing was measured" in terminal(write_run(tmp_path / "run.ndjson", (), exit_code=3))


# -- junit.xml ---------------------------------------------------------------------------------------------------

# What the schemas of Jenkins (xunit plugin) and GitLab know of each element.
ALLOWED: dict[str, tuple[set[str], set[str]]] = {
    "testsuites": ({"name", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": ({"name", "tests", "failures", "errors", "skipped", "timestamp"}, {"testcase"}),
    "testcase": ({"classname", "name"}, {"failure", "error", "skipped"}),
    "failure": ({"message", "type"}, set()),
    "error": ({"message", "type"}, set()),
    "skipped": ({"message"}, set()),
}


def junit(run: Run) -> ElementTree.Element:
    root = ElementTree.fromstring(junit_xml(run))
    for element in root.iter():
        attributes, children = ALLOWED[element.tag]
        assert set(element.attrib) == attributes
        assert {child.tag for child in element} <= children
    return root


def test_junit_has_one_case_per_requirement_and_path(tmp_path: Path) -> None:
    root = junit(write_run(tmp_path / "run.ndjson"))
    cases = {(case.get("classname"), case.get("name")) for case in root.iter("testcase")}
    assert len(cases) == len(RESULTS)
    assert ("anthropic.tools", "tools/results-answer-every-call [legacy]") in cases
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("10", "1", "2")
    assert root[0].get("skipped") == "1"
    assert root[0].get("timestamp") == "2026-11-21T10:00:00"


def test_junit_fails_for_what_fails_a_run_and_nothing_else(tmp_path: Path) -> None:
    results = [
        result("core/nice-names", "stateless", BAD),
        result("core/text-arrives", "stateless", Verdict(Status.KNOWN_ISSUE, message="accepted")),
        result("core/order-kept", "stateless", OK),
    ]
    root = junit(write_run(tmp_path / "run.ndjson", results))
    assert (root.get("failures"), root.get("errors"), root[0].get("skipped")) == ("0", "0", "2")
    problems = junit(write_run(tmp_path / "run.ndjson", results, problems=("known issue x expired",)))
    assert problems.get("failures") == "1"


def test_a_failure_in_junit_says_what_to_do(tmp_path: Path) -> None:
    root = junit(write_run(tmp_path / "run.ndjson"))
    failure = next(root.iter("failure"))
    assert failure.get("message") == BAD_IN_WORDS
    text = failure.text or ""
    assert (
        'expected: results for ["c1", "c2"]\ngot: ["c1"]\nwhere: turn 0 round 1 (call 1), request /messages/2' in text
    )
    assert "reproduce: turnproof certify anthropic --only" in (failure.text or "")


def test_hostile_text_leaves_junit_well_formed(tmp_path: Path) -> None:
    root = ElementTree.fromstring((hostile(tmp_path) / "junit.xml").read_bytes())
    failure = next(root.iter("failure"))
    assert "<script>alert(1)</script>" in (failure.get("message") or "")
    assert r"\x00" in (failure.text or "")


# -- summary.md --------------------------------------------------------------------------------------------------


def test_the_summary_has_standing_failures_and_commands(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run.ndjson", problems=("known issue x expired",))
    text = summary_md(run, certification(run))
    assert "## anthropic: not certified" in text
    assert "| core | not certified | 1/2 | 1/1 |" in text
    assert "**tools/results-answer-every-call** on legacy: Title of tools/results-answer-every-call" in text
    assert "- got: " in text
    assert "```sh\nturnproof certify anthropic --only tools/results-answer-every-call\n```" in text
    assert "```sh\nturnproof reproduce tools/results-answer-every-call\n```" in text
    assert "**Problem:** known issue x expired" in text


def test_hostile_text_makes_no_markdown(tmp_path: Path) -> None:
    text = (hostile(tmp_path) / "summary.md").read_text("utf-8")
    outside = re.sub(r"(?ms)^(`{3,})\w+\n.*?^\1$", "", text)
    assert "<" not in outside
    assert not re.search(r"(?<!\\)\]\(", outside)
    assert printable(text) == text
    assert len(re.findall(r"(?m)^`{3,}\w*$", text)) % 2 == 0


def test_nobody_is_mentioned_and_no_table_breaks(tmp_path: Path) -> None:
    verdict = violated("@octocat broke a|b in #12, see https://example.org")
    run = write_run(tmp_path / "run.ndjson", [result("core/order-kept", "legacy", verdict)])
    text = summary_md(run, certification(run))
    assert "@octocat" not in text
    assert "https://" not in text
    assert r"a\|b" in text


# -- terminal ----------------------------------------------------------------------------------------------------


def terminal(run: Run, *, verbose: bool = False) -> str:
    out = io.StringIO()
    print_summary(run, certification(run), out, verbose=verbose)
    return out.getvalue()


def test_hostile_text_does_not_steer_the_terminal(tmp_path: Path) -> None:
    from turnproof.judge.run_log import read_run

    text = terminal(read_run(hostile(tmp_path) / "run.ndjson"), verbose=True)
    assert printable(text) == text


# -- the parts ---------------------------------------------------------------------------------------------------


def test_badges_of_adapters_that_are_gone_are_removed(tmp_path: Path) -> None:
    (tmp_path / "badge-old.json").write_text("{}")
    folder = reports(tmp_path)
    assert [file.name for file in folder.glob("badge-*.json")] == ["badge-anthropic.json"]


@pytest.mark.parametrize(
    ("name", "safe"),
    [("anthropic", "anthropic"), ("../../etc/passwd", "etc-passwd"), ("a b/c:d", "a-b-c-d"), ("…", "adapter")],
)
def test_an_adapters_name_makes_a_safe_file_name(name: str, safe: str) -> None:
    assert file_name(name) == safe


def test_a_long_name_makes_a_file_name_that_any_disk_takes_and_that_is_its_own() -> None:
    one, other = file_name("x" * 300), file_name("x" * 301)
    assert len(one) < 120
    assert one != other


def test_text_that_could_steer_a_reader_is_written_as_its_escape() -> None:
    assert printable("a\x1b[31mb\x00\x9b\u202e\ud83d\ttab\nline ✓ 🌱") == (
        r"a\x1b[31mb\x00\x9b\u202e\ud83d" + "\ttab\nline ✓ 🌱"
    )
    assert one_line(" a \n\n b\r\n") == r"a b\x0d"


def test_all_requirements_of_the_fixture_have_results() -> None:
    assert {line.requirement for line in RESULTS} == {line.id for line in CATALOGUE}
