"""A finding as data: pointers, values of any kind, and words that never fail."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from turnproof.judge.finding import (
    LONGEST_VALUE,
    Compared,
    Finding,
    Place,
    Side,
    parent,
    plain_value,
    pointer,
    resolve,
    tokens,
)
from turnproof.judge.finding_words import Template, difference_window, place_in_words, value_text, words_of
from turnproof.judge.requirements import Registry, findings_or_compared
from turnproof.run.transcript import Failed, RunKey

DOCUMENT = {"a/b": [{"m~n": 1}], "": {"x": None}}


@pytest.mark.parametrize(
    ("way", "text"),
    [((), ""), (("a/b", 0, "m~n"), "/a~1b/0/m~0n"), (("", "x"), "//x"), (("0",), "/0")],
)
def test_a_pointer_is_written_and_read_as_rfc_6901_has_it(way: tuple[str | int, ...], text: str) -> None:
    assert pointer(*way) == text
    assert tokens(text) == tuple(map(str, way))


def test_a_pointer_leads_to_what_it_names() -> None:
    assert resolve(DOCUMENT, "/a~1b/0/m~0n") == 1
    assert resolve(DOCUMENT, "//x") is None
    assert resolve(DOCUMENT, "") is DOCUMENT
    assert parent("/a~1b/0") == "/a~1b"


@pytest.mark.parametrize("text", ["/nothing", "/a~1b/7", "/a~1b/x", "/a~1b/0/m~0n/deeper"])
def test_a_pointer_to_nothing_is_an_error_of_its_own(text: str) -> None:
    with pytest.raises(LookupError):
        resolve(DOCUMENT, text)


def test_what_is_no_pointer_is_refused() -> None:
    with pytest.raises(ValueError, match="begins with no '/'"):
        resolve(DOCUMENT, "a/b")


class Unspeakable:
    def __repr__(self) -> str:
        raise RuntimeError("no")


class Cyclic(list[Any]):
    pass


CYCLE: Any = Cyclic()
CYCLE.append(CYCLE)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ({"a": (1, 2)}, {"a": [1, 2]}),
        (UNSET, UNSET),
        (b"\x00", "AA=="),
        (float("nan"), None),
        (Unspeakable(), "(Unspeakable, whose text raises RuntimeError)"),
        ("half \ud83d", "half \\ud83d"),
        (RunKey("a/b", "legacy"), {"scenario": "a/b", "path": "legacy", "mode": "stream", "repeat": 0}),
    ],
)
def test_any_value_becomes_json(value: Any, plain: Any) -> None:
    assert plain_value(value) == plain


def test_a_value_without_an_end_is_told_by_its_text() -> None:
    assert isinstance(plain_value(CYCLE), str)


def test_a_value_of_fifty_megabytes_is_cut_and_says_so() -> None:
    for value in ("x" * 50_000_000, ["x" * 50_000_000]):
        cut = plain_value(value)
        assert isinstance(cut, str)
        assert len(cut) < LONGEST_VALUE + 100
        assert "characters)" in cut


def test_long_values_are_framed_around_their_first_difference() -> None:
    same = "lorem ipsum " * 200
    ours, theirs = difference_window(same + "left" + same, same + "right" + same)
    assert "left" in ours
    assert "right" in theirs
    assert max(len(ours), len(theirs)) < 220


def test_what_does_not_print_is_seen() -> None:
    assert value_text("a\u2028b\x00") == '"a\\u2028b\\u0000"'
    assert value_text(UNSET) == "nothing"


def finding(**fields: Any) -> Finding:
    return Finding(code="core/x/lost", place=Place(side=Side.REQUEST, turn=1, round=2, call=7, attempt=1), **fields)


@pytest.mark.parametrize(
    ("template", "words"),
    [
        (
            Template("Lost.", "{expected}", "{observed}"),
            'Lost. turn 1 round 2 (call 7, attempt 2): expected "a"; got 1',
        ),
        (
            Template("Lost.", "{tool:words}", "{missing}"),
            "Lost. turn 1 round 2 (call 7, attempt 2): expected bed; got {missing}",
        ),
        (Template("Lost.", "a {brace", "}"), "Lost. turn 1 round 2 (call 7, attempt 2): expected a {brace; got }"),
        (Template("Lost.", "", ""), "Lost. turn 1 round 2 (call 7, attempt 2): Lost."),
    ],
)
def test_words_are_made_of_a_template_and_never_fail(template: Template, words: str) -> None:
    found = finding(expected="a", observed=1, facts={"tool": "bed"})
    assert words_of(found, {"core/x/lost": template}).whole == words


def test_a_code_without_words_is_told_by_its_values() -> None:
    assert words_of(finding(observed=1), {}).sentence.endswith("expected nothing; got 1")


def test_a_finding_comes_back_from_json_as_it_was() -> None:
    for found in (
        finding(),
        finding(expected=None, observed=[1], facts={"a": {"b": 1}}, related=(Place(side=Side.SPAN),)),
    ):
        assert msgspec.json.decode(msgspec.json.encode(found), type=Finding) == found
    assert finding().expected is UNSET


def test_a_place_that_names_little_is_told_briefly() -> None:
    assert place_in_words(Place(side=Side.PROCESS)) == ""
    assert place_in_words(Place(side=Side.PROCESS, turn=3)) == "turn 3"
    assert place_in_words(Place(side=Side.PROCESS, probe="fresh")) == "(fresh probe)"


def test_a_finding_about_an_error_has_its_class_and_its_message() -> None:
    code = Registry().finding("core/errors-are-typed/other", "It raised another error.", "one", "{observed}: {message}")
    failed = Failed(scope="call", error="KeyError", message="no such bed", typed=False)
    error_finding = code.of_error(
        Place(side=Side.ERROR), failed, expected="ProviderError", related=[Place(side=Side.STREAM)], fault="x"
    )
    assert (error_finding.expected, error_finding.observed, error_finding.facts) == (
        "ProviderError",
        "KeyError",
        {"message": "no such bed", "fault": "x"},
    )
    assert error_finding.related == (Place(side=Side.STREAM),)


def test_what_was_compared_is_told_only_where_nothing_is_wrong() -> None:
    code = Registry().finding("core/errors-are-typed/other", "It raised another error.")
    wrong = [code(Place(side=Side.ERROR)), code(Place(side=Side.STREAM))]
    assert list(findings_or_compared(wrong, "errors")) == wrong
    assert list(findings_or_compared((), "errors")) == [Compared("errors")]
