"""Conversations with Z.ai, right and wrong ones."""

from __future__ import annotations

from collections.abc import Sequence

from turnproof.dialects.zai import DIALECT
from turnproof.messages import FunctionCall, Message, ProviderData, Thought, ToolResult, ToolSchema

from ..anthropic_messages.builders import TOOL, assistant, call, result, text, thinking, user
from ..differences import Case, DifferenceKit, find_by
from ..histories import CALL, OPENING, RESULT
from ..requests import Json
from .refusals import MODEL, ask, world

THOUGHT = "Bed 3 needs the sensor."
SIGNED = Thought(THOUGHT, provider_data=ProviderData("zai", MODEL, {"signature": "b3BhcXVl"}))
FOREIGN = Thought(THOUGHT, provider_data=ProviderData("anthropic-messages", "claude-opus-4-8", {"signature": "c2ln"}))
WIRE_ASKED = user("How moist is bed 3?")
HISTORY = (OPENING, Message.model(SIGNED, CALL), Message.tool(RESULT))
SENSOR = ToolSchema("read_sensor", "Read one sensor", {"type": "object"})


find_differences = find_by(DIALECT, MODEL, lambda case: ask(*case.sent, **case.wire), world)


def wire(**more: object) -> Json:
    return {"system": "Be brief.", "tools": [TOOL], **more}


def case(name: str, history: Sequence[Message], sent: Sequence[Json], *expect: str, **more: object) -> Case:
    return Case(name, history, sent, expect, "Be brief.", [SENSOR], wire(**more))


def answered(*blocks: Json) -> list[Json]:
    return [WIRE_ASKED, assistant(*blocks), user(result())]


RIGHT = (
    case("whole", HISTORY, answered(thinking(THOUGHT, "b3BhcXVl"), call())),
    case("thinking-left-out", HISTORY, answered(call()), thinking={"type": "enabled"}),
    case("unsigned-thinking", HISTORY, answered(thinking(THOUGHT, None), call()), thinking={"type": "enabled"}),
    case("unsigned-as-empty", HISTORY, answered(thinking(THOUGHT, ""), call())),
    case("foreign-thinking", (OPENING, Message.model(FOREIGN, CALL), Message.tool(RESULT)), answered(call())),
    case("joined-text", (Message.user("How moist", "is it?"),), [user("How moist\nis it?")]),
    case(
        "results-first", (*HISTORY[:2], Message.user("Look:"), HISTORY[2]),
        [WIRE_ASKED, assistant(call()), user(result(), text("Look:"))],
    ),
    case("mapped-model", (OPENING,), [WIRE_ASKED], model="claude-sonnet-4-5"),
    case("a-call-without-a-result", HISTORY[:2], [WIRE_ASKED, assistant(call())]),
    case(
        "odd-ids-stay", (OPENING, Message.model(FunctionCall("a b", "read_sensor")),
                         Message.tool(ToolResult("a b", "read_sensor", "1"))),
        [WIRE_ASKED, assistant(call("a b", input={})), user(result("a b", "1"))],
    ),
)  # fmt: skip

WRONG = (
    case("lost-text", (*HISTORY, Message.model("41 %"), OPENING), [*answered(call()), WIRE_ASKED], "lost-text"),
    case("lost-call", HISTORY, [WIRE_ASKED, user(result())], "order", "lost-call"),
    case("lost-result", HISTORY, [WIRE_ASKED, assistant(call())], "lost-result"),
    case("changed-args", HISTORY, answered(call(input={"bed": "4"})), "changed-args"),
    case(
        "args-as-text", (OPENING, Message.model(FunctionCall("call_1", "read_sensor", {"at": {"bed": "3"}}))),
        [WIRE_ASKED, assistant(call(input={"at": '{"bed": "3"}'}))], "changed-args",
    ),
    case("forged-signature", HISTORY, answered(thinking(THOUGHT, "Zm9yZ2Vk"), call()), "lost-signature"),
    case("invented", (OPENING,), [WIRE_ASKED, assistant("Well,")], "invented"),
)  # fmt: skip

DIFFERENCES = DifferenceKit(DIALECT, find_differences, RIGHT, WRONG, allows_all=False)
