"""Conversations on Ollama's own API, which has fewer places to put things, right and wrong ones."""

from __future__ import annotations

from collections.abc import Sequence

from turnproof.dialects.base import WireDifference
from turnproof.dialects.ollama import DIALECT
from turnproof.messages import FunctionCall, Message, Part, Thought, ToolResult, ToolSchema

from ..anthropic_messages.asks import Ask
from ..differences import Case, DifferenceKit
from ..histories import CALL, HELD_LOOP, OPENING, PNG, RESULT, THANKS
from ..parts import model, user
from ..requests import Json, read_call
from .refusals import FUNCTION, MODEL, QUESTION, chat, world

WATER = FunctionCall("call_2", "read_sensor", {"bed": "4"})
FAILURE = ToolResult("call_1", "read_sensor", "no such bed", is_error=True)
SECOND = ToolResult("call_2", "read_sensor", "12 %")
SENSOR = ToolSchema("read_sensor", "Read one sensor", {"type": "object"})
READING: Json = {"percent": 41, "beds": ["3", None]}


def call(bed: str = "3", **more: str) -> Json:
    return {"function": {"name": "read_sensor", "arguments": {"bed": bed}}, **more}


def spoke(content: str, *calls: Json, **more: str) -> Json:
    return {"role": "assistant", "content": content, **({"tool_calls": list(calls)} if calls else {}), **more}


def result(content: str, **more: object) -> Json:
    return {"role": "tool", "content": content, **more}


SPOKE = spoke("Let me look.", call(id="call_1"))
WIRE_RESULT = result("41 %", tool_name="read_sensor", tool_call_id="call_1")
LOOP = [QUESTION, SPOKE, WIRE_RESULT]


def compare(history: Sequence[Message], request: Ask, system: Part | str | None = None) -> list[WireDifference]:
    return DIALECT.differences(history, system, [SENSOR], read_call(DIALECT, request, world()), MODEL)


def find_differences(case: Case) -> list[WireDifference]:
    return compare(case.history, chat(*case.sent, **{"tools": [FUNCTION], **case.wire}), case.system)


RIGHT: tuple[Case, ...] = (
    Case("plain", [OPENING, model("41 %"), THANKS], [QUESTION, spoke("41 %"), {"role": "user", "content": "Thanks"}]),
    Case("loop", HELD_LOOP, LOOP),
    Case("system", [OPENING], [{"role": "system", "content": "Be brief."}, QUESTION], system="Be brief."),
    Case("instruction", [OPENING, model("Yes."), Message.system("Now in French."), THANKS],
         [QUESTION, spoke("Yes."), {"role": "system", "content": "Now in French."},
          {"role": "user", "content": "Thanks"}]),
    Case("no-call-ids", HELD_LOOP, [QUESTION, spoke("Let me look.", call()), result("41 %")], allows="no-call-ids"),
    Case("failure-without-call-ids", [*HELD_LOOP[:2], Message.tool(FAILURE)],
         [QUESTION, spoke("Let me look.", call()), result("no such bed")], allows="no-call-ids"),
    Case("no-call-ids-of-two", [OPENING, model(CALL, WATER), Message.tool(RESULT, SECOND)],
         [QUESTION, spoke("", call(), call("4")), result("41 %"), result("12 %")], allows="no-call-ids"),
    Case("text-behind-the-call", [OPENING, model("One. ", CALL, "Two."), Message.tool(RESULT)],
         [QUESTION, spoke("One. Two.", call(id="call_1")), WIRE_RESULT], allows="one-field-each"),
    Case("image-before-the-text", [user(PNG, "What is it?")],
         [{"role": "user", "content": "What is it?", "images": ["cG5n"]}], allows="one-field-each"),
    Case("calls-in-a-message-each", [OPENING, model(CALL, FunctionCall("call_2", "read_sensor", {"bed": "4"})),
                                      Message.tool(RESULT, ToolResult("call_2", "read_sensor", "12 %"))],
         [QUESTION, spoke("", call()), spoke("", call("4")), result("41 %"), result("12 %")], allows="no-call-ids"),
    Case("failure-in-more-words",
         [*HELD_LOOP[:2], Message.tool(FAILURE)],
         [*LOOP[:2], {**WIRE_RESULT, "content": "The tool failed: 'no such bed'"}], allows="no-error-flag"),
    Case("image-of-a-result",
         [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", "41 %", attachments=(PNG,)))],
         [*LOOP[:2], {**WIRE_RESULT, "images": ["cG5n"]}], allows="untyped-images"),
    Case("thinking-back", [OPENING, model(Thought("Hm."), CALL), Message.tool(RESULT)],
         [QUESTION, spoke("", call(id="call_1"), thinking="Hm."), WIRE_RESULT]),
    Case("thinking-left-out", [OPENING, model(Thought("Hm."), CALL), Message.tool(RESULT)],
         [QUESTION, spoke("", call(id="call_1")), WIRE_RESULT], allows="thinking-left-out"),
    Case("error-as-text",
         [*HELD_LOOP[:2], Message.tool(FAILURE)],
         [*LOOP[:2], {**WIRE_RESULT, "content": "no such bed"}], allows="no-error-flag"),
    Case("value-as-json-text", [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", READING))],
         [*LOOP[:2], {**WIRE_RESULT, "content": '{"percent": 41, "beds": ["3", null]}'}], allows="result-as-json-text"),
    Case("latest-tag", [OPENING], [QUESTION], wire={"model": MODEL}),
)  # fmt: skip

WRONG: tuple[Case, ...] = (
    Case("lost-text", [OPENING, model("41 %"), THANKS], [QUESTION, {"role": "user", "content": "Thanks"}],
         ("lost-text",)),
    Case("lost-call", HELD_LOOP, [QUESTION, spoke("Let me look."), WIRE_RESULT], ("lost-call",)),
    Case("lost-result", HELD_LOOP, LOOP[:2], ("lost-result",)),
    Case("changed-args", HELD_LOOP, [QUESTION, spoke("Let me look.", call("4", id="call_1")), WIRE_RESULT],
         ("changed-args",)),
    Case("results-swapped", [OPENING, model(CALL, WATER), Message.tool(RESULT, SECOND)],
         [QUESTION, spoke("", call(), call("4")), result("12 %"), result("41 %")], ("lost-result", "lost-result")),
    Case("failures-swapped", [OPENING, model(CALL, WATER), Message.tool(FAILURE, SECOND)],
         [QUESTION, spoke("", call(), call("4")), result("12 %"), result("no such bed")],
         ("lost-result", "lost-result")),
    Case("failure-of-another-call", [OPENING, model(CALL, WATER), Message.tool(FAILURE, SECOND)],
         [QUESTION, spoke("", call(id="call_1"), call("4", id="call_2")), result("no such bed", tool_call_id="call_2"),
          result("12 %", tool_call_id="call_2")], ("lost-result", "invented")),
    Case("lost-image", [user("What is it?", PNG)], [{"role": "user", "content": "What is it?"}], ("lost-attachment",)),
    Case("invented", [OPENING], [QUESTION, spoke("Well,")], ("invented",)),
    Case("lost-system", [OPENING], [QUESTION], ("system",), system="Be brief."),
    Case("lost-tool", [OPENING], [QUESTION], ("tools",), wire={"tools": []}),
)  # fmt: skip

DIFFERENCES = DifferenceKit(DIALECT, find_differences, RIGHT, WRONG, allows_all=False)
