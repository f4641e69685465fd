"""Conversations with the Interactions API, right and wrong ones."""

from __future__ import annotations

from turnproof.dialects.gemini_interactions import DIALECT
from turnproof.messages import FunctionCall, Message, Opaque, ProviderData, Thought, ToolResult, ToolSchema

from ..differences import Case, DifferenceKit, find_by, right_cases_of_items
from ..histories import CALL, HELD_LOOP, MARKED, OPENING, PDF, PNG, READING, RESULT, SENSOR, THANKS
from ..parts import code_run, model, user
from ..requests import Json
from .asks import Ask, world
from .asks import body as body_of
from .builders import CALLED, MODEL, OTHER, SIGNED, SIGNED_ELSEWHERE, call, function, result, text
from .builders import model as model_step
from .builders import thought as thought_step
from .builders import user as user_step

NAME = "gemini-interactions"
SCHEMA: Json = {"type": "object", "properties": {"bed": {"type": "string"}}}
WIRE_SENSOR = function(parameters=SCHEMA, description="Read one sensor")
WIRE_PNG: Json = {"type": "image", "data": "cG5n", "mime_type": "image/png"}
WIRE_PDF: Json = {"type": "document", "uri": "https://a/b.pdf", "mime_type": "application/pdf"}
WIRE_ASKED, WIRE_THANKS = user_step("How moist is bed 3?"), user_step("Thanks")
WIRE_LOOP: tuple[Json, ...] = (WIRE_ASKED, model_step("Let me look."), call(), result())


def thought(words: str = "", *, dialect: str = NAME, by: str = MODEL, signature: str = SIGNED) -> Thought:
    """A thought with what its issuer gave with it."""
    return Thought(words, provider_data=ProviderData(dialect, by, {"signature": signature}))


find_differences = find_by(DIALECT, MODEL, lambda case: Ask(body_of(*case.sent, **case.wire)), world)


THOUGHT = thought("Hm.")
SIGNED_LOOP: tuple[Message, ...] = (OPENING, model(THOUGHT, CALL), Message.tool(RESULT))


def answered(tool_result: ToolResult) -> tuple[Message, ...]:
    return (*HELD_LOOP[:2], Message.tool(tool_result))


RIGHT: tuple[Case, ...] = (
    *right_cases_of_items(user_step, model_step, call(), result()),
    Case("rewritten-name", [OPENING, model(FunctionCall("c", "garden/read", {})),
                            Message.tool(ToolResult("c", "garden/read", "1"))],
         [WIRE_ASKED, {**call("c", "garden_read"), "arguments": {}}, result("c", "1")],
         tools=[ToolSchema("garden/read", "", SCHEMA)], wire={"tools": [function("garden_read", SCHEMA)]},
         allows="legal-tool-names"),
    Case("another-id", HELD_LOOP, [*WIRE_LOOP[:2], call("own"), result("own")], allows="rewritten-call-ids"),
    Case("sorted-tools", [OPENING], [WIRE_ASKED], tools=[SENSOR, ToolSchema("a", "", SCHEMA)],
         wire={"tools": [function("a", SCHEMA), WIRE_SENSOR]}, allows="tool-order"),
    Case("no-parameters", [OPENING], [WIRE_ASKED], tools=[ToolSchema("a")],
         wire={"tools": [{"type": "function", "name": "a"}]}, allows="empty-schema-filled"),
    Case("tool-of-the-service", [OPENING], [WIRE_ASKED], tools=[SENSOR],
         wire={"tools": [WIRE_SENSOR, {"type": "google_search"}]}),
    Case("thought-back", SIGNED_LOOP, [WIRE_ASKED, thought_step(SIGNED, "Hm."), call(), result()]),
    Case("old-thought-left-out", [OPENING, model(THOUGHT, "41 %"), THANKS],
         [WIRE_ASKED, model_step("41 %"), WIRE_THANKS], allows="old-thoughts"),
    Case("thought-of-another-model-left-out", [OPENING, model(thought("Hm.", by=OTHER), CALL), Message.tool(RESULT)],
         [WIRE_ASKED, call(), result()], allows="foreign-thoughts"),
    Case("thought-of-another-api-told", [OPENING, model(thought("Hm.", dialect="gemini"), CALL), Message.tool(RESULT)],
         [WIRE_ASKED, model_step("<thinking>Hm.</thinking>"), call(), result()], allows="foreign-thoughts"),
    Case("thought-nobody-signed", [OPENING, model(Thought("Hm."), CALL), Message.tool(RESULT)],
         [WIRE_ASKED, call(), result()], allows="foreign-thoughts"),
    Case("summary-left-out", SIGNED_LOOP, [WIRE_ASKED, thought_step(), call(), result()], allows="summary-left-out"),
    Case("held-by-the-service",
         [user("How moist is bed 3?"), model(thought(), FunctionCall("call_signed", "read_sensor", {"bed": "3"})),
          Message.tool(ToolResult("call_signed", "read_sensor", "41 %"))],
         [result("call_signed")], wire={"previous_interaction_id": CALLED}, allows="held-by-the-service"),
    Case("foreign-block", [OPENING, model(Opaque("gemini", "odd", {"a": 1}), "41 %")],
         [WIRE_ASKED, model_step("41 %")], allows="foreign-opaque"),
    Case("code-of-another-api", [OPENING, model(*code_run("print(6 * 7)", "42"))],
         [WIRE_ASKED, model_step("```python\nprint(6 * 7)\n```"), model_step("42")], allows="foreign-code-as-text"),
    Case("json-result", answered(ToolResult("call_1", "read_sensor", READING)),
         [*WIRE_LOOP[:3], result(value='{"percent": 41, "ok": true, "beds": ["3", null]}')], allows="result-as-json"),
    Case("object-result", answered(ToolResult("call_1", "read_sensor", READING)),
         [*WIRE_LOOP[:3], result(value=READING)], allows="result-as-json"),
    Case("failed-result", answered(ToolResult("call_1", "read_sensor", "wet", is_error=True)),
         [*WIRE_LOOP[:3], result(value="wet", is_error=True)]),
    Case("image-in-the-result", answered(ToolResult("call_1", "read_sensor", "See:", attachments=(PNG,))),
         [*WIRE_LOOP[:3], result(value=[text("See:"), WIRE_PNG])]),
    Case("files-of-the-user", [user("See:", PNG, PDF)], [user_step("See:", WIRE_PNG, WIRE_PDF)]),
    Case("cache-mark", [MARKED], [WIRE_ASKED], allows="cache-marks"),
    Case("dangling-call-left-out", [OPENING, model("Let me look.", CALL), THANKS],
         [WIRE_ASKED, model_step("Let me look."), WIRE_THANKS], allows="repaired-dangling-call"),
    Case("instruction", [OPENING], [WIRE_ASKED], system="Be brief.", wire={"system_instruction": "Be brief."}),
    Case("later-instruction-in-front", [OPENING, model("41 %"), Message.system("Now in French."), THANKS],
         [WIRE_ASKED, model_step("41 %"), WIRE_THANKS], system="Be brief.",
         wire={"system_instruction": "Be brief.\n\nNow in French."}, allows="system-in-conversation"),
    Case("alias", [OPENING], [WIRE_ASKED], wire={"model": "gemini-flash-latest"}, model="gemini-3.6-flash",
         allows="model-alias"),
)  # fmt: skip

