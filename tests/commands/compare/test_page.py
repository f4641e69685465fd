"""`compare.html`, parsed as a browser parses it: two columns, both sides, and nothing hostile comes through."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from msgspec.structs import replace
from report.page import Page
from suites.build import response_with, spoilt
from suites.conversations import plain, tools

from turnproof._base.counts import counted
from turnproof.judge.parity import Comparison, compare_views
from turnproof.judge.view import View
from turnproof.messages import Text, TokenUsage
from turnproof.provider import Difference
from turnproof.report.compare_html import compare_html
from turnproof.report.compare_terminal import print_comparison
from turnproof.report.side_by_side import side_by_side
from turnproof.run.evidence import EvidenceStore
from turnproof.run.transcript import Response, RunKey, WireRequest

from .kit import report

HOSTILE = "</script><script>alert(1)</script> <img src=x onerror=y> \x1b[31m\x00 & \"'"
LATE = Difference("stream-usage-late", "the gateway is late")


def store_view(store: EvidenceStore, view: View) -> View:
    return View(view.transcript, view.dialect, view.scenario, store.put(view.transcript))


def compared(store: EvidenceStore, legacy: View, **names: str) -> Comparison:
    return compare_views(store_view(store, plain(**names)), store_view(store, legacy))


@pytest.fixture
def store(tmp_path: Path) -> EvidenceStore:
    return EvidenceStore(tmp_path)


def test_the_page_shows_both_sides_of_every_difference(store: EvidenceStore) -> None:
    legacy = spoilt(plain(path="legacy"), Response, response_with(parts=(Text("Quite dry."),)))
    page = Page(compare_html(report(compared(store, legacy), left_out={"cache:managed": 2}), [store]))
    text = page.text
    assert "answers-differ" in text
    assert '"Bed 3 is moist."' in text
    assert '"Quite dry."' in text
    assert "$.parts[0].text" in text
    assert "1 request on each side" in text
    assert "Left out, for want of what is not claimed: 2 for cache:managed." in text
    assert {tag for tag, _ in page.tags}.isdisjoint({"script", "iframe", "object"})


def test_the_page_fetches_nothing_and_can_be_read_without_a_mouse(store: EvidenceStore) -> None:
    legacy = spoilt(plain(path="legacy"), Response, response_with(parts=(Text("Quite dry."),)))
    page = Page(compare_html(report(compared(store, legacy)), [store]))
    links = [attrs["href"] or "" for tag, attrs in page.tags if tag == "a"]
    ids = {attrs["id"] for _, attrs in page.tags if "id" in attrs}
    assert links
    assert all(link.startswith("#") and link[1:] in ids for link in links)
    assert not any("src" in attrs or "onclick" in attrs for _, attrs in page.tags)
    scopes = [attrs.get("scope") for tag, attrs in page.tags if tag == "th"]
    assert scopes
    assert None not in scopes
    assert sum(tag == "details" for tag, _ in page.tags) == sum(tag == "summary" for tag, _ in page.tags)


def test_declared_stale_and_undecided_are_said_in_words(store: EvidenceStore) -> None:
    late = spoilt(plain(path="legacy"), Response, response_with(usage=TokenUsage()))
    hung = replace(compared(store, plain(path="legacy")), differences=(), problem="the right side hung")
    text = Page(compare_html(report(compared(store, late), hung, declared=(LATE,)), [store])).text
    assert "Declared: the gateway is late" in text
    assert "(found in 1 of 2 comparisons)" in text
    assert "the right side hung" in text
    page_text = Page(compare_html(report(compared(store, plain(path="legacy")), declared=(LATE,)), [store])).text
    assert "Stale: the declared difference stream-usage-late no longer occurs" in page_text
    assert "Nothing was compared." in Page(compare_html(report(), [store])).text


def test_missing_evidence_is_said_where_it_would_stand(store: EvidenceStore, tmp_path: Path) -> None:
    one = compared(store, spoilt(plain(path="legacy"), Response, response_with(parts=(Text("Dry."),))))
    text = Page(compare_html(report(one), [EvidenceStore(tmp_path / "elsewhere")])).text
    assert "is missing" in text


def test_hostile_text_stays_text(store: EvidenceStore) -> None:
    legacy = spoilt(plain(path="legacy"), Response, response_with(parts=(Text(HOSTILE),)))
    hostile = report(compared(store, legacy), declared=(Difference("answers-differ", HOSTILE),))
    html = compare_html(hostile, [store])
    page = Page(html)
    assert {tag for tag, _ in page.tags}.isdisjoint({"script", "img"})
    assert not re.search("[\x00\x1b]", html)
    out = io.StringIO()
    print_comparison(hostile, out, verbose=True)
    assert not re.search("[\x00\x1b]", out.getvalue())


def test_of_many_equal_scenarios_only_the_line_is_shown(store: EvidenceStore) -> None:
    many = [compared(store, plain(path="legacy", name=f"made/{n}"), name=f"made/{n}") for n in range(9)]
    page = Page(compare_html(report(*many), [store]))
    assert sum(tag == "article" for tag, _ in page.tags) == 0
    assert page.text.count("made/") == 9
    few = Page(compare_html(report(*many[:2]), [store]))
    assert sum(tag == "article" for tag, _ in few.tags) == 2


def test_the_terminal_shows_one_of_each_kind_and_counts_the_rest(store: EvidenceStore) -> None:
    legacy = plain(path="legacy")
    for nth in range(2):
        legacy = spoilt(legacy, Response, response_with(parts=(Text(f"Dry {nth}."),)), nth)
    found = report(compared(store, legacy))
    short, whole = io.StringIO(), io.StringIO()
    print_comparison(found, short)
    print_comparison(found, whole, verbose=True)
    assert "and 1 more like it" in short.getvalue()
    assert "Dry 1." not in short.getvalue()
    assert "Dry 1." in whole.getvalue()
    assert short.getvalue().rstrip().endswith("1 comparison: 1 violated")


def test_what_is_declared_in_many_scenarios_has_its_line_alone(store: EvidenceStore) -> None:
    late = spoilt(plain(path="legacy"), Response, response_with(usage=TokenUsage()))
    for times, tables in ((1, 1), (9, 0)):
        out = io.StringIO()
        print_comparison(report(*[compared(store, late)] * times, declared=(LATE,)), out)
        assert out.getvalue().count("≈ stream-usage-late") == tables
        assert f"declared stream-usage-late (in {counted(times, 'comparison')}): the gateway is late" in out.getvalue()


def test_what_belongs_together_stands_in_one_row() -> None:
    left, right = tools().transcript, spoilt(tools(path="legacy"), WireRequest, lambda event: None).transcript
    first = side_by_side(left, right)[0]
    assert first.requests == (2, 1)
    alone = [row.left for row in first.rows if row.right is None]
    assert [entry.label for entry in alone if entry is not None] == ["→ POST /v1/messages"]
    assert [turn.turn for turn in side_by_side(left, right)] == [0, 1, -1]
    assert all(turn.same for turn in side_by_side(left, left))


def test_a_scenario_of_two_adapters_names_its_path(store: EvidenceStore) -> None:
    one = compared(store, plain(path="legacy"))
    named = replace(report(one), compares="adapters")
    out = io.StringIO()
    print_comparison(named, out)
    assert "made [stream stateless]" in out.getvalue()
    assert one.left.key == RunKey("made", "stateless")
