"""The request that a finding points into: both bodies, what was lost on the way, and the places marked."""

from __future__ import annotations

import msgspec
import pytest

from turnproof.dialects import dialect as dialect_named
from turnproof.judge.finding import Place, Side
from turnproof.judge.view import View
from turnproof.provider import Path
from turnproof.report.page.request import Line, Wire, wire_of
from turnproof.run.transcript import Transcript
from turnproof.scenarios import Scenario

from .exchanges import transcript, user

AT_CALL_0 = Place(side=Side.REQUEST, turn=0, call=0, exchange=0, pointer="/messages")
HI, YOU = user("hi there"), user("are you there")
TEXTS = ["hi there", "are you there"]


def view(run: Transcript, dialect: str = "") -> View:
    run = msgspec.structs.replace(run, dialect=dialect or run.dialect)
    return View(run, dialect_named("anthropic-messages"), Scenario(run.key.scenario, "", ()))


def found(failing: Path, *places: Place, **runs: Transcript) -> Wire:
    views: dict[Path, View] = {path: view(run) for path, run in runs.items() if path in ("stateless", "legacy")}  # type: ignore[misc]
    wire = wire_of(views, failing, places or (AT_CALL_0,))
    assert wire is not None
    return wire


def at(pointer: str) -> Place:
    return msgspec.structs.replace(AT_CALL_0, pointer=pointer)


def marked(wire: Wire) -> list[Line]:
    return [line for line in wire.lines if line.here]


def both(*sent: dict[str, object], **more: object) -> dict[str, Transcript]:
    stateless, legacy = [HI, YOU], list(sent or (HI, YOU))
    return {
        "stateless": transcript("stateless", TEXTS, stateless),
        "legacy": transcript("legacy", TEXTS, legacy, **more),  # type: ignore[arg-type]
    }


def test_what_one_path_lacks_stands_beside_what_the_other_sent() -> None:
    wire = found("legacy", **both(YOU))
    assert not wire.same
    assert any(line.left is not None and "hi there" in line.left and line.right is None for line in wire.lines)
    assert [(one.what, one.violation) for one in wire.lost] == [("lost-text", True)]
    assert "hi there" in wire.lost[0].held


def test_values_stand_there_as_json() -> None:
    (loss,) = found("legacy", **both(YOU)).lost
    assert loss.held.startswith(('"', "{"))
    assert loss.sent == "null"


def test_what_is_alike_and_far_away_is_left_out() -> None:
    many = [user(f"message {number}") for number in range(20)]
    texts = [*(f"message {number}" for number in range(20)), *TEXTS]
    wire = found(
        "legacy",
        stateless=transcript("stateless", texts, [*many, HI, YOU]),
        legacy=transcript("legacy", texts, [*many, YOU]),
    )
    gap = next(line for line in wire.lines if line.kind == "gap")
    assert int(gap.left or 0) > 50
    assert len(wire.lines) < 40


def test_the_same_body_on_both_paths_is_said_to_be_that() -> None:
    wire = found("legacy", at(""), **both())
    assert wire.same
    assert wire.lost == ()


def test_the_place_that_a_rule_names_is_marked() -> None:
    finding = {"rule": "r", "enforced": True, "path": "$.messages[1].content[0].text", "message": "no"}
    wire = found("legacy", at(""), **both(findings=(finding,)))
    assert wire.refused == ("r at $.messages[1].content[0].text: no",)
    (line,) = marked(wire)
    assert line.right is not None
    assert "are you there" in line.right


def test_the_places_that_findings_point_to_are_marked_on_their_path_and_once() -> None:
    wire = found("legacy", at("/messages/0/role"), at("/messages/1"), **both())
    assert [(line.here, (line.right or "").strip()) for line in marked(wire)] == [
        (("legacy",), '"role": "user",'),
        (("legacy",), "{"),
    ]


def test_the_place_of_another_exchange_is_not_marked_in_this_one() -> None:
    wire = found("legacy", at(""), msgspec.structs.replace(at("/messages/0"), exchange=7), **both())
    assert marked(wire) == []


def test_a_path_alone_has_nothing_to_stand_beside() -> None:
    wire = found("legacy", legacy=both(YOU)["legacy"])
    assert wire.lines == ()
    assert wire.lost


@pytest.mark.parametrize(
    "place",
    [
        Place(side=Side.REQUEST),
        Place(side=Side.REQUEST, turn=0, call=9, pointer="/messages"),
        Place(side=Side.RESPONSE, turn=0, call=0, pointer="/parts"),
    ],
)
def test_without_a_request_there_is_nothing_to_show(place: Place) -> None:
    assert wire_of({"legacy": view(transcript("legacy", TEXTS, [HI]))}, "legacy", [place]) is None


def test_evidence_that_no_dialect_reads_shows_nothing_and_breaks_nothing() -> None:
    strange = view(transcript("legacy", ["other"], [HI]), dialect="made-up")
    assert wire_of({"legacy": strange}, "legacy", [AT_CALL_0]) is None
