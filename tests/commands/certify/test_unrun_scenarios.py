"""What a certification says of scenarios that it could not run: of few subjects in full, of many on one line."""

from __future__ import annotations

from collections import Counter

from turnproof.commands.certify.engine import left_out_talk
from turnproof.commands.certify.plan import Plan


def a_plan(subjects: int) -> Plan:
    names = [f"adapter{number}" for number in range(subjects)]
    return Plan(
        (),
        (),
        considered=dict.fromkeys(names, 48),
        left_out={name: Counter({"thinking, cache": 2, "documents": 1}) for name in names},
    )


def test_of_a_few_subjects_each_is_told_what_it_lacks() -> None:
    assert left_out_talk(a_plan(1)) == [
        "adapter0: 3 of 48 scenarios left out; they need capabilities that are not claimed: cache, documents, thinking"
    ]


def test_many_subjects_share_a_line() -> None:
    (line,) = left_out_talk(a_plan(9))
    assert line.endswith("adapter7 3 of 48, adapter8 3 of 48")


def test_nothing_left_out_is_nothing_to_say() -> None:
    assert left_out_talk(Plan((), ())) == []
