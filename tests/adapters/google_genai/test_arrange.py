"""Conversations put in order message by message: what the API would refuse is known, and a snapshot is gone on from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from turnproof.messages import FunctionCall, InlineData, Message, Thought, ToolResult
from turnproof_adapters.google_genai.arrange import Arrangement, DictCodec, arrange_messages
from turnproof_adapters.google_genai.models import target
from turnproof_adapters.google_genai.rows import row

from .histories import FIRST, LAST
from .kit import MODEL

CALLED = Message.model(FunctionCall("a", "f", {}))
ANSWERED = Message.tool(ToolResult("a", "", "seen", attachments=(InlineData("image/png", b"\x01"),)))
"""The answer to it under no name: it is written for the call that it is found to answer."""

OLD = "gemini-2.5-flash"
IMAGE = {"inlineData": {"mimeType": "image/png", "data": "AQ=="}}
RESPONSE = {"id": "a", "name": "f", "response": {"output": "seen"}}

UNSAID = "nothing is said in it"
OWN_WORDS = "what was said last in it are the model's own words"
BEGINS_WITH_A_CALL = "it begins with a call of the model's, which may only follow the user's words or a result"


@pytest.mark.parametrize(
    ("history", "problem"),
    [
        ([], UNSAID),
        ([Message.user(""), Message.model(Thought("hm"))], UNSAID),
        ([FIRST, Message.model("ho")], OWN_WORDS),
        ([FIRST, CALLED, ANSWERED, Message.model("ho")], OWN_WORDS),
        ([CALLED, ANSWERED, LAST], BEGINS_WITH_A_CALL),
        ([Message.user(""), CALLED], BEGINS_WITH_A_CALL),
        ([FIRST], None),
        ([FIRST, CALLED], None),
        ([FIRST, CALLED, ANSWERED], None),
        ([Message.model("welcome"), LAST], None),
    ],
)
def test_what_the_api_would_not_answer_is_known(history: Sequence[Message], problem: str | None) -> None:
    arrangement = arrange_messages(history, target(MODEL))
    assert arrangement.problem == problem
    assert arrangement.copy().problem == problem


@pytest.mark.parametrize(
    ("model", "parts"),
    [
        (MODEL, [{"functionResponse": {**RESPONSE, "parts": [IMAGE]}}]),
        (OLD, [{"functionResponse": RESPONSE}, IMAGE]),
    ],
)
def test_a_response_is_written_under_the_name_of_its_call(model: str, parts: list[Any]) -> None:
    assert arrange_messages([FIRST, CALLED, ANSWERED], target(model)).finish()[2] == {"role": "user", "parts": parts}


@pytest.mark.parametrize("length", range(5))
def test_a_snapshot_is_gone_on_from_as_if_it_were_the_first(length: int) -> None:
    messages = [FIRST, CALLED, ANSWERED, Message.model("so"), LAST]
    arrangement = arrange_messages(messages[:length], target(OLD))
    snapshot = arrangement.copy()
    _add(arrangement, Message.user("something else"), CALLED, ANSWERED)
    _add(snapshot, *messages[length:])
    assert snapshot.finish() == arrange_messages(messages, target(OLD)).finish()


def _add(arrangement: Arrangement[dict[str, Any]], *messages: Message) -> None:
    for message in messages:
        arrangement.add(row(message, DictCodec(), target(OLD)))
