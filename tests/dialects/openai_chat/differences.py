"""Conversations with the chat completions API, right and wrong ones."""

from __future__ import annotations

from typing import Any

from turnproof.dialects.openai_chat import DIALECT
from turnproof.messages import FunctionCall, Message, Opaque, ProviderData, Text, Thought, ToolResult, ToolSchema

from ..differences import Case, DifferenceKit, find_by
from ..histories import CALL, HELD_LOOP, MARKED, OPENING, READING, RESULT, SENSOR, THANKS
from ..parts import code_run, inline, linked, model, user
from ..requests import Json
from .asks import Ask, body, world
from .builders import MODEL, PNG, assistant, call, image, result
from .builders import system as system_message
from .builders import tool as wire_tool
from .builders import user as user_message

NAME = "openai-chat"

OTHER = FunctionCall("call_2", "read_sensor", {"bed": "4"})
NINE = ToolResult("call_2", "read_sensor", "9")
PICTURE = inline(b"\x89PNG\r\n\x1a\n")
LONG = "call_" + "x" * 60

WIRE_ASKED, WIRE_THANKS = user_message("How moist is bed 3?"), user_message("Thanks")
WIRE_LOOP: tuple[Json, ...] = (WIRE_ASKED, assistant("Let me look.", call()), result())
WIRE_OTHER = call("call_2", arguments='{"bed": "4"}')


find_differences = find_by(DIALECT, MODEL, lambda case: Ask(body(*case.sent, **case.wire)), world)


def thought(text: str, dialect: str = NAME, **data: str) -> Thought:
    return Thought(text, provider_data=ProviderData(dialect, MODEL, data) if data else None)


def answered(tool_result: ToolResult, content: Any) -> tuple[list[Message], list[Json]]:
    """A loop that ends with this result, held and sent."""
    return [OPENING, model(CALL), Message.tool(tool_result)], [
        WIRE_ASKED,
        assistant(None, call()),
        result(content=content),
    ]


def loop_case(name: str, tool_result: ToolResult, content: Any, *expect: str, allows: str = "") -> Case:
    return Case(name, *answered(tool_result, content), expect, allows=allows)


_CLOSED: Json = {
    "type": "object", "properties": {"bed": {"type": ["string", "null"]}}, "required": ["bed"],
    "additionalProperties": False,
}  # fmt: skip
_BED: Json = {"type": "object", "properties": {"bed": {"type": "string"}}}
_NULLABLE: Json = {"type": "object", "properties": {"bed": {"type": "string", "nullable": True}}}


def _annulled(**more: list[str]) -> Json:
    bed = {"type": "string", "description": "The bed; never null, or the order is annulled."}
    return {"type": "object", "properties": {"bed": bed}, **more}


_ANNULLED = ToolSchema("read_sensor", SENSOR.description, _annulled())
_ATTACHED = ToolResult("call_1", "read_sensor", "See the picture.", attachments=(PICTURE,))
_PYTHON, _GAVE = code_run("print(41)", "41\n", outcome="OK", by=ProviderData("gemini", "g", {}))

