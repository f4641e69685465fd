"""Conversations with the Responses API, right and wrong ones."""

from __future__ import annotations

from typing import Any

from turnproof.dialects.openai_responses import DIALECT
from turnproof.messages import FunctionCall, Message, Opaque, ProviderData, Text, Thought, ToolResult, ToolSchema

from ..differences import Case, DifferenceKit, find_by, right_cases_of_items
from ..histories import CALL, HELD_LOOP, MARKED, OPENING, PNG, READING, RESULT, THANKS
from ..parts import code_run, model, user
from ..requests import Json
from .asks import Ask, world
from .asks import body as body_of
from .builders import MODEL, OTHER, RESPONSE, SEALED, SEALED_ELSEWHERE, assistant, call, function, output
from .builders import reasoning as reasoning_item
from .builders import user as user_item

NAME = "openai-responses"

SCHEMA: Json = {"type": "object", "properties": {"bed": {"type": "string"}}, "required": ["bed"]}
SENSOR = ToolSchema("read_sensor", "Read one sensor", SCHEMA)
WIRE_SENSOR = function(parameters=SCHEMA, description="Read one sensor")
WIRE_PNG: Json = {"type": "input_image", "image_url": "data:image/png;base64,cG5n"}

END = "</system-reminder>"
ANNOUNCED = "<system-reminder>An image file is presented to you with the identifier [4404ae0b].</system-reminder>"
LISTED = "<system-reminder>The pictures and their identifiers are listed as follows:"

WIRE_ASKED, WIRE_THANKS = user_item("How moist is bed 3?"), user_item("Thanks")
WIRE_LOOP: tuple[Json, ...] = (WIRE_ASKED, assistant("Let me look."), call(), output())


def thought(text: str = "", *, dialect: str = NAME, by: str = MODEL, **data: str) -> Thought:
    """A thought with what its issuer gave with it: sealed content, unless something else is said."""
    return Thought(text, provider_data=ProviderData(dialect, by, data or {"encrypted": SEALED}))


SEALED_THOUGHT = thought("Hm.", id="rs_1", encrypted=SEALED)
OWN_CALL = FunctionCall("call_1", "read_sensor", {"bed": "3"}, provider_data=ProviderData(NAME, MODEL, {"id": "fc_1"}))
OWN_TEXT = Text("41 %", provider_data=ProviderData(NAME, MODEL, {"item": "msg_1", "phase": "final_answer"}))
WIRE_THOUGHT = reasoning_item("rs_1", SEALED, summary=[{"type": "summary_text", "text": "Hm."}])


find_differences = find_by(DIALECT, MODEL, lambda case: Ask(body_of(*case.sent, **case.wire)), world)


def opened(*, closed: bool = False, **properties: Any) -> Json:
    """An object schema; `closed` as a strict tool has it."""
    found: Json = {"type": "object", "properties": properties}
    return found | {"required": list(properties), "additionalProperties": False} if closed else found


LONG = "call_" + "x" * 80
OPTIONAL = ToolSchema("read_sensor", "", opened(bed={"type": "string"}, row=opened(n={"type": "integer"})))
STRICT = opened(
    closed=True, bed={"type": ["string", "null"]},
    row={"anyOf": [opened(closed=True, n={"type": "integer"}), {"type": "null"}]},
)  # fmt: skip

