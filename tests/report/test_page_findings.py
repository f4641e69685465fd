"""What the page shows of a finding: from its data alone, as well as it can be, whatever stands in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.dialects.base import Evidence
from turnproof.judge.finding import BrokenRule, ByteSpan, Finding, Place, Side
from turnproof.judge.finding_words import Template
from turnproof.judge.run_log import TranscriptLine
from turnproof.judge.undecided import Obstacle, Undecided
from turnproof.judge.undecided_words import what_to_do, why_undecided
from turnproof.judge.verdict import Status, Verdict, failed, inconclusive, nothing_compared
from turnproof.report import write_reports
from turnproof.run.evidence import EvidenceStore
from turnproof.run.tracebacks import Frame, Raised
from turnproof.run.transcript import Transcript, WireResponse

from .exchanges import transcript, user
from .page import Page
from .runs import requirement, result, write_run

CODE = "tools/pairs/missing"
WORDS = Template("A call has no result.", "results for {expected}", "{observed}")
TEXTS = ["hi there", "are you there"]
BOTH = tuple(transcript(path, TEXTS, [user("hi there"), user("are you there")]) for path in ("stateless", "legacy"))
OWN = Frame(file="mine/adapter.py", line=12, function="Mine.complete", owner="subject", source="raise Oops(text)")
OTHERS = Frame(file="httpx/client.py", line=7, function="send", owner="sdk", root="site-packages")


def at(pointer: str | None = "/messages/1/content/0/text", side: Side = Side.REQUEST, **more: Any) -> Place:
    exchange = 0 if side in (Side.REQUEST, Side.STREAM) else -1
    found = Place(
        side=side, scenario="tools/two", path="legacy", mode="stream", turn=0, call=0, round=0, exchange=exchange
    )
    return replace(found, pointer=pointer, **more)


def finding(place: Place | None = None, **more: Any) -> Finding:
    more = {"expected": "hi there", "observed": "are you there", **more}
    return Finding(code=more.pop("code", CODE), place=place or at(), **more)


def html(
    folder: Path,
    findings: Sequence[Finding] = (),
    transcripts: Sequence[Transcript] = BOTH,
    verdict: Verdict | None = None,
    words: Template = WORDS,
) -> str:
    store = EvidenceStore(folder / "evidence")
    lines = [TranscriptLine(adapter="anthropic", key=one.key, digest=store.put(one)) for one in transcripts]
    line = requirement("tools/pairs", findings={CODE: words})
    results = [result("tools/pairs", "legacy", verdict or failed(findings))]
    run = write_run(folder / "run.ndjson", results, catalogue=[line], transcripts=lines)
    write_reports(run, folder, store)
    text = (folder / "index.html").read_text("utf-8")
    Page(text)  # well formed
    return text


def frames(text: str) -> list[str]:
    """The lines of documents to which an arrow points."""
    lines = re.findall(r'<span class="here">(.*?) <b class="flag">', text)
    return [Page(f"<p>{line}</p>").text.rstrip(",") for line in lines]


def page_text(text: str) -> str:
    return Page(text).text


def test_the_arrow_stands_where_the_pointer_leads(tmp_path: Path) -> None:
    text = html(tmp_path, [finding(related=(at("/0/parts/0/text", Side.HISTORY),))])
    assert frames(text) == ['"text": "are you there"', '"text": "hi there"']
    assert "the wire carried exchange 0: /messages/1/content/0/text" in page_text(text)
    assert "the session holds /0/parts/0/text" in page_text(text)


def test_no_arrow_depends_on_words(tmp_path: Path) -> None:
    """Templates are for people: others move nothing but the words."""
    some = [finding(at(f"/messages/{number}")) for number in (0, 1)]
    one = html(tmp_path / "one", some)
    other = html(
        tmp_path / "other", some, words=Template("turn 9 (call 9) at $.messages[7]", "$.a", "turn 3 {observed}")
    )
    assert frames(one) == frames(other) != []
    flags = re.compile(r'class="here"|"turn here"|◀')
    assert flags.findall(one) == flags.findall(other)


def test_every_occurrence_is_there_to_step_through_and_the_rest_by_place(tmp_path: Path) -> None:
    text = html(tmp_path, [finding(at(f"/messages/{number % 2}", turn=number)) for number in range(25)])
    found = page_text(text)
    assert text.count('<details class="occurrence"') == 20
    assert "1 of 25 tools/two/legacy/stream, turn 0" in found
    assert "20 of 25 tools/two/legacy/stream, turn 19" in found
    assert "5 more places tools/two/legacy/stream, turn 20" in found


def test_every_failing_scenario_is_named(tmp_path: Path) -> None:
    some = [finding(at(scenario=f"tools/number-{number}")) for number in range(30)]
    found = page_text(html(tmp_path, some))
    assert "in 30 scenarios" in found
    assert all(f"tools/number-{number}" in found for number in range(30))


def test_an_occurrence_with_other_values_says_which(tmp_path: Path) -> None:
    found = page_text(html(tmp_path, [finding(), finding(expected="c7", observed=["c8"])]))
    assert 'expected results for "c7" got ["c8"]' in found


def test_a_broken_rule_stands_with_its_mark_which_leads_to_the_legend(tmp_path: Path) -> None:
    rule = BrokenRule(id="anthropic-messages/orphan", evidence=Evidence.ISSUE, message="no such call", status=400)
    text = html(tmp_path, [finding(rule=rule)])
    assert "rule anthropic-messages/orphan ISSUE : no such call (status 400)" in page_text(text)
    assert 'href="#mark/ISSUE"' in text
    assert 'id="mark/ISSUE"' in text


def test_bytes_of_the_request_and_the_answer_are_shown_with_the_place_marked(tmp_path: Path) -> None:
    place = at("/0/data", Side.STREAM, span=ByteSpan(0, 26))
    text = html(tmp_path, [finding(place, related=(at(),))])
    marks = [Page(f"<p>{one}</p>").text for one in re.findall(r"<mark>(.*?)</mark>", text, re.DOTALL)]
    assert '"are you there"' in marks
    assert any(one.startswith("event: content_block_delta") for one in marks)
    assert "POST /v1/messages" in text


@pytest.mark.parametrize("comments", [False, True])
def test_bytes_are_those_that_were_sent(tmp_path: Path, comments: bool) -> None:
    def respelled(one: Transcript) -> Transcript:
        events = [
            replace(
                event,
                sent=(": hold\n\n" if comments else "") + event.body.replace("data: ", "data:"),
                spelling="no-blank",
            )
            if isinstance(event, WireResponse)
            else event
            for event in one.events
        ]
        return replace(one, events=tuple(events))

    text = html(
        tmp_path, [finding(at("/0/data", Side.STREAM, span=ByteSpan(0, 112)))], [respelled(one) for one in BOTH]
    )
    raw = text.partition('aria-label="answer of exchange 0"')[2].partition("</pre>")[0]
    assert "spelling no-blank" in text
    assert "data:{" in raw
    assert "data: {" not in raw
    assert (": hold" in raw) is comments


# Exceptions


def test_an_exception_has_all_its_frames_its_own_open_and_others_folded(tmp_path: Path) -> None:
    cause = Raised(
        type="JSONDecodeError", module="json.decoder", message="Expecting value", frames=(OWN, OTHERS, OTHERS)
    )
    member = Raised(type="KeyError", module="builtins", message="'id'", frames=(replace(OWN, line=99),))
    raised = Raised(
        type="Oops",
        module="mine",
        message="no",
        frames=(OTHERS, OWN),
        notes=("a note",),
        cause=cause,
        exceptions=(member,),
    )
    text = html(tmp_path, [finding(raised=raised)])
    found = page_text(text)
    for words in (
        "raised: mine.Oops: no",
        "mine/adapter.py:12 in Mine.complete raise Oops(text)",
        "2 frames of installed packages",
        "json.decoder.JSONDecodeError: Expecting value which was the direct cause of:",
        "a note",
        "member 1 of the group mine/adapter.py:99",
        "KeyError: 'id'",
    ):
        assert words in found
    own = re.findall(r'<ol class="frames own">.*?</ol>', text, re.DOTALL)
    assert len(own) == 3
    assert not any("httpx" in one for one in own)


def test_frames_without_source_or_line_and_exceptions_without_frames_are_shown(tmp_path: Path) -> None:
    bare = Raised(
        type="Oops", module="mine", message="x" * 9000, frames=(Frame(file="", line=0, function="", owner="subject"),)
    )
    deep = Raised(
        type="RecursionError",
        module="builtins",
        frames=(OWN, OWN),
        frames_omitted=900,
        omitted_at=1,
        context=bare,
        exceptions_omitted=3,
    )
    found = page_text(html(tmp_path, [finding(raised=deep), finding(raised=Raised(type="E", module="m"))]))
    assert "900 frames left out" in found
    assert "3 more exceptions behind it left out" in found
    assert "raised: m.E" in found


# Each status has advice of its own


def test_an_undecided_requirement_says_what_would_decide_it_and_blames_nobody(tmp_path: Path) -> None:
    found = page_text(
        html(tmp_path, verdict=inconclusive("your adapter never called on_usage_update", detail="claim it"))
    )
    assert "What would decide it: your adapter never called on_usage_update" in found
    assert "claim it" in found
    assert "Likely cause" not in found


def test_what_kept_it_undecided_stands_with_what_to_do(tmp_path: Path) -> None:
    reason = Undecided(kind=Obstacle.CALLBACK_NEVER_CAME, scenarios=("tools/one",), callback="on_usage_update")
    found = page_text(html(tmp_path, verdict=replace(nothing_compared(), undecided=(reason,))))
    assert why_undecided(reason) in found
    assert what_to_do(reason) in found
    assert "no run had anything to compare" not in found


def test_a_known_issue_says_why_it_is_accepted(tmp_path: Path) -> None:
    bad = failed([finding()])
    verdict = replace(bad, status=Status.KNOWN_ISSUE, message="slow server (until 2027-01-01)")
    found = page_text(html(tmp_path, verdict=verdict))
    assert "Accepted: slow server (until 2027-01-01)" in found
    assert "A call has no result. accepted as a known issue" in found
    assert "Known issues" in found


# Whatever stands in it


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (at("/messages/77/content"), "/77/content is not there"),
        (at("no pointer"), "this cannot be shown: ValueError"),
        (at("/x", exchange=9), "the evidence has nothing there"),
        (at("/0", Side.SPAN), "/0 is not there"),
        (at(None, header="x-key"), "x-key was not sent, or is not kept"),
        (at(None, header="x-key", exchange=9), "the evidence has nothing there"),
        (at(None), "request"),
        (at("", Side.ERROR), "the evidence has nothing there"),
        (at("/0", Side.PROCESS, turn=-1, call=-1), "what else happened"),
        (at("/0", scenario="gone"), "the run's transcript is not part of this report"),
        (Place(side=Side.PROCESS), "the run"),
    ],
)
def test_a_place_that_leads_to_nothing_says_so(tmp_path: Path, place: Place, words: str) -> None:
    found = page_text(html(tmp_path, [finding(place)]))
    assert words in found
    assert 'expected results for "hi there" got "are you there"' in found


def test_values_of_any_size_leave_a_page_of_its_usual_size(tmp_path: Path) -> None:
    huge = [
        finding(expected="x" * 5_000_000, observed={"a": ["y" * 1000] * 5_000}),
        finding(facts={"n": "z" * 5_000_000}),
    ]
    assert len(html(tmp_path, huge)) < 400_000


def test_a_body_that_is_no_json_is_shown_as_text(tmp_path: Path) -> None:
    odd = transcript("legacy", TEXTS, [])
    events = tuple(replace(one, body="<not json>\u2028") if hasattr(one, "operation") else one for one in odd.events)
    found = page_text(html(tmp_path, [finding(at("/messages"))], [replace(odd, events=events)]))
    assert r'"<not json>\u2028"' in found


def test_evidence_that_is_damaged_takes_nothing_else_away(tmp_path: Path) -> None:
    html(tmp_path, [finding()])
    for file in (tmp_path / "evidence").iterdir():
        file.write_bytes(b"no gzip")
    text = html(tmp_path, [finding()], [])
    assert "the run's transcript is not part of this report" in page_text(text)
    assert 'expected results for "hi there"' in page_text(text)


def test_a_code_without_words_still_has_its_values(tmp_path: Path) -> None:
    assert 'The requirement is not met. expected "hi there" got' in page_text(
        html(tmp_path, [finding(code="tools/pairs/new")])
    )


def test_the_page_has_no_value_as_python_writes_it(tmp_path: Path) -> None:
    some = [finding(expected=None, observed=True, related=(at("/0/parts/0/text", Side.HISTORY),))]
    found = page_text(html(tmp_path, some))
    assert not re.search(r"\bNone\b|\bTrue\b|'hi there'|\bdict\(|\bText\(", found)
    assert "expected results for null got true" in found
