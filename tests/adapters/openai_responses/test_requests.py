"""What a conversation becomes on the wire: items, their pairing, and what stands around them."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.errors import InvalidRequestError, UsageError
from turnproof.messages import (
    CodeExecutionResult,
    ExecutableCode,
    FileRef,
    InlineData,
    Message,
    Opaque,
    Part,
    Text,
    Thought,
    ToolSchema,
)
from turnproof_adapters._calling import Prompt
from turnproof_adapters.openai_responses import convert
from turnproof_adapters.openai_responses.models import model, same_model
from turnproof_adapters.openai_responses.names import wire_id, wire_name
from turnproof_adapters.openai_responses.request import Settings, reasoning_config

from .kit import (
    DATED,
    OURS,
    Capture,
    arranged,
    call,
    legacy,
    own_text,
    reasoned,
    result,
    sent_by_model,
    sent_by_user,
    sent_call,
    sent_output,
    stateless,
)

HI = Message.user("hi")
SENT_REASONING = {"type": "reasoning", "summary": [], "encrypted_content": "gAAA=="}


def test_calls_and_outputs_are_items_of_their_own_without_ids_of_items() -> None:
    sent = arranged(HI, Message.model("look", call(path="a")), Message.tool(result()), Message.model("so"))
    arguments = '{"path":"a"}'
    assert sent == [
        sent_by_user("hi"),
        sent_by_model("look"),
        sent_call(arguments=arguments),
        sent_output(),
        sent_by_model("so"),
    ]


def test_outputs_stand_behind_all_calls_of_a_run_in_call_order() -> None:
    message = Message.model(call("a"), "and", call("b"))
    sent = arranged(HI, message, Message.user("wait"), Message.tool(result("b", "2"), result("a", "1")))
    assert sent[1:] == [
        sent_call("a"),
        sent_by_model("and"),
        sent_call("b"),
        sent_output("a", "1"),
        sent_output("b", "2"),
        sent_by_user("wait"),
    ]


def test_a_call_without_a_result_is_told_to_have_none() -> None:
    sent = arranged(HI, Message.model(call("a")), Message.user("never mind"))
    assert sent[2] == sent_output("a", "Error: no result, the call was not carried out.")
    assert sent[3] == sent_by_user("never mind")


def test_a_result_without_a_call_is_left_out() -> None:
    assert arranged(HI, Message.tool(result("gone")), Message.model("so")) == [sent_by_user("hi"), sent_by_model("so")]


def test_a_repeated_id_is_told_apart_in_call_and_output() -> None:
    sent = arranged(
        HI, Message.model(call("a"), call("a", name="ls")), Message.tool(result("a", "1"), result("a", "2"))
    )
    assert sent[1:] == [sent_call("a"), sent_call("a_2", "ls"), sent_output("a", "1"), sent_output("a_2", "2")]


def test_a_repeated_id_of_another_turn_is_another_call() -> None:
    turn = [HI, Message.model(call("a")), Message.tool(result("a"))]
    assert arranged(*turn, *turn) == [sent_by_user("hi"), sent_call("a"), sent_output("a")] * 2


@pytest.mark.parametrize("own", ["", "x" * 65])
def test_an_id_that_the_api_refuses_is_rewritten_alike_in_call_and_output(own: str) -> None:
    _, call_item, answered = arranged(HI, Message.model(call(own)), Message.tool(result(own)))
    assert call_item["call_id"] == answered["call_id"] == wire_id(own)
    assert 1 <= len(call_item["call_id"]) <= 64


def test_ids_of_other_services_are_left_as_they_are() -> None:
    assert wire_id("toolu_01 ’北\n") == "toolu_01 ’北\n"


# -- reasoning


def test_reasoning_of_this_model_goes_back_with_what_it_led_to() -> None:
    sent = arranged(HI, Message.model(reasoned("hm"), call()), Message.tool(result()))
    summary = [{"type": "summary_text", "text": "hm"}]
    assert sent[1:3] == [SENT_REASONING | {"summary": summary}, sent_call()]


@pytest.mark.parametrize(
    "foreign",
    [
        Thought("hm"),
        reasoned(model="o4-mini"),
        reasoned(dialect="anthropic-messages"),
        reasoned(encrypted=""),
    ],
    ids=["unsigned", "another-model", "another-api", "not-encrypted"],
)
def test_reasoning_that_this_model_cannot_read_is_withheld(foreign: Thought) -> None:
    assert arranged(HI, Message.model(foreign, "so")) == [sent_by_user("hi"), sent_by_model("so")]


def test_reasoning_that_led_to_nothing_is_left_out() -> None:
    sent = arranged(HI, Message.model("so", reasoned()), Message.user("go on"))
    assert sent == [sent_by_user("hi"), sent_by_model("so"), sent_by_user("go on")]


def test_reasoning_of_an_answer_broken_off_before_its_first_word_is_left_out() -> None:
    sent = arranged(HI, Message.model(reasoned()), Message.user("go on"), Message.model(reasoned(), "so"))
    assert sent == [sent_by_user("hi"), sent_by_user("go on"), SENT_REASONING, sent_by_model("so")]


def test_an_alias_and_its_dated_id_are_one_model() -> None:
    assert same_model("gpt-5", DATED)
    assert not same_model("gpt-5", "gpt-5-mini")


# -- what the model said


def test_the_phase_of_a_message_and_its_annotations_go_back_with_it() -> None:
    cited = [{"type": "url_citation", "url": "https://a"}]
    (_, sent) = arranged(HI, Message.model(own_text("so", phase="commentary", annotations=cited)))
    content = [{"type": "output_text", "text": "so", "annotations": cited}]
    assert sent == {"type": "message", "role": "assistant", "content": content, "phase": "commentary"}


def test_a_refusal_goes_back_as_one() -> None:
    (_, sent) = arranged(HI, Message.model(own_text("no", refusal=True)))
    assert sent["content"] == [{"type": "refusal", "refusal": "no"}]


def test_an_item_that_no_part_names_goes_back_without_its_id_and_only_to_this_api() -> None:
    own = Opaque(OURS, "web_search_call", {"type": "web_search_call", "id": "ws_1", "status": "completed"})
    foreign = Opaque("gemini", "part", {"type": "x"})
    (_, sent, so) = arranged(HI, Message.model(own, foreign, "so"))
    assert sent == {"type": "web_search_call", "status": "completed"}
    assert so == sent_by_model("so")


def test_code_that_another_provider_ran_is_told_as_text() -> None:
    code_message = Message.model(ExecutableCode("PYTHON", "1+1"), CodeExecutionResult("OK", "2"))
    texts = [item["content"][0]["text"] for item in arranged(HI, code_message)[1:]]
    assert texts == ["```python\n1+1\n```", "```\n2\n```"]


def test_blank_texts_say_nothing() -> None:
    assert arranged(HI, Message.model(" \n"), Message.user("", "so")) == [sent_by_user("hi"), sent_by_user("so")]


# -- what the model is told


def test_an_instruction_between_turns_is_the_developers() -> None:
    assert arranged(HI, Message.system("be brief"))[1] == sent_by_user("be brief") | {"role": "developer"}


PIXEL = InlineData("image/png", b"\x89")
MEDIA: dict[str, tuple[InlineData | FileRef, dict[str, Any]]] = {
    "image": (PIXEL, {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,iQ=="}),
    "image-address": (
        FileRef("image/png", "https://a/b.png"),
        {"type": "input_image", "detail": "auto", "image_url": "https://a/b.png"},
    ),
    "image-id": (FileRef("image/png", "file-7"), {"type": "input_image", "detail": "auto", "file_id": "file-7"}),
    "pdf": (
        InlineData("application/pdf", b"%"),
        {"type": "input_file", "file_data": "data:application/pdf;base64,JQ==", "filename": "file.pdf"},
    ),
    "text": (
        InlineData("text/plain", b"a"),
        {"type": "input_file", "file_data": "data:text/plain;base64,YQ==", "filename": "file.txt"},
    ),
    "pdf-address": (
        FileRef("application/pdf", "https://a/b.pdf"),
        {"type": "input_file", "file_url": "https://a/b.pdf"},
    ),
    "pdf-id": (FileRef("application/pdf", "file-7"), {"type": "input_file", "file_id": "file-7"}),
}


@pytest.mark.parametrize("name", MEDIA)
def test_media_are_blocks_among_the_users_words(name: str) -> None:
    part, block = MEDIA[name]
    (sent,) = arranged(Message.user("see", part))
    assert sent["content"] == [{"type": "input_text", "text": "see"}, block]


@pytest.mark.parametrize("mime_type", ["audio/wav", "application/zip"])
def test_other_media_are_refused_before_they_are_sent(mime_type: str) -> None:
    with pytest.raises(InvalidRequestError, match=mime_type):
        arranged(Message.user(InlineData(mime_type, b"")))


@pytest.mark.parametrize(
    ("message", "what"),
    [
        (Message.model(PIXEL), "image/png"),
        (Message.user(call()), "only the model calls tools"),
        (Message.user("half \ud800"), "surrogate"),
    ],
    ids=["image-of-the-model", "call-of-the-user", "half-a-pair"],
)
def test_what_nobody_can_send_is_refused_with_its_place(message: Message, what: str) -> None:
    with pytest.raises(InvalidRequestError, match=what) as refused:
        arranged(message)
    assert "$.parts[0]" in refused.value.message


RESULTS: dict[str, tuple[Any, Any]] = {
    "text": (result(), "ok"),
    "json": (result(value={"a": [1, None]}), '{"a":[1,null]}'),
    "nothing": (result(value=None), "null"),
    "failure": (result(value="gone", is_error=True), "Error: gone"),
    "image": (
        result(value="see", attachments=(PIXEL,)),
        [{"type": "input_text", "text": "see"}, MEDIA["image"][1]],
    ),
    "image-alone": (result(value=None, attachments=(PIXEL,)), [MEDIA["image"][1]]),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_a_string_or_blocks_and_says_in_words_that_it_failed(name: str) -> None:
    part, output = RESULTS[name]
    assert arranged(HI, Message.model(call()), Message.tool(part))[-1] == sent_output(output=output)


# -- around the items

TOOLS = [
    ToolSchema("z", "", {"type": "object", "properties": {"a": {"type": "string"}}}),
    ToolSchema("mcp.ls", "List files"),
]


def test_tools_are_sorted_not_strict_and_have_a_whole_schema() -> None:
    first, second = convert.tools(TOOLS)
    empty = {"type": "object", "properties": {}}
    assert first == {
        "type": "function",
        "name": wire_name("mcp.ls"),
        "description": "List files",
        "parameters": empty,
        "strict": False,
    }
    assert (second["name"], "description" in second, second["strict"]) == ("z", False, False)


def test_nothing_is_kept_by_the_service_and_reasoning_is_asked_for_in_encrypted_form() -> None:
    fields = Settings(DATED, 4096, {"summary": "auto"}).kwargs(Prompt((), "Be brief.", TOOLS))
    assert fields["store"] is False
    assert fields["include"] == ["reasoning.encrypted_content"]
    assert fields["reasoning"] == {"summary": "auto"}
    assert (fields["instructions"], fields["max_output_tokens"]) == ("Be brief.", 4096)


def test_a_model_that_does_not_reason_is_not_asked_to() -> None:
    fields = Settings("gpt-4.1", None, {"summary": "auto"}).kwargs(Prompt(()))
    assert fields == {"model": "gpt-4.1", "store": False}


def test_a_limit_is_never_less_than_the_api_takes() -> None:
    assert Settings(DATED, 1).kwargs(Prompt((), " "))["max_output_tokens"] == 16


def test_a_response_schema_is_a_format_of_the_text() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    text_format = Settings(DATED).kwargs(Prompt((), response_schema=schema))["text"]["format"]
    assert (text_format["type"], text_format["name"], text_format["strict"]) == ("json_schema", "answer", True)
    assert text_format["schema"]["additionalProperties"] is False


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (None, None),
        ({"type": "disabled"}, None),
        ({"budget_tokens": 1024}, {"summary": "auto"}),
        ({"effort": "high"}, {"summary": "auto", "effort": "high"}),
        ({"effort": "low", "summary": "detailed"}, {"summary": "detailed", "effort": "low"}),
    ],
    ids=str,
)
def test_a_thinking_configuration_in_the_apis_form(config: Any, expected: Any) -> None:
    assert reasoning_config(config) == expected


def test_an_effort_that_is_no_word_is_refused() -> None:
    with pytest.raises(UsageError, match="effort must be a word, got 7"):
        reasoning_config({"effort": 7})


@pytest.mark.parametrize(
    ("name", "reasons", "window"),
    [
        ("gpt-5.3-codex", True, 400_000),
        ("gpt-5.5-2026-04-23", True, 1_050_000),
        ("gpt-5.10", True, 1_050_000),
        ("openai/gpt-4.1-mini", False, 1_047_576),
        ("gpt-4o-2024-08-06", False, 128_000),
        ("o4-mini", True, 200_000),
        ("something-new", True, 400_000),
        (None, True, 400_000),
    ],
)
def test_what_is_known_of_a_model_by_its_name(name: str | None, reasons: bool, window: int) -> None:
    assert (model(name).thinks, model(name).context_tokens) == (reasons, window)


# -- both paths

TALK: list[Part] = [reasoned("hm"), Text("look"), call(path="’北")]
HISTORY = [HI, Message("model", tuple(TALK)), Message.tool(result(value={"n": 1.5}))]


def test_headers_of_the_services_own_way_go_with_the_request() -> None:
    pure, stateful = Capture(), Capture()
    stateless(transport=pure.transport).complete([*HISTORY, Message.user("and?")])
    provider = legacy(transport=stateful.transport)
    provider.create_session(history=HISTORY)
    provider.send_message("and?")
    assert pure.body == stateful.body
    for capture in (pure, stateful):
        assert capture.requests[0].url.path == "/responses"
        assert capture.requests[0].headers["x-messages"] == "4"


def test_what_can_be_asked_of_a_provider() -> None:
    provider = stateless(model="gpt-4.1")
    assert provider.get_context_limit() == 1_047_576
    assert not provider.supports_thinking()
    assert provider.supports_stop()
    assert provider.supports_streaming()
    assert provider.supports_structured_output()
    capture = Capture()
    changed = legacy(transport=capture.transport)
    changed.set_thinking_config({"effort": "high"})
    changed.send_message("hi")
    assert capture.body["reasoning"] == {"effort": "high", "summary": "auto"}


def test_a_model_has_to_be_chosen() -> None:
    from .kit import Stateless

    with pytest.raises(UsageError, match="connect"):
        Stateless("http://example.invalid").complete([HI])


def test_a_conversation_of_blanks_is_refused() -> None:
    with pytest.raises(InvalidRequestError, match="nothing to send"):
        arranged(Message.user(" "))
