"""How verdicts are made and how they add up."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from turnproof.dialects.base import Evidence
from turnproof.judge.finding import Finding, Place, Side
from turnproof.judge.verdict import (
    MOST_FINDINGS,
    Status,
    Verdict,
    combine,
    failed,
    held,
    inconclusive,
    not_applicable,
    not_claimed,
    nothing_compared,
    violated,
    worst,
)
from turnproof.judge.verdict_words import message_of


def finding(scenario: str = "one", message: str = "lost", *, code: str = "core/x/lost", root: str = "") -> Finding:
    place = Place(side=Side.PROCESS, scenario=scenario, path="stateless", mode="stream")
    free = {"message": message} if message else {}
    return Finding(code="core/x/unstructured" if message else code, place=place, facts=free, root=root)


def test_nobody_is_accused_of_nothing() -> None:
    with pytest.raises(ValueError, match="needs a finding"):
        failed([])


def test_of_thousands_of_findings_the_first_of_each_root_are_kept_and_all_are_counted() -> None:
    many = [finding(f"s{n}", "", root="refused:x") for n in range(5000)]
    found = combine([failed(many), failed([finding("late", "", root="raised:y")]), failed([finding("own", "")])])
    assert found.total == 5002
    assert len(found.findings) == MOST_FINDINGS + 2
    assert {one.root for one in found.findings} == {"refused:x", "raised:y", ""}
    assert sum(found.failing.values()) == 5002


def test_holding_needs_something_that_was_compared() -> None:
    assert held("texts", asked=1).status is Status.HELD
    assert held(asked=1).status is Status.INCONCLUSIVE


def test_nobody_holds_anything_without_having_been_asked() -> None:
    assert held("texts", asked=0).status is Status.INCONCLUSIVE
    with pytest.raises(ValueError, match="never asked"):
        Verdict(Status.HELD, compared=("texts",), asked=0)
    with pytest.raises(msgspec.ValidationError, match="never asked"):
        msgspec.json.decode(b'{"status": "held", "compared": ["texts"], "asked": 0}', type=Verdict)


def test_combining_adds_up_how_often_the_subject_was_asked() -> None:
    found = combine([held("texts", asked=2), held("calls", asked=3), nothing_compared(4)])
    assert (found.status, found.asked) == (Status.INCONCLUSIVE, 4)
    assert combine([held("texts", asked=2), held("calls", asked=3)]).asked == 5


def test_a_verdict_from_before_it_was_counted_can_be_read() -> None:
    assert msgspec.json.decode(b'{"status": "held", "compared": ["texts"]}', type=Verdict).asked is None


def test_no_violation_rests_on_an_inferred_rule() -> None:
    assert violated("lost").status is Status.VIOLATED
    assert violated("lost", rests_on=Evidence.ISSUE).status is Status.VIOLATED
    found = violated("lost", rests_on=Evidence.INFERRED)
    assert found.status is Status.INCONCLUSIVE
    assert "lost" in found.message


def test_a_run_without_anything_to_look_at_has_no_verdict() -> None:
    assert not_applicable() is None


@pytest.mark.parametrize(
    ("statuses", "heaviest"),
    [
        ([], Status.NOT_CLAIMED),
        ([Status.HELD, Status.NOT_CLAIMED], Status.HELD),
        ([Status.HELD, Status.KNOWN_ISSUE], Status.KNOWN_ISSUE),
        ([Status.KNOWN_ISSUE, Status.INCONCLUSIVE], Status.INCONCLUSIVE),
        ([Status.INCONCLUSIVE, Status.VIOLATED, Status.HELD], Status.VIOLATED),
    ],
)
def test_the_heaviest_status_counts(statuses: list[Status], heaviest: Status) -> None:
    assert worst(statuses) is heaviest
    assert worst(reversed(statuses)) is heaviest


def test_no_verdicts_at_all_are_inconclusive() -> None:
    assert combine([]).status is Status.INCONCLUSIVE


def test_combining_keeps_the_heaviest_ones_message_place_and_evidence() -> None:
    loss = replace(failed([finding("two", "lost")]), evidence=("b",))
    also = replace(failed([finding("three", "also lost")]), evidence=("c", "b"))
    found = combine([Verdict(Status.HELD, compared=("x",), evidence=("a",)), loss, also])
    assert found.status is Status.VIOLATED
    assert message_of(found, {}) == "lost (and 1 more)"
    assert (found.where, found.evidence) == ("two/stateless/stream", ("b", "c"))
    assert (found.total, found.failing) == (2, {"two/stateless/stream": 1, "three/stateless/stream": 1})
    assert found.compared == ()


def test_combining_what_holds_lists_everything_compared_once() -> None:
    found = combine([held("texts", "calls", asked=2), held("texts", "usage", asked=3)])
    assert found.compared == ("texts", "calls", "usage")
    assert found.message == ""


def test_combining_names_the_weakest_evidence() -> None:
    found = combine(
        [
            held("a", asked=1, rests_on=Evidence.RECORDED),
            held("b", asked=1, rests_on=Evidence.ISSUE),
            held("c", asked=1),
        ]
    )
    assert found.rests_on is Evidence.ISSUE


def test_what_was_not_claimed_weighs_nothing_beside_what_held() -> None:
    assert combine([not_claimed("no tools"), held("x", asked=1)]).status is Status.HELD
    assert combine([not_claimed("no tools")]).status is Status.NOT_CLAIMED


def test_doubt_outweighs_what_held() -> None:
    found = combine([held("x", asked=1), inconclusive("cut", detail="...")])
    assert (found.status, found.message, found.detail) == (Status.INCONCLUSIVE, "cut", "...")
