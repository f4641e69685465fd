"""Is the wire what the session holds? Within the envelope as at the Gemini API; for Claude models with its thinking."""

from __future__ import annotations

import pytest

from turnproof.dialects.antigravity import DIALECT
from turnproof.dialects.antigravity.compare import ALLOWED
from turnproof.dialects.base import Evidence, WireDifference
from turnproof.dialects.gemini.compare import ALLOWED as GEMINI_ALLOWED
from turnproof.messages import FunctionCall, Message, ProviderData, Text, Thought, ToolResult

from ..gemini.builders import SIGNATURE
from ..gemini.builders import model as wire_model
from ..gemini.builders import user as wire_user
from ..gemini.differences import RIGHT, UNLISTED, WRONG
from ..requests import Json
from .builders import CLAUDE, GEMINI, OPENING, OTHER_CLAUDE, Ask, call, envelope, read, response, thought
from .differences import NAME, carried


def test_most_cases_can_be_carried_over() -> None:
    left = {case.id for case in (*RIGHT, *WRONG, *UNLISTED) if not carried(case)}
    assert left == {"what-the-cache-holds", "alias", "cached-contents-repeated", "cache-of-other-contents"}


CLAUDES = {"claude-thinking-left-out", "claude-thinking-in-pieces", "claude-legal-call-ids"}


def test_what_is_allowed_at_the_gemini_api_is_only_inferred_here() -> None:
    inherited = {each.name for each in GEMINI_ALLOWED} - {"served-by-managed-cache", "model-alias"}
    listed = {each.name: each for each in ALLOWED}
    assert set(listed) == inherited | CLAUDES
    assert {listed[name].evidence for name in inherited} == {Evidence.INFERRED}


# -- Claude


def issued(signature: str, by: str = CLAUDE, dialect: str = NAME) -> ProviderData:
    return ProviderData(dialect, by, {"signature": signature})


QUESTION = Message.user("How moist is bed 3?")
RESULT = Message.tool(ToolResult("toolu_vrtx_01A", "read_sensor", "41 %"))
CALLED = FunctionCall("toolu_vrtx_01A", "read_sensor", {"bed": "3"})
SIGNED = Thought("Hm. Bed 3.", provider_data=issued("+/+/c2lnbmVk"))
SENT_BACK, ANSWERED = call(bed="3"), wire_user(response())


def loop(*thoughts: Json) -> list[Json]:
    return [OPENING, wire_model(*thoughts, SENT_BACK), ANSWERED]


def of_claude(history: list[Message], sent: list[Json], name: str = CLAUDE) -> list[WireDifference]:
    return DIALECT.differences(history, None, (), read(Ask(envelope({"contents": sent}, name))), name)


HISTORY = [QUESTION, Message.model(SIGNED, CALLED), RESULT]


@pytest.mark.parametrize(
    "thoughts",
    [
        pytest.param([thought("Hm. Bed 3.", "+/+/c2lnbmVk")], id="as it was"),
        pytest.param([thought("Hm. Bed 3.", "-_-_c2lnbmVk")], id="in the other alphabet"),
        pytest.param([thought("Hm."), thought(" Bed 3."), thought("", "+/+/c2lnbmVk")], id="in its pieces"),
        pytest.param([], id="not at all"),
    ],
)
def test_a_thought_of_claude_comes_back_or_not(thoughts: list[Json]) -> None:
    assert of_claude(HISTORY, loop(*thoughts)) == []


@pytest.mark.parametrize(
    ("thoughts", "what"),
    [
        pytest.param([thought("Hm. Bed 3.", "c2lnbmVk")], ["lost-signature"], id="another signature"),
        pytest.param([thought("Hm. Bed 3.")], ["lost-signature"], id="no signature"),
        pytest.param([thought("Hm. Bed 4.", "+/+/c2lnbmVk")], ["lost-signature"], id="other words"),
        pytest.param(
            [thought("Hm. Bed 3.", "+/+/c2lnbmVk"), thought("So.", "c2lnbmVk")], ["invented"], id="another thought"
        ),
    ],
)
def test_a_thought_of_claude_does_not_come_back_as_another(thoughts: list[Json], what: list[str]) -> None:
    found = of_claude(HISTORY, loop(*thoughts))
    assert [each.what for each in found] == what
    assert all(each.violation for each in found)