RIGHT: tuple[Case, ...] = (
    Case("plain", [OPENING, model("41 %"), THANKS], [WIRE_ASKED, assistant("41 %"), WIRE_THANKS]),
    Case("loop", HELD_LOOP, WIRE_LOOP, tools=[SENSOR], wire={"tools": [wire_tool()]}),
    Case("instructions", [OPENING], [system_message("Be brief."), WIRE_ASKED], system="Be brief."),
    Case("as-developer", [OPENING], [system_message("Be brief.", "developer"), WIRE_ASKED], system=Text("Be brief."),
         allows="instructions-role"),
    Case("merged-users", [OPENING, THANKS], [user_message("How moist is bed 3?\n\nThanks")], allows="merged-roles"),
    Case("split-users", [user("How moist is bed 3?", "Thanks")], [WIRE_ASKED, WIRE_THANKS], allows="merged-roles"),
    Case("results-before-what-is-said", [*HELD_LOOP[:2], THANKS, Message.tool(RESULT)], [*WIRE_LOOP, WIRE_THANKS],
         allows="results-first"),
    Case("blocks", [user("How moist ", "is bed 3?")],
         [user_message([{"type": "text", "text": "How moist "}, {"type": "text", "text": "is bed 3?"}])]),
    Case("joined-blocks", [user("How moist ", "is bed 3?")], [WIRE_ASKED], allows="joined-text"),
    Case("dangling-call-answered", [OPENING, model(CALL), THANKS],
         [WIRE_ASKED, assistant(None, call()), result(content="Error: no result, it was not called."), WIRE_THANKS]),
    Case("text-behind-a-call", [OPENING, model(CALL, "One moment."), Message.tool(RESULT)],
         [WIRE_ASKED, assistant("One moment.", call()), result()], allows="text-before-calls"),
    Case("no-content-beside-calls", [OPENING, model("", CALL), Message.tool(RESULT)],
         [WIRE_ASKED, assistant(None, call()), result()], allows="blank-text"),
    Case("parallel-results", [OPENING, model(CALL, OTHER), Message.tool(RESULT, NINE)],
         [WIRE_ASKED, assistant(None, call(), WIRE_OTHER), result(), result("call_2", "9")]),
    Case("legal-names",
         [OPENING, model(FunctionCall("call_1", "mcp.read", {})), Message.tool(ToolResult("call_1", "mcp.read", "1"))],
         [WIRE_ASKED, assistant(None, call(name="mcp_read", arguments="{}")), result(content="1")],
         tools=[ToolSchema("mcp.read", "Read one sensor", {"type": "object", "properties": {}})],
         wire={"tools": [wire_tool("mcp_read", {"type": "object", "properties": {}})]}, allows="legal-tool-names"),
    Case("short-ids", [OPENING, model(FunctionCall(LONG, "read_sensor", {"bed": "3"})),
                       Message.tool(ToolResult(LONG, "read_sensor", "41 %"))],
         [WIRE_ASKED, assistant(None, call()), result()], allows="short-call-ids"),
    Case("changed-legal-id", HELD_LOOP, [WIRE_ASKED, assistant("Let me look.", call("c_9")), result("c_9")],
         allows="short-call-ids"),
    Case("tools-in-another-order", [OPENING], [WIRE_ASKED], tools=[SENSOR, ToolSchema("water", "Read one sensor")],
         wire={"tools": [wire_tool("water", {}), wire_tool()]}, allows="tool-order"),
    Case("optional-marked-as-nullable", [OPENING], [WIRE_ASKED], tools=[SENSOR],
         wire={"tools": [wire_tool(parameters=_NULLABLE)]}),
    Case("empty-schema", [OPENING], [WIRE_ASKED], tools=[ToolSchema("water", "Read one sensor")],
         wire={"tools": [wire_tool("water", {"type": "object", "properties": {}})]}, allows="empty-schema-filled"),
    Case("strict-schema", [OPENING], [WIRE_ASKED], tools=[SENSOR],
         wire={"tools": [wire_tool(parameters=_CLOSED, strict=True)]}, allows="strict-schema"),
    Case("no-thinking", [OPENING, model(thought("Hm."), "41 %"), THANKS],
         [WIRE_ASKED, assistant("41 %"), WIRE_THANKS], allows="thinking-left-out"),
    Case("thinking-back", [OPENING, model(thought("Hm."), "41 %"), THANKS],
         [WIRE_ASKED, assistant("41 %", reasoning_content="Hm."), WIRE_THANKS]),
    Case("sealed-thinking-back", [OPENING, model(thought("Hm.", encrypted="c2VhbA=="), "41 %"), THANKS],
         [WIRE_ASKED, assistant("41 %", reasoning_text="Hm.", reasoning_opaque="c2VhbA=="), WIRE_THANKS]),
    Case("thoughts-as-one", [OPENING, model(thought("Hm. "), thought("Bed 3."), "41 %"), THANKS],
         [WIRE_ASKED, assistant("41 %", reasoning_content="Hm. Bed 3."), WIRE_THANKS], allows="thinking-joined"),
    Case("foreign-thinking-tagged", [OPENING, model(thought("Hm.", "gemini", signature="x"), "41 %"), THANKS],
         [WIRE_ASKED, assistant("<thinking>Hm.</thinking>\n41 %"), WIRE_THANKS], allows="foreign-thinking"),
    Case("foreign-block", [OPENING, model(Opaque("gemini", "toolCall", {"a": 1}), "41 %"), THANKS],
         [WIRE_ASKED, assistant("41 %"), WIRE_THANKS], allows="foreign-opaque"),
    Case("foreign-code", [OPENING, model(_PYTHON, _GAVE, "It is 41."), THANKS],
         [WIRE_ASKED, assistant("```python\nprint(41)\n```\n\n```\n41\n```\n\nIt is 41."), WIRE_THANKS],
         allows="foreign-code-as-text"),
    loop_case("value-as-json", ToolResult("call_1", "read_sensor", READING),
              '{"percent":41,"ok":true,"beds":["3",null]}', allows="result-as-json-text"),
    loop_case("empty-result", ToolResult("call_1", "read_sensor", None), "", allows="result-as-json-text"),
    loop_case("failure-as-it-is", ToolResult("call_1", "read_sensor", "no such bed", is_error=True), "no such bed",
              allows="error-in-words"),
    loop_case("failure-in-more-words", ToolResult("call_1", "read_sensor", "no such bed", is_error=True),
              "Error: no such bed", allows="error-in-words"),
    loop_case("failure-in-an-object", ToolResult("call_1", "read_sensor", {"reason": "gone"}, is_error=True),
              '{"error": {"reason": "gone"}}', allows="error-in-words"),
    loop_case("attached-inside", _ATTACHED, [{"type": "text", "text": "See the picture."}, image(PNG)]),
    Case("attached-beside", [OPENING, model(CALL), Message.tool(_ATTACHED)],
         [WIRE_ASKED, assistant(None, call()), result(content="See the picture."),
          user_message([{"type": "text", "text": "The picture of call_1:"}, image(PNG)])],
         allows="attachments-beside-results"),
    Case("picture", [user("What is this?", PICTURE)],
         [user_message([{"type": "text", "text": "What is this?"}, image(PNG)])]),
    Case("picture-elsewhere", [user(linked("https://garden.example/a.png"))],
         [user_message([image("https://garden.example/a.png")])]),
    Case("marks", [MARKED], [WIRE_ASKED], allows="cache-marks"),
    Case("dangling-left-out", [OPENING, model("Let me look.", CALL), THANKS],
         [WIRE_ASKED, assistant("Let me look."), WIRE_THANKS], allows="repaired-dangling-call"),
    Case("orphan-left-out", [OPENING, Message.tool(RESULT), THANKS], [WIRE_ASKED, WIRE_THANKS],
         allows="repaired-dangling-call"),
    Case("instruction-in-its-place", [OPENING, model("41 %"), Message.system("Be brief."), THANKS],
         [WIRE_ASKED, assistant("41 %"), system_message("Be brief."), WIRE_THANKS], allows="system-in-conversation"),
    Case("instruction-in-front", [OPENING, model("41 %"), Message.system("Be brief."), THANKS],
         [system_message("Be brief."), WIRE_ASKED, assistant("41 %"), WIRE_THANKS], allows="system-in-conversation"),
    Case("instruction-tagged", [OPENING, model("41 %"), Message.system("Be brief."), THANKS],
         [WIRE_ASKED, assistant("41 %"), user_message("<system>Be brief.</system>\nThanks")],
         allows="system-in-conversation"),
    Case("dated-model", [OPENING], [WIRE_ASKED], wire={"model": "gpt-4o-2024-08-06"}, allows="dated-model"),
)  # fmt: skip

