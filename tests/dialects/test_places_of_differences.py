"""Where a difference between session and wire stands in what was sent: the table of a few of each kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter

import pytest
from msgspec.structs import replace

from turnproof.dialects.anthropic_messages import DIALECT
from turnproof.dialects.base import Call
from turnproof.messages import Message, ToolSchema

from .anthropic_messages.builders import MODEL, assistant, body, call, result
from .anthropic_messages.builders import user as user_message
from .anthropic_messages.pairs import Ask, world
from .anthropic_messages.test_differences import (
    HELD_LOOP,
    RESULT,
    THANKS,
    WIRE_LOOP,
    WIRE_THANKS,
    Json,
    model,
    tool_with,
    wire_tool,
)


@dataclass(frozen=True)
class Case:
    """What is held and sent, and each difference by its word with its place on the sent side."""

    id: str
    held: Sequence[Message]
    sent: Sequence[Json]
    expect: dict[str, str]
    tools: Sequence[ToolSchema] = ()
    wire: Json = field(default_factory=dict)


TOLD = [*HELD_LOOP, model("It is dry."), THANKS]
CASES = [
    Case(
        "changed-text",
        TOLD,
        [*WIRE_LOOP, assistant("It is wet."), WIRE_THANKS],
        {"lost-text": "$.sent.messages[3].parts[0]"},
    ),
    Case(
        "lost-text-beside-a-call",
        TOLD,
        [WIRE_LOOP[0], assistant(call()), WIRE_LOOP[2], assistant("It is dry."), WIRE_THANKS],
        {"lost-text": "$.sent.messages[1]"},
    ),
    Case("lost-message", TOLD, [*WIRE_LOOP, WIRE_THANKS], {"lost-text": "$.sent.messages"}),
    Case(
        "changed-result",
        HELD_LOOP,
        [*WIRE_LOOP[:2], user_message(result(content="ok"))],
        {"lost-result": "$.sent.messages[2].parts[0].result"},
    ),
    Case(
        "lost-error-flag",
        [*HELD_LOOP[:2], Message.tool(replace(RESULT, is_error=True))],
        WIRE_LOOP,
        {"lost-error-flag": "$.sent.messages[2].parts[0].is_error"},
    ),
    Case(
        "invented",
        HELD_LOOP,
        [*WIRE_LOOP, assistant("So."), user_message("And?")],
        {"invented": "$.sent.messages[4].parts[0]"},
    ),
    Case("system", HELD_LOOP, WIRE_LOOP, {"system": "$.sent.system"}, wire={"system": "Be brief."}),
    Case("lost-tool", HELD_LOOP, WIRE_LOOP, {"tools": "$.sent.tools"}, tools=(tool_with("read_sensor"),)),
    Case(
        "changed-tool",
        HELD_LOOP,
        WIRE_LOOP,
        {"tools": "$.sent.tools[1].description"},
        tools=(tool_with("a_tool"), tool_with("read_sensor")),
        wire={"tools": [wire_tool("a_tool"), wire_tool("read_sensor", "Another")]},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=attrgetter("id"))
def test_a_difference_says_where_it_stands_in_the_request(case: Case) -> None:
    sent = DIALECT.parse(Ask(body(*case.sent, **case.wire)).request(), world())
    assert isinstance(sent, Call), sent
    found = DIALECT.differences(case.held, None, case.tools, sent, MODEL)
    assert {one.what: one.sent_path for one in found if one.violation} == case.expect
