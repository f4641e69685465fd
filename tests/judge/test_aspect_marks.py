"""What both paths have in common is read once from each run."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from suites.build import RunBuilder, scripted

from turnproof.judge.requirements.aspect_marks import NOTHING, agree, mark
from turnproof.judge.view import View
from turnproof.messages import JSON


@dataclass(eq=False)
class Counted:
    """An aspect with a reading for each path, and the runs that it was read from."""

    readings: dict[str, JSON]
    read: list[str] = field(default_factory=list)

    def __call__(self, view: View) -> JSON:
        self.read.append(view.key.path)
        return self.readings[view.key.path]


def runs() -> tuple[View, View]:
    found = [RunBuilder(scripted(["Hello."], user="Hi."), path=path) for path in ("stateless", "legacy")]
    one, other = (run.turn("Hi.").call("Hello.").end().view() for run in found)
    return one, other


def test_an_aspect_reads_each_run_once_however_often_it_is_asked() -> None:
    aspect, (one, other) = Counted({"stateless": {"a": 1}, "legacy": {"a": 1}}), runs()
    assert all(agree(aspect, one, other) for _ in range(3))
    assert mark(aspect, one) == mark(aspect, other) != NOTHING
    assert aspect.read == ["stateless", "legacy"]


def test_two_aspects_of_one_run_have_their_own_marks() -> None:
    one, _ = runs()
    assert mark(Counted({"stateless": 1}), one) != mark(Counted({"stateless": 2}), one)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        (None, None, True),
        (None, {"a": 1}, False),
    ],
)
def test_runs_agree_where_their_readings_say_the_same(left: JSON, right: JSON, expected: bool) -> None:
    assert agree(Counted({"stateless": left, "legacy": right}), *runs()) is expected


def test_a_run_in_which_an_aspect_finds_nothing_has_no_mark() -> None:
    one, _ = runs()
    assert mark(Counted({"stateless": None}), one) == NOTHING
