"""Checks of schemas: what arrives in another spelling has arrived."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.judge.requirements import judge
from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import ToolSchema
from turnproof.run.transcript import Response, WireRequest, WireResponse

from .build import RunBuilder, body_with, error, scripted, spoilt
from .cases import Case, decide, suite

PARAMETERS = {
    "type": "object",
    "properties": {
        "rows": {"type": "integer", "minimum": 1, "description": "How many"},
        "season": {"enum": ["spring"]},
    },
    "required": ["rows"],
}
TOOL = ToolSchema(name="plan_bed", description="Store a plan", parameters=PARAMETERS)
ANSWER = {"type": "object", "properties": {"bed": {"type": "string"}}, "required": ["bed"]}


def planned() -> View:
    builder = RunBuilder(scripted(["Basil."]), tools=[TOOL], mode="batch", name="tools/schemas")
    return builder.turn("What would you plant?").call("Basil.").end().view()


def answered() -> View:
    builder = RunBuilder(scripted(['{"bed": "3"}']), mode="batch", name="structured/plain")
    return builder.turn("Which bed?").call('{"bed": "3"}', schema=ANSWER).end().view()


def sent_with(change: Any) -> Any:
    return lambda view: spoilt(view, WireRequest, body_with(change))


def without_minimum(body: Any) -> None:
    del body["tools"][0]["input_schema"]["properties"]["rows"]["minimum"]


def without_description(body: Any) -> None:
    del body["tools"][0]["input_schema"]["properties"]["rows"]["description"]


def without_type(body: Any) -> None:
    body["output_config"]["format"]["schema"]["properties"]["bed"] = {}


CASES = [
    Case("tools/schemas-keep-their-constraints", planned, sent_with(without_minimum), "`minimum` 1 at rows", "lost"),
    Case(
        "tools/schemas-keep-their-explanations", planned, sent_with(without_description), '"How many" at rows', "lost"
    ),
    Case("structured/schema-keeps-its-constraints", answered, sent_with(without_type), "at bed", "lost"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_broken_run_is_violated_and_the_good_one_is_held(case: Case) -> None:
    decide(case)


def test_an_adapter_that_refuses_a_schema_has_weakened_nothing_and_shown_nothing() -> None:
    view = spoilt(planned(), Response, lambda event: error("InvalidRequestError", turn=event.turn, call=event.call))
    events = tuple(one for one in view.transcript.events if not isinstance(one, WireRequest | WireResponse))
    view = View(replace(view.transcript, events=events), view.dialect, view.scenario)
    verdict = judge(suite().catalogue["tools/schemas-keep-their-constraints"], "stateless", [view])
    assert verdict.status is Status.INCONCLUSIVE
