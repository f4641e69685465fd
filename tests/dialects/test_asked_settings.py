"""The same few settings under every API's own names."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.dialects.asked_settings import asks_for_thinking, forced_tool, output_limits, stop_sequences
from turnproof.messages import ToolSchema

TOOLS = (ToolSchema("read"), ToolSchema("water"))


@pytest.mark.parametrize(
    "settings",
    [
        {"max_tokens": 9},
        {"max_completion_tokens": 9},
        {"max_output_tokens": 9},
        {"maxOutputTokens": 9},
        {"generation_config": {"max_output_tokens": 9}},
        {"options": {"num_predict": 9}},
    ],
)
def test_limits(settings: dict[str, Any]) -> None:
    assert list(output_limits(settings).values()) == [9]


@pytest.mark.parametrize(
    ("settings", "texts"),
    [
        ({}, ()),
        ({"stop": "END"}, ("END",)),
        ({"stop": ["a", "", 3]}, ("a",)),
        ({"stop_sequences": ["a", "b"]}, ("a", "b")),
        ({"options": {"stop": ["a"]}}, ("a",)),
        ({"stop": None}, ()),
    ],
)
def test_stop_sequences(settings: dict[str, Any], texts: tuple[str, ...]) -> None:
    assert stop_sequences(settings) == texts


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({}, None),
        ({"tool_choice": "auto"}, None),
        ({"tool_choice": "none"}, None),
        ({"tool_choice": "required"}, "read"),
        ({"tool_choice": {"type": "any"}}, "read"),
        ({"tool_choice": {"type": "auto"}}, None),
        ({"tool_choice": {"type": "tool", "name": "water"}}, "water"),
        ({"tool_choice": {"type": "function", "function": {"name": "water"}}}, "water"),
        ({"tool_choice": {"type": "function", "name": "gone"}}, None),
        ({"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}, "read"),
        ({"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["water"]}}}, "water"),
        ({"toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}}, None),
        ({"generation_config": {"tool_choice": "any"}}, "read"),
    ],
)
def test_forced_tools(settings: dict[str, Any], name: str | None) -> None:
    found = forced_tool(settings, TOOLS)
    assert (found.name if found is not None else None) == name


def test_without_tools_none_is_forced() -> None:
    assert forced_tool({"tool_choice": "required"}, ()) is None


@pytest.mark.parametrize(
    ("settings", "thinks"),
    [
        ({}, False),
        ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, True),
        ({"thinking": {"type": "disabled"}}, False),
        ({"thinking": {"type": "adaptive"}}, True),
        ({"thinkingConfig": {"thinkingBudget": 0}}, False),
        ({"thinkingConfig": {"thinkingLevel": "low"}}, True),
        ({"reasoning": {"effort": "none"}}, False),
        ({"reasoning": {"effort": "low"}}, True),
        ({"reasoning_effort": "low"}, True),
        ({"think": False}, False),
        ({"think": True}, True),
        ({"generation_config": {"thinking_level": "low"}}, True),
    ],
)
def test_thinking(settings: dict[str, Any], thinks: bool) -> None:
    assert asks_for_thinking(settings) is thinks
