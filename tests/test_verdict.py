"""How verdicts are made and how they add up."""

from __future__ import annotations

import pytest

from turnproof.dialects.base import Evidence
from turnproof.verdict import (
    Status,
    Verdict,
    combine,
    held,
    inconclusive,
    not_applicable,
    not_claimed,
    violated,
    worst,
)


def test_holding_needs_something_that_was_compared() -> None:
    assert held("texts").status is Status.HELD
    assert held().status is Status.INCONCLUSIVE


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
    lost = Verdict(Status.VIOLATED, "lost", evidence=("b",), where="two", detail="diff")
    also = Verdict(Status.VIOLATED, "also lost", evidence=("c", "b"), where="three")
    found = combine([Verdict(Status.HELD, compared=("x",), evidence=("a",)), lost, also])
    assert found.status is Status.VIOLATED
    assert found.message == "lost (and in 1 more)"
    assert (found.where, found.detail, found.evidence) == ("two", "diff", ("b", "c"))
    assert found.compared == ()


def test_combining_what_holds_lists_everything_compared_once() -> None:
    found = combine([held("texts", "calls"), held("texts", "usage")])
    assert found.compared == ("texts", "calls", "usage")
    assert found.message == ""


def test_combining_names_the_weakest_evidence() -> None:
    found = combine([held("a", rests_on=Evidence.RECORDED), held("b", rests_on=Evidence.ISSUE), held("c")])
    assert found.rests_on is Evidence.ISSUE


def test_what_was_not_claimed_weighs_nothing_beside_what_held() -> None:
    assert combine([not_claimed("no tools"), held("x")]).status is Status.HELD
    assert combine([not_claimed("no tools")]).status is Status.NOT_CLAIMED


def test_doubt_outweighs_what_held() -> None:
    found = combine([held("x"), inconclusive("cut", detail="...")])
    assert (found.status, found.message, found.detail) == (Status.INCONCLUSIVE, "cut", "...")