WRONG: tuple[Case, ...] = (
    Case("lost-text", [OPENING, model("41 %"), THANKS], [WIRE_ASKED, WIRE_THANKS], ("lost-text",)),
    Case("lost-text-beside-a-call", HELD_LOOP, [WIRE_ASKED, assistant(None, call()), result()], ("lost-text",)),
    Case("changed-text", [OPENING], [user_message("How dry is bed 3?")], ("lost-text",)),
    Case("lost-message", [OPENING, model("41 %"), THANKS], [WIRE_ASKED, assistant("41 %")], ("lost-text",)),
    Case("lost-instructions", [OPENING], [WIRE_ASKED], ("system",), system="Be brief."),
    Case("invented-instructions", [OPENING], [system_message("Be rude."), WIRE_ASKED], ("system",)),
    Case("lost-later-instruction", [OPENING, model("41 %"), Message.system("Be brief."), THANKS],
         [WIRE_ASKED, assistant("41 %"), WIRE_THANKS], ("system",)),
    Case("invented-text", [OPENING], [WIRE_ASKED, user_message("And what about everything else?")], ("invented",)),
    Case("lost-call", [OPENING, model(CALL, OTHER), Message.tool(RESULT, NINE)],
         [WIRE_ASKED, assistant(None, call()), result(), result("call_2", "9")], ("lost-call",)),
    Case("lost-result", [OPENING, model(CALL, OTHER), Message.tool(RESULT, NINE)],
         [WIRE_ASKED, assistant(None, call(), WIRE_OTHER), result()], ("lost-result",)),
    Case("changed-arguments", HELD_LOOP,
         [WIRE_ASKED, assistant("Let me look.", call(arguments='{"bed": "4"}')), result()], ("changed-args",)),
    Case("arguments-that-are-no-json", HELD_LOOP,
         [WIRE_ASKED, assistant("Let me look.", call(arguments='{"bed"')), result()], ("changed-args",)),
    Case("changed-name", HELD_LOOP, [WIRE_ASKED, assistant("Let me look.", call(name="water")), result()],
         ("lost-call",)),
    loop_case("changed-result", RESULT, "42 %", "lost-result"),
    loop_case("lost-value", ToolResult("call_1", "read_sensor", READING), '{"ok":true}', "lost-result"),
    loop_case("lost-failure", ToolResult("call_1", "read_sensor", "no such bed", is_error=True), "ok", "lost-result"),
    loop_case("lost-attachment", _ATTACHED, "See the picture.", "lost-attachment"),
    Case("lost-picture", [user("What is this?", PICTURE)], [user_message("What is this?")], ("lost-attachment",)),
    Case("results-in-another-order", [OPENING, model(CALL, OTHER), Message.tool(RESULT, NINE)],
         [WIRE_ASKED, assistant(None, call(), WIRE_OTHER), result("call_2", "9"), result()], ("order",)),
    Case("order", [user("One."), model("Two."), user("Three."), model("Four."), THANKS],
         [user_message("Three."), assistant("Two."), user_message("One."), assistant("Four."), WIRE_THANKS],
         ("order", "order")),
    Case("invented-seal", [OPENING, model(thought("Hm."), "41 %"), THANKS],
         [WIRE_ASKED, assistant("41 %", reasoning_text="Hm.", reasoning_opaque="c2VhbA=="), WIRE_THANKS],
         ("invented",)),
    Case("invented-result", [OPENING, model("41 %"), THANKS],
         [WIRE_ASKED, assistant("41 %", call()), result(), WIRE_THANKS], ("invented", "invented")),
    Case("lost-tool", [OPENING], [WIRE_ASKED], ("tools",), tools=[SENSOR]),
    Case("invented-tool", [OPENING], [WIRE_ASKED], ("tools",), wire={"tools": [wire_tool()]}),
    Case("parameter-demanded", [OPENING], [WIRE_ASKED], ("tools",), tools=[SENSOR],
         wire={"tools": [wire_tool(parameters=_BED | {"required": ["bed"]})]}),
    Case("parameter-demanded-that-speaks-of-null", [OPENING], [WIRE_ASKED], ("tools",), tools=[_ANNULLED],
         wire={"tools": [wire_tool(parameters=_annulled(required=["bed"]))]}),
    Case("lost-parameter", [OPENING], [WIRE_ASKED], ("tools",), tools=[SENSOR],
         wire={"tools": [wire_tool(parameters={"type": "object", "properties": {}})]}),
    Case("long-text-beside-an-attachment", [OPENING, model(CALL), Message.tool(_ATTACHED)],
         [WIRE_ASKED, assistant(None, call()), result(content="See the picture."),
          user_message([{"type": "text", "text": "And I also want to know about all the others. " * 2}, image(PNG)])],
         ("invented",)),
)  # fmt: skip

UNLISTED: tuple[Case, ...] = (
    Case("forced-tool-of-the-adapter", [OPENING], [WIRE_ASKED], ("unlisted",),
         wire={"tools": [wire_tool("answer")], "tool_choice": "required"}),
    Case("other-model", [OPENING], [WIRE_ASKED], ("unlisted",), wire={"model": "gpt-4o-mini"}),
    loop_case("good-result-in-more-words", RESULT, "Result: 41 %", "unlisted"),
)  # fmt: skip

DIFFERENCES = DifferenceKit(DIALECT, find_differences, RIGHT, WRONG, UNLISTED, wire_turn=(user_message, assistant))
