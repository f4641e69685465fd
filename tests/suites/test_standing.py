"""A difference between the two paths has its place in both: where the one says what the other does not."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.judge.finding import Side, resolve
from turnproof.judge.view import View, document_of
from turnproof.judge.view.difference_place import place_of_difference
from turnproof.messages import Text
from turnproof.run.transcript import Response, WireRequest

from .build import body_with, response_with, spoilt
from .conversations import tools


def differs(body: Any) -> None:
    body["messages"][2]["content"][0]["content"] = "14 %"


LEGACY = tools(path="legacy")


@pytest.mark.parametrize(
    ("ours", "side", "pointer"),
    [
        (spoilt(tools(), WireRequest, body_with(differs), 1), Side.REQUEST, "/messages/2/content/0/content"),
        (spoilt(tools(), Response, response_with(parts=(Text("14 %"),)), 1), Side.RESPONSE, "/parts/0/text"),
    ],
    ids=["request", "response"],
)
def test_a_difference_of_a_call_is_pointed_to_where_it_stands(ours: View, side: Side, pointer: str) -> None:
    place = place_of_difference(ours, LEGACY, ours.calls[1].place, "14 %", "41 %")
    assert (place.side, place.pointer, place.call) == (side, pointer, 1)
    assert resolve(document_of(ours, place), pointer) == "14 %"


def test_what_only_the_other_path_has_points_to_the_call_as_a_whole() -> None:
    ours = spoilt(tools(), WireRequest, body_with(differs), 1)
    assert place_of_difference(ours, LEGACY, ours.calls[1].place, None, "never said") == ours.calls[1].at_request()


def test_what_both_say_in_the_same_place_is_not_pointed_to() -> None:
    assert place_of_difference(tools(), LEGACY, tools().calls[1].place, "41 %", "else").pointer == ""


def test_a_difference_of_a_turn_stands_in_what_was_held() -> None:
    place = place_of_difference(tools(), LEGACY, "1", "Yes.", "No.")
    assert (place.side, place.turn) == (Side.HISTORY, 1)


def test_a_key_of_no_call_and_no_turn_is_the_run() -> None:
    assert place_of_difference(tools(), LEGACY, "spans", 1, 2).side is Side.PROCESS
