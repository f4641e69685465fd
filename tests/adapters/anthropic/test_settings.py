"""What stands around the messages of a request: model, room, thinking, output format, system text and tools."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.errors import UsageError
from turnproof.messages import CacheMark, Text, ToolSchema
from turnproof_adapters._calling import Prompt
from turnproof_adapters.anthropic.request import Settings
from turnproof_adapters.anthropic.service import ANTHROPIC
from turnproof_adapters.anthropic.thinking import budgeted

from .kit import MODEL, text

BUDGET = {"budget_tokens": 2000, "type": "enabled"}
ADAPTIVE = {"type": "adaptive"}
EPHEMERAL = {"type": "ephemeral"}


def around(settings: Settings | None = None, think: bool = True, **kwargs: Any) -> dict[str, Any]:
    fields = {"system": None, "tools": None, "response_schema": None, **kwargs}
    return (settings or Settings(ANTHROPIC, MODEL)).kwargs(Prompt((), **fields), think=think)


def test_a_plain_request_says_its_model_and_how_much_room_there_is_and_nothing_else() -> None:
    assert around() == {"model": MODEL, "max_tokens": 8192}


@pytest.mark.parametrize("system", [None, "", "  \n", Text("")])
def test_a_blank_system_text_is_not_sent(system: Any) -> None:
    assert "system" not in around(system=system)


def test_no_tools_are_no_list_of_tools() -> None:
    assert "tools" not in around(tools=[])


def test_tools_stand_in_the_order_of_their_names_whatever_order_they_came_in() -> None:
    tools = [ToolSchema(name, f"does {name}", {"properties": {"x": {"type": "string"}}}) for name in ("b", "c", "a")]
    assert around(tools=tools) == around(tools=tools[::-1])
    assert [tool["name"] for tool in around(tools=tools)["tools"]] == ["a", "b", "c"]
    assert around(tools=tools)["tools"][0] == {
        "name": "a",
        "description": "does a",
        "input_schema": {"type": "object", "properties": {"x": {"type": "string"}}},
    }


def test_a_tool_of_few_words_is_declared_all_the_same() -> None:
    assert around(tools=[ToolSchema("a")])["tools"] == [{"name": "a", "input_schema": {"type": "object"}}]


def test_marks_on_system_and_tools_become_breakpoints() -> None:
    tools = [ToolSchema("a"), ToolSchema("b", cache=CacheMark("1h")), ToolSchema("c", cache=CacheMark())]
    fields = around(system=Text("rules", cache=CacheMark()), tools=tools)
    assert fields["system"] == [{**text("rules"), "cache_control": EPHEMERAL}]
    assert [tool.get("cache_control") for tool in fields["tools"]] == [None, {**EPHEMERAL, "ttl": "1h"}, EPHEMERAL]


SCHEMA = {
    "type": "object",
    "properties": {
        "at": {"type": "object", "properties": {}},
        "name": {"type": "string"},
        "type": {"type": "string"},
        "list": {"type": "array", "items": [{"type": "object"}]},
        "open": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["at"],
}


def test_every_object_of_a_response_schema_is_closed_as_the_api_demands() -> None:
    assert around(response_schema=SCHEMA)["output_config"] == {
        "format": {
            "type": "json_schema",
            "schema": {
                "type": "object",
                "properties": {
                    "at": {"type": "object", "properties": {}, "additionalProperties": False},
                    "name": {"type": "string"},
                    "type": {"type": "string"},
                    "list": {"type": "array", "items": [{"type": "object", "additionalProperties": False}]},
                    "open": {"type": "object", "additionalProperties": {"type": "string"}},
                },
                "required": ["at"],
                "additionalProperties": False,
            },
        }
    }
    assert "additionalProperties" not in SCHEMA


def test_a_property_by_the_name_of_type_makes_no_object_of_its_neighbours() -> None:
    """`properties` is itself an object with a `type` in it here, and no schema."""
    properties = {"type": "object", "properties": "what there is"}
    schema = {"type": "object", "properties": {"example": properties}}
    inner = around(response_schema=schema)["output_config"]["format"]["schema"]["properties"]
    assert inner == {"example": properties}


@pytest.mark.parametrize(
    ("settings", "think", "thinking", "room"),
    [
        (Settings(ANTHROPIC, MODEL), True, None, 8192),
        (Settings(ANTHROPIC, "claude-3-haiku-20240307"), True, None, 4096),
        (Settings(ANTHROPIC, MODEL, 50), True, None, 50),
        (Settings(ANTHROPIC, MODEL, 1), True, None, 1),
        (Settings(ANTHROPIC, MODEL, None, BUDGET), True, BUDGET, 8192),
        (Settings(ANTHROPIC, MODEL, 2001, BUDGET), True, BUDGET, 2001),
        (Settings(ANTHROPIC, MODEL, 2000, BUDGET), True, BUDGET, 4000),
        (Settings(ANTHROPIC, MODEL, 50, BUDGET), True, BUDGET, 2050),
        (Settings(ANTHROPIC, MODEL, 50, BUDGET), False, None, 50),
        (Settings(ANTHROPIC, "claude-opus-4-6", 1, ADAPTIVE), True, ADAPTIVE, 1),
        (Settings(ANTHROPIC, "claude-opus-5", 50, BUDGET), True, ADAPTIVE, 50),
        (
            Settings(ANTHROPIC, "claude-opus-5", 50, {**ADAPTIVE, "display": "omitted"}),
            True,
            {**ADAPTIVE, "display": "omitted"},
            50,
        ),
    ],
)
def test_there_is_always_more_room_than_the_thinking_budget(
    settings: Settings, think: bool, thinking: Any, room: int
) -> None:
    fields = around(settings, think)
    assert (fields.get("thinking"), fields["max_tokens"]) == (thinking, room)


@pytest.mark.parametrize(
    ("settings", "lacks", "thinks"),
    [
        (Settings(ANTHROPIC, MODEL), True, True),
        (Settings(ANTHROPIC, MODEL, None, BUDGET), True, False),
        (Settings(ANTHROPIC, MODEL, None, BUDGET), False, True),
        (Settings(ANTHROPIC, "claude-opus-4-6", None, ADAPTIVE), True, True),
        (Settings(ANTHROPIC, "claude-opus-5", None, BUDGET), True, True),
    ],
)
def test_only_a_fixed_budget_waits_for_the_end_of_a_loop_without_thinking(
    settings: Settings, lacks: bool, thinks: bool
) -> None:
    assert settings.thinks_before(loop_lacks_thinking=lacks) is thinks


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (None, None),
        ({"type": "disabled"}, None),
        ({"type": "disabled", "budget_tokens": 2000}, None),
        ({"budget_tokens": 1024}, {"type": "enabled", "budget_tokens": 1024}),
        ({"type": "enabled", "budget_tokens": 1025}, {"type": "enabled", "budget_tokens": 1025}),
        ({"type": "adaptive"}, {"type": "adaptive"}),
        ({"type": "adaptive", "display": "omitted"}, {"type": "adaptive", "display": "omitted"}),
    ],
)
def test_thinking_is_configured_in_our_words_or_in_the_apis(config: Any, expected: Any) -> None:
    assert budgeted(config) == expected


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({}, "budget_tokens must be an integer of at least 1024, got None"),
        ({"budget_tokens": 1023}, "got 1023"),
        ({"budget_tokens": "2000"}, "got '2000'"),
        ({"budget_tokens": 2000.0}, r"got 2000\.0"),
        ({"type": "enabled"}, "got None"),
        ({"type": "hard", "budget_tokens": 2000}, "'disabled', got 'hard'"),
    ],
)
def test_a_thinking_configuration_that_means_nothing_is_refused(config: Any, words: str) -> None:
    with pytest.raises(UsageError, match=f"^thinking: .*{words}"):
        budgeted(config)
