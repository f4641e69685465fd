"""What a step leaves in the history: what came on top of it, and what was only mended."""

from __future__ import annotations

from turnproof.messages import FunctionCall, Message, Text, ToolResult
from turnproof_suites.steps import mended_as

QUESTION, CALL = Message.user("How moist is bed 3?"), FunctionCall("given_1", "read_sensor", {"bed": "3"})
MENDED = ToolResult("given_1", "read_sensor", "no result was recorded for this call", is_error=True)
OTHER = ToolResult("given_2", "read_sensor", "41 %")


def test_a_result_that_was_put_behind_a_call_without_one_is_taken_out_again() -> None:
    before = [QUESTION, Message.model(CALL), Message.user("Yes.")]
    after = [QUESTION, Message.model(CALL), Message.tool(MENDED), Message.user("Yes."), Message.model("41 %.")]
    assert [message.parts for message in mended_as(after, before)] == [
        message.parts for message in (*before, Message.model("41 %."))
    ]


def test_a_result_beside_it_stays() -> None:
    calls = Message.model(CALL, FunctionCall("given_2", "read_sensor", {"bed": "4"}))
    (_, _, results, _) = mended_as(
        [QUESTION, calls, Message.tool(MENDED, OTHER), Message.user("Yes.")], [QUESTION, calls, Message.tool(OTHER)]
    )
    assert results.parts == (OTHER,)


def test_a_result_of_an_answered_call_is_what_the_session_holds() -> None:
    before = [QUESTION, Message.model(CALL), Message.tool(MENDED)]
    after = [*before, Message("user", (Text("Yes."),))]
    assert mended_as(after, before) == tuple(after)
