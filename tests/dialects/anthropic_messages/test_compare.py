"""Where a difference between session and wire stands in what was sent: the table of a few of each kind."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from turnproof.messages import Message

from ..differences import Case
from ..histories import HELD_LOOP, RESULT, THANKS
from ..parts import model
from .builders import assistant, call, result
from .builders import user as user_message
from .differences import WIRE_LOOP, WIRE_THANKS, find_differences, tool_with, wire_tool

HISTORY = [*HELD_LOOP, model("It is dry."), THANKS]
CASES: list[tuple[Case, dict[str, str]]] = [
    (
        Case(
            "changed-text",
            HISTORY,
            [*WIRE_LOOP, assistant("It is wet."), WIRE_THANKS],
        ),
        {"lost-text": "$.sent.messages[3].parts[0]"},
    ),
    (
        Case(
            "lost-text-beside-a-call",
            HISTORY,
            [WIRE_LOOP[0], assistant(call()), WIRE_LOOP[2], assistant("It is dry."), WIRE_THANKS],
        ),
        {"lost-text": "$.sent.messages[1]"},
    ),
    (Case("lost-message", HISTORY, [*WIRE_LOOP, WIRE_THANKS]), {"lost-text": "$.sent.messages"}),
    (
        Case(
            "changed-result",
            HELD_LOOP,
            [*WIRE_LOOP[:2], user_message(result(content="ok"))],
        ),
        {"lost-result": "$.sent.messages[2].parts[0].result"},
    ),
    (
        Case(
            "lost-error-flag",
            [*HELD_LOOP[:2], Message.tool(replace(RESULT, is_error=True))],
            WIRE_LOOP,
        ),
        {"lost-error-flag": "$.sent.messages[2].parts[0].is_error"},
    ),
    (
        Case(
            "invented",
            HELD_LOOP,
            [*WIRE_LOOP, assistant("So."), user_message("And?")],
        ),
        {"invented": "$.sent.messages[4].parts[0]"},
    ),
    (Case("system", HELD_LOOP, WIRE_LOOP, wire={"system": "Be brief."}), {"system": "$.sent.system"}),
    (Case("lost-tool", HELD_LOOP, WIRE_LOOP, tools=(tool_with("read_sensor"),)), {"tools": "$.sent.tools"}),
    (
        Case(
            "changed-tool",
            HELD_LOOP,
            WIRE_LOOP,
            tools=(tool_with("a_tool"), tool_with("read_sensor")),
            wire={"tools": [wire_tool("a_tool"), wire_tool("read_sensor", "Another")]},
        ),
        {"tools": "$.sent.tools[1].description"},
    ),
]


@pytest.mark.parametrize(("case", "places"), CASES, ids=[case.id for case, _ in CASES])
def test_a_difference_says_where_it_stands_in_the_request(case: Case, places: dict[str, str]) -> None:
    found = find_differences(case)
    assert {one.what: one.sent_path for one in found if one.violation} == places
