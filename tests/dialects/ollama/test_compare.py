"""Is the wire what the session holds? On Ollama's own API, which has fewer places to put things, and on Anthropic's.

Requests are written out by hand: an encoder of ours could share a mistake with the comparison.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from turnproof.dialects.ollama import DIALECT
from turnproof.messages import Message, ProviderData, Text, Thought, ToolResult

from ..anthropic_messages.asks import Ask
from ..anthropic_messages.builders import OPENING as ANTHROPIC_QUESTION
from ..anthropic_messages.builders import TOOL, assistant, call, result, thinking
from ..anthropic_messages.builders import user as anthropic_user
from ..histories import CALL, HELD_LOOP, OPENING, PNG, RESULT
from ..parts import model, user
from ..requests import Json, read_call
from .differences import RIGHT, SENSOR, compare
from .refusals import FUNCTION, anthropic, chat, world


def test_each_difference_that_is_allowed_here_alone_has_a_case() -> None:
    names = [each.name for each in DIALECT.allowed_differences]
    assert len(names) == len(set(names))
    assert all(each.reason and "ollama.md §2" in each.source for each in DIALECT.allowed_differences[:-6])
    assert {case.allows for case in RIGHT if case.allows} >= set(names[-6:]) - {"latest-tag"}


def test_a_model_is_the_same_with_its_tag_and_another_one_is_not() -> None:
    for name, what in (("qwen3:latest", []), ("llama3.2", ["unlisted"])):
        sent = read_call(DIALECT, chat(model=name, tools=[FUNCTION]), world())
        assert [each.what for each in DIALECT.differences([OPENING], None, [SENSOR], sent, "qwen3")] == what


# -- the other surface


def answered(*blocks: str | Json, content: str = "41 %") -> Ask:
    return anthropic(ANTHROPIC_QUESTION, assistant(*blocks), anthropic_user(result(content=content)), tools=[TOOL])


SIGNED = Thought("Hm.", provider_data=ProviderData("anthropic-messages", "claude-opus-4-8", {"signature": "c2ln"}))


@pytest.mark.parametrize(
    ("history", "sendable"),
    [
        pytest.param(HELD_LOOP, answered("Let me look.", call()), id="loop"),
        pytest.param([OPENING, model(Thought("Hm."), CALL), Message.tool(RESULT)], answered(call()), id="no-thinking"),
        pytest.param([OPENING, model(Thought("Hm."), CALL), Message.tool(RESULT)],
                     answered(thinking("Hm.", None), call()), id="thinking-without-signature"),
        pytest.param([OPENING, model(SIGNED, CALL), Message.tool(RESULT)], answered(call()), id="foreign-thinking"),
    ],
)  # fmt: skip
def test_what_is_right_on_the_door_of_anthropic_is_not_accused(history: Sequence[Message], sendable: Ask) -> None:
    assert compare(history, sendable) == []


def test_the_order_that_the_native_api_cannot_say_is_asked_for_where_it_can_be_said() -> None:
    history = (OPENING, model(CALL, Text("Two.")), Message.tool(RESULT))
    assert [each.what for each in compare(history, answered("Two.", call()))] == ["order"]


@pytest.mark.parametrize("flag", [{}, {"is_error": True}])
def test_a_flag_that_the_server_does_not_read_may_be_sent_or_not_but_not_made_up(flag: Json) -> None:
    request = anthropic(
        ANTHROPIC_QUESTION, assistant("Let me look.", call()), anthropic_user(result(**flag)), tools=[TOOL]
    )
    failed = [*HELD_LOOP[:2], Message.tool(ToolResult("call_1", "read_sensor", "41 %", is_error=True))]
    assert compare(failed, request) == []
    assert [each.what for each in compare(HELD_LOOP, request)] == ["invented"] * bool(flag)


def test_the_type_of_an_image_counts_where_it_is_sent() -> None:
    jpeg = {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "cG5n"}}
    found = compare([user("What is it?", PNG)], anthropic(anthropic_user("What is it?", jpeg), tools=[TOOL]))
    assert [(each.what, each.held, each.sent) for each in found] == [("unlisted", "image/png", "image/jpeg")]
