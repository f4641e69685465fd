"""Conversations with the Messages API, right and wrong ones."""

from __future__ import annotations

from turnproof.dialects.anthropic_messages import DIALECT
from turnproof.messages import FunctionCall, Message, Opaque, ProviderData, Text, Thought, ToolResult, ToolSchema

from ..differences import Case, DifferenceKit, find_by
from ..histories import CALL, HELD_LOOP, OPENING, PDF, PNG, READING, RESULT, SENSOR, THANKS
from ..parts import code_run, inline, model, user
from ..requests import Json
from .asks import Ask, body, world
from .builders import MODEL, SIGNATURE, THINKING, THOUGHT, assistant, call, image, mark, result, text
from .builders import system as system_message
from .builders import thinking as thinking_block
from .builders import user as user_message

NAME = "anthropic-messages"

SIGNED = Thought(THOUGHT, provider_data=ProviderData(NAME, MODEL, {"signature": SIGNATURE}))
WIRE_SENSOR: Json = {
    "name": "read_sensor", "description": "Read one sensor",
    "input_schema": {"type": "object", "properties": {"bed": {"type": "string"}}},
}  # fmt: skip
WIRE_PNG = image({"type": "base64", "media_type": "image/png", "data": "cG5n"})

SEARCH = Opaque(
    NAME, "server_tool_use", {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
)
FOUND = Opaque(
    NAME, "web_search_tool_result", {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
)


WIRE_ASKED, WIRE_THANKS = user_message("How moist is bed 3?"), user_message("Thanks")
WIRE_LOOP: tuple[Json, ...] = (WIRE_ASKED, assistant("Let me look.", call()), user_message(result()))


find_differences = find_by(DIALECT, MODEL, lambda case: Ask(body(*case.sent, **case.wire)), world)


def tool_with(name: str) -> ToolSchema:
    return ToolSchema(name, "Read one sensor", {"type": "object", "properties": {}})


def wire_tool(name: str, description: str = "Read one sensor") -> Json:
    return {"name": name, "description": description, "input_schema": {"type": "object", "properties": {}}}


def foreign(dialect: str = NAME, by: str = "claude-opus-4-8") -> Thought:
    return Thought(THOUGHT, provider_data=ProviderData(dialect, by, {"signature": SIGNATURE}))


CALL_BETWEEN_TEXTS = [OPENING, model("Let me look.", CALL, "A moment."), Message.tool(RESULT)]

PHOTOGRAPHED = [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", "41 %", False, (PNG,)))]

RIGHT: tuple[Case, ...] = (
    Case("plain", [OPENING, model("41 %"), THANKS], [WIRE_ASKED, assistant("41 %"), WIRE_THANKS]),
    Case("loop", HELD_LOOP, WIRE_LOOP),
    Case("text-sent-ahead-of-its-call", CALL_BETWEEN_TEXTS,
         [WIRE_ASKED, assistant("Let me look.", "A moment.", call()), WIRE_LOOP[2]], allows="text-before-calls"),
    Case("text-joined-ahead-of-its-call", CALL_BETWEEN_TEXTS,
         [WIRE_ASKED, assistant("Let me look.\n\nA moment.", call()), WIRE_LOOP[2]], allows="text-before-calls"),
    Case("merged-users", [OPENING, THANKS], [user_message("How moist is bed 3?", "Thanks")], allows="merged-roles"),
    Case(
        "merged-results-and-text",
        [*HELD_LOOP, THANKS],
        [*WIRE_LOOP[:2], user_message(result(), "Thanks")],
        allows="merged-roles",
    ),
    Case("split-results", [OPENING, model(CALL, FunctionCall("b", "read_sensor")),
                           Message.tool(RESULT, ToolResult("b", "read_sensor", "1"))],
         [WIRE_ASKED, assistant(call(), call("b", input={})), user_message(result()), user_message(result("b", "1"))],
         allows="merged-roles"),
    Case(
        "results-moved-to-the-front",
        [*HELD_LOOP[:2], user("While you look:"), HELD_LOOP[2]],
        [*WIRE_LOOP[:2], user_message(result(), "While you look:")],
        allows="results-first",
    ),
    Case("joined-texts", [user("Hello", "there")], [user_message("Hello\n\nthere")], allows="joined-text"),
    Case("split-text", [user("Hello there")], [user_message(text("Hello "), text("there"))], allows="joined-text"),
    Case(
        "joined-around-a-blank", [user("a", " ", "b"), model("c")], [user_message("a b"), assistant("c")],
         allows="joined-text"
    ),
    Case("blank-texts", [user("Hello", ""), model(" \n", CALL), Message.tool(RESULT)],
         [user_message("Hello"), assistant(call()), user_message(result())], allows="blank-text"),
    Case("blank-result-beside-an-image",
         [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", " ", attachments=(PNG,)))],
         [*WIRE_LOOP[:2], user_message(result(content=[WIRE_PNG]))], allows="blank-text"),
    Case("empty-model-message", [OPENING, model(), THANKS], [WIRE_ASKED, WIRE_THANKS], allows="blank-text"),
    Case("prefill-trimmed", [OPENING, model("Bed 3 is ")], [WIRE_ASKED, assistant("Bed 3 is")],
         allows="trailing-blanks-of-prefill"),
    Case(
        "legal-names",
        [OPENING, model(FunctionCall("call_1", "sensor.read")), Message.tool(ToolResult("call_1", "sensor.read", "1"))],
        [WIRE_ASKED, assistant(call(name="sensor_read", input={})), user_message(result(content="1"))],
        tools=[tool_with("sensor.read"), tool_with("sensor_read")][:1],
        wire={"tools": [wire_tool("sensor_read")]},
        allows="legal-tool-names",
    ),
    Case(
        "colliding-names",
        [OPENING, model(FunctionCall("a", "s.read"), FunctionCall("b", "s_read")),
         Message.tool(ToolResult("a", "s.read", "1"), ToolResult("b", "s_read", "2"))],
        [WIRE_ASKED, assistant(call("a", name="s_read_2", input={}), call("b", name="s_read", input={})),
         user_message(result("a", "1"), result("b", "2"))],
        tools=[tool_with("s.read"), tool_with("s_read")],
        wire={"tools": [wire_tool("s_read"), wire_tool("s_read_2")]},
        allows="legal-tool-names",
    ),
    Case(
        "legal-ids",
        [OPENING, model(FunctionCall("call:1", "read_sensor")), Message.tool(ToolResult("call:1", "read_sensor", "1"))],
        [WIRE_ASKED, assistant(call("call_1", input={})), user_message(result("call_1", "1"))],
        allows="legal-call-ids",
    ),
    Case("legal-id-rewritten", HELD_LOOP,
         [WIRE_ASKED, assistant("Let me look.", call("toolu_x")), user_message(result("toolu_x"))],
         allows="legal-call-ids"),
    Case(
        "empty-ids",
        [OPENING, model(FunctionCall("", "read_sensor")), Message.tool(ToolResult("", "read_sensor", "1"))],
        [WIRE_ASKED, assistant(call("made_up", input={})), user_message(result("made_up", "1"))],
        allows="legal-call-ids",
    ),
    Case("sorted-tools", [OPENING], [WIRE_ASKED], tools=[tool_with("b"), tool_with("a")],
         wire={"tools": [wire_tool("a"), wire_tool("b")]}, allows="tool-order"),
    Case("filled-schema", [OPENING], [WIRE_ASKED], tools=[ToolSchema("now", "The time")],
         wire={"tools": [wire_tool("now", "The time")]}, allows="empty-schema-filled"),
    Case("old-thinking-left-out", [OPENING, model(SIGNED, "41 %"), THANKS],
         [WIRE_ASKED, assistant("41 %"), WIRE_THANKS], wire=THINKING, allows="old-thinking"),
    Case("old-thinking-sent", [OPENING, model(SIGNED, "41 %"), THANKS],
         [WIRE_ASKED, assistant(thinking_block(), "41 %"), WIRE_THANKS], wire=THINKING),
    Case("unsigned-thinking-left-out", [OPENING, model(Thought("So."), CALL), Message.tool(RESULT)],
         [WIRE_ASKED, assistant(call()), user_message(result())], wire=THINKING, allows="foreign-thinking"),
    Case("thinking-of-another-model-left-out", [OPENING, model(foreign(), CALL), Message.tool(RESULT)],
         [WIRE_ASKED, assistant(call()), user_message(result())], wire=THINKING, allows="foreign-thinking"),
    Case("thinking-of-another-api-left-out", [OPENING, model(foreign("gemini"), CALL), Message.tool(RESULT)],
         [WIRE_ASKED, assistant(call()), user_message(result())], wire=THINKING, allows="foreign-thinking"),
    Case("unsigned-thinking-as-tagged-text", [OPENING, model(Thought("So."), "41 %"), THANKS],
         [WIRE_ASKED, assistant("<thinking>\nSo.\n</thinking>\n", "41 %"), WIRE_THANKS], allows="foreign-thinking"),
    Case("unsigned-thinking-told-by-the-user", [OPENING, model(Thought("So."), "41 %"), THANKS],
         [user_message("How moist is bed 3?", "<assistant_thinking>\nSo.\n</assistant_thinking>"), assistant("41 %"),
          WIRE_THANKS], allows="foreign-thinking"),
    Case("thinking-off", [OPENING, model(SIGNED, CALL), Message.tool(RESULT)],
         [WIRE_ASKED, assistant(call()), user_message(result())], allows="thinking-off"),
    Case("issued-by-the-dated-model", [OPENING, model(foreign(by=f"{MODEL}-20250929"), CALL), Message.tool(RESULT)],
         [WIRE_ASKED, assistant(thinking_block(), call()), user_message(result())], wire=THINKING),
    Case("redacted-thinking-sent",
         [OPENING, model(Thought("", provider_data=ProviderData(NAME, MODEL, {"redacted": "eA=="})), CALL),
         Message.tool(RESULT)],
         [WIRE_ASKED, assistant({"type": "redacted_thinking", "data": "eA=="}, call()), user_message(result())],
         wire=THINKING),
    Case("foreign-opaque", [OPENING, model(Opaque("gemini", "blob", {"x": 1}), "41 %"), THANKS],
         [WIRE_ASKED, assistant("41 %"), WIRE_THANKS], allows="foreign-opaque"),
    Case("abandoned-service-call", [OPENING, model("I look.", SEARCH), THANKS],
         [WIRE_ASKED, assistant("I look."), WIRE_THANKS], allows="abandoned-service-call"),
    Case("foreign-code-as-text",
         [OPENING, model(*code_run("print(41)", "41"), "41 %"), THANKS],
         [WIRE_ASKED, assistant("```python\nprint(41)\n```", "```\n41\n```", "41 %"), WIRE_THANKS],
         allows="foreign-code-as-text"),
    Case("own-opaque", [OPENING, model(Opaque(NAME, "hologram", {"type": "hologram"}), "41 %"), THANKS],
         [WIRE_ASKED, assistant({"type": "hologram"}, "41 %"), WIRE_THANKS]),
    Case("result-as-json", [*HELD_LOOP[:2],
         Message.tool(ToolResult("call_1", "read_sensor", {"percent": 41, "ok": True}))],
         [*WIRE_LOOP[:2], user_message(result(content='{"ok":true, "percent": 41}'))], allows="result-as-json-text"),
    Case("result-of-nothing", [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor"))],
         [*WIRE_LOOP[:2], user_message({"type": "tool_result", "tool_use_id": "call_1"})],
         allows="result-as-json-text"),
    Case("result-with-attachment-and-flag",
         [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", "see", True, (PNG,)))],
         [*WIRE_LOOP[:2], user_message(result(content=[text("see"), WIRE_PNG], is_error=True))]),
    Case("attachment-behind-its-result", PHOTOGRAPHED, [*WIRE_LOOP[:2], user_message(result(), WIRE_PNG)],
         allows="attachments-beside-results"),
    Case("attachment-with-a-label", PHOTOGRAPHED,
         [*WIRE_LOOP[:2], user_message(result(), "The picture of call_1, which is the newest one:", WIRE_PNG)],
         allows="attachments-beside-results"),
    Case("text-of-a-result-behind-it", PHOTOGRAPHED,
         [*WIRE_LOOP[:2], user_message(result(content="See <shown call='call_1'> below."), "<shown call='call_1'>",
          "41 %", WIRE_PNG, "</shown>")], allows="attachments-beside-results"),
    Case("words-for-no-value-in-front-of-an-attachment",
         [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", None, False, (PNG,)))],
         [*WIRE_LOOP[:2], user_message(result(content="See below."), WIRE_PNG)], allows="attachments-beside-results"),
    Case("value-of-a-result-behind-it",
         [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", {"percent": 41}, False, (PNG,)))],
         [*WIRE_LOOP[:2], user_message(result(content="See below."), '{"percent": 41}', WIRE_PNG)],
         allows="attachments-beside-results"),
    Case("media", [user("Look", PNG, PDF)],
         [user_message("Look", WIRE_PNG, {"type": "document", "source": {"type": "url", "url": "https://a/b.pdf"}})]),
    Case("marks", [OPENING], [user_message(text("How moist is bed 3?", **mark()))], system="S",
         wire={"system": [text("S", **mark())]}, allows="cache-marks"),
    Case("failure-in-more-words",
         [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", "no such bed", is_error=True))],
         [*WIRE_LOOP[:2], user_message(result(content="The tool failed: 'no such bed'", is_error=True))]),
    Case("dangling-answered-with-an-error", [OPENING, model(CALL), THANKS],
         [WIRE_ASKED, assistant(call()), user_message(result(content="cancelled", is_error=True), "Thanks")],
         allows="repaired-dangling-call"),
    Case("dangling-left-out", [OPENING, model("Let me look.", CALL), THANKS],
         [WIRE_ASKED, assistant("Let me look."), WIRE_THANKS], allows="repaired-dangling-call"),
    Case("orphan-left-out", [Message.tool(RESULT), OPENING], [WIRE_ASKED], allows="repaired-dangling-call"),
    Case("same-id-in-two-turns", [*HELD_LOOP, model("41 %"), *HELD_LOOP], [*WIRE_LOOP, assistant("41 %"), *WIRE_LOOP]),
    Case("system-with-role", [OPENING, Message.system("Be brief.")], [WIRE_ASKED, system_message("Be brief.")],
         system="S", wire={"system": "S"}, allows="system-in-conversation"),
    Case("system-merged-into-the-field", [OPENING, Message.system("Be brief."), model("41 %"), THANKS],
         [WIRE_ASKED, assistant("41 %"), WIRE_THANKS], system="S", wire={"system": "S\n\nBe brief."},
         allows="system-in-conversation"),
    Case("system-in-the-field-alone", [OPENING, Message.system("Be brief.")], [WIRE_ASKED],
         wire={"system": [text("Be brief.")]}, allows="system-in-conversation"),
    Case("system-as-tagged-user-text", [OPENING, Message.system("Be brief.")],
         [user_message("How moist is bed 3?", "<system>Be brief.</system>")], allows="system-in-conversation"),
    Case("system-in-blocks", [OPENING], [WIRE_ASKED], system=Text("One.\nTwo."),
         wire={"system": [text("One.\n"), text("Two.")]}),
    Case("alias-for-dated", [OPENING], [WIRE_ASKED], wire={"model": f"{MODEL}-20250929"}, allows="dated-model"),
)  # fmt: skip


TWO_CALLS = model(CALL, FunctionCall("b", "water", {"bed": "4"}))
TWO_RESULTS = Message.tool(RESULT, ToolResult("b", "water", "done"))
WIRE_TWO = assistant(call(), call("b", name="water", input={"bed": "4"}))

WRONG: tuple[Case, ...] = (
    Case("long-text-behind-an-attachment", PHOTOGRAPHED,
         [*WIRE_LOOP[:2], user_message(result(), "Water it. " * 7, WIRE_PNG)], ("invented",)),
    Case("label-of-no-attachment", HELD_LOOP, [*WIRE_LOOP[:2], user_message(result(), "Look:")], ("invented",)),
    Case("text-of-a-result-lost-in-front-of-its-attachment", PHOTOGRAPHED,
         [*WIRE_LOOP[:2], user_message(result(content="See below."), "<shown>", WIRE_PNG, "</shown>")],
         ("lost-result",)),
    Case("text-of-a-result-behind-it-without-an-attachment", HELD_LOOP,
         [*WIRE_LOOP[:2], user_message(result(content="See below."), "41 %")], ("lost-result", "invented")),
    Case("attachment-lost", PHOTOGRAPHED, [*WIRE_LOOP[:2], user_message(result(), "Look:")],
         ("lost-attachment", "invented")),
    Case("white-space-within-a-text", [user("Hello  there")], [user_message("Hello there")], ("lost-text",)),
    Case("lost-message", [OPENING, model("41 %"), THANKS], [WIRE_ASKED, WIRE_THANKS], ("lost-text",)),
    Case("lost-first-message", [user("I grow kale."), model("Fine."), OPENING], [WIRE_ASKED], ("lost-text",
         "lost-text")),
    Case("lost-text-beside-a-call", HELD_LOOP, [WIRE_ASKED, assistant(call()), user_message(result())], ("lost-text",)),
    Case("lost-text-beside-results", [*HELD_LOOP, THANKS], WIRE_LOOP, ("lost-text",)),
    Case("changed-text", [OPENING], [user_message("How moist is bed 4?")], ("lost-text",)),
    Case("clipped-text", [OPENING], [user_message("How moist is")], ("lost-text",)),
    Case("folded-letters", [user("Beet ﬁve")], [user_message("Beet five")], ("lost-text",)),
    Case("lost-call-and-result", [*HELD_LOOP, THANKS], [WIRE_ASKED, assistant("Let me look."), WIRE_THANKS],
         ("lost-call", "lost-result")),
    Case("lost-parallel-call", [OPENING, TWO_CALLS, TWO_RESULTS],
         [WIRE_ASKED, assistant(call()), user_message(result())], ("lost-call", "lost-result")),
    Case("empty-result-filled", [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", ""))],
         [*WIRE_LOOP[:2], user_message(result(content="(no output)"))], ("lost-result",)),
    Case("lost-result-replaced", [*HELD_LOOP], [*WIRE_LOOP[:2], user_message(result(content="ok"))], ("lost-result",)),
    Case("emptied-json-result", [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", READING))],
         [*WIRE_LOOP[:2], user_message(result(content="{}"))], ("lost-result",)),
    Case("changed-arguments", HELD_LOOP, [WIRE_ASKED, assistant("Let me look.", call(input={"bed": "4"})),
         WIRE_LOOP[2]],
         ("changed-args",)),
    Case("emptied-arguments", HELD_LOOP, [WIRE_ASKED, assistant("Let me look.", call(input={})), WIRE_LOOP[2]],
         ("changed-args",)),
    Case("true-is-not-one", [OPENING, model(FunctionCall("call_1", "read_sensor", {"all": True})),
         Message.tool(RESULT)],
         [WIRE_ASKED, assistant(call(input={"all": 1})), user_message(result())], ("changed-args",)),
    Case("another-tool", HELD_LOOP, [WIRE_ASKED, assistant("Let me look.", call(name="water")), WIRE_LOOP[2]],
         ("lost-call",)),
    Case("two-calls-under-one-id", [OPENING, TWO_CALLS, TWO_RESULTS],
         [WIRE_ASKED, assistant(call("b"), call("b", name="water", input={"bed": "4"})),
          user_message(result("b"), result("b", "done"))], ("lost-call", "changed-args", "lost-call", "invented")),
    Case("swapped-results", [OPENING, TWO_CALLS, TWO_RESULTS],
         [WIRE_ASKED, WIRE_TWO, user_message(result(content="done"), result("b", "41 %"))],
         ("lost-result", "lost-result")),
    Case("reordered-results", [OPENING, TWO_CALLS, TWO_RESULTS],
         [WIRE_ASKED, WIRE_TWO, user_message(result("b", "done"), result())], ("order",)),
    Case("reordered-calls", [OPENING, TWO_CALLS, TWO_RESULTS],
         [WIRE_ASKED, assistant(call("b", name="water", input={"bed": "4"}), call()),
          user_message(result(), result("b", "done"))], ("order",)),
    Case("text-behind-a-call-lost", CALL_BETWEEN_TEXTS, WIRE_LOOP, ("lost-text",)),
    Case("text-behind-a-call-in-the-message-before",
         [OPENING, model("Look."), OPENING, model(CALL, "A moment."), Message.tool(RESULT)],
         [WIRE_ASKED, assistant("Look.", "A moment."), WIRE_ASKED, assistant(call()), WIRE_LOOP[2]], ("order",)),
    Case("text-behind-its-call", HELD_LOOP, [WIRE_ASKED, assistant(call(), "Let me look."), WIRE_LOOP[2]], ("order",)),
    Case("reordered-messages", [OPENING, model("41 %"), THANKS], [WIRE_THANKS, assistant("41 %"), WIRE_ASKED],
         ("order", "order")),
    Case("result-of-another-call",
         [OPENING, model(FunctionCall("c:1", "read_sensor")), Message.tool(ToolResult("c:1", "read_sensor", "1"))],
         [WIRE_ASKED, assistant(call("c_1", input={})), user_message(result("c_2", "1"))], ("lost-result", "invented")),
    Case("thought-behind-its-call", [OPENING, model(SIGNED, CALL), Message.tool(RESULT)],
         [WIRE_ASKED, assistant(call(), thinking_block()), user_message(result())], ("order",), wire=THINKING),
    Case("lost-error-flag", [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", "41 %", True))],
         WIRE_LOOP,
         ("lost-error-flag",)),
    Case("lost-failure",
         [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", "no such bed", is_error=True))],
         [*WIRE_LOOP[:2], user_message(result(content="The tool failed.", is_error=True))], ("lost-result",)),
    Case("invented-error-flag", HELD_LOOP, [*WIRE_LOOP[:2], user_message(result(is_error=True))], ("invented",)),
    Case("lost-attachment", [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", "41 %", False, (PNG,)))],
         WIRE_LOOP, ("lost-attachment",)),
    Case("lost-image", [user("Look", PNG)], [user_message("Look")], ("lost-attachment",)),
    Case("changed-image", [user("Look", inline(b"other"))], [user_message("Look", WIRE_PNG)],
         ("lost-attachment", "invented")),
    Case("lost-own-opaque", [OPENING, model(Opaque(NAME, "hologram", {"type": "hologram"}), "41 %"), THANKS],
         [WIRE_ASKED, assistant("41 %"), WIRE_THANKS], ("lost-attachment",)),
    Case("a-service-call-with-its-result-is-not-abandoned", [OPENING, model("I look.", SEARCH, FOUND), THANKS],
         [WIRE_ASKED, assistant("I look.", FOUND.data), WIRE_THANKS], ("lost-attachment",)),
    Case("a-paused-one-is-not-abandoned", [OPENING, model("I look.", SEARCH)], [WIRE_ASKED, assistant("I look.")],
         ("lost-attachment",)),
    Case("lost-signed-thinking-in-the-loop", [OPENING, model(SIGNED, CALL), Message.tool(RESULT)],
         [WIRE_ASKED, assistant(call()), user_message(result())], ("lost-signature",), wire=THINKING),
    Case("thinking-without-its-signature", [OPENING, model(SIGNED, CALL), Message.tool(RESULT)],
         [WIRE_ASKED, assistant(thinking_block(signature=""), call()), user_message(result())], ("lost-signature",),
         wire=THINKING),
    Case("thinking-with-another-signature", [OPENING, model(SIGNED, CALL), Message.tool(RESULT)],
         [WIRE_ASKED, assistant(thinking_block(signature="eA=="), call()), user_message(result())], ("lost-signature",),
         wire=THINKING),
    Case("thinking-with-another-text", [OPENING, model(SIGNED, CALL), Message.tool(RESULT)],
         [WIRE_ASKED, assistant(thinking_block("So."), call()), user_message(result())], ("lost-signature",),
         wire=THINKING),
    Case("invented-thinking", HELD_LOOP, [WIRE_ASKED, assistant(thinking_block(), "Let me look.", call()),
         WIRE_LOOP[2]],
         ("invented",)),
    Case("invented-message", [OPENING], [user_message("By the way."), assistant("Yes?"), WIRE_ASKED],
         ("invented", "invented")),
    Case("invented-call", [OPENING, model("41 %"), THANKS],
         [WIRE_ASKED, assistant("41 %", call()), user_message(result(), "Thanks")], ("invented", "invented")),
    Case("doubled-message", [OPENING], [WIRE_ASKED, WIRE_ASKED], ("invented",)),
    Case("marker-of-a-cancelled-turn", [OPENING, model("Bed 3"), THANKS],
         [WIRE_ASKED, assistant("Bed 3", "[interrupted by the user]"), WIRE_THANKS], ("invented",)),
    Case("lost-system", [OPENING], [WIRE_ASKED], ("system",), system="Be kind."),
    Case("old-system", [OPENING], [WIRE_ASKED], ("system",), system="Be kind.", wire={"system": "Be brief."}),
    Case("invented-system", [OPENING], [WIRE_ASKED], ("system",), wire={"system": "Be brief."}),
    Case("lost-later-system", [OPENING, Message.system("Be brief.")], [WIRE_ASKED], ("system",), system="S",
         wire={"system": "S"}),
    Case("lost-tool", [OPENING], [WIRE_ASKED], ("tools",), tools=[SENSOR]),
    Case("vanished-tool-still-offered", [OPENING], [WIRE_ASKED], ("tools",), wire={"tools": [WIRE_SENSOR]}),
    Case("another-tool-in-its-place", [OPENING], [WIRE_ASKED], ("tools", "tools"), tools=[SENSOR],
         wire={"tools": [WIRE_SENSOR | {"name": "water", "description": "Water a bed"}]}),
    Case("lost-description", [OPENING], [WIRE_ASKED], ("tools",), tools=[SENSOR],
         wire={"tools": [WIRE_SENSOR | {"description": ""}]}),
    Case("lost-parameter", [OPENING], [WIRE_ASKED], ("tools",), tools=[SENSOR],
         wire={"tools": [WIRE_SENSOR | {"input_schema": {"type": "object"}}]}),
    Case("two-tools-under-one-name",
         [OPENING, model(FunctionCall("a", "s.read"), FunctionCall("b", "s_read")),
          Message.tool(ToolResult("a", "s.read", "1"), ToolResult("b", "s_read", "2"))],
         [WIRE_ASKED, assistant(call("a", name="s_read", input={}), call("b", name="s_read", input={})),
          user_message(result("a", "1"), result("b", "2"))],
         ("lost-call", "tools"), tools=[tool_with("s.read"), tool_with("s_read")],
         wire={"tools": [wire_tool("s_read")]}),
)  # fmt: skip


UNLISTED: tuple[Case, ...] = (
    Case("white-space-around-a-text", [user("Hello there\n")], [user_message(" Hello there")], ("unlisted",)),
    Case("trimmed-text", [user(" Hello "), model("Hi"), THANKS], [user_message("Hello"), assistant("Hi"), WIRE_THANKS],
         ("unlisted",)),
    Case("result-wrapped", HELD_LOOP, [*WIRE_LOOP[:2], user_message(result(content='{"result": "41 %"}'))],
         ("unlisted",)),
    Case("result-as-repr", [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", READING))],
         [*WIRE_LOOP[:2], user_message(result(content=repr(READING)))], ("unlisted",)),
    Case("placeholder-for-no-value", [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", None))],
         [*WIRE_LOOP[:2], user_message(result(content="(no output)"))], ("unlisted",)),
    Case("adaptive-thinking-left-out", [OPENING, model(SIGNED, CALL), Message.tool(RESULT)],
         [WIRE_ASKED, assistant(call()), user_message(result())], ("unlisted",),
         wire={"thinking": {"type": "adaptive"}}),
    Case("placeholder-for-nothing", [OPENING, model("Hi"), user("")], [WIRE_ASKED, assistant("Hi"), user_message(".")],
         ("unlisted",)),
    Case("dangling-answered-as-if-it-had-run", [OPENING, model(CALL), THANKS],
         [WIRE_ASKED, assistant(call()), user_message(result(content="ok"), "Thanks")], ("unlisted",)),
    Case("narrower-schema", [OPENING], [WIRE_ASKED], ("unlisted",), tools=[SENSOR],
         wire={"tools": [WIRE_SENSOR | {"input_schema": {
             "type": "object", "properties": {"bed": {"type": "string"}}, "minProperties": 1}}]}),
    Case("tool-of-the-adapter-forced", [OPENING], [WIRE_ASKED], ("unlisted",),
         wire={"tools": [WIRE_SENSOR], "tool_choice": {"type": "tool", "name": "read_sensor"}}),
    Case("image-of-the-model", [OPENING, model("Here.", PNG), THANKS], [WIRE_ASKED, assistant("Here."), WIRE_THANKS],
         ("unlisted",)),
    Case("code-that-another-service-ran", [OPENING, model(code_run("1 + 1", "2")[0], "2"), THANKS],
         [WIRE_ASKED, assistant("2"), WIRE_THANKS], ("unlisted",)),
    Case("another-model", [OPENING], [WIRE_ASKED], ("unlisted",), wire={"model": "claude-haiku-4-5"}),
)  # fmt: skip

DIFFERENCES = DifferenceKit(DIALECT, find_differences, RIGHT, WRONG, UNLISTED, wire_turn=(user_message, assistant))
