"""Is the wire what the session holds? Each listed difference is accepted, each loss and invention is seen."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

import pytest

from turnproof.dialects.base import Call, WireDifference
from turnproof.dialects.gemini import DIALECT
from turnproof.messages import (
    CodeExecutionResult,
    ExecutableCode,
    FileRef,
    FunctionCall,
    InlineData,
    Message,
    Opaque,
    ProviderData,
    Text,
    Thought,
    ToolResult,
    ToolSchema,
)

from ..refusals import Json
from .builders import (
    CACHE,
    HANDBOOK,
    MODEL,
    OLD,
    PARAMETERS,
    SIGNATURE,
    SIGNATURE_URL_SAFE,
    TOOL,
    ask,
)
from .builders import model as wire_model
from .builders import user as wire_user
from .held import (
    ASKED,
    CALL,
    HELD_LOOP,
    NAME,
    PNG,
    READING,
    RESULT,
    SENSOR,
    SIGNED,
    THANKS,
    TWO_CALLS,
    TWO_RESULTS,
    WIRE_ASKED,
    WIRE_LOOP,
    WIRE_PNG,
    WIRE_THANKS,
    WIRE_TWO,
    Case,
    after_call,
    call,
    declaring,
    issued,
    model,
    parsed,
    result,
    system,
    tool_with,
    user,
    wire_tool,
)
from .pairs import world

SENTINEL = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="
BY_OLD = FunctionCall("id_1", "read_sensor", {"bed": "3"}, provider_data=issued(OLD))
BY_CLAUDE = Thought("So.", provider_data=issued("claude", "anthropic-messages"))
OTHERS_CODE = ExecutableCode("python", "print(41)"), CodeExecutionResult("ok", "41")
OWN_CODE = ExecutableCode("PYTHON", "1 + 1", provider_data=issued()), CodeExecutionResult("OUTCOME_OK", "2\n")
WIRE_CODE: tuple[Json, ...] = (
    {"executableCode": {"language": "PYTHON", "code": "1 + 1"}},
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2\n"}},
)


def differences(case: Case) -> list[WireDifference]:
    return DIALECT.differences(case.held, case.system, case.tools, parsed(case), case.model)


RIGHT: tuple[Case, ...] = (
    Case("plain", [ASKED, model("41 %"), THANKS], [WIRE_ASKED, wire_model("41 %"), WIRE_THANKS]),
    Case("loop", HELD_LOOP, WIRE_LOOP),
    Case("merged-users", [ASKED, THANKS], [wire_user("How moist is bed 3?", "Thanks")], allows="merged-roles"),
    Case("contents-of-each-chunk", [ASKED, model("41", Text(" %")), THANKS],
         [WIRE_ASKED, wire_model("41"), wire_model(" %"), WIRE_THANKS], allows="merged-roles"),
    Case("a-blank-chunk-at-the-end", [ASKED, model("41 %\n"), THANKS],
         [WIRE_ASKED, wire_model("41 %"), wire_model("\n"), WIRE_THANKS], allows="merged-roles"),
    Case("merged-results-and-text", [*HELD_LOOP, THANKS], [*WIRE_LOOP[:2], wire_user(result(), "Thanks")],
         allows="merged-roles"),
    Case("results-moved-to-the-front", [*HELD_LOOP[:2], user("While you look:"), HELD_LOOP[2]],
         [*WIRE_LOOP[:2], wire_user(result(), "While you look:")], allows="results-first"),
    Case("joined-texts", [user("Hello", "there")], [wire_user("Hello\n\nthere")], allows="joined-text"),
    Case("split-text", [user("Hello there")], [wire_user("Hello ", "there")], allows="joined-text"),
    Case("blank-texts-left-out", [user("Hello", ""), model(" \n", SIGNED), Message.tool(RESULT)],
         [wire_user("Hello"), wire_model(call(SIGNATURE)), wire_user(result())], allows="blank-text"),
    Case("blank-texts-sent", [ASKED, model("", "41 %"), THANKS],
         [WIRE_ASKED, wire_model("", "41 %", ""), WIRE_THANKS], allows="blank-text"),
    Case("empty-model-message", [ASKED, model(), THANKS], [WIRE_ASKED, WIRE_THANKS], allows="blank-text"),
    Case("legal-names",
         [ASKED, model(FunctionCall("c", "sensor read")), Message.tool(ToolResult("c", "sensor read", "1"))],
         [WIRE_ASKED, wire_model(call(None, "c", name="sensor_read", args={})),
          wire_user(result({"output": "1"}, "c", name="sensor_read"))],
         tools=[tool_with("sensor read")], wire=declaring(wire_tool("sensor_read")), model=OLD,
         allows="legal-tool-names"),
    Case("dotted-names-are-legal",
         [ASKED, model(FunctionCall("c", "sensor.read", {"bed": "3"})),
          Message.tool(ToolResult("c", "sensor.read", "1"))],
         [WIRE_ASKED, wire_model(call(None, "c", name="sensor.read")),
          wire_user(result({"output": "1"}, "c", name="sensor.read"))],
         tools=[tool_with("sensor.read")], wire=declaring(wire_tool("sensor.read")), model=OLD),
    Case("ids-left-out-where-there-are-none", [ASKED, model("Let me look.", CALL), Message.tool(RESULT)],
         [WIRE_ASKED, wire_model("Let me look.", call(None, None)), wire_user(result(None, None))], model=OLD,
         allows="absent-call-ids"),
    Case("parallel-calls-without-ids",
         [ASKED, model(CALL, FunctionCall("id_2", "read_sensor", {"bed": "4"}), FunctionCall("id_3", "water")),
          Message.tool(RESULT, ToolResult("id_2", "read_sensor", "12 %"), ToolResult("id_3", "water", "done")),
          model("41 % and 12 %."), THANKS],
         [WIRE_ASKED, wire_model(call(None, None), call(None, None, args={"bed": "4"}),
                                 call(None, None, name="water", args={})),
          wire_user(result(None, None), result({"output": "12 %"}, None),
                    result({"output": "done"}, None, name="water")),
          wire_model("41 % and 12 %."), WIRE_THANKS], model=OLD, allows="absent-call-ids"),
    Case("history-of-a-model-without-ids",
         [ASKED, model("Let me look.", CALL), Message.tool(RESULT), model("41 %"), THANKS],
         [WIRE_ASKED, wire_model("Let me look.", call(None, None)), wire_user(result(None, None)), wire_model("41 %"),
          WIRE_THANKS], allows="absent-call-ids"),
    Case("ids-made-up-where-there-are-none", [ASKED, model("Let me look.", CALL), Message.tool(RESULT)],
         [WIRE_ASKED, wire_model("Let me look.", call()), wire_user(result())], model=OLD, allows="made-up-call-ids"),
    Case("ids-of-another-service", [ASKED, model(FunctionCall("toolu_01:a/b", "read_sensor", {"bed": "3"})),
                                   Message.tool(ToolResult("toolu_01:a/b", "read_sensor", "41 %"))],
         [WIRE_ASKED, wire_model(call(SENTINEL, "toolu_01:a/b")), wire_user(result(None, "toolu_01:a/b"))],
         allows="made-up-call-ids"),
    Case("sorted-tools", [ASKED], [WIRE_ASKED], tools=[tool_with("b"), tool_with("a")],
         wire=declaring(wire_tool("a"), wire_tool("b")), allows="tool-order"),
    Case("no-schema", [ASKED], [WIRE_ASKED], tools=[ToolSchema("now", "The time")],
         wire=declaring({"name": "now", "description": "The time"}), allows="empty-schema-filled"),
    Case("filled-schema", [ASKED], [WIRE_ASKED], tools=[ToolSchema("now", "The time")],
         wire=declaring({"name": "now", "description": "The time", "parametersJsonSchema": {"type": "object"}}),
         allows="empty-schema-filled"),
    Case("schema-in-upper-case", [ASKED], [WIRE_ASKED], tools=[SENSOR], wire=declaring(TOOL), allows="openapi-schema"),
    Case("schema-as-json-schema", [ASKED], [WIRE_ASKED], tools=[SENSOR],
         wire=declaring({**{k: v for k, v in TOOL.items() if k != "parameters"},
                         "parametersJsonSchema": SENSOR.parameters})),
    Case("tools-of-the-service", [ASKED], [WIRE_ASKED], wire={"tools": [{"googleSearch": {}}]}),
    Case("thought-left-out", [ASKED, model(Thought("So."), "41 %"), THANKS],
         [WIRE_ASKED, wire_model("41 %"), WIRE_THANKS], allows="thinking-left-out"),
    Case("thought-of-the-running-loop-left-out", [ASKED, model(Thought("So."), SIGNED), Message.tool(RESULT)],
         [WIRE_ASKED, wire_model(call(SIGNATURE)), wire_user(result())], allows="thinking-left-out"),
    Case("thought-sent", [ASKED, model(Thought("So."), "41 %"), THANKS],
         [WIRE_ASKED, wire_model({"text": "So.", "thought": True}, "41 %"), WIRE_THANKS]),
    Case("thought-sent-with-a-signature", [ASKED, model(Thought("So."), "41 %"), THANKS],
         [WIRE_ASKED, wire_model({"text": "So.", "thought": True, "thoughtSignature": SIGNATURE}, "41 %"),
          WIRE_THANKS]),
    Case("thought-in-the-pieces-of-the-stream", [ASKED, model(Thought("So be it."), "41 %"), THANKS],
         [WIRE_ASKED, wire_model({"text": "So ", "thought": True}), wire_model({"text": "be it.", "thought": True}),
          wire_model("41 %"), WIRE_THANKS], allows="thinking-in-pieces"),
    Case("only-the-later-thought-in-pieces",
         [ASKED, model(Thought("So. "), Thought("Be it."), SIGNED), Message.tool(RESULT)],
         [WIRE_ASKED, wire_model({"text": "Be ", "thought": True}, {"text": "it.", "thought": True}, call(SIGNATURE)),
          wire_user(result())], allows="thinking-in-pieces"),
    Case("thought-of-another-api-left-out",
         [ASKED, model(BY_CLAUDE, CALL), Message.tool(RESULT)],
         [WIRE_ASKED, wire_model(call(SENTINEL)), wire_user(result())], allows="foreign-thinking"),
    Case("thought-of-another-api-as-tagged-text",
         [ASKED, model(BY_CLAUDE, "41 %"), THANKS],
         [WIRE_ASKED, wire_model("<thinking>\nSo.\n</thinking>\n", "41 %"), WIRE_THANKS], allows="foreign-thinking"),
    Case("text-signature-sent", [ASKED, model("41", Text("", provider_data=issued())), THANKS],
         [WIRE_ASKED, wire_model("41", {"text": "", "thoughtSignature": SIGNATURE}), WIRE_THANKS]),
    Case("text-signature-left-out", [ASKED, model("41", Text("", provider_data=issued())), THANKS],
         [WIRE_ASKED, wire_model("41"), WIRE_THANKS], allows="text-signatures"),
    Case("text-signature-moved", [ASKED, model("41", Text("", provider_data=issued())), THANKS],
         [WIRE_ASKED, wire_model({"text": "41", "thoughtSignature": SIGNATURE}), WIRE_THANKS],
         allows="text-signatures"),
    Case("old-signature-left-out", [*HELD_LOOP, model("41 %"), THANKS],
         [WIRE_ASKED, wire_model("Let me look.", call()), WIRE_LOOP[2], wire_model("41 %"), WIRE_THANKS],
         allows="old-call-signatures"),
    Case("old-signature-replaced", [*HELD_LOOP, model("41 %"), THANKS],
         [WIRE_ASKED, wire_model("Let me look.", call(SENTINEL)), WIRE_LOOP[2], wire_model("41 %"), WIRE_THANKS],
         allows="old-call-signatures"),
    Case("signature-that-no-one-checks",
         [ASKED, model(BY_OLD), Message.tool(RESULT)],
         [WIRE_ASKED, wire_model(call()), wire_user(result())], model=OLD, allows="unchecked-call-signatures"),
    Case("url-safe-alphabet", HELD_LOOP,
         [WIRE_ASKED, wire_model("Let me look.", call(SIGNATURE_URL_SAFE)), WIRE_LOOP[2]], allows="signature-alphabet"),
    Case("held-in-the-other-alphabet",
         [ASKED, model(FunctionCall("id_1", "read_sensor", {"bed": "3"}, provider_data=ProviderData(
             NAME, MODEL, {"thought_signature": SIGNATURE_URL_SAFE}))), Message.tool(RESULT)],
         [WIRE_ASKED, wire_model(call(SIGNATURE)), wire_user(result())], allows="signature-alphabet"),
    Case("stand-in-for-a-call-of-another-model",
         [ASKED, model(BY_OLD), Message.tool(RESULT)],
         [WIRE_ASKED, wire_model(call(SENTINEL)), wire_user(result())], allows="sentinel-signatures"),
    Case("plain-stand-in-for-a-made-up-call", [ASKED, model(CALL), Message.tool(RESULT)],
         [WIRE_ASKED, wire_model(call("skip_thought_signature_validator")), wire_user(result())],
         allows="sentinel-signatures"),
    Case("foreign-opaque", [ASKED, model(Opaque("anthropic-messages", "hologram", {"x": 1}), "41 %"), THANKS],
         [WIRE_ASKED, wire_model("41 %"), WIRE_THANKS], allows="foreign-opaque"),
    Case("own-opaque", [ASKED, model(Opaque(NAME, "toolCall", {"toolCall": {"id": "t"}}), "41 %"), THANKS],
         [WIRE_ASKED, wire_model({"toolCall": {"id": "t"}}, "41 %"), WIRE_THANKS]),
    Case("own-code",
         [ASKED, model(*OWN_CODE), THANKS], [WIRE_ASKED, wire_model(*WIRE_CODE), WIRE_THANKS]),
    Case("foreign-code-as-text", [ASKED, model(*OTHERS_CODE, "41 %"), THANKS],
         [WIRE_ASKED, wire_model("```python\nprint(41)\n```", "```\n41\n```", "41 %"), WIRE_THANKS],
         allows="foreign-code-as-text"),
    Case("result-as-output", *after_call(wire_user(result({"output": "41 %"}))), allows="result-in-an-object"),
    Case("result-under-another-name", *after_call(wire_user(result({"result": "41 %"}))), allows="result-in-an-object"),
    Case("result-beside-the-name-of-its-tool",
         *after_call(wire_user(result({"name": "read_sensor", "content": "41 %"}))), allows="result-in-an-object"),
    Case("object-as-it-is", *after_call(wire_user(result(READING)), ToolResult("id_1", "read_sensor", READING)),
         allows="result-in-an-object"),
    Case("object-as-output",
         *after_call(wire_user(result({"output": READING})), ToolResult("id_1", "read_sensor", READING)),
         allows="result-in-an-object"),
    Case("object-as-json-text", *after_call(
             wire_user(result({"output": '{"percent":41, "ok":true, "beds":["3",null]}'})),
             ToolResult("id_1", "read_sensor", READING)), allows="result-in-an-object"),
    Case("nothing-as-an-empty-object", *after_call(wire_user(result({})), ToolResult("id_1", "read_sensor")),
         allows="result-in-an-object"),
    Case("nothing-as-null", *after_call(wire_user(result({"output": None})), ToolResult("id_1", "read_sensor", "")),
         allows="result-in-an-object"),
    Case("failure", *after_call(wire_user(result({"error": "no such bed"})),
                                ToolResult("id_1", "read_sensor", "no such bed", True))),
    Case("failure-as-an-object", *after_call(wire_user(result({"error": {"code": 4}})),
                                             ToolResult("id_1", "read_sensor", {"error": {"code": 4}}, True))),
    Case("a-good-result-that-has-an-error-of-its-own",
         *after_call(wire_user(result({"error": "none"})), ToolResult("id_1", "read_sensor", {"error": "none"}))),
    Case("attachment-inside", *after_call(wire_user(result({"output": "see"}, parts=[WIRE_PNG])),
                                          ToolResult("id_1", "read_sensor", "see", False, (PNG,)))),
    Case("attachment-beside", *after_call(wire_user(result({"output": "see"}), WIRE_PNG),
                                          ToolResult("id_1", "read_sensor", "see", False, (PNG,))),
         allows="attachments-beside-results"),
    Case("attachment-inside-that-the-user-had-sent-before",
         [user("Look", PNG), HELD_LOOP[1], Message.tool(ToolResult("id_1", "read_sensor", "see", False, (PNG,)))],
         [wire_user("Look", WIRE_PNG), WIRE_LOOP[1], wire_user(result({"output": "see"}, parts=[WIRE_PNG]))]),
    Case("media", [user("Look", PNG, FileRef("application/pdf", "https://a/b.pdf"))],
         [wire_user("Look", WIRE_PNG, {"fileData": {"mimeType": "application/pdf", "fileUri": "https://a/b.pdf"}})]),
    Case("what-the-cache-holds", [user(HANDBOOK), THANKS], [WIRE_THANKS], tools=[SENSOR], wire={"cachedContent": CACHE},
         allows="served-by-managed-cache"),
    Case("marks-have-no-form", [user(Text("Hello"))], [wire_user("Hello")], allows="cache-marks"),
    Case("dangling-answered-with-an-error", [ASKED, model(SIGNED), THANKS],
         [WIRE_ASKED, wire_model(call(SIGNATURE)), wire_user(result({"error": "cancelled"}), "Thanks")],
         allows="repaired-dangling-call"),
    Case("dangling-left-out", [ASKED, model("Let me look.", SIGNED), THANKS],
         [WIRE_ASKED, wire_model("Let me look."), WIRE_THANKS], allows="repaired-dangling-call"),
    Case("orphan-left-out", [Message.tool(RESULT), ASKED], [WIRE_ASKED], allows="repaired-dangling-call"),
    Case("later-instruction-in-the-field", [ASKED, Message.system("Be brief."), model("41 %"), THANKS],
         [WIRE_ASKED, wire_model("41 %"), WIRE_THANKS], system="S", wire=system("S\n\nBe brief."),
         allows="system-in-conversation"),
    Case("later-instruction-as-tagged-user-text", [ASKED, Message.system("Be brief.")],
         [wire_user("How moist is bed 3?", "<system>Be brief.</system>")], allows="system-in-conversation"),
    Case("system-in-parts", [ASKED], [WIRE_ASKED], system=Text("One.\nTwo."),
         wire={"systemInstruction": {"parts": [{"text": "One.\n"}, {"text": "Two."}]}}),
    Case("alias", [ASKED], [WIRE_ASKED], model="gemini-flash-latest", allows="model-alias"),
)  # fmt: skip


WRONG: tuple[Case, ...] = (
    Case("lost-message", [ASKED, model("41 %"), THANKS], [WIRE_ASKED, WIRE_THANKS], ("lost-text",)),
    Case("lost-text-beside-a-call", HELD_LOOP, [WIRE_ASKED, wire_model(call(SIGNATURE)), WIRE_LOOP[2]], ("lost-text",)),
    Case("lost-text-beside-results", [*HELD_LOOP, THANKS], WIRE_LOOP, ("lost-text",)),
    Case("changed-text", [ASKED], [wire_user("How moist is bed 4?")], ("lost-text",)),
    Case("lost-call-and-result", [*HELD_LOOP, THANKS], [WIRE_ASKED, wire_model("Let me look."), WIRE_THANKS],
         ("lost-call", "lost-result")),
    Case("results-of-one-name-counted-once",
         [ASKED, model(SIGNED, FunctionCall("id_2", "read_sensor", {"bed": "4"})),
          Message.tool(RESULT, ToolResult("id_2", "read_sensor", "12 %"))],
         [WIRE_ASKED, wire_model(call(SIGNATURE), call(None, "id_2", args={"bed": "4"})), wire_user(result())],
         ("lost-result",)),
    Case("lost-result-replaced", *after_call(wire_user(result({"output": "ok"}))), ("lost-result",)),
    Case("emptied-result", *after_call(wire_user(result({}))), ("lost-result",)),
    Case("swapped-results", [ASKED, TWO_CALLS, TWO_RESULTS],
         [WIRE_ASKED, WIRE_TWO,
          wire_user(result({"output": "done"}), result({"output": "41 %"}, "id_2", name="water"))],
         ("lost-result", "lost-result")),
    Case("swapped-results-without-ids",
         [ASKED, model(CALL, FunctionCall("id_2", "read_sensor", {"bed": "4"})),
          Message.tool(RESULT, ToolResult("id_2", "read_sensor", "12 %"))],
         [WIRE_ASKED, wire_model(call(None, None), call(None, None, args={"bed": "4"})),
          wire_user(result({"output": "12 %"}, None), result(None, None))],
         ("lost-result", "lost-result"), model=OLD),
    Case("reordered-calls", [ASKED, TWO_CALLS, TWO_RESULTS],
         [WIRE_ASKED, wire_model(*reversed(WIRE_TWO["parts"])),
          wire_user(result(), result({"output": "done"}, "id_2", name="water"))], ("order",)),
    Case("text-behind-its-call", HELD_LOOP, [WIRE_ASKED, wire_model(call(SIGNATURE), "Let me look."), WIRE_LOOP[2]],
         ("order",)),
    Case("changed-arguments", HELD_LOOP,
         [WIRE_ASKED, wire_model("Let me look.", call(SIGNATURE, args={"bed": "4"})), WIRE_LOOP[2]], ("changed-args",)),
    Case("another-tool", HELD_LOOP,
         [WIRE_ASKED, wire_model("Let me look.", call(SIGNATURE, name="water")), WIRE_LOOP[2]], ("lost-call",)),
    Case("lost-signature-in-the-loop", HELD_LOOP, [WIRE_ASKED, wire_model("Let me look.", call()), WIRE_LOOP[2]],
         ("lost-signature",)),
    Case("stand-in-for-an-issued-signature", HELD_LOOP,
         [WIRE_ASKED, wire_model("Let me look.", call(SENTINEL)), WIRE_LOOP[2]], ("lost-signature",)),
    Case("changed-signature", HELD_LOOP, [WIRE_ASKED, wire_model("Let me look.", call("eA==")), WIRE_LOOP[2]],
         ("lost-signature",)),
    Case("changed-old-signature", [*HELD_LOOP, model("41 %"), THANKS],
         [WIRE_ASKED, wire_model("Let me look.", call("eA==")), WIRE_LOOP[2], wire_model("41 %"), WIRE_THANKS],
         ("lost-signature",)),
    Case("signature-moved-to-the-second-call", [ASKED, TWO_CALLS, TWO_RESULTS],
         [WIRE_ASKED, wire_model(call(), call(SIGNATURE, "id_2", name="water", args={"bed": "4"})),
          wire_user(result(), result({"output": "done"}, "id_2", name="water"))], ("lost-signature", "invented")),
    Case("lost-error-flag", *after_call(wire_user(result()), ToolResult("id_1", "read_sensor", "41 %", True)),
         ("lost-error-flag",)),
    Case("invented-error-flag", *after_call(wire_user(result({"error": "41 %"}))), ("invented",)),
    Case("lost-attachment", *after_call(wire_user(result({"output": "see"})),
                                        ToolResult("id_1", "read_sensor", "see", False, (PNG,))), ("lost-attachment",)),
    Case("lost-image", [user("Look", PNG)], [wire_user("Look")], ("lost-attachment",)),
    Case("invented-image", [user("Look")], [wire_user("Look", WIRE_PNG)], ("invented",)),
    Case("lost-own-opaque", [ASKED, model(Opaque(NAME, "toolCall", {"toolCall": {"id": "t"}}), "41 %"), THANKS],
         [WIRE_ASKED, wire_model("41 %"), WIRE_THANKS], ("lost-attachment",)),
    Case("invented-thought", HELD_LOOP,
         [WIRE_ASKED, wire_model({"text": "So.", "thought": True}, "Let me look.", call(SIGNATURE)), WIRE_LOOP[2]],
         ("invented",)),
    Case("changed-thought", [ASKED, model(Thought("So."), "41 %"), THANKS],
         [WIRE_ASKED, wire_model({"text": "Not so.", "thought": True}, "41 %"), WIRE_THANKS], ("invented",)),
    Case("invented-message", [ASKED], [wire_user("By the way."), wire_model("Yes?"), WIRE_ASKED],
         ("invented", "invented")),
    Case("doubled-message", [ASKED], [WIRE_ASKED, WIRE_ASKED], ("invented",)),
    Case("cached-contents-repeated", [user(HANDBOOK), THANKS], [wire_user(HANDBOOK), WIRE_THANKS], ("invented",),
         tools=[SENSOR], wire={"cachedContent": CACHE}),
    Case("cache-of-other-contents", [THANKS], [WIRE_THANKS], ("invented",), tools=[SENSOR],
         wire={"cachedContent": CACHE}),
    Case("lost-system", [ASKED], [WIRE_ASKED], ("system",), system="Be kind."),
    Case("old-system", [ASKED], [WIRE_ASKED], ("system",), system="Be kind.", wire=system("Be brief.")),
    Case("lost-tool", [ASKED], [WIRE_ASKED], ("tools",), tools=[SENSOR]),
    Case("vanished-tool-still-offered", [ASKED], [WIRE_ASKED], ("tools",), wire=declaring(TOOL)),
    Case("lost-parameter", [ASKED], [WIRE_ASKED], ("tools",), tools=[SENSOR],
         wire=declaring(TOOL | {"parameters": {"type": "OBJECT"}})),
)  # fmt: skip


UNCLASSIFIED: tuple[Case, ...] = (
    Case("white-space-within-a-text", [user("Hello  there")], [wire_user("Hello there")], ("unlisted",)),
    Case("issued-id-left-out", HELD_LOOP,
         [WIRE_ASKED, wire_model("Let me look.", call(SIGNATURE, None)), wire_user(result(None, None))], ("unlisted",)),
    Case("issued-id-rewritten", HELD_LOOP,
         [WIRE_ASKED, wire_model("Let me look.", call(SIGNATURE, "x")), wire_user(result(None, "x"))], ("unlisted",)),
    Case("signature-that-the-session-does-not-show", [ASKED, model(CALL), Message.tool(RESULT)],
         [WIRE_ASKED, wire_model(call(SIGNATURE)), wire_user(result())], ("unlisted",)),
    Case("signature-of-another-model-sent",
         [ASKED, model(FunctionCall("id_1", "read_sensor", {"bed": "3"}, provider_data=ProviderData(
             NAME, OLD, {"signature": "eA=="}))), Message.tool(RESULT)],
         [WIRE_ASKED, wire_model(call(SIGNATURE)), wire_user(result())], ("unlisted",)),
    Case("result-in-a-sentence", *after_call(wire_user(result({"output": "The tool says: 41 %"}))), ("unlisted",)),
    Case("result-with-company", *after_call(wire_user(result({"output": "41 %", "took": "3 ms"}))), ("unlisted",)),
    Case("text-read-as-json", *after_call(wire_user(result({"percent": 41})),
                                          ToolResult("id_1", "read_sensor", '{"percent": 41}')), ("unlisted",)),
    Case("failure-told-in-another-member", *after_call(
             wire_user(result({"output": "no such bed", "success": False})),
             ToolResult("id_1", "read_sensor", "no such bed", True)), ("unlisted", "unlisted")),
    Case("image-of-the-model", [ASKED, model("Here.", PNG), THANKS], [WIRE_ASKED, wire_model("Here."), WIRE_THANKS],
         ("unlisted",)),
    Case("another-kind-of-image", [user("Look", InlineData("image/jpeg", b"png"))], [wire_user("Look", WIRE_PNG)],
         ("unlisted",)),
    Case("tool-of-the-adapter-forced", [ASKED], [WIRE_ASKED], ("unlisted",),
         wire=declaring(TOOL, toolConfig={"functionCallingConfig": {"mode": "ANY"}})),
    Case("strict-schema", [ASKED], [WIRE_ASKED], ("unlisted",), tools=[SENSOR],
         wire=declaring(TOOL | {"parameters": PARAMETERS | {"description": "of a bed"}})),
)  # fmt: skip


@pytest.mark.parametrize("case", RIGHT, ids=attrgetter("id"))
def test_what_is_right_is_not_accused(case: Case) -> None:
    assert differences(case) == []


@pytest.mark.parametrize("case", WRONG, ids=attrgetter("id"))
def test_losses_and_inventions_are_violations(case: Case) -> None:
    found = differences(case)
    assert sorted(each.what for each in found) == sorted(case.expect), found
    assert all(each.violation for each in found)


@pytest.mark.parametrize("case", UNCLASSIFIED, ids=attrgetter("id"))
def test_what_is_neither_listed_nor_a_loss_is_unlisted(case: Case) -> None:
    found = differences(case)
    assert [each.what for each in found] == list(case.expect), found
    assert not any(each.violation for each in found)


def test_every_allowed_difference_has_a_case_that_it_allows() -> None:
    assert {case.allows for case in RIGHT if case.allows} == {each.name for each in DIALECT.allowed_differences}
    assert all(each.reason and each.source for each in DIALECT.allowed_differences)


def test_another_model_is_named() -> None:
    request = ask(WIRE_ASKED).request()
    sent = DIALECT.parse(request, world())
    assert isinstance(sent, Call)
    for name in (MODEL, f"models/{MODEL}", f"projects/p/locations/l/publishers/google/models/{MODEL}"):
        assert DIALECT.differences([ASKED], None, (), sent, name) == []
    assert DIALECT.differences([ASKED], None, (), sent, OLD) == [
        WireDifference("unlisted", "$.model", OLD, MODEL, violation=False)
    ]


@pytest.mark.parametrize(
    "build",
    [lambda held: held, lambda held: held[1:], lambda held: held[:10] + held[11:]],
    ids=["whole", "head", "gap"],
)
def test_a_loss_is_found_at_once_in_a_long_conversation(build: Callable[[list[Json]], list[Json]]) -> None:
    held = [message for n in range(500) for message in (user(f"Question {n}"), model(f"Answer {n}"))]
    sent = [wire for n in range(500) for wire in (wire_user(f"Question {n}"), wire_model(f"Answer {n}"))]
    found = differences(Case("long", held, build(sent)))
    assert len(found) == len(sent) - len(build(sent))
