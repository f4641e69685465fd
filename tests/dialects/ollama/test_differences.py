"""Is the wire what the session holds? On Ollama's own API, which has fewer places to put things, and on the other door.

Requests are written out by hand: an encoder of ours could share a mistake with the comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter

import pytest

from turnproof.dialects.base import Call, WireDifference
from turnproof.dialects.ollama import DIALECT
from turnproof.messages import FunctionCall, InlineData, Message, ProviderData, Text, Thought, ToolResult, ToolSchema

from ..anthropic_messages.builders import ASKED as DOOR_ASKED
from ..anthropic_messages.builders import TOOL, Ask, assistant, call, result, thinking
from ..anthropic_messages.builders import user as door_user
from ..refusals import Json
from .refusals import FUNCTION, MODEL, QUESTION, chat, door, world

user, model = Message.user, Message.model
ASKED, THANKS = user("How moist is bed 3?"), user("Thanks")
CALL, WATER = FunctionCall("call_1", "read_sensor", {"bed": "3"}), FunctionCall("call_2", "read_sensor", {"bed": "4"})
RESULT, SECOND = ToolResult("call_1", "read_sensor", "41 %"), ToolResult("call_2", "read_sensor", "12 %")
HELD = (ASKED, model("Let me look.", CALL), Message.tool(RESULT))
SENSOR = ToolSchema("read_sensor", "Read one sensor", {"type": "object"})
PNG = InlineData("image/png", b"png")
READING: Json = {"percent": 41, "beds": ["3", None]}


def made(bed: str = "3", **more: str) -> Json:
    return {"function": {"name": "read_sensor", "arguments": {"bed": bed}}, **more}


def spoke(content: str, *calls: Json, **more: str) -> Json:
    return {"role": "assistant", "content": content, **({"tool_calls": list(calls)} if calls else {}), **more}


def told(content: str, **more: object) -> Json:
    return {"role": "tool", "content": content, **more}


SPOKE = spoke("Let me look.", made(id="call_1"))
TOLD = told("41 %", tool_name="read_sensor", tool_call_id="call_1")
LOOP = [QUESTION, SPOKE, TOLD]


@dataclass(frozen=True)
class Case:
    """What is held, what was sent to `/api/chat`, and what must be said of it (nothing, where it is right)."""

    id: str
    held: Sequence[Message]
    sent: Sequence[Json]
    expect: tuple[str, ...] = ()
    allows: str = ""
    system: str = ""
    wire: Json = field(default_factory=dict)


def differences(held: Sequence[Message], asked: Ask, system: str = "") -> list[WireDifference]:
    sent = DIALECT.parse(asked.request(), world())
    assert isinstance(sent, Call), sent
    return DIALECT.differences(held, system or None, [SENSOR], sent, MODEL)


def of(case: Case) -> list[WireDifference]:
    return differences(case.held, chat(*case.sent, **{"tools": [FUNCTION], **case.wire}), case.system)


RIGHT: tuple[Case, ...] = (
    Case("plain", [ASKED, model("41 %"), THANKS], [QUESTION, spoke("41 %"), {"role": "user", "content": "Thanks"}]),
    Case("loop", HELD, LOOP),
    Case("system", [ASKED], [{"role": "system", "content": "Be brief."}, QUESTION], system="Be brief."),
    Case("instruction", [ASKED, model("Yes."), Message.system("Now in French."), THANKS],
         [QUESTION, spoke("Yes."), {"role": "system", "content": "Now in French."},
          {"role": "user", "content": "Thanks"}]),
    Case("no-call-ids", HELD, [QUESTION, spoke("Let me look.", made()), told("41 %")], allows="no-call-ids"),
    Case("no-call-ids-of-two", [ASKED, model(CALL, WATER), Message.tool(RESULT, SECOND)],
         [QUESTION, spoke("", made(), made("4")), told("41 %"), told("12 %")], allows="no-call-ids"),
    Case("text-behind-the-call", [ASKED, model("One. ", CALL, "Two."), Message.tool(RESULT)],
         [QUESTION, spoke("One. Two.", made(id="call_1")), TOLD], allows="one-field-each"),
    Case("image-before-the-text", [user(PNG, "What is it?")],
         [{"role": "user", "content": "What is it?", "images": ["cG5n"]}], allows="one-field-each"),
    Case("image-of-a-result",
         [*HELD[:2], Message.tool(ToolResult("call_1", "read_sensor", "41 %", attachments=(PNG,)))],
         [*LOOP[:2], {**TOLD, "images": ["cG5n"]}], allows="untyped-images"),
    Case("thinking-back", [ASKED, model(Thought("Hm."), CALL), Message.tool(RESULT)],
         [QUESTION, spoke("", made(id="call_1"), thinking="Hm."), TOLD]),
    Case("thinking-left-out", [ASKED, model(Thought("Hm."), CALL), Message.tool(RESULT)],
         [QUESTION, spoke("", made(id="call_1")), TOLD], allows="thinking-left-out"),
    Case("error-as-text", [*HELD[:2], Message.tool(ToolResult("call_1", "read_sensor", "no such bed", is_error=True))],
         [*LOOP[:2], {**TOLD, "content": "no such bed"}], allows="no-error-flag"),
    Case("value-as-json-text", [*HELD[:2], Message.tool(ToolResult("call_1", "read_sensor", READING))],
         [*LOOP[:2], {**TOLD, "content": '{"percent": 41, "beds": ["3", null]}'}], allows="result-as-json-text"),
    Case("latest-tag", [ASKED], [QUESTION], wire={"model": MODEL}),
)  # fmt: skip

WRONG: tuple[Case, ...] = (
    Case("lost-text", [ASKED, model("41 %"), THANKS], [QUESTION, {"role": "user", "content": "Thanks"}],
         ("lost-text",)),
    Case("lost-call", HELD, [QUESTION, spoke("Let me look."), TOLD], ("lost-call",)),
    Case("lost-result", HELD, LOOP[:2], ("lost-result",)),
    Case("changed-args", HELD, [QUESTION, spoke("Let me look.", made("4", id="call_1")), TOLD], ("changed-args",)),
    Case("results-swapped", [ASKED, model(CALL, WATER), Message.tool(RESULT, SECOND)],
         [QUESTION, spoke("", made(), made("4")), told("12 %"), told("41 %")], ("lost-result", "lost-result")),
    Case("lost-image", [user("What is it?", PNG)], [{"role": "user", "content": "What is it?"}], ("lost-attachment",)),
    Case("invented", [ASKED], [QUESTION, spoke("Well,")], ("invented",)),
    Case("lost-system", [ASKED], [QUESTION], ("system",), system="Be brief."),
    Case("lost-tool", [ASKED], [QUESTION], ("tools",), wire={"tools": []}),
)  # fmt: skip


@pytest.mark.parametrize("case", RIGHT, ids=attrgetter("id"))
def test_what_is_right_is_not_accused(case: Case) -> None:
    assert of(case) == []


@pytest.mark.parametrize("case", WRONG, ids=attrgetter("id"))
def test_losses_and_inventions_are_violations(case: Case) -> None:
    found = of(case)
    assert sorted(each.what for each in found) == sorted(case.expect), found
    assert all(each.violation for each in found)


def test_each_difference_that_is_allowed_here_alone_has_a_case() -> None:
    names = [each.name for each in DIALECT.allowed_differences]
    assert len(names) == len(set(names))
    assert all(each.reason and "ollama.md §2" in each.source for each in DIALECT.allowed_differences[:-6])
    assert {case.allows for case in RIGHT if case.allows} >= set(names[-6:]) - {"latest-tag"}


def test_a_model_is_the_same_with_its_tag_and_another_one_is_not() -> None:
    for asked, what in (("qwen3:latest", []), ("llama3.2", ["unlisted"])):
        sent = DIALECT.parse(chat(model=asked, tools=[FUNCTION]).request(), world())
        assert isinstance(sent, Call)
        assert [each.what for each in DIALECT.differences([ASKED], None, [SENSOR], sent, "qwen3")] == what


# -- the other door


def answered(*blocks: str | Json, content: str = "41 %") -> Ask:
    return door(DOOR_ASKED, assistant(*blocks), door_user(result(content=content)), tools=[TOOL])


SIGNED = Thought("Hm.", provider_data=ProviderData("anthropic-messages", "claude-opus-4-8", {"signature": "c2ln"}))


@pytest.mark.parametrize(
    ("held", "asked"),
    [
        pytest.param(HELD, answered("Let me look.", call()), id="loop"),
        pytest.param([ASKED, model(Thought("Hm."), CALL), Message.tool(RESULT)], answered(call()), id="no-thinking"),
        pytest.param([ASKED, model(Thought("Hm."), CALL), Message.tool(RESULT)],
                     answered(thinking("Hm.", None), call()), id="thinking-without-signature"),
        pytest.param([ASKED, model(SIGNED, CALL), Message.tool(RESULT)], answered(call()), id="foreign-thinking"),
    ],
)  # fmt: skip
def test_what_is_right_on_the_door_of_anthropic_is_not_accused(held: Sequence[Message], asked: Ask) -> None:
    assert differences(held, asked) == []


def test_the_order_that_the_native_api_cannot_say_is_asked_for_where_it_can_be_said() -> None:
    behind = (ASKED, model(CALL, Text("Two.")), Message.tool(RESULT))
    assert [each.what for each in differences(behind, answered("Two.", call()))] == ["order"]


@pytest.mark.parametrize("flag", [{}, {"is_error": True}])
def test_a_flag_that_the_server_does_not_read_may_be_sent_or_not_but_not_made_up(flag: Json) -> None:
    asked = door(DOOR_ASKED, assistant("Let me look.", call()), door_user(result(**flag)), tools=[TOOL])
    failed = [*HELD[:2], Message.tool(ToolResult("call_1", "read_sensor", "41 %", is_error=True))]
    assert differences(failed, asked) == []
    assert [each.what for each in differences(HELD, asked)] == ["invented"] * bool(flag)


def test_the_type_of_an_image_counts_where_it_is_sent() -> None:
    jpeg = {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "cG5n"}}
    found = differences([user("What is it?", PNG)], door(door_user("What is it?", jpeg), tools=[TOOL]))
    assert [(each.what, each.held, each.sent) for each in found] == [("unlisted", "image/png", "image/jpeg")]
