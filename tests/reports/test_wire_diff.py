"""The request in which a fault was seen: both bodies, what was lost on the way, and the faulty place marked."""

from __future__ import annotations

import msgspec
import pytest

from turnproof.provider import Path
from turnproof.reports.page.json_lines import json_lines
from turnproof.reports.page.place import Place, place_of
from turnproof.reports.page.wire import Line, Wire, wire_of
from turnproof.transcript import Transcript
from turnproof.verdict import violated

from .exchanges import transcript, user

AT_CALL_0 = Place(turn=0, call=0)
HI, YOU = user("hi there"), user("are you there")
HELD = ["hi there", "are you there"]


def found(failing: Path, place: Place = AT_CALL_0, **runs: Transcript) -> Wire:
    wire = wire_of({path: run for path, run in runs.items() if path in ("stateless", "legacy")}, failing, place)  # type: ignore[misc]
    assert wire is not None
    return wire


def marked(wire: Wire) -> list[Line]:
    return [line for line in wire.lines if line.here]


def test_what_one_path_lacks_is_marked_where_it_should_be() -> None:
    wire = found("legacy", stateless=transcript("stateless", HELD, [HI, YOU]), legacy=transcript("legacy", HELD, [YOU]))
    assert wire.both
    assert not wire.same
    (missing,) = [line for line in marked(wire) if line.right is None]
    assert missing.here == ("legacy",)
    assert any(line.left is not None and "hi there" in line.left and line.right is None for line in wire.lines)
    assert [(one.what, one.violation) for one in wire.lost] == [("lost-text", True)]
    assert "hi there" in wire.lost[0].held


def test_what_is_alike_and_far_away_is_left_out() -> None:
    many = [user(f"message {number}") for number in range(20)]
    held = [*(f"message {number}" for number in range(20)), *HELD]
    wire = found(
        "legacy",
        stateless=transcript("stateless", held, [*many, HI, YOU]),
        legacy=transcript("legacy", held, [*many, YOU]),
    )
    gap = next(line for line in wire.lines if line.kind == "gap")
    assert int(gap.left or 0) > 50
    assert len(wire.lines) < 40


def test_the_same_body_on_both_paths_is_said_to_be_that() -> None:
    wire = found(
        "legacy", stateless=transcript("stateless", HELD, [HI, YOU]), legacy=transcript("legacy", HELD, [HI, YOU])
    )
    assert wire.same
    assert wire.lost == ()


def test_the_place_that_a_rule_names_is_marked() -> None:
    finding = {"rule": "r", "enforced": True, "path": "$.messages[1].content[0].text", "message": "no"}
    wire = found("legacy", legacy=transcript("legacy", HELD, [HI, YOU], findings=(finding,)))
    assert not wire.both
    assert wire.refused == ("r at $.messages[1].content[0].text: no",)
    (line,) = marked(wire)
    assert line.right is not None
    assert "are you there" in line.right


def test_the_place_that_the_verdict_names_is_marked() -> None:
    verdict = violated("turn 0 round 0 (call 0): something at $.messages[0].role is odd")
    wire = found("stateless", place_of(verdict), stateless=transcript("stateless", HELD, [HI, YOU]))
    assert [line.left.strip() for line in marked(wire) if line.left] == ['"role": "user",']


def test_a_part_that_was_changed_on_the_way_is_found_by_what_it_says() -> None:
    both = {"role": "user", "content": [{"type": "text", "text": "hi there"}, {"type": "text", "text": "invented"}]}
    wire = found("legacy", legacy=transcript("legacy", ["hi there"], [both]))
    assert [one.what for one in wire.lost] == ["invented"]


@pytest.mark.parametrize("place", [Place(), Place(turn=0, call=9)])
def test_without_a_call_there_is_nothing_to_show(place: Place) -> None:
    assert wire_of({"legacy": transcript("legacy", HELD, [HI])}, "legacy", place) is None


def test_evidence_that_no_dialect_reads_shows_nothing_and_breaks_nothing() -> None:
    strange = msgspec.structs.replace(transcript("legacy", HELD, [HI]), dialect="made-up")
    assert wire_of({"legacy": strange}, "legacy", AT_CALL_0) is None


@pytest.mark.parametrize(
    ("message", "place"),
    [
        ("turn 1 round 2 (call 7): gone", Place(1, 7)),
        ("turn 1 round 2 (call 7, attempt 2): gone", Place(1, 7)),
        ("turn 3: the history differs at $.a[0].b", Place(3, -1, ("$.a[0].b",))),
        ("nothing is told", Place()),
    ],
)
def test_a_verdict_says_where_to_look(message: str, place: Place) -> None:
    assert place_of(violated(message)) == place


def test_lines_of_json_know_their_paths() -> None:
    lines = json_lines({"a": [1, {"b": "x"}], "c": [], "d": None})
    assert [line.text for line in lines] == [
        "{",
        '  "a": [',
        "    1,",
        "    {",
        '      "b": "x"',
        "    }",
        "  ],",
        '  "c": [],',
        '  "d": null',
        "}",
    ]
    paths = [line.path for line in lines]
    assert paths[:5] == ["$", "$.a", "$.a[0]", "$.a[1]", "$.a[1].b"]
    assert paths[-2:] == ["$.d", "$"]


def test_a_line_is_one_line_whatever_stands_in_it() -> None:
    (line,) = json_lines("a\nb\u2028c\x1b" + "x" * 9000)
    assert "\n" not in line.text
    assert "\x1b" not in line.text
    assert len(line.text) < 900
