"""JSON Schema in Google's own dialect: what it has no word for is said otherwise, and none of it is refused."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.dialects.antigravity import DIALECT
from turnproof.dialects.base import Call, HttpRequest, World
from turnproof_adapters._encoded_messages import encode
from turnproof_adapters.antigravity.schemas import parameters

from .kit import CLAUDE, KEY


def converted(schema: dict[str, Any]) -> Any:
    """One property's schema."""
    return parameters({"properties": {"x": schema}, **schema.pop("above", {})})["properties"]["x"]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string", "description": "A gate"}, {"type": "string", "description": "A gate"}),
        ({"type": "integer", "minimum": 1, "maximum": 9}, {"type": "integer", "minimum": 1, "maximum": 9}),
        ({"type": "string", "enum": ["a", "b"]}, {"type": "string", "enum": ["a", "b"]}),
        ({"const": "a"}, {"type": "string", "enum": ["a"]}),
        ({"const": 3}, {"description": "one of [3]"}),
        (
            {"type": "integer", "enum": [1, 2], "description": "Level"},
            {"type": "integer", "description": "Level (one of [1,2])"},
        ),
        ({"type": ["string", "null"]}, {"type": "string", "nullable": True}),
        ({"type": ["string", "integer"]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        (
            {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
            {"anyOf": [{"type": "string"}, {"type": "integer"}], "nullable": True},
        ),
        (
            {"oneOf": [{"const": "a"}, {"type": "integer"}]},
            {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "integer"}]},
        ),
        ({"anyOf": [{"type": "number"}, {"type": "null"}]}, {"type": "number", "nullable": True}),
        (
            {
                "allOf": [
                    {"type": "object", "properties": {"a": {}}, "required": ["a"]},
                    {"properties": {"b": {}}, "required": ["b"]},
                ]
            },
            {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "b"]},
        ),
        (
            {"type": "array", "items": {"$comment": "c", "type": "string"}},
            {"type": "array", "items": {"type": "string"}},
        ),
        ({"type": "object", "additionalProperties": False}, {"type": "object", "additionalProperties": False}),
        (
            {"type": "object", "additionalProperties": {"const": "a"}},
            {"type": "object", "additionalProperties": {"type": "string", "enum": ["a"]}},
        ),
        (
            {"type": "string", "default": "a", "examples": ["b"], "$id": "x", "title": "X"},
            {"type": "string", "description": 'default: "a"; examples: ["b"]'},
        ),
        ({"type": "integer", "multipleOf": 5}, {"type": "integer", "description": "multipleOf: 5"}),
        (
            {"$ref": "#/$defs/gate", "description": "Which", "above": {"$defs": {"gate": {"type": "string"}}}},
            {"type": "string", "description": "Which"},
        ),
        (
            {"$ref": "#/definitions/a~1b", "above": {"definitions": {"a/b": {"const": "a"}}}},
            {"type": "string", "enum": ["a"]},
        ),
        ({"$ref": "#/$defs/unknown"}, {}),
        ({"$ref": "https://example.com/gate.json"}, {}),
    ],
)  # fmt: skip
def test_each_keyword_is_said_in_words_that_the_dialect_has(schema: dict[str, Any], expected: Any) -> None:
    assert converted(schema) == expected


def test_a_schema_that_contains_itself_ends_where_it_comes_back() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    schema = parameters({"$ref": "#/$defs/node", "$defs": {"node": node}})
    assert schema == {"type": "object", "properties": {"next": {}}}


def test_parameters_are_an_object_in_any_case() -> None:
    assert parameters({}) == {"type": "object"}
    assert parameters({"properties": {"x": True}}) == {"type": "object", "properties": {"x": {}}}


def test_the_schema_that_was_given_stays_as_it_was() -> None:
    schema = {"type": "object", "properties": {"x": {"type": ["string", "null"], "default": "a"}}, "required": ["x"]}
    before = encode(schema)
    parameters(schema)
    assert encode(schema) == before


def judged(schema: dict[str, Any]) -> list[str]:
    """What the emulated gateway says of a tool with these parameters."""
    tools = [{"functionDeclarations": [{"name": "gate", "parameters": schema}]}]
    inner_request = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}], "tools": tools}
    body = encode({"model": CLAUDE, "project": "p", "request": inner_request})
    headers = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
    world = World(keys=frozenset({KEY}), models=DIALECT.models, clock=lambda: 0.0)
    request = HttpRequest("POST", "/v1internal:generateContent", {}, headers, body)
    call = DIALECT.parse(request, world)
    found = DIALECT.validate(request, call, world) if isinstance(call, Call) else [call]
    return [refusal.message for refusal in found if refusal.enforced]


def test_the_gateway_refuses_the_schema_as_it_was_and_takes_it_as_it_is_sent() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "$defs": {"gate": {"type": ["string", "null"], "examples": ["east"]}},
        "properties": {
            "gate": {"$ref": "#/$defs/gate"},
            "mode": {"const": "slow", "$id": "mode"},
            "turns": {"type": "array", "items": {"oneOf": [{"type": "integer", "default": 1}, {"type": "null"}]}},
        },
        "required": ["gate"],
    }
    assert judged(schema)
    assert judged(parameters(schema)) == []
