"""Checks of schemas, and the comparison that they rest on: what arrives in another spelling has arrived."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from turnproof.judge.requirements import judge
from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import ToolSchema
from turnproof.run.transcript import Response, WireRequest, WireResponse
from turnproof_suites.schema_members import LostMember, lost_members

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


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


SAME = {
    "types in capitals": (schema(a={"type": "integer"}), {**schema(a={"type": "INTEGER"}), "type": "OBJECT"}),
    "null as a flag": (schema(a={"type": ["string", "null"]}), schema(a={"type": "string", "nullable": True})),
    "null as a union": (
        schema(a={"type": ["string", "null"]}),
        schema(a={"anyOf": [{"type": "string"}, {"type": "null"}]}),
    ),
    "null added to what may be left out": (
        {"type": "object", "properties": {"a": {"type": "string"}}},
        schema(a={"type": ["string", "null"]}),
    ),
    "a constant as an enumeration": (schema(a={"const": "x"}), schema(a={"type": "string", "enum": ["x"]})),
    "values of an enumeration as texts": (schema(a={"enum": [1, 2]}), schema(a={"enum": ["1", "2"]})),
    "another order of an enumeration": (schema(a={"enum": ["x", "y"]}), schema(a={"enum": ["y", "x"]})),
    "a reference in its place": (
        {**schema(a={"$ref": "#/$defs/b"}), "$defs": {"b": {"type": "string", "minLength": 2}}},
        schema(a={"type": "string", "minLength": 2}),
    ),
    "definitions under another name": (
        {**schema(a={"$ref": "#/$defs/b"}), "$defs": {"b": {"type": "string"}}},
        {**schema(a={"$ref": "#/definitions/B"}), "definitions": {"B": {"type": "string"}}},
    ),
    "a reference in a list of one": (
        {**schema(a={"allOf": [{"$ref": "#/$defs/b"}]}), "$defs": {"b": {"type": "string"}}},
        schema(a={"type": "string"}),
    ),
    "one of as any of": (
        schema(a={"oneOf": [{"type": "string"}, {"type": "integer"}]}),
        schema(a={"anyOf": [{"type": "string"}, {"type": "integer"}]}),
    ),
    "a bound in words": (
        schema(a={"type": "integer", "minimum": 7}),
        schema(a={"type": "integer", "description": "{minimum: 7}"}),
    ),
    "a bound as a text": (schema(a={"minLength": 7}), schema(a={"min_length": "7"})),
    "more than was declared": (
        schema(a={"type": "string"}),
        {**schema(a={"type": "string", "maxLength": 9}), "additionalProperties": False},
    ),
    "a schema within itself": (
        {**schema(a={"$ref": "#"})},
        {**schema(a={"$ref": "#"})},
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_another_spelling_loses_nothing(name: str) -> None:
    declared, sent = SAME[name]
    assert list(lost_members(declared, sent)) == []


WEAKER = {
    "type": (schema(a={"type": "integer"}), schema(a={"type": "string"}), "a type"),
    "no type": (schema(a={"type": "integer"}), schema(a={}), "a type"),
    "null": (schema(a={"type": ["string", "null"]}), schema(a={"type": "string"}), "a type"),
    "null that was forbidden": (schema(a={"type": "string"}), schema(a={"type": ["string", "null"]}), "a type"),
    "property": (schema(a={}, b={}), schema(a={}), "b properties"),
    "required": (schema(a={}), {**schema(a={}), "required": []}, "a required"),
    "enumeration": (schema(a={"enum": ["x"]}), schema(a={"type": "string"}), "a enum"),
    "value of an enumeration": (schema(a={"enum": ["x", "y"]}), schema(a={"enum": ["x"]}), "a enum"),
    "items": (schema(a={"type": "array", "items": {"type": "string"}}), schema(a={"type": "array"}), "a[] items"),
    "type of items": (
        schema(a={"type": "array", "items": {"type": "string"}}),
        schema(a={"type": "array", "items": {"type": "integer"}}),
        "a[] type",
    ),
    "union": (
        schema(a={"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        schema(a={"type": "string"}),
        "a anyOf",
    ),
    "bound in a union": (
        schema(a={"anyOf": [{"type": "string", "maxLength": 5}, {"type": "integer"}]}),
        schema(a={"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        "a|0 maxLength",
    ),
    "reference to nothing": (
        {**schema(a={"$ref": "#/$defs/b"}), "$defs": {"b": {"type": "string"}}},
        schema(a={"$ref": "#/$defs/b"}),
        "a type",
    ),
    "other bound": (schema(a={"minimum": 7}), schema(a={"minimum": 8}), "a minimum"),
    "pattern": (schema(a={"pattern": "^x$"}), schema(a={}), "a pattern"),
}


@pytest.mark.parametrize("name", WEAKER)
def test_what_is_weaker_is_named_with_its_place(name: str) -> None:
    declared, sent, expected = WEAKER[name]
    assert [f"{one.path.lstrip('.')} {one.member}" for one in lost_members(declared, sent)] == [expected]


@pytest.mark.parametrize("member", ["description", "default", "format"])
def test_annotations_are_looked_for_by_themselves(member: str) -> None:
    declared, sent = schema(a={"type": "string", member: "x-1", "minLength": 2}), schema(a={"type": "string"})
    assert list(lost_members(declared, sent, annotations=True)) == [LostMember(".a", member, "x-1", None)]
    assert [one.member for one in lost_members(declared, sent)] == ["minLength"]


def test_a_default_in_words_is_there() -> None:
    sent = schema(a={"description": "Rows (default 4)"})
    assert list(lost_members(schema(a={"default": 4}), sent, annotations=True)) == []
