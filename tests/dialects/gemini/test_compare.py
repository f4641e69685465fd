"""When two requests are one request, which is what cassettes match on; and when a model is the one that is meant."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import pytest

from turnproof.dialects.base import WireDifference
from turnproof.dialects.gemini import DIALECT

from ..differences import Case
from ..histories import OPENING
from ..requests import Json, read_call
from .asks import ask, world
from .builders import CACHE, HANDBOOK, MODEL, OLD, SIGNATURE, TOOL
from .builders import model as wire_model
from .builders import user as wire_user
from .conversations import WIRE_ASKED, WIRE_LOOP, WIRE_PNG, WIRE_THANKS, call, declaring, parsed, result, system


def form(case: Case) -> Any:
    return DIALECT.match_form(parsed(case))


ALIKE = [
    ("merged", [WIRE_ASKED, WIRE_THANKS], [wire_user("How moist is bed 3?Thanks")]),
    ("thoughts", [WIRE_ASKED, wire_model({"text": "So.", "thought": True}, "41 %")], [WIRE_ASKED, wire_model("41 %")]),
    ("signatures", [*WIRE_LOOP], [WIRE_ASKED, wire_model("Let me look.", call()), WIRE_LOOP[2]]),
    ("ids", [*WIRE_LOOP], [WIRE_ASKED, wire_model("Let me look.", call(None, None)), wire_user(result(None, None))]),
    ("blanks", [WIRE_ASKED, wire_model("41 %", "")], [WIRE_ASKED, wire_model("41 %")]),
    ("chunks", [WIRE_ASKED, wire_model("41"), wire_model(" %")], [WIRE_ASKED, wire_model("41 %")]),
    ("a blank chunk", [WIRE_ASKED, wire_model("4"), wire_model(" "), wire_model("%")], [WIRE_ASKED, wire_model("4 %")]),
    ("a blank answer", [WIRE_ASKED, wire_model(" "), WIRE_THANKS], [WIRE_ASKED, WIRE_THANKS]),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), [alike[1:] for alike in ALIKE], ids=[alike[0] for alike in ALIKE])
def test_what_the_service_does_not_tell_apart_matches(one: list[Json], other: list[Json]) -> None:
    assert form(Case("", [], one)) == form(Case("", [], other))


def test_settings_and_the_name_of_a_cache_do_not_count_but_what_it_holds_does() -> None:
    plain = Case("", [], [wire_user(HANDBOOK), WIRE_THANKS], wire=declaring(TOOL))
    assert form(plain) == form(Case("", [], [WIRE_THANKS], wire={"cachedContent": CACHE}))
    assert form(plain) == form(Case("", [], plain.sent, wire=declaring(TOOL, generationConfig={"temperature": 1})))
    assert form(plain) != form(Case("", [], [WIRE_THANKS], wire=declaring(TOOL)))


@pytest.mark.parametrize(
    "other",
    [
        Case("text", [], [wire_user("How moist is bed 4?"), *WIRE_LOOP[1:]]),
        Case("arguments", [], [WIRE_ASKED, wire_model("Let me look.", call(args={"bed": "4"})), WIRE_LOOP[2]]),
        Case("result", [], [*WIRE_LOOP[:2], wire_user(result({"output": "12 %"}))]),
        Case("attachment", [], [*WIRE_LOOP[:2], wire_user(result(None, parts=[WIRE_PNG]))]),
        Case("order", [], [WIRE_ASKED, wire_model(call(SIGNATURE), "Let me look."), WIRE_LOOP[2]]),
        Case("role", [], [*WIRE_LOOP[:2], WIRE_LOOP[2], wire_model("41 %")]),
        Case("system", [], WIRE_LOOP, wire=system("Be brief.")),
        Case("tools", [], WIRE_LOOP, wire=declaring(TOOL)),
        Case("model", [], WIRE_LOOP, model=OLD),
    ],
    ids=attrgetter("id"),
)  # fmt: skip
def test_what_is_said_differently_does_not_match(other: Case) -> None:
    assert form(other) != form(Case("", [], WIRE_LOOP))


def test_a_result_belongs_to_its_call_also_when_ids_come_again() -> None:
    twice = [*WIRE_LOOP, wire_model("41 %"), *WIRE_LOOP]
    found = form(Case("", [], twice))["messages"]
    numbers = [part["answers"] for _, parts in found for part in parts if isinstance(part, dict) and "answers" in part]
    assert numbers == [0, 1]


def test_another_model_is_named() -> None:
    sent = read_call(DIALECT, ask(WIRE_ASKED), world())
    for name in (MODEL, f"models/{MODEL}", f"projects/p/locations/l/publishers/google/models/{MODEL}"):
        assert DIALECT.differences([OPENING], None, (), sent, name) == []
    assert DIALECT.differences([OPENING], None, (), sent, OLD) == [
        WireDifference("unlisted", "$.model", OLD, MODEL, violation=False)
    ]