WRONG: tuple[Case, ...] = (
    Case("lost-text", [OPENING, model("41 %"), THANKS], [WIRE_ASKED, WIRE_THANKS], ("lost-text",)),
    Case("lost-call", HELD_LOOP, [WIRE_ASKED, model_step("Let me look."), WIRE_THANKS],
         ("lost-call", "lost-result", "invented")),
    Case("lost-result", HELD_LOOP, WIRE_LOOP[:3], ("lost-result",)),
    Case("changed-arguments", HELD_LOOP, [*WIRE_LOOP[:2], call(bed="4"), result()], ("changed-args",)),
    Case("another-result", HELD_LOOP, [*WIRE_LOOP[:3], result(value="12 %")], ("lost-result",)),
    Case("lost-thought", SIGNED_LOOP, [WIRE_ASKED, call(), result()], ("lost-signature",)),
    Case("lost-signature", SIGNED_LOOP, [WIRE_ASKED, thought_step(None, "Hm."), call(), result()],
         ("lost-signature",)),
    Case("another-signature", SIGNED_LOOP, [WIRE_ASKED, thought_step(SIGNED_ELSEWHERE, "Hm."), call(), result()],
         ("lost-signature",)),
    Case("forged-signature", [OPENING, model(Thought("Hm."), CALL), Message.tool(RESULT)],
         [WIRE_ASKED, thought_step(SIGNED_ELSEWHERE, "Hm."), call(), result()], ("invented",)),
    Case("lost-flag", answered(ToolResult("call_1", "read_sensor", "wet", is_error=True)),
         [*WIRE_LOOP[:3], result(value="wet")], ("lost-error-flag",)),
    Case("lost-image", [user("See:", PNG)], [user_step("See:")], ("lost-attachment",)),
    Case("lost-system", [OPENING], [WIRE_ASKED], ("system",), system="Be brief."),
    Case("lost-tool", [OPENING], [WIRE_ASKED], ("tools",), tools=[SENSOR]),
    Case("said-twice", [OPENING, model("41 %"), THANKS],
         [WIRE_ASKED, model_step("41 %"), WIRE_ASKED, model_step("41 %"), WIRE_THANKS], ("invented", "invented")),
    Case("all-of-it-beside-the-chain",
         [user("How moist is bed 3?"), model(thought(), FunctionCall("call_signed", "read_sensor", {"bed": "3"})),
          Message.tool(ToolResult("call_signed", "read_sensor", "41 %"))],
         [WIRE_ASKED, thought_step(), call("call_signed"), result("call_signed")],
         ("invented", "invented", "invented"), wire={"previous_interaction_id": CALLED}),
)  # fmt: skip

UNLISTED: tuple[Case, ...] = (
    Case("thought-left-out-before-a-text", [OPENING, model(THOUGHT, "41 %")], [WIRE_ASKED, model_step("41 %")],
         ("unlisted",)),
    Case("another-summary", SIGNED_LOOP, [WIRE_ASKED, thought_step(SIGNED, "Ah."), call(), result()], ("unlisted",)),
    Case("another-model", [OPENING], [WIRE_ASKED], ("unlisted",), wire={"model": OTHER}),
)  # fmt: skip

DIFFERENCES = DifferenceKit(
    DIALECT, find_differences, RIGHT, WRONG, UNLISTED, wire_turn=(user_step, model_step)
)  # fmt: skip
