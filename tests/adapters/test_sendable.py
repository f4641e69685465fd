"""What is refused before anything is sent, whichever API it was meant for."""

from __future__ import annotations

import pytest

from turnproof.errors import InvalidRequestError
from turnproof.messages import FunctionCall, Message, Role, Text, Thought, ToolResult
from turnproof_adapters._sendable import refuse_unsendable

CALL = FunctionCall("call_1", "ls", {})
RESULT = ToolResult("call_1", "ls", "a.txt")
HALF = "cut \ud83d"
NO_UNICODE = "a text with half of a surrogate pair in it, which is not valid Unicode"


@pytest.mark.parametrize(
    ("role", "part", "what"),
    [
        ("user", CALL, "a call of 'ls', and only the model calls tools"),
        ("tool", CALL, "a call of 'ls', and only the model calls tools"),
        ("system", CALL, "a call of 'ls', and only the model calls tools"),
        ("system", RESULT, "a result of 'ls', which belongs into a tool message"),
        ("user", Text(HALF), NO_UNICODE),
        ("model", Thought(HALF), NO_UNICODE),
    ],
)
def test_what_no_api_takes_is_refused_with_its_place(role: Role, part: FunctionCall | Text, what: str) -> None:
    message = Message(role, (Text("before"), part), message_id="m-7")
    with pytest.raises(InvalidRequestError) as refused:
        refuse_unsendable(message)
    assert refused.value.message == f"message 'm-7' of the {role}: $.parts[1] is {what}"


@pytest.mark.parametrize(
    ("role", "part"),
    [
        ("model", CALL),
        ("tool", RESULT),
        ("user", RESULT),
        ("user", Text("whole \U0001f600")),
        ("system", Text("rules")),
        ("model", Thought("hm \u2019")),
    ],
)
def test_what_an_api_may_take_passes(role: Role, part: FunctionCall | Text) -> None:
    refuse_unsendable(Message(role, (part,)))
