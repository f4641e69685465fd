"""What this adapter alone does with a conversation: steps, thoughts, results, and what stands around them."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.errors import InvalidRequestError, UsageError
from turnproof.messages import FileRef, InlineData, Message, Opaque, Text, Thought, ToolSchema

from .kit import (
    KEY,
    MODEL,
    OURS,
    Capture,
    arranged,
    call,
    function_call,
    function_result,
    legacy,
    output,
    result,
    stateless,
    thinking,
    thought,
    user_input,
)

QUESTION = Message.user("hi")


def body_of(**config: Any) -> Any:
    capture = Capture()
    schema = config.pop("response_schema", None)
    tools = [ToolSchema("b"), ToolSchema("a", "An a.", {"properties": {"n": {"type": "integer"}}})]
    opened = stateless(transport=capture.transport, **config)
    opened.complete([QUESTION], "Be brief.", tools, response_schema=schema)
    return capture.body


def test_a_loop_goes_out_step_by_step_with_what_was_thought_and_signed() -> None:
    steps = arranged(QUESTION, Message.model(thought("Hm."), "Let me look.", call()), Message.tool(result()))
    looked = output("Let me look.")
    assert steps == [user_input("hi"), thinking("Hm."), looked, function_call(), function_result()]


@pytest.mark.parametrize(
    "part",
    [Thought("Hm."), thought("Hm.", model="gemini-2.5-flash"), thought("Hm.", dialect="gemini"), thought("", "")],
    ids=["unsigned", "of-another-model", "of-another-api", "with-an-empty-signature"],
)
def test_a_thought_that_the_model_did_not_sign_stays_at_home(part: Thought) -> None:
    assert arranged(QUESTION, Message.model(part, call()), Message.tool(result())) == [
        user_input("hi"), function_call(), function_result(),
    ]  # fmt: skip


def test_a_thought_that_nothing_followed_is_left_out() -> None:
    assert arranged(QUESTION, Message.model(thought("Hm.")), Message.user("Go on")) == [
        user_input("hi"),
        user_input("Go on"),
    ]


def test_the_name_of_a_listed_model_is_that_model() -> None:
    assert arranged(Message.model(thought(), "so"), model=f"models/{MODEL}")[0] == thinking()


@pytest.mark.parametrize(
    ("value", "expected"), [("41 %", "41 %"), (None, ""), ({"n": 1}, '{"n":1}'), ([], "[]"), (7, "7")]
)
def test_a_result_is_a_text(value: Any, expected: str) -> None:
    assert arranged(QUESTION, Message.model(call()), Message.tool(result(value=value)))[-1] == function_result(
        value=expected
    )


def test_a_failed_result_has_the_mark_of_the_api() -> None:
    assert arranged(QUESTION, Message.model(call()), Message.tool(result(is_error=True)))[-1] == function_result(
        is_error=True
    )


def test_a_result_with_an_image_is_a_list_of_contents() -> None:
    png = InlineData("image/png", b"png")
    sent = arranged(QUESTION, Message.model(call()), Message.tool(result(attachments=(png,))))[-1]
    image = {"type": "image", "data": "cG5n", "mime_type": "image/png"}
    assert sent["result"] == [{"type": "text", "text": "ok"}, image]


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    sent = arranged(QUESTION, Message.model(call()), Message.user("Never mind."))
    assert [step["type"] for step in sent] == ["user_input", "function_call", "function_result", "user_input"]
    assert (sent[2]["call_id"], sent[2]["name"], sent[2]["is_error"]) == ("call_1", "read", True)


def test_two_calls_under_one_id_are_told_apart() -> None:
    sent = arranged(QUESTION, Message.model(call(), call()), Message.tool(result(value="1"), result(value="2")))
    assert [step["id"] for step in sent[1:3]] == ["call_1", "call_1_2"]
    assert [(step["call_id"], step["result"]) for step in sent[3:]] == [("call_1", "1"), ("call_1_2", "2")]


@pytest.mark.parametrize(
    ("mime", "kind"),
    [("image/png", "image"), ("audio/wav", "audio"), ("video/mp4", "video"), ("application/pdf", "document"),
     ("text/csv", "document")],
)  # fmt: skip
def test_a_file_is_content_of_its_kind(mime: str, kind: str) -> None:
    [step] = arranged(Message("user", (InlineData(mime, b"png"), FileRef(mime, "https://a/b"))))
    assert step["content"] == [
        {"type": kind, "data": "cG5n", "mime_type": mime},
        {"type": kind, "uri": "https://a/b", "mime_type": mime},
    ]


def test_a_file_of_no_kind_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(InvalidRequestError, match="not 'model/stl'"):
        arranged(Message("user", (InlineData("model/stl", b""),)))


def test_steps_of_the_service_go_back_as_they_came_and_those_of_others_stay() -> None:
    own = Opaque(OURS, "google_search_call", {"type": "google_search_call", "id": "s_1", "arguments": {}})
    sent = arranged(QUESTION, Message("model", (own, Opaque("gemini", "odd", {"a": 1}), Text("so"))))
    assert sent[1:] == [own.data, output("so")]


def test_what_stands_around_the_steps_is_spelled_as_the_api_has_it() -> None:
    body = body_of(max_tokens=99, thinking={"level": "LOW"}, response_schema={"type": "object"})
    assert body == {
        "model": MODEL,
        "input": [user_input("hi")],
        "store": False,
        "system_instruction": "Be brief.",
        "generation_config": {"thinking_summaries": "auto", "thinking_level": "low", "max_output_tokens": 99},
        "response_format": {"type": "text", "mime_type": "application/json", "schema": {"type": "object"}},
        "tools": [
            {
                "type": "function",
                "name": "a",
                "description": "An a.",
                "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}},
            },
            {"type": "function", "name": "b"},
        ],
    }


@pytest.mark.parametrize("config", [None, {"type": "disabled"}])
def test_thinking_that_nobody_asks_to_see_is_left_to_the_model(config: Any) -> None:
    assert "generation_config" not in body_of(thinking=config)


def test_a_budget_asks_for_what_can_be_shown() -> None:
    assert body_of(thinking={"budget_tokens": 1024})["generation_config"] == {"thinking_summaries": "auto"}


def test_a_level_that_there_is_not_is_refused() -> None:
    with pytest.raises(UsageError, match="got 'extreme'"):
        stateless(thinking={"level": "extreme"})


def test_both_paths_ask_at_the_address_of_the_api_with_the_key_in_its_header() -> None:
    captures = Capture(), Capture()
    stateless(transport=captures[0].transport).complete([QUESTION])
    legacy(transport=captures[1].transport).send_message("hi")
    for capture in captures:
        [request] = capture.requests
        assert request.url.path.endswith("/interactions")
        assert request.headers["x-goog-api-key"] == KEY
