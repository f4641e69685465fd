"""A model that behaves: it calls a tool while it has one, with arguments that the schema allows, and then answers."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.commands.bench.own_cost.scripted_model import example, reply_to
from turnproof.dialects.base import Call
from turnproof.messages import FinishReason, FunctionCall, Message, ToolResult, ToolSchema

TOOLS = (
    ToolSchema("first", "One", {"type": "object", "properties": {"n": {"type": "integer"}}}),
    ToolSchema("second", "Other", {"type": "object", "properties": {}}),
)
HI = Message.user("hi")
RESULT = Message.tool(ToolResult("c1", "first", "3"))


def answered(*messages: Message, tools: tuple[ToolSchema, ...] = TOOLS, choice: Any = None) -> Any:
    [reply] = reply_to(Call("generate", tools=tools, messages=messages, body={"tool_choice": choice})).parts
    return reply.part


def test_a_tool_is_called_while_its_result_is_not_there() -> None:
    assert answered(HI) == FunctionCall("toolu_01", "first", {"n": 3})
    assert answered(HI, choice={"type": "tool", "name": "second"}).name == "second"


def test_a_text_is_the_answer_to_a_result_and_where_no_tool_may_be_called() -> None:
    for response in (answered(HI, RESULT), answered(HI, tools=()), answered(HI, choice={"type": "none"})):
        assert response.text.startswith("It is a long answer")
    assert reply_to(Call("generate", messages=(HI,))).finish is FinishReason.STOP


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer"}, 3),
        ({"type": "number"}, 3),
        ({"type": "boolean"}, True),
        ({"type": "array", "items": {"type": "string"}}, []),
        ({"type": ["null", "string"]}, None),
        ({"enum": ["red", "green"]}, "red"),
        ({"const": 7}, 7),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, 3),
        ({"type": "object", "properties": {"a": {"type": "object"}, "b": {"enum": [1]}}}, {"a": {}, "b": 1}),
    ],
)
def test_an_example_is_what_the_schema_allows(schema: Any, value: object) -> None:
    assert example(schema) == value


def test_a_text_has_more_in_it_than_ascii() -> None:
    assert not str(example({"type": "string"})).isascii()
