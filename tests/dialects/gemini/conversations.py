"""Conversations as a session holds them, and as requests written by hand: an encoder of ours could share a mistake."""

from __future__ import annotations

from typing import Any

from turnproof.dialects.base import Call
from turnproof.dialects.gemini import DIALECT
from turnproof.messages import (
    CodeExecutionResult,
    ExecutableCode,
    FunctionCall,
    Message,
    ProviderData,
    ToolResult,
    ToolSchema,
)

from ..differences import Case
from ..histories import OPENING
from ..parts import model
from ..requests import Json, read_call
from .asks import ask, at, world
from .builders import MODEL, SIGNATURE, TOOL, response
from .builders import call as wire_call
from .builders import model as wire_model
from .builders import user as wire_user

NAME = "gemini"


def issued(by: str = MODEL, dialect: str = NAME, **data: Any) -> ProviderData:
    return ProviderData(dialect, by, {"signature": SIGNATURE, **data})


CALL = FunctionCall("id_1", "read_sensor", {"bed": "3"})
SIGNED = FunctionCall("id_1", "read_sensor", {"bed": "3"}, provider_data=issued())
RESULT = ToolResult("id_1", "read_sensor", "41 %")
OWN_CODE = ExecutableCode("PYTHON", "1 + 1", provider_data=issued()), CodeExecutionResult("OUTCOME_OK", "2\n")
SENSOR = ToolSchema(
    "read_sensor", "Read one sensor",
    {"type": "object", "properties": {"bed": {"type": "string"}}, "required": ["bed"]},
)  # fmt: skip
WIRE_PNG: Json = {"inlineData": {"mimeType": "image/png", "data": "cG5n"}}

WIRE_ASKED, WIRE_THANKS = wire_user("How moist is bed 3?"), wire_user("Thanks")


def call(signature: str | None = None, call_id: str | None = "id_1", **more: Any) -> Json:
    """A call on the wire with the id that the session holds, or with none."""
    return wire_call(signature, **({} if call_id is None else {"id": call_id}), **more)


def result(value: Any = None, call_id: str | None = "id_1", **more: Any) -> Json:
    return response(value, **({} if call_id is None else {"id": call_id}), **more)


HELD_LOOP: tuple[Message, ...] = (OPENING, model("Let me look.", SIGNED), Message.tool(RESULT))
WIRE_LOOP: tuple[Json, ...] = (WIRE_ASKED, wire_model("Let me look.", call(SIGNATURE)), wire_user(result()))


def parsed(case: Case) -> Call:
    """The request of a case as the dialect reads it."""
    return read_call(DIALECT, at(case.model or MODEL, ask(*case.sent, **case.wire)), world())


def declaring(*tools: Json, **more: Any) -> Json:
    return {"tools": [{"functionDeclarations": list(tools)}], **more}


def tool_with(name: str) -> ToolSchema:
    return ToolSchema(name, "Read one sensor", SENSOR.parameters)


def wire_tool(name: str, **more: Any) -> Json:
    return TOOL | {"name": name} | more


def system(text: str) -> Json:
    return {"systemInstruction": {"parts": [{"text": text}]}}


def after_call(sent: Json, tool_result: ToolResult = RESULT) -> tuple[list[Message], list[Json]]:
    """The running loop with this result held, and this user content sent for it."""
    return [*HELD_LOOP[:2], Message.tool(tool_result)], [*WIRE_LOOP[:2], sent]


TWO_CALLS = model(SIGNED, FunctionCall("id_2", "water", {"bed": "4"}))
TWO_RESULTS = Message.tool(RESULT, ToolResult("id_2", "water", "done"))
WIRE_TWO = wire_model(call(SIGNATURE), call(None, "id_2", name="water", args={"bed": "4"}))
