"""What a schema says, member by member: another spelling says the same, and what is weaker is named."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.dialects.schema_members import LostMember, allows_the_same, lost_members


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
    "a union of bare types as a list of them": (
        schema(a={"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}),
        schema(a={"type": ["string", "integer", "null"]}),
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


_MORE = {"more than was declared", "null added to what may be left out", "a constant as an enumeration"}
"""What loses nothing, and says more: a bound, null, a type."""


@pytest.mark.parametrize("name", SAME)
def test_a_schema_that_forbids_more_or_allows_more_does_not_allow_the_same(name: str) -> None:
    assert allows_the_same(*SAME[name]) is (name not in _MORE)


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
        "a type",
    ),
    "union of more than types": (
        schema(a={"anyOf": [{"type": "string", "maxLength": 5}, {"type": "integer"}]}),
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
    assert not allows_the_same(declared, sent)
    assert [f"{one.path.lstrip('.')} {one.member}" for one in lost_members(declared, sent)] == [expected]


def test_a_member_that_nobody_knows_is_not_taken_for_nothing() -> None:
    inner = {"type": "array", "items": {"type": "object", "minProperties": 1}}
    assert not allows_the_same(schema(a={"type": "array", "items": {"type": "object"}}), schema(a=inner))


@pytest.mark.parametrize("member", ["description", "default", "format"])
def test_annotations_are_looked_for_by_themselves(member: str) -> None:
    declared, sent = schema(a={"type": "string", member: "x-1", "minLength": 2}), schema(a={"type": "string"})
    assert list(lost_members(declared, sent, annotations=True)) == [LostMember(".a", member, "x-1", None)]
    assert [one.member for one in lost_members(declared, sent)] == ["minLength"]


def test_a_default_in_words_is_there() -> None:
    sent = schema(a={"description": "Rows (default 4)"})
    assert list(lost_members(schema(a={"default": 4}), sent, annotations=True)) == []
