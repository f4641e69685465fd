"""Checks of what a call may depend on: the same call again, on a fresh object, after others, and beside others."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.judge.requirements import judge
from turnproof.judge.verdict import Status
from turnproof.messages import FunctionCall, ProviderData
from turnproof.run.transcript import Response, WireRequest

from .build import RunBuilder, body_with, response_with, scripted, spoilt
from .cases import suite
from .conversations import THREE, probed, read

PROBED = ["core/threads-are-not-mixed", "core/event-loops-may-come-and-go"]
FIRST_CALL = FunctionCall("drawn_1", "read_sensor", {"bed": "3"})


def called_twice(requirement: str, first: FunctionCall, second: FunctionCall) -> Status:
    """The verdict on a call of which the service says `toolu_1`, returned as `first`, and as `second` to a probe."""
    view = probed("threads" if "threads" in requirement else "loops", read())
    for number, call in enumerate((first, second)):
        view = spoilt(view, Response, response_with(parts=(call,)), number)
    return judge(suite().catalogue[requirement], "stateless", [view]).status


@pytest.mark.parametrize("requirement", PROBED)
def test_ids_that_an_adapter_draws_anew_are_no_other_answer(requirement: str) -> None:
    assert called_twice(requirement, FIRST_CALL, replace(FIRST_CALL, id="drawn_2")) is Status.HELD


@pytest.mark.parametrize("requirement", PROBED)
def test_other_arguments_are_another_answer_whatever_the_ids_are(requirement: str) -> None:
    other = replace(FIRST_CALL, id="drawn_2", args={"bed": "4"})
    assert called_twice(requirement, FIRST_CALL, other) is Status.VIOLATED


def carrying(read_call: FunctionCall, **data: str) -> FunctionCall:
    return replace(read_call, provider_data=ProviderData("anthropic-messages", "m", {"kept": data}))


@pytest.mark.parametrize("requirement", PROBED)
def test_an_id_that_is_drawn_may_stand_in_what_is_kept_with_the_call(requirement: str) -> None:
    second = replace(FIRST_CALL, id="drawn_2")
    first = carrying(FIRST_CALL, call="drawn_1", signature="abc")
    assert called_twice(requirement, first, carrying(second, call="drawn_2", signature="abc")) is Status.HELD
    for other in ({"call": "drawn_1"}, {"call": "drawn_2", "signature": "xyz"}):
        assert called_twice(requirement, first, carrying(second, **{"signature": "abc"} | other)) is Status.VIOLATED


@pytest.mark.parametrize("requirement", PROBED)
@pytest.mark.parametrize("id", ["toolu_2", "drawn_1"])
def test_an_id_of_the_service_does_not_change(requirement: str, id: str) -> None:
    assert called_twice(requirement, read(), replace(read(), id=id)) is Status.VIOLATED


def with_system(text: str, body: dict[str, Any]) -> dict[str, Any]:
    return body | {"system": text}


PROBES = ("fresh", "reversed", "threads")
DRAWING = [
    # The system texts of the first request and of those of the probes, and who is accused.
    (("id 1", "id 2", "id 3", "id 4"), {"fresh"}),
    (("id 1", "id 1", "id 3", "id 4"), {"reversed", "threads"}),
    (("id 1", "id 2", "id 1", "id 1"), {"fresh"}),
    (("id 1", "id 2", "id 2", "id 2"), {"fresh", "reversed", "threads"}),
]


@pytest.mark.parametrize(("texts", "accused"), DRAWING)
def test_what_each_request_draws_anew_is_no_trace_of_another_call(texts: tuple[str, ...], accused: set[str]) -> None:
    """It is told once, of a fresh object. Of other calls and threads it shows nothing."""
    builder = RunBuilder(scripted([THREE], user="Hi.")).turn("Hi.")
    history = list(builder.history)
    builder.call(THREE).end()
    for probe in PROBES:
        builder.history = list(history)
        builder.call(THREE, probe=probe)
    view = builder.view()
    for number, text in enumerate(texts):
        view = spoilt(view, WireRequest, body_with(partial(with_system, text)), number)
    requirements = {
        "fresh": "core/a-fresh-object-sends-the-same",
        "reversed": "core/order-of-conversations-does-not-matter",
        "threads": "core/threads-are-not-mixed",
    }
    found = {probe: judge(suite().catalogue[name], "stateless", [view]).status for probe, name in requirements.items()}
    assert {probe for probe, one in found.items() if one is Status.VIOLATED} == accused
