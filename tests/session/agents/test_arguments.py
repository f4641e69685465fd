"""Tools whose arguments are declared as a type: the schema that the model sees, and what becomes of what it sends."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta

from turnproof.cancel import CancelToken
from turnproof.errors import UsageError
from turnproof.session.agents.arguments import Arguments, typed_tool
from turnproof.subject import Tool


class _Plant(Arguments, frozen=True):
    what: Annotated[str, Meta(description="A plant.")]
    beds: Annotated[list[str], Meta(description="Where.")] | None = None
    depth: Literal["deep", "shallow"] | None = None
    by: str | None = None
    twice: bool = False


def planting(**choices: tuple[str, ...]) -> tuple[Tool, list[_Plant]]:
    seen: list[_Plant] = []

    def plant(arguments: _Plant, token: CancelToken) -> str:
        seen.append(arguments)
        return "planted"

    tool = typed_tool("plant", "Plant it.", _Plant, plant, choices=choices)
    return tool, seen


def properties(tool: Tool) -> dict[str, Any]:
    return {name: dict(schema) for name, schema in tool.schema.parameters["properties"].items()}


def test_the_schema_is_plain() -> None:
    tool, _ = planting()
    assert (tool.schema.name, tool.schema.description) == ("plant", "Plant it.")
    assert tool.schema.parameters["required"] == ["what"]
    assert properties(tool) == {
        "what": {"type": "string", "description": "A plant."},
        "beds": {"type": "array", "items": {"type": "string"}, "description": "Where."},
        "depth": {"enum": ["deep", "shallow"]},
        "by": {"type": "string"},
        "twice": {"type": "boolean"},
    }


def test_choices_stand_in_the_schema_and_what_leaves_none_is_not_offered() -> None:
    tool, _ = planting(beds=("one",), by=("spade", "hand"), depth=("deep",))
    found = properties(tool)
    assert found["beds"]["items"] == {"type": "string", "enum": ["one"]}
    assert found["by"] == {"type": "string", "enum": ["spade", "hand"]}
    assert "depth" not in found
    assert "beds" not in properties(planting(beds=())[0])


def test_what_is_left_out_or_null_has_its_default() -> None:
    tool, seen = planting()
    assert tool.run({"what": "mint", "by": None}, CancelToken()) == "planted"
    assert seen == [_Plant("mint")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "missing required field `what`"),
        ({"what": 3}, r"\$\.what"),
        ({"what": "mint", "beds": [1]}, r"\$\.beds\[0\]"),
        ({"what": "mint", "wat": 1}, "unknown field `wat`"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_with_their_place(arguments: dict[str, Any], message: str) -> None:
    tool, seen = planting()
    with pytest.raises(UsageError, match=f"the arguments of plant do not fit: .*{message}"):
        tool.run(arguments, CancelToken())
    assert seen == []
