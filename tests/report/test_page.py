"""`index.html` as a reader without a script gets it: everything stands in it, and what others wrote stays text."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from turnproof.judge.run_log import ControlResult, ResultLine, read_run
from turnproof.judge.verdict import Status, Verdict
from turnproof.report import certification, print_summary, write_reports
from turnproof.report._inline_text import printable
from turnproof.report.page import cases
from turnproof.report.page.headline import sentence
from turnproof.report.page.matrix import matrix
from turnproof.run.evidence import EvidenceStore

from . import runs
from .page import Page
from .runs import ADAPTER, GOOD, HEADER, RESULTS, result, write_run
from .test_documents import KEY, a_transcript, hostile, page, reports, seen_in
from .verdicts import BAD, OK, UNCLAIMED


def raw(folder: Path) -> str:
    return (folder / "index.html").read_text("utf-8")


def test_the_page_shows_where_everything_stands_in_symbols_and_words(tmp_path: Path) -> None:
    text = page(reports(tmp_path)).text
    for words in (
        "✗ violated",
        "? inconclusive",
        "✓ held",
        "– not claimed",
        "not measured",
        "anthropic is not certified: 1 requirement violated",
        "Emulated at depth quick, against profiles 2026.11, on 21 November 2026.",
    ):
        assert words in text


def test_a_failure_is_told_in_full(tmp_path: Path) -> None:
    found = page(reports(tmp_path, seen_in(str(KEY)), a_transcript()))
    for words in (
        "A call has no result.",
        'expected results for ["c1", "c2"] got ["c1"]',
        "where tools/two/legacy/stream, turn 0 round 1 (call 1), request /messages/2",
        "in 1 scenario tools/two",
        "The provider refuses the next request.",
        "What the API does It pairs calls and results.",
        "Likely cause Answer every call in one message.",
        "turnproof certify anthropic --only tools/results-answer-every-call",
        "The conversation of tools/two, streamed, on the legacy path",
        "POST /v1/messages",
        "5 earlier messages",
        "the call raised InvalidRequestError (status 400)",
        "refused: anthropic-messages/orphan at $.messages[3]",
        "text callback, 2 times",
        "emulated 21 November 2026, 10:00 UTC",
    ):
        assert words in found.text
    assert any(re.fullmatch(r"evidence/[0-9a-f]{64}\.json\.gz", link) for link in found.attributes("href"))


def test_findings_in_two_runs_show_both(tmp_path: Path) -> None:
    elsewhere = result("tools/results-answer-every-call", "stateless", runs.seen_in(BAD, "tools/one/stateless/stream"))
    results = [
        line for line in seen_in(str(KEY)) if (line.requirement, line.path) != (elsewhere.requirement, "stateless")
    ]
    found = page(reports(tmp_path, [*results, elsewhere], a_transcript()))
    assert "The conversation of tools/two, streamed" in found.text
    assert "tools/one/stateless/stream: the run's transcript is not part of this report" in found.text


def test_a_run_is_told_with_each_requirement_that_was_broken_in_it(tmp_path: Path) -> None:
    both = [
        result(name, "legacy", runs.seen_in(BAD, KEY))
        for name in ("core/text-arrives", "tools/results-answer-every-call")
    ]
    found = page(reports(tmp_path, both, a_transcript()))
    assert found.text.count("The conversation of tools/two") == 2
    ids = found.attributes("id")
    assert "anthropic/run/tools/two/stream" in ids
    assert len(ids) == len(set(ids))


def test_a_page_that_has_told_enough_runs_links_to_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "SCENES_OF_A_PAGE", 1)
    both = [
        result(name, "legacy", runs.seen_in(BAD, where))
        for name, where in (
            ("core/text-arrives", str(KEY)),
            ("core/order-kept", str(KEY)),
            ("core/nice-names", "a/b/legacy/stream"),
        )
    ]
    found = page(reports(tmp_path, both, a_transcript()))
    assert found.text.count("The conversation of tools/two") == 1
    assert "Seen in tools/two/stream" in found.text
    assert "#anthropic/run/tools/two/stream" in found.attributes("href")
    assert "Seen in a/b/legacy/stream This page tells the runs of other requirements already" in found.text


def test_evidence_that_is_gone_is_said_on_the_page_and_all_else_stands(tmp_path: Path) -> None:
    folder = reports(tmp_path, seen_in(str(KEY)), a_transcript())
    for file in (folder / "evidence").iterdir():
        file.unlink()
    write_reports(read_run(folder / "run.ndjson"), folder, EvidenceStore(folder / "evidence"))
    text = page(folder).text
    assert "is missing: no file" in text
    assert 'expected results for ["c1", "c2"]' in text


def test_the_page_is_a_function_of_what_lies_in_the_folder(tmp_path: Path) -> None:
    folder = reports(tmp_path, seen_in(str(KEY)), a_transcript())
    before = raw(folder)
    write_reports(read_run(folder / "run.ndjson"), folder, EvidenceStore(folder / "evidence"))
    assert raw(folder) == before


def test_links_on_the_page_lead_somewhere_and_ids_are_unique(tmp_path: Path) -> None:
    found = page(reports(tmp_path, seen_in(str(KEY)), a_transcript()))
    ids = found.attributes("id")
    assert len(ids) == len(set(ids))
    inside = [link[1:] for link in found.attributes("href") if link.startswith("#")]
    assert "anthropic/tools/results-answer-every-call" in inside
    assert set(inside) <= set(ids)
    described = [name for words in found.attributes("aria-labelledby") for name in words.split()]
    assert set(described) <= set(ids)


def test_every_requirement_has_a_place_by_its_id(tmp_path: Path) -> None:
    ids = page(reports(tmp_path)).attributes("id")
    assert {line.requirement for line in RESULTS} <= set(ids)
    assert "adapter/anthropic" in ids


@pytest.mark.parametrize("hosts", ["hostile", "usual"])
def test_the_page_fetches_nothing_and_runs_its_own_script_alone(tmp_path: Path, hosts: str) -> None:
    folder = hostile(tmp_path) if hosts == "hostile" else reports(tmp_path, seen_in(str(KEY)), a_transcript())
    found = page(folder)
    assert [tag for tag, _ in found.tags].count("script") == 1
    assert not [attributes for _, attributes in found.tags if any(name.startswith("on") for name in attributes)]
    assert not found.attributes("style")
    links = [*found.attributes("href"), *found.attributes("src")]
    assert all(link.startswith(("#", "evidence/", "data:", "brief-")) for link in links)
    style = raw(folder).partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style


def test_the_policy_allows_the_style_and_the_script_of_the_page_by_their_hashes_alone(tmp_path: Path) -> None:
    text = raw(reports(tmp_path))
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    policy = policy.replace("&#39;", "'").replace("&#43;", "+").replace("&#34;", '"')
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        inline = text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0]
        digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}';" in policy


def test_hostile_text_stays_text_on_the_page(tmp_path: Path) -> None:
    text = raw(hostile(tmp_path))
    assert printable(text) == text
    found = Page(text)
    assert "</script><script>alert(1)</script>" in found.text
    assert "img" not in {tag for tag, _ in found.tags}


# The sentence


@pytest.mark.parametrize(
    ("results", "says"),
    [
        (GOOD, "anthropic is certified"),
        ([*GOOD[:-2], result("core/nice-names", "legacy", BAD)], "All that was measured is held, but not everything"),
        ([*GOOD[:1], result("core/text-arrives", "legacy", BAD)], "anthropic is not certified: 1 requirement violated"),
        (
            [result("core/text-arrives", "legacy", BAD), result("core/nice-names", "legacy", BAD)],
            "anthropic is not certified: 1 MUST and 1 SHOULD violated",
        ),
        (
            [*GOOD[:1], *GOOD[2:], result("core/text-arrives", "legacy", Verdict(Status.INCONCLUSIVE, message="?"))],
            "anthropic is not certified: 1 requirement could not be decided",
        ),
        (
            [*GOOD[:1], *GOOD[2:], result("core/text-arrives", "legacy", Verdict(Status.KNOWN_ISSUE, message="!"))],
            "anthropic is certified but for 1 known issue",
        ),
    ],
)
def test_the_verdict_is_one_sentence(tmp_path: Path, results: list[object], says: str) -> None:
    found = page(reports(tmp_path, results))
    assert says in found.text


@pytest.mark.parametrize("results", [GOOD, RESULTS, ()])
def test_the_headline_ends_with_a_full_stop_on_the_page_and_in_the_terminal(
    tmp_path: Path, results: Sequence[ResultLine]
) -> None:
    """The page puts how far the proof goes on a line of its own, so that what is above it has to stand by itself."""
    run = write_run(tmp_path / "run.ndjson", results)
    headline = sentence(certification(run))
    output = io.StringIO()
    print_summary(run, certification(run), output)
    for text in (page(reports(tmp_path, results)).text, " ".join(output.getvalue().split())):
        assert (f"{headline.text}. {headline.proof}." if headline.proof else f"{headline.text}.") in text
    assert headline.proof == "" or headline.proof[0].isupper()


def test_a_cell_names_the_path_that_falls_short_only_where_there_are_two(tmp_path: Path) -> None:
    on_both = [result("core/text-arrives", "stateless", BAD), result("core/text-arrives", "legacy", OK)]
    on_one = [result("core/text-arrives", "stateless", BAD), result("core/text-arrives", "legacy", UNCLAIMED)]
    for results, short in ((on_both, ("stateless",)), (on_one, ())):
        [row] = matrix(certification(write_run(tmp_path / "run.ndjson", results))).rows
        cell = row.cells[0]
        assert cell is not None
        assert cell.short == short
        assert ("stateless" in cell.words) is bool(short)


def test_a_broken_harness_judges_nobody_on_the_page_either(tmp_path: Path) -> None:
    control = ControlResult(dialect="anthropic-messages", problem="the control violates core/x")
    header = msgspec.structs.replace(HEADER, controls=(control,))
    found = page(reports(tmp_path, header=header, problems=("the control failed",)))
    assert "Nothing was judged: turnproof's own control failed, so the harness is broken." in found.text
    assert "Problem: the control failed" in found.text
    assert "anthropic-messages: failed, the control violates core/x" in found.text
    assert "#requirements" not in found.attributes("href")


def test_several_adapters_are_named_by_how_they_stand(tmp_path: Path) -> None:
    other = msgspec.structs.replace(ADAPTER, name="other", spec="other")
    results = [
        *GOOD,
        result("core/text-arrives", "legacy", BAD, "other"),
        result("core/text-arrives", "stateless", OK, "other"),
    ]
    found = page(reports(tmp_path, results, adapters=(ADAPTER, other)))
    assert "other is not certified, anthropic is: 1 requirement violated" in found.text
    assert "violated: other, held: anthropic" in found.text
