"""Requests read on their own: every item in its neutral form, nothing lost, nothing that makes the reader fall over."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from turnproof.dialects.base import Call, HttpRequest, Refusal
from turnproof.dialects.openai_responses import DIALECT, rules
from turnproof.dialects.openai_responses.surfaces import ResponsesCall, Surface
from turnproof.messages import FileRef, FunctionCall, Opaque, Part, ProviderData, Text, Thought, ToolResult, ToolSchema

from ..parts import inline
from .asks import Ask, ask, copilot, world
from .builders import CLOSED, KEY, MODEL, OPENING, RESPONSE, STORED, assistant, call, function, output, reasoning, user

NAME = "openai-responses"
PNG = "data:image/png;base64,cG5n"


def parsed(sendable: Ask) -> ResponsesCall:
    """The request as a call."""
    found = DIALECT.parse(sendable.request(), world())
    assert isinstance(found, ResponsesCall), found
    return found


def parts(*items: dict[str, Any]) -> tuple[Part, ...]:
    """The parts of one message."""
    (message,) = parsed(ask(*items)).messages
    return message.parts


def test_a_string_is_what_the_user_says() -> None:
    found = parsed(Ask({"model": MODEL, "input": "Hello"}))
    assert [(message.role, message.text) for message in found.messages] == [("user", "Hello")]


def test_instructions_and_opening_messages_are_system_texts() -> None:
    opening = {"role": "developer", "content": "Mind the hedge."}, {"role": "system", "content": "Be kind."}
    found = parsed(ask(*opening, OPENING, {"role": "developer", "content": "Now in French."}, instructions="Be brief."))
    assert [part.text for part in found.system if isinstance(part, Text)] == [
        "Be brief.",
        "Mind the hedge.",
        "Be kind.",
    ]
    assert [message.role for message in found.messages] == ["user", "system"]


def test_a_whole_loop_makes_one_message_of_the_model_and_one_of_results() -> None:
    found = parsed(ask(OPENING, reasoning("rs_1"), assistant("Look."), call("a"), call("b"), output("b"), output("a")))
    assert [message.role for message in found.messages] == ["user", "model", "tool"]
    assert [type(part) for part in found.messages[1].parts] == [Thought, Text, FunctionCall, FunctionCall]
    assert [(result.call_id, result.name) for result in found.messages[2].results] == [
        ("b", "read_sensor"), ("a", "read_sensor"),
    ]  # fmt: skip
    assert [message.message_id for message in found.messages] == ["input[0]", "input[1]", "input[5]"]


def test_users_keep_their_own_messages() -> None:
    assert [message.text for message in parsed(ask(OPENING, user("And bed 4?"))).messages] == [
        OPENING["content"], "And bed 4?",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("block", "part"),
    [
        ({"type": "input_text", "text": "Hi"}, Text("Hi")),
        ({"type": "input_image", "image_url": PNG}, inline(b"png")),
        ({"type": "input_image", "image_url": "https://g.example/a.png"}, FileRef("image/*", "https://g.example/a.png")),
        ({"type": "input_image", "file_id": "file_1"}, FileRef("image/*", "file_1")),
        ({"type": "input_file", "file_data": "data:application/pdf;base64,cGRm", "filename": "a.pdf"},
         inline(b"pdf", "application/pdf")),
        ({"type": "input_file", "file_url": "https://g.example/a.pdf"},
         FileRef("application/octet-stream", "https://g.example/a.pdf")),
        ({"type": "input_file", "file_id": "file_1"}, FileRef("application/octet-stream", "file_1")),
        ({"type": "input_image", "image_url": "data:image/png;base64,!"},
         Opaque(NAME, "input_image", {"type": "input_image", "image_url": "data:image/png;base64,!"})),
        ({"type": "input_audio", "data": "b"}, Opaque(NAME, "input_audio", {"type": "input_audio", "data": "b"})),
    ],
)  # fmt: skip
def test_each_block_has_a_part(block: dict[str, Any], part: Part) -> None:
    assert parts(user("See:", block))[1] == part


@pytest.mark.parametrize(
    ("item", "part"),
    [
        (assistant("41 %"), Text("41 %")),
        (assistant("41 %", id="msg_1", phase="final_answer"), Text("41 %")),
        ({"role": "assistant", "content": "41 %"}, Text("41 %")),
        ({"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}, Text("No.")),
        (call(), FunctionCall("call_1", "read_sensor", {"bed": "3"})),
        (call(id="fc_1"), FunctionCall("call_1", "read_sensor", {"bed": "3"})),
        (call(arguments=""), FunctionCall("call_1", "read_sensor", {})),
        (call(arguments="[1]"),
         FunctionCall("call_1", "read_sensor", provider_data=ProviderData(NAME, "", {"arguments": "[1]"}))),
        (reasoning("rs_1"), Thought(provider_data=ProviderData(NAME, MODEL, {"encrypted": "gAAAAABsealed=="}))),
        (reasoning(None, None), Thought()),
        (reasoning(None, None, summary=[{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}]),
         Thought("a\n\nb")),
        (reasoning(None, None, content=[{"type": "reasoning_text", "text": "raw"}],
                   summary=[{"type": "summary_text", "text": "told"}]), Thought("raw")),
        ({"type": "web_search_call", "id": "ws_1"}, Opaque(NAME, "web_search_call",
                                                          {"type": "web_search_call", "id": "ws_1"})),
    ],
)  # fmt: skip
def test_each_item_has_a_part(item: dict[str, Any], part: Part) -> None:
    assert parts(item) == (part,)


@pytest.mark.parametrize(
    ("value", "result", "attachments"),
    [
        ("41 %", "41 %", ()),
        ([{"type": "input_text", "text": "4"}, {"type": "input_text", "text": "1"}], "41", ()),
        ([{"type": "input_image", "image_url": PNG}], None, (inline(b"png"),)),
        ([], None, ()),
    ],
)
def test_each_output_is_a_result(value: Any, result: Any, attachments: Any) -> None:
    found = parsed(ask(OPENING, call(), output(value=value))).messages[2].parts
    assert found == (ToolResult("call_1", "read_sensor", result, attachments=attachments),)


def test_an_output_keeps_what_no_part_names() -> None:
    odd = {"type": "scoped_content", "of": "x"}
    (result,) = parsed(ask(OPENING, call(), output(value=[odd]))).messages[2].parts
    assert result == ToolResult("call_1", "read_sensor", provider_data=ProviderData(NAME, "", {"output": [odd]}))


def test_tools_and_settings_stand_beside_the_conversation() -> None:
    found = parsed(ask(tools=[function(description="Read"), {"type": "web_search", "filters": {}}], store=False))
    assert found.tools == (
        ToolSchema("read_sensor", "Read", CLOSED),
        ToolSchema("web_search", "", {"type": "web_search", "filters": {}}),
    )
    assert found.settings == {"store": False}
    assert not found.stored
    assert parsed(ask()).stored


def test_the_previous_response_stands_in_front() -> None:
    found = parsed(ask(output("call_s"), previous_response_id=RESPONSE))
    assert [message.role for message in found.messages] == ["user", "model", "tool"]
    assert (found.carried, found.managed_messages, found.resource) == (3, 2, RESPONSE)


def test_a_reference_is_what_it_names() -> None:
    found = parsed(ask(OPENING, {"type": "item_reference", "id": "msg_stored"}, {"id": "msg_gone"}))
    text_part, reference = found.messages[1].parts
    assert text_part == Text("41 %")
    assert reference == Opaque(NAME, "item_reference", {"id": "msg_gone"})
    assert found.items[1]["role"] == "assistant"


def test_stored_reasoning_named_by_its_id_is_read_whole() -> None:
    (thought,) = parsed(ask(OPENING, reasoning("rs_stored", None))).messages[1].parts
    assert thought == Thought(provider_data=ProviderData(NAME, MODEL, {"encrypted": "gAAAAABsealed=="}))


def test_copilot_has_a_door_of_its_own() -> None:
    assert parsed(copilot()).surface is Surface.COPILOT
    assert parsed(ask()).surface is Surface.OPENAI
    assert ResponsesCall.from_call(Call("generate", MODEL)).surface is Surface.OPENAI


@pytest.mark.parametrize(
    ("method", "path", "operation", "model"),
    [
        ("POST", "/v1/responses", "generate", MODEL), ("POST", "/v1/responses/", "generate", MODEL),
        ("POST", "/responses", "generate", MODEL), ("POST", "/v1/responses/input_tokens", "count_tokens", MODEL),
        ("GET", "/v1/models", "list_models", None), ("GET", "/models", "list_models", None),
        ("GET", "/copilot_internal/v2/token", "authenticate", None),
        ("GET", "/v1/models/ft:gpt-5:me/1", "get_model", "ft:gpt-5:me/1"),
    ],
)  # fmt: skip
def test_each_address_has_its_operation(method: str, path: str, operation: str, model: str | None) -> None:
    found = parsed(Ask({"model": MODEL, "input": "Hello"}, path=path, method=method))
    assert (found.operation, found.model) == (operation, model)


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"model": 5}, "model"), ({"instructions": 5}, "instructions"), ({"input": 5}, "input"),
        ({"input": [5]}, "input[0]"), ({"input": [{"role": "user", "content": 5}]}, "input[0].content"),
        ({"input": [{"role": "user", "content": [5]}]}, "input[0].content[0]"),
        ({"input": [{"role": "user", "content": [{"type": "input_text", "text": 5}]}]}, "input[0].content[0].text"),
        ({"input": [{"role": "assistant", "content": [{"type": "refusal", "refusal": 5}]}]},
         "input[0].content[0].refusal"),
        ({"input": [{**call(), "name": 5}]}, "input[0].name"),
        ({"input": [{**call(), "call_id": 5}]}, "input[0].call_id"),
        ({"input": [{**output(), "output": 5}]}, "input[0].output"),
        ({"input": [{**output(), "output": [5]}]}, "input[0].output[0]"),
        ({"input": [{"type": "reasoning", "summary": 5}]}, "input[0].summary"),
        ({"input": [{"type": "reasoning", "summary": [], "encrypted_content": 5}]}, "input[0].encrypted_content"),
        ({"tools": 5}, "tools"), ({"tools": [5]}, "tools[0]"), ({"tools": [function(5)]}, "tools[0].name"),  # type: ignore[arg-type]
        ({"tools": [{"type": "function", "name": "f", "parameters": 5}]}, "tools[0].parameters"),
        ({"tools": [function(description=5)]}, "tools[0].description"),
        ({"reasoning": "high"}, "reasoning"), ({"text": 5}, "text"),
        ({"previous_response_id": 5}, "previous_response_id"),
    ],
)  # fmt: skip
def test_a_value_of_another_type_is_refused_with_its_place(body: dict[str, Any], where: str) -> None:
    http_request = Ask({"model": MODEL, "input": "Hello"} | body).request()
    refusal = DIALECT.parse(http_request, world())
    assert isinstance(refusal, Refusal)
    assert (refusal.rule, refusal.kind, refusal.path) == (rules.MALFORMED_BODY, "invalid_type", f"$.{where}")
    assert f"'{where}'" in refusal.message


@pytest.mark.parametrize("raw", [b"", b"[]", b'{"model": "\xff"}', b"[" * 100_000])
def test_a_body_that_is_no_object_is_refused(raw: bytes) -> None:
    refusal = DIALECT.parse(Ask(raw=raw).request(), world())
    assert isinstance(refusal, Refusal)
    assert (refusal.rule, refusal.status) == (rules.MALFORMED_JSON, 400)


def test_a_schema_that_is_nested_too_deeply_is_refused() -> None:
    deep = b'{"a":' * 300 + b"1" + b"}" * 300
    raw = b'{"model": "gpt-5", "input": "x", "tools": [{"type": "function", "name": "f", "parameters": %b}]}' % deep
    refusal = DIALECT.parse(Ask(raw=raw).request(), world())
    assert isinstance(refusal, Refusal)
    assert refusal.message == "The request body cannot be read: nested deeper than 100 levels"


def test_ids_are_never_made_from_places() -> None:
    assert not DIALECT.is_positional("call_1")


ODD: tuple[Any, ...] = (
    None,
    True,
    5,
    "x",
    "{",
    "",
    [],
    [5],
    [[]],
    {},
    [{"type": 5}],
    [{"type": "input_text"}],
    {"a": 1},
)
KINDS = ("message", "reasoning", "function_call", "function_call_output", "item_reference", "hologram", 5, None)
MEMBERS = ("id", "role", "content", "call_id", "output", "summary", "name", "arguments", "encrypted_content")
ITEM = st.tuples(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(MEMBERS), st.sampled_from(ODD), max_size=6))


@given(st.lists(ITEM, max_size=4), st.sampled_from(ODD))
@examples(80)
def test_whatever_is_asked_is_read_or_refused(kinds_and_members: list[tuple[Any, dict[str, Any]]], tools: Any) -> None:
    items = [{"type": kind} | members for kind, members in kinds_and_members]
    body = json.dumps({"model": MODEL, "input": items, "tools": tools}).encode()
    request = HttpRequest("POST", "/v1/responses", {}, {"authorization": f"Bearer {KEY}"}, body)
    at = world()
    found = DIALECT.parse(request, at)
    if isinstance(found, Call):
        DIALECT.validate(request, found, at)
        DIALECT.count(found)
        json.dumps(DIALECT.match_form(found))
    else:
        assert isinstance(found, Refusal)


def test_ids_of_items_do_not_matter_to_cassettes() -> None:
    def form(*items: dict[str, Any], **body: Any) -> Any:
        return DIALECT.match_form(parsed(ask(*items, **body)))

    assert form(OPENING, assistant("41 %", id="msg_1"), user("Sure?")) == form(
        OPENING, assistant("41 %"), user("Sure?")
    )
    assert form(OPENING) == form(OPENING, store=False, max_output_tokens=99)
    assert form(output("call_s"), previous_response_id=RESPONSE) == form(OPENING, *STORED, output("call_s"))
    assert form(OPENING, reasoning("rs_1"), assistant("41 %")) == form(OPENING, assistant("41 %"))
    assert form({"role": "system", "content": "Be brief."}, OPENING) == form(OPENING, instructions="Be brief.")
    assert form(OPENING, call(), output()) != form(OPENING, call("call_2"), output("call_2"))
    assert form(OPENING) != form(OPENING, tools=[function()])
    assert form(OPENING, tools=[function("a"), function("b")]) == form(OPENING, tools=[function("b"), function("a")])