RIGHT: tuple[Case, ...] = (
    *right_cases_of_items(user_item, assistant, call(), output()),
    Case("empty-model-message", [OPENING, model(), THANKS], [WIRE_ASKED, WIRE_THANKS], allows="blank-text"),
    Case("rewritten-name", [OPENING, model(FunctionCall("c", "garden.read", {})),
                            Message.tool(ToolResult("c", "garden.read", "1"))],
         [WIRE_ASKED, call("c", "garden_read", "{}"), output("c", "1")],
         tools=[ToolSchema("garden.read", "", opened())], wire={"tools": [function("garden_read", opened())]},
         allows="legal-tool-names"),
    Case("shortened-id", [OPENING, model(FunctionCall(LONG, "read_sensor", {"bed": "3"})),
                          Message.tool(ToolResult(LONG, "read_sensor", "41 %"))],
         [WIRE_ASKED, call(LONG[:64]), output(LONG[:64])], allows="legal-call-ids"),
    Case("needlessly-another-id", HELD_LOOP, [*WIRE_LOOP[:2], call("fc_9"), output("fc_9")], allows="legal-call-ids"),
    Case("sorted-tools", [OPENING], [WIRE_ASKED], tools=[SENSOR, ToolSchema("a", "", opened())],
         wire={"tools": [function("a", opened()), WIRE_SENSOR]}, allows="tool-order"),
    Case("no-parameters", [OPENING], [WIRE_ASKED], tools=[ToolSchema("a")],
         wire={"tools": [{"type": "function", "name": "a", "parameters": None}]}, allows="empty-schema-filled"),
    Case("strict-tool", [OPENING], [WIRE_ASKED], tools=[OPTIONAL],
         wire={"tools": [function(parameters=STRICT, strict=True)]}, allows="strict-schema"),
    Case("reasoning-back", [OPENING, model(SEALED_THOUGHT, CALL), Message.tool(RESULT)],
         [WIRE_ASKED, WIRE_THOUGHT, call(id="fc_1"), output()]),
    Case("old-reasoning-left-out", [OPENING, model(SEALED_THOUGHT, "41 %"), THANKS],
         [WIRE_ASKED, assistant("41 %"), WIRE_THANKS], allows="old-reasoning"),
    Case("reasoning-of-another-model-left-out", [OPENING, model(thought("Hm.", by=OTHER), CALL), Message.tool(RESULT)],
         [WIRE_ASKED, call(), output()], allows="foreign-reasoning"),
    Case("reasoning-of-another-api-told", [OPENING, model(thought("Hm.", dialect="gemini"), CALL),
         Message.tool(RESULT)],
         [WIRE_ASKED, assistant("<thinking>Hm.</thinking>"), call(), output()], allows="foreign-reasoning"),
    Case("reasoning-nobody-sealed", [OPENING, model(Thought("Hm."), CALL), Message.tool(RESULT)],
         [WIRE_ASKED, call(), output()], allows="foreign-reasoning"),
    Case("summary-left-out", [OPENING, model(SEALED_THOUGHT, CALL), Message.tool(RESULT)],
         [WIRE_ASKED, reasoning_item("rs_1", SEALED), call(), output()], allows="summary-left-out"),
    Case("reasoning-by-its-id", [OPENING, model(SEALED_THOUGHT, CALL), Message.tool(RESULT)],
         [WIRE_ASKED, reasoning_item("rs_stored", None), call(), output()],
         allows="reasoning-by-id"),
    Case("old-reasoning-left-out-beside-ids-of-the-clients-own", [OPENING, model(SEALED_THOUGHT, "41 %"), THANKS],
         [WIRE_ASKED, assistant("41 %", id="msg_made_up"), WIRE_THANKS], allows="old-reasoning"),
    Case("image-beside-the-output",
         [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", "See:", attachments=(PNG,)))],
         [*WIRE_LOOP[:3], output(value="See:"), user_item(WIRE_PNG)], allows="attachments-beside-results"),
    Case("image-beside-the-output-in-a-frame-of-words",
         [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", "See:", attachments=(PNG,)))],
         [*WIRE_LOOP[:3], output(value="See:"), user_item(LISTED, "- ec33c79b (image file):", WIRE_PNG, END)],
         allows="attachments-beside-results"),
    Case("image-that-the-output-announces",
         [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", "See:", attachments=(PNG,)))],
         [*WIRE_LOOP[:3], output(value=f"See:\n{ANNOUNCED}"), user_item(WIRE_PNG)],
         allows="attachments-beside-results"),
    Case("image-that-a-json-output-announces",
         [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", READING, attachments=(PNG,)))],
         [*WIRE_LOOP[:3], output(value='(an image follows)\n{"percent": 41, "ok": true, "beds": ["3", null]}'),
          user_item(WIRE_PNG)], allows="attachments-beside-results"),
    Case("ids-left-out", [OPENING, model(SEALED_THOUGHT, OWN_TEXT), THANKS],
         [WIRE_ASKED, assistant("41 %"), WIRE_THANKS], allows="item-ids"),
    Case("held-by-the-service",
         [user("How moist is bed 3?"),
          model(thought(id="rs_stored", encrypted=SEALED), FunctionCall("call_s", "read_sensor", {"bed": "3"})),
          Message.tool(ToolResult("call_s", "read_sensor", "41 %"))],
         [output("call_s")], wire={"previous_response_id": RESPONSE}, allows="held-by-the-service"),
    Case("foreign-block", [OPENING, model(Opaque("gemini", "odd", {"a": 1}), "41 %")],
         [WIRE_ASKED, assistant("41 %")], allows="foreign-opaque"),
    Case("code-of-another-api",
         [OPENING, model(*code_run("print(6 * 7)", "42"))],
         [WIRE_ASKED, assistant("```python\nprint(6 * 7)\n```"), assistant("42")], allows="foreign-code-as-text"),
    Case("json-result", [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", READING))],
         [*WIRE_LOOP[:3], output(value='{"percent": 41, "ok": true, "beds": ["3", null]}')],
         allows="result-as-json-text"),
    Case("empty-result", [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", None))],
         [*WIRE_LOOP[:3], output(value="")], allows="result-as-json-text"),
    Case("error-as-it-is", [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", "wet", is_error=True))],
         [*WIRE_LOOP[:3], output(value="wet")], allows="errors-as-text"),
    Case("error-in-words", [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", "wet", is_error=True))],
         [*WIRE_LOOP[:3], output(value="Error: wet")], allows="errors-as-text"),
    Case("image-in-the-output",
         [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", "See:", attachments=(PNG,)))],
         [*WIRE_LOOP[:3], output(value=[{"type": "input_text", "text": "See:"}, WIRE_PNG])]),
    Case("image-of-the-user", [user("See:", PNG)], [user_item("See:", WIRE_PNG)]),
    Case("dangling-call-left-out", [OPENING, model("Let me look.", CALL), THANKS],
         [WIRE_ASKED, assistant("Let me look."), WIRE_THANKS], allows="repaired-dangling-call"),
    Case("instructions", [OPENING], [WIRE_ASKED], system="Be brief.", wire={"instructions": "Be brief."}),
    Case("instructions-as-developer", [OPENING], [{"role": "developer", "content": "Be brief."}, WIRE_ASKED],
         system="Be brief.", allows="system-in-conversation"),
    Case("later-instruction", [OPENING, model("41 %"), Message.system("Now in French."), THANKS],
         [WIRE_ASKED, assistant("41 %"), {"role": "system", "content": "Now in French."}, WIRE_THANKS],
         allows="system-in-conversation"),
    Case("later-instruction-in-front", [OPENING, model("41 %"), Message.system("Now in French."), THANKS],
         [WIRE_ASKED, assistant("41 %"), WIRE_THANKS], system="Be brief.",
         wire={"instructions": "Be brief.\n\nNow in French."}, allows="system-in-conversation"),
    Case("dated-model", [OPENING], [WIRE_ASKED], wire={"model": "gpt-5-2025-08-07"}, allows="dated-model"),
    Case("tool-of-the-service", [OPENING], [WIRE_ASKED], tools=[SENSOR],
         wire={"tools": [WIRE_SENSOR, {"type": "web_search"}]}),
    Case("marks-of-breakpoints", [MARKED], [WIRE_ASKED],
         allows="cache-marks"),
)  # fmt: skip

WRONG: tuple[Case, ...] = (
    Case("lost-text", [OPENING, model("41 %"), THANKS], [WIRE_ASKED, WIRE_THANKS], ("lost-text",)),
    Case("changed-text", [OPENING], [user_item("How moist is bed 4?")], ("lost-text",)),
    Case("lost-call", HELD_LOOP, [*WIRE_LOOP[:2], output()], ("lost-call",)),
    Case("lost-result", HELD_LOOP, WIRE_LOOP[:3], ("lost-result",)),
    Case("changed-result", HELD_LOOP, [*WIRE_LOOP[:3], output(value="14 %")], ("lost-result",)),
    Case("changed-arguments", HELD_LOOP, [*WIRE_LOOP[:2], call(arguments='{"bed":3}'), output()], ("changed-args",)),
    Case("broken-arguments", HELD_LOOP, [*WIRE_LOOP[:2], call(arguments='{"bed":'), output()], ("changed-args",)),
    Case("swapped-results",
         [OPENING, model(FunctionCall("a", "f"), FunctionCall("b", "f")),
          Message.tool(ToolResult("a", "f", "one"), ToolResult("b", "f", "two"))],
         [WIRE_ASKED, call("a", "f", "{}"), call("b", "f", "{}"), output("a", "two"), output("b", "one")],
         ("lost-result", "lost-result")),
    Case("order", [OPENING, model("41 %"), THANKS], [WIRE_THANKS, assistant("41 %"), WIRE_ASKED], ("order", "order")),
    Case("invented-text", [OPENING], [WIRE_ASKED, assistant("I am quite sure of it, believe me.")], ("invented",)),
    Case("lost-image", [user("See:", PNG)], [user_item("See:")], ("lost-attachment",)),
    Case("lost-text-of-a-result-that-announces-its-image",
         [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", "See:", attachments=(PNG,)))],
         [*WIRE_LOOP[:3], output(value=ANNOUNCED), user_item(WIRE_PNG)], ("lost-result",)),
    Case("lost-image-of-a-result",
         [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", "See:", attachments=(PNG,)))],
         [*WIRE_LOOP[:3], output(value="See:")], ("lost-attachment",)),
    Case("invented-text-beside-an-image-of-a-result",
         [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", "See:", attachments=(PNG,)))],
         [*WIRE_LOOP[:3], output(value="See:"), user_item(LISTED, "Water it again. " * 9, WIRE_PNG, END)],
         ("invented", "invented")),
    Case("words-beside-an-image-of-a-result-behind-a-tag-that-is-open",
         [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", "See:", attachments=(PNG,)))],
         [*WIRE_LOOP[:3], output(value="See:"), user_item(LISTED, WIRE_PNG)], ("invented",)),
    Case("lost-own-block", [OPENING, model(Opaque(NAME, "web_search_call", {"id": "ws_1"}), "41 %")],
         [WIRE_ASKED, assistant("41 %")], ("lost-attachment",)),
    Case("reasoning-left-out-before-its-call", [OPENING, model(SEALED_THOUGHT, OWN_CALL), Message.tool(RESULT)],
         [WIRE_ASKED, call(id="fc_1"), output()], ("lost-signature",)),
    Case("reasoning-left-out-before-its-message", [OPENING, model(SEALED_THOUGHT, OWN_TEXT), THANKS],
         [WIRE_ASKED, assistant("41 %", id="msg_1"), WIRE_THANKS], ("lost-signature",)),
    Case("reasoning-altered", [OPENING, model(SEALED_THOUGHT, CALL), Message.tool(RESULT)],
         [WIRE_ASKED, WIRE_THOUGHT | {"encrypted_content": SEALED_ELSEWHERE}, call(), output()], ("lost-signature",)),
    Case("reasoning-emptied", [OPENING, model(SEALED_THOUGHT, CALL), Message.tool(RESULT)],
         [WIRE_ASKED, reasoning_item(None, None, summary=[{"type": "summary_text", "text": "Hm."}]), call(), output()],
         ("lost-signature",)),
    Case("reasoning-of-another-model-sealed-anew", [OPENING, model(thought("Hm.", by=OTHER), "41 %"), THANKS],
         [WIRE_ASKED, WIRE_THOUGHT | {"encrypted_content": SEALED_ELSEWHERE}, assistant("41 %"), WIRE_THANKS],
         ("invented",)),
    Case("reasoning-invented", [OPENING, model("41 %"), THANKS],
         [WIRE_ASKED, reasoning_item("rs_1", SEALED), assistant("41 %"), WIRE_THANKS], ("invented",)),
    Case("no-instructions", [OPENING], [WIRE_ASKED], ("system",), system="Be brief."),
    Case("changed-instructions", [OPENING], [WIRE_ASKED], ("system",), system="Be brief.",
         wire={"instructions": "Talk."}),
    Case("lost-tool", [OPENING], [WIRE_ASKED], ("tools",), tools=[SENSOR]),
    Case("invented-tool", [OPENING], [WIRE_ASKED], ("tools",), wire={"tools": [WIRE_SENSOR]}),
    Case("lost-parameter", [OPENING], [WIRE_ASKED], ("tools",), tools=[SENSOR],
         wire={"tools": [WIRE_SENSOR | {"parameters": opened()}]}),
    Case("type-changed-by-a-strict-tool", [OPENING], [WIRE_ASKED], ("tools",), tools=[SENSOR],
         wire={"tools": [function(parameters=opened(closed=True, bed={"type": "integer"}),
                                  description="Read one sensor")]}),
)  # fmt: skip

UNLISTED: tuple[Case, ...] = (
    Case("reasoning-of-the-running-loop-left-out", [OPENING, model(SEALED_THOUGHT, OWN_CALL), Message.tool(RESULT)],
         [WIRE_ASKED, call(), output()], ("unlisted",)),
    Case("summary-retold", [OPENING, model(SEALED_THOUGHT, CALL), Message.tool(RESULT)],
         [WIRE_ASKED, WIRE_THOUGHT | {"summary": [{"type": "summary_text", "text": "Well."}]}, call(), output()],
         ("unlisted",)),
    Case("another-model", [OPENING], [WIRE_ASKED], ("unlisted",), wire={"model": OTHER}),
    Case("extra-tool-under-force", [OPENING], [WIRE_ASKED], ("unlisted",),
         wire={"tools": [WIRE_SENSOR], "tool_choice": "required"}),
)  # fmt: skip

DIFFERENCES = DifferenceKit(DIALECT, find_differences, RIGHT, WRONG, UNLISTED, wire_turn=(user_item, assistant))
