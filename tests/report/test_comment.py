"""The comment on a pull request: one marker, what is new first, and never longer than GitHub takes."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace

from turnproof._base.settings import KnownIssue
from turnproof.judge.finding import Finding, Place, Side
from turnproof.judge.known_issues import accept_findings
from turnproof.judge.run_log import ResultLine
from turnproof.judge.verdict import Verdict, failed, violated
from turnproof.report._inline_text import printable
from turnproof.report.certification_diff import diff
from turnproof.report.comment import MARKER, comment_md
from turnproof.report.limits import COMMENT_CHARACTERS

from .runs import ADAPTER, GOOD, HOSTILE, requirement, result, seen_in, write_run
from .test_certification_diff import ORDER, SEEN, TEXT, a_side, both
from .verdicts import BAD, OK, UNSURE

NAMES = "core/nice-names"
PAIRED = "tools/results-answer-every-call"


def comment(tmp_path: Path, before: list[ResultLine], after: list[ResultLine]) -> str:
    return comment_md(diff(a_side(tmp_path / "a", before), a_side(tmp_path / "b", after)))


def test_it_tells_what_is_new_in_full_and_folds_the_rest(tmp_path: Path) -> None:
    bad = seen_in(BAD, SEEN)
    before = {ORDER: OK, TEXT: bad, NAMES: bad, PAIRED: OK}
    after = {ORDER: bad, TEXT: bad, NAMES: OK, PAIRED: UNSURE}
    markdown = comment(
        tmp_path, *([result(name, "legacy", each) for name, each in side.items()] for side in (before, after))
    )
    counts = "1 new, 1 still there, 1 fixed, 1 no longer measured, 1 the same"
    assert markdown.startswith(f"{MARKER}\n\n**turnproof**: {counts}, in ") or "0 the same" in markdown
    new, still, fixed, unmeasured = markdown.split("### ")[1:]
    assert new.startswith("✗ new (1)\n\n**<code>anthropic core/order-kept \\[legacy\\]</code>**")
    assert "- finding: <code>A call has no result.</code>" in new
    assert '- expected: <code>results for \\["c1", "c2"\\]</code>' in new
    assert '- got: <code>\\["c1"\\]</code>' in new
    assert f"- where: <code>{SEEN}, turn 0 round 1 (call 1), request /messages/2</code>" in new
    assert "```sh\nturnproof certify anthropic --only core/order-kept --scenario tools/two\n```" in new
    assert "<details>" not in new
    for section, title in (
        (still, "! still there (1)"),
        (fixed, "✓ fixed (1)"),
        (unmeasured, "? no longer measured (1)"),
    ):
        assert section.startswith(f"{title}\n\n<details><summary>Show</summary>\n\n**<code>anthropic")
        assert section.count("<details>") == section.count("</details>") == 1


def test_nothing_new_is_one_sentence(tmp_path: Path) -> None:
    markdown = comment(tmp_path, GOOD, GOOD)
    assert re.fullmatch(rf"{MARKER}\n\n\*\*turnproof\*\*: nothing changed, 8 the same, in <code>.*\.\n", markdown)


def test_runs_that_share_nothing_are_told_as_such(tmp_path: Path) -> None:
    markdown = comment(tmp_path, [result(ORDER, "legacy", OK)], [result(TEXT, "legacy", BAD)])
    assert "cannot be compared: nothing was measured on both sides" in markdown


def test_a_run_that_was_cut_is_told(tmp_path: Path) -> None:
    assert "</code> was cut.\n" in comment_md(both(tmp_path, OK, seen_in(BAD, SEEN), exit_code=None))


def test_what_changed_is_told_by_its_new_and_fixed_findings(tmp_path: Path) -> None:
    late, loss = (replace(BAD.findings[0], code=f"{ORDER}/{what}") for what in ("late", "lost"))
    markdown = comment_md(both(tmp_path, failed([late]), failed([loss])))
    _, new, fixed = re.split("- (?:new|fixed) finding: 1\n", markdown)
    assert f"code: <code>{loss.code}</code>" in new
    assert f"code: <code>{late.code}</code>" in fixed


def test_what_is_accepted_by_its_code_is_still_there(tmp_path: Path) -> None:
    late, loss = (replace(BAD.findings[0], code=f"{ORDER}/{what}") for what in ("late", "lost"))
    issue = KnownIssue("anthropic", ORDER, "legacy", "it is known", date(2030, 1, 1), code=late.code)
    markdown = comment_md(both(tmp_path, failed([late]), accept_findings(failed([late, loss]), [issue])))
    assert "### ≈ changed (1)" in markdown
    assert f"code: <code>{loss.code}</code>" in markdown
    assert "- finding still there: 1\n" in markdown


# -- length ------------------------------------------------------------------------------------------------------


def many(numbers: range, verdict: Verdict) -> list[ResultLine]:
    return [result(f"core/r{number:04}", "legacy", verdict) for number in numbers]


def long_comment(tmp_path: Path, before: list[ResultLine], after: list[ResultLine]) -> str:
    names = [requirement(line.requirement) for line in before]
    for name, lines in (("a", before), ("b", after)):
        write_run(tmp_path / name / "run.ndjson", lines, catalogue=names, adapters=[ADAPTER])
    return comment_md(diff(tmp_path / "a", tmp_path / "b"))


def test_a_long_list_is_folded_behind_its_first_items(tmp_path: Path) -> None:
    markdown = long_comment(tmp_path, many(range(12), OK), many(range(12), BAD))
    opened, _, folded = markdown.partition("<details><summary>7 more</summary>")
    assert [opened.count("**<code>"), folded.count("**<code>")] == [5, 7]


def test_a_comment_is_cut_at_whole_items_and_says_how_many_are_left_out(tmp_path: Path) -> None:
    markdown = long_comment(tmp_path, many(range(800), OK), many(range(800), BAD))
    assert COMMENT_CHARACTERS - 2000 < len(markdown) <= COMMENT_CHARACTERS
    shown = markdown.count("**<code>anthropic core/r")
    assert 0 < shown < 800
    assert markdown.rstrip().endswith(f"{800 - shown} more left out: `diff.md` and `diff.json` have them.")
    assert markdown.count("```") == 2 * shown
    assert markdown.count("<details>") == markdown.count("</details>") == 1


def test_a_crowded_section_leaves_the_others_their_title_and_number(tmp_path: Path) -> None:
    first, second = range(450), range(450, 900)
    markdown = long_comment(tmp_path, many(first, OK) + many(second, BAD), many(first, BAD) + many(second, OK))
    assert len(markdown) <= COMMENT_CHARACTERS
    assert re.search(r"### ✓ fixed \(450\)\n\n(.|\n)*\d+ more left out", markdown)


def test_values_without_end_are_shortened(tmp_path: Path) -> None:
    place = Place(side=Side.REQUEST, pointer="/a" * 9000)
    findings = [Finding(code=f"{ORDER}/x", place=replace(place, turn=turn), observed="@" * 20_000) for turn in range(3)]
    markdown = comment_md(both(tmp_path, OK, failed(findings)))
    assert len(markdown) < 20_000
    assert markdown.count("characters left out") == 3


# -- what others wrote -------------------------------------------------------------------------------------------

TRICKS = (
    "@octocat #12 GH-7 www.evil.example https://evil.example </code></details> **b** ![i](u) `c` | | - [ ] x\n\n# h"
)


@pytest.mark.parametrize("text", [HOSTILE, TRICKS, HOSTILE + TRICKS], ids=["hostile", "tricks", "both"])
@pytest.mark.parametrize("in_words", [True, False])
def test_what_adapters_wrote_is_no_markup_and_mentions_nobody(tmp_path: Path, text: str, in_words: bool) -> None:
    place = Place(side=Side.REQUEST, scenario=text, path="legacy", mode="stream", pointer=f"/{text}")
    found = failed([Finding(code=f"{ORDER}/x", place=place, expected=text, observed={text: text})])
    adapter = replace(ADAPTER, name=f"a{text}", spec=text)
    sides = [
        a_side(tmp_path / name, [replace(result(ORDER, "legacy", verdict), adapter=adapter.name)], adapter=adapter)
        for name, verdict in (("a", OK), ("b", violated(text) if in_words else found))
    ]
    markdown = comment_md(diff(*sides))
    assert printable(markdown) == markdown
    page = MarkdownIt("commonmark").enable("table").render(markdown)
    expected = ("p", "strong", "code", "ul", "li", "pre", "h3", "details", "summary")
    assert {tag.lstrip("/") for tag in re.findall(r"<(/?[a-z0-9]+)", page)} <= set(expected)
    outside = re.sub(r"<code[^>]*>.*?</code>", "", page, flags=re.DOTALL)
    for trick in ("octocat", "evil", "alert", "GH-7", "javascript"):
        assert trick in page or trick not in text
        assert trick not in outside