@pytest.mark.parametrize("held_id", ["functions.read:0", "toolu_vrtx_01A"])
def test_an_id_may_be_rewritten_alike_in_call_and_response(held_id: str) -> None:
    history = [
        QUESTION,
        Message.model(FunctionCall(held_id, "read_sensor", {"bed": "3"})),
        Message.tool(ToolResult(held_id, "read_sensor", "41 %")),
    ]
    for sent_id in ("rewritten", held_id):
        sent = [OPENING, wire_model(call(sent_id, bed="3")), wire_user(response(sent_id))]
        assert of_claude(history, sent) == []
    apart = [OPENING, wire_model(call("rewritten", bed="3")), wire_user(response("other"))]
    assert any(each.violation for each in of_claude(history, apart))


def test_one_of_two_thoughts_in_a_running_loop_is_neither_listed_nor_a_loss() -> None:
    again = FunctionCall("toolu_vrtx_01B", "read_sensor", {"bed": "4"})
    second = Thought("And 4.", provider_data=issued("c2Vjb25k"))
    history = [
        *HISTORY,
        Message.model(second, again),
        Message.tool(ToolResult("toolu_vrtx_01B", "read_sensor", "41 %")),
    ]
    later = [
        wire_model(thought("And 4.", "c2Vjb25k"), call("toolu_vrtx_01B", bed="4")),
        wire_user(response("toolu_vrtx_01B")),
    ]
    found = of_claude(history, [*loop(), *later])
    assert [(each.what, each.violation) for each in found] == [("unlisted", False)]


def test_thoughts_of_an_earlier_turn_may_be_left_out_one_by_one() -> None:
    history = [*HISTORY, Message.model("41 %."), Message.user("And 4?"), Message.model(SIGNED, "The same.")]
    sent = [
        *loop(),
        wire_model("41 %."),
        wire_user("And 4?"),
        wire_model(thought("Hm. Bed 3.", "+/+/c2lnbmVk"), "The same."),
    ]
    assert of_claude(history, sent) == []


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(issued("eA==", OTHER_CLAUDE), id="another model"),
        pytest.param(issued("eA==", dialect="anthropic-messages"), id="another API"),
        pytest.param(issued("eA==", GEMINI), id="another family"),
        pytest.param(None, id="nobody"),
    ],
)
def test_a_thought_of_others_is_left_out(data: ProviderData | None) -> None:
    history = [QUESTION, Message.model(Thought("Hm.", provider_data=data), CALLED), RESULT]
    assert of_claude(history, loop()) == []


def test_a_signature_of_the_gemini_api_is_foreign_to_the_gateway() -> None:
    signed = FunctionCall("id_1", "read_sensor", {"bed": "3"}, provider_data=issued(SIGNATURE, GEMINI, "gemini"))
    history = [QUESTION, Message.model(signed), Message.tool(ToolResult("id_1", "read_sensor", "41 %"))]
    stand_in = call("id_1", bed="3") | {"thoughtSignature": "skip_thought_signature_validator"}
    assert of_claude(history, [OPENING, wire_model(stand_in), wire_user(response("id_1"))], GEMINI) == []


def test_a_conversation_goes_from_gemini_to_claude_and_nothing_is_missed() -> None:
    signed = FunctionCall("a1b2c3d4", "read_sensor", {"bed": "3"}, provider_data=issued(SIGNATURE, GEMINI))
    history = [
        QUESTION,
        Message.model(Text("I look."), signed),
        Message.tool(ToolResult("a1b2c3d4", "read_sensor", "41 %")),
    ]
    sent = [OPENING, wire_model("I look.", call("a1b2c3d4", bed="3")), wire_user(response("a1b2c3d4"))]
    assert of_claude(history, sent) == []
