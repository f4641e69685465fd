"""What may differ between a session and a request to Z.ai: thinking and its signatures more freely than with Anthropic,
what was said no more freely. Requests are written out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter

import pytest

from turnproof.dialects import anthropic_messages
from turnproof.dialects.base import Call, WireDifference
from turnproof.dialects.zai import DIALECT
from turnproof.messages import FunctionCall, Message, ProviderData, Thought, ToolResult, ToolSchema

from ..anthropic_messages.builders import TOOL, Ask, assistant, call, result, text, thinking, user
from ..refusals import Json
from .refusals import MODEL, PATH, ask, world

THOUGHT = "Bed 3 needs the sensor."
SIGNED = Thought(THOUGHT, provider_data=ProviderData("zai", MODEL, {"signature": "b3BhcXVl"}))
FOREIGN = Thought(THOUGHT, provider_data=ProviderData("anthropic-messages", "claude-opus-4-8", {"signature": "c2ln"}))
CALL = FunctionCall("call_1", "read_sensor", {"bed": "3"})
RESULT = ToolResult("call_1", "read_sensor", "41 %")
ASKED, WIRE_ASKED = Message.user("How moist is bed 3?"), user("How moist is bed 3?")
HELD = (ASKED, Message.model(SIGNED, CALL), Message.tool(RESULT))
SENSOR = ToolSchema("read_sensor", "Read one sensor", {"type": "object"})


@dataclass(frozen=True)
class Case:
    """What is held, what was sent, and what must be said of it (nothing, where it is right)."""

    id: str
    held: Sequence[Message]
    sent: Sequence[Json]
    expect: tuple[str, ...] = ()
    wire: Json = field(default_factory=dict)


def differences(case: Case) -> list[WireDifference]:
    sent = DIALECT.parse(ask(*case.sent, **case.wire).request(), world())
    assert isinstance(sent, Call), sent
    return DIALECT.differences(case.held, "Be brief.", [SENSOR], sent, MODEL)


def wire(**more: object) -> Json:
    return {"system": "Be brief.", "tools": [TOOL], **more}


def case(name: str, held: Sequence[Message], sent: Sequence[Json], *expect: str, **more: object) -> Case:
    return Case(name, held, sent, expect, wire(**more))


def answered(*blocks: Json) -> list[Json]:
    return [WIRE_ASKED, assistant(*blocks), user(result())]


RIGHT = (
    case("whole", HELD, answered(thinking(THOUGHT, "b3BhcXVl"), call())),
    case("thinking-left-out", HELD, answered(call()), thinking={"type": "enabled"}),
    case("unsigned-thinking", HELD, answered(thinking(THOUGHT, None), call()), thinking={"type": "enabled"}),
    case("unsigned-as-empty", HELD, answered(thinking(THOUGHT, ""), call())),
    case("foreign-thinking", (ASKED, Message.model(FOREIGN, CALL), Message.tool(RESULT)), answered(call())),
    case("joined-text", (Message.user("How moist", "is it?"),), [user("How moist\nis it?")]),
    case(
        "results-first", (*HELD[:2], Message.user("Look:"), HELD[2]),
        [WIRE_ASKED, assistant(call()), user(result(), text("Look:"))],
    ),
    case("mapped-model", (ASKED,), [WIRE_ASKED], model="claude-sonnet-4-5"),
    case("a-call-without-a-result", HELD[:2], [WIRE_ASKED, assistant(call())]),
    case(
        "odd-ids-stay", (ASKED, Message.model(FunctionCall("a b", "read_sensor")),
                         Message.tool(ToolResult("a b", "read_sensor", "1"))),
        [WIRE_ASKED, assistant(call("a b", input={})), user(result("a b", "1"))],
    ),
)  # fmt: skip

WRONG = (
    case("lost-text", (*HELD, Message.model("41 %"), ASKED), [*answered(call()), WIRE_ASKED], "lost-text"),
    case("lost-call", HELD, [WIRE_ASKED, user(result())], "lost-call", "order"),
    case("lost-result", HELD, [WIRE_ASKED, assistant(call())], "lost-result"),
    case("changed-args", HELD, answered(call(input={"bed": "4"})), "changed-args"),
    case(
        "args-as-text", (ASKED, Message.model(FunctionCall("call_1", "read_sensor", {"at": {"bed": "3"}}))),
        [WIRE_ASKED, assistant(call(input={"at": '{"bed": "3"}'}))], "changed-args",
    ),
    case("forged-signature", HELD, answered(thinking(THOUGHT, "Zm9yZ2Vk"), call()), "lost-signature"),
    case("invented", (ASKED,), [WIRE_ASKED, assistant("Well,")], "invented"),
)  # fmt: skip


@pytest.mark.parametrize("case", RIGHT, ids=attrgetter("id"))
def test_what_is_right_is_not_accused(case: Case) -> None:
    assert differences(case) == []


@pytest.mark.parametrize("case", WRONG, ids=attrgetter("id"))
def test_losses_and_inventions_are_violations(case: Case) -> None:
    found = differences(case)
    assert sorted(each.what for each in found) == sorted(case.expect)
    assert all(each.violation for each in found)


def test_another_model_is_only_unlisted() -> None:
    (found,) = differences(case("another-model", (ASKED,), [WIRE_ASKED], model="glm-4.6"))
    assert (found.what, found.path, found.violation) == ("unlisted", "$.model", False)


def test_what_anthropic_demands_back_is_not_demanded_here() -> None:
    """The same request without the thinking of a running tool loop, each service asked for a model of its own."""
    found = {}
    for api, path, name in ((anthropic_messages.DIALECT, "/v1/messages", "claude-sonnet-4-5"), (DIALECT, PATH, MODEL)):
        thought = Thought(THOUGHT, provider_data=ProviderData(api.name, name, {"signature": "b3BhcXVl"}))
        held = (ASKED, Message.model(thought, CALL), Message.tool(RESULT))
        body = ask(*answered(call()), model=name, **wire(thinking={"type": "enabled"})).body
        sent = api.parse(Ask(body, path).request(), world())
        assert isinstance(sent, Call)
        found[api.name] = [each.what for each in api.differences(held, "Be brief.", [SENSOR], sent, name)]
    assert found == {"anthropic-messages": ["lost-signature"], "zai": []}


def test_every_allowed_difference_has_a_reason_and_a_source() -> None:
    names = [each.name for each in DIALECT.allowed_differences]
    assert len(names) == len(set(names))
    assert {"thinking-left-out", "unsigned-thinking", "mapped-model"} <= set(names)
    assert all(each.reason and "zai.md" in each.source for each in DIALECT.allowed_differences)


def test_a_text_that_was_thought_is_matched_without_what_only_marks_it() -> None:
    calls = [
        DIALECT.parse(ask(WIRE_ASKED, assistant(*blocks)).request(), world())
        for blocks in ((text("Yes."),), (text("Yes.", cache_control={"type": "ephemeral"}),), (text("No."),))
    ]
    same, marked, other = (DIALECT.match_form(each) for each in calls if isinstance(each, Call))
    assert same == marked != other
