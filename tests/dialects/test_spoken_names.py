"""Under which name the scripted model calls a tool: the one that was offered for it."""

from __future__ import annotations

import pytest

from turnproof.dialects.anthropic_messages.models import LEGAL_NAME
from turnproof.dialects.gemini.models import LEGAL_NAME as GEMINI_LEGAL_NAME
from turnproof.dialects.naming import spoken_name
from turnproof.messages import ToolSchema


@pytest.mark.parametrize(
    ("offered", "wire_names"),
    [
        pytest.param(
            ("a.b", "a:b", "a_b"), {"a.b": "a.b", "a:b": "a:b", "a_b": "a_b"}, id="illegal, and left as they are"
        ),
        pytest.param(("grow_room", "a_b"), {"a.b": "a_b", "grow room": "grow_room"}, id="rewritten"),
        pytest.param((), {"a.b": "a_b", "water": "water"}, id="not at all"),
    ],
)
def test_a_tool_is_called_by_the_name_that_was_offered(offered: tuple[str, ...], wire_names: dict[str, str]) -> None:
    tools = [ToolSchema(name) for name in offered]
    assert {name: spoken_name(name, tools, LEGAL_NAME) for name in wire_names} == wire_names


def test_a_name_that_was_not_offered_is_made_legal_by_the_rules_of_the_service() -> None:
    for name, wire_name in {"a.b": "a.b", "grow room": "grow_room", "3beds": "_3beds", "": "_"}.items():
        assert spoken_name(name, [], GEMINI_LEGAL_NAME) == wire_name
        assert GEMINI_LEGAL_NAME.fullmatch(wire_name)
