"""What of a history did not arrive: every fate of every kind of part, and nothing where all is there."""

from __future__ import annotations

from typing import Any

import msgspec

from turnproof.commands.handoff.losses import Arrival
from turnproof.dialects.base import Call
from turnproof.messages import (
    CodeExecutionResult,
    ExecutableCode,
    FunctionCall,
    InlineData,
    Message,
    Opaque,
    Part,
    ProviderData,
    Text,
    Thought,
    ToolResult,
)

OURS = ProviderData("ours", "model-1", {"signature": "c2VhbA=="})
THEIRS = ProviderData("theirs", "model-9", {"signature": "Zm9yZWlnbg=="})


def call(*messages: Message, system: str = "") -> Call:
    return Call(
        operation="generate", model="model-1", messages=messages, system=(Text(system),) if system else (), tools=()
    )


def fates(history: list[Message], *sent: Message, body: str = "", system: str = "") -> list[tuple[str, str]]:
    found = Arrival(history, call(*sent, system=system), body, "ours", "model-1").losses()
    return [(loss.part, loss.fate) for loss in found]


def model(*parts: Part) -> Message:
    return Message("model", parts)


def test_a_conversation_that_arrived_as_it_was_has_no_losses() -> None:
    history = [
        Message.user("Hello"),
        model(Text("Let me look."), FunctionCall("c1", "look", {"at": 1})),
        Message.tool(ToolResult("c1", "look", "nothing")),
    ]
    assert fates(history, *history) == []


def test_a_signed_thought_may_be_left_out_or_told_or_sent_unsigned() -> None:
    history = [model(Thought("Hm.", provider_data=THEIRS), Text("So."))]
    assert fates(history, model(Text("So."))) == [("Thought", "left-out")]
    assert fates(history, model(Text("<thinking>Hm.</thinking>So."))) == [("Thought", "told")]
    assert fates(history, model(Thought("Hm."), Text("So."))) == [("Thought", "unsigned")]
    assert fates(history, model(Thought("Hm."), Text("So.")), body='"Zm9yZWlnbg=="') == []


def test_thoughts_that_were_joined_have_arrived() -> None:
    history = [model(Thought("One."), Thought("Two."), Text("So."))]
    assert fates(history, model(Thought("One.Two."), Text("So."))) == []


def test_a_hidden_thought_has_arrived_with_its_seal() -> None:
    history = [model(Thought(provider_data=OURS), Text("So."))]
    assert fates(history, model(Text("So.")), body="c2VhbA==") == []
    assert fates(history, model(Text("So."))) == [("Thought", "left-out")]


def test_a_signature_may_come_back_in_another_spelling() -> None:
    history = [model(Text("So.", provider_data=OURS))]
    assert fates(history, model(Text("So.", provider_data=OURS)), body="c2VhbA..") == []
    assert fates(history, model(Text("So."))) == [("Text", "unsigned")]


def test_calls_are_found_by_their_place_and_told_when_they_are_renamed() -> None:
    history = [model(FunctionCall("c1", "a.b", {})), Message.tool(ToolResult("c1", "a.b", "x"))]
    sent = [model(FunctionCall("c1", "a_b", {})), Message.tool(ToolResult("c1", "a_b", "x"))]
    assert fates(history, *sent) == [("FunctionCall", "renamed")]
    assert fates(history) == [("FunctionCall", "left-out"), ("ToolResult", "left-out")]


def test_a_failure_without_its_flag_is_told() -> None:
    history = [model(FunctionCall("c1", "a", {})), Message.tool(ToolResult("c1", "a", "no", is_error=True))]
    assert fates(history, history[0], Message.tool(ToolResult("c1", "a", "no"))) == [("ToolResult", "told")]


def test_an_attachment_may_stand_beside_its_result() -> None:
    picture = InlineData("image/png", b"123")
    history = [model(FunctionCall("c1", "a", {})), Message.tool(ToolResult("c1", "a", "x", attachments=(picture,)))]
    plain = Message.tool(ToolResult("c1", "a", "x"))
    assert fates(history, history[0], plain, Message("user", (picture,))) == []
    assert fates(history, history[0], plain) == [("ToolResult", "left-out")]


def test_code_that_another_service_ran_may_be_told() -> None:
    history = [model(ExecutableCode("PYTHON", "print(1)"), CodeExecutionResult("OK", "1\n"))]
    assert fates(history, model(Text("```\nprint(1)\n```"), Text("```\n1\n\n```"))) == [
        ("ExecutableCode", "told"),
        ("CodeExecutionResult", "told"),
    ]
    assert fates(history, *history) == []


def test_what_no_other_api_has_a_part_for_is_left_out() -> None:
    history = [model(Opaque("theirs", "search", {"q": "x"}), Text("So."))]
    assert fates(history, model(Text("So."))) == [("Opaque", "left-out")]


def test_an_instruction_may_stand_at_the_top() -> None:
    history = [Message.user("Hello"), Message("system", (Text("Be brief."),))]
    assert fates(history, history[0], system="You log.\nBe brief.") == []
    assert fates(history, history[0]) == [("Text", "left-out")]


def test_a_loss_says_where_it_stood_and_who_issued_it() -> None:
    history = [Message.user("Hello"), model(Thought("Hm. " * 40, provider_data=THEIRS), Text("So."))]
    (loss,) = Arrival(history, call(history[0], model(Text("So."))), "", "ours", "model-1").losses()
    assert (loss.place, loss.issuer, loss.own) == ("$.messages[1].parts[0]", "theirs", False)
    assert loss.shown.startswith("Hm. Hm.")
    assert len(loss.shown) == 60


def arrival(data: ProviderData, body: str) -> tuple[int, int]:
    return Arrival([model(Text("So.", provider_data=data))], call(model(Text("So."))), body, "ours", "model-1").signed()


def test_own_provider_data_is_counted_with_what_came_back() -> None:
    assert arrival(OURS, "c2VhbA==") == (1, 1)
    assert arrival(OURS, "") == (1, 0)
    assert arrival(THEIRS, "") == (0, 0)


def test_another_model_of_the_same_api_is_not_oneself_but_its_dated_name_is() -> None:
    named: Any = msgspec.structs.replace
    assert arrival(named(OURS, model="model-1-20260101"), "c2VhbA==") == (1, 1)
    assert arrival(named(OURS, model="other"), "") == (0, 0)


def test_provider_data_without_a_word_to_look_for_counts_for_nothing() -> None:
    assert arrival(ProviderData("ours", "model-1", {"at": 3}), "") == (0, 0)
