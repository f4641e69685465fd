"""Neutral parts in the API's words: texts, media, calls, results, tools, and schemas for the answer."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof import messages as m
from turnproof.errors import InvalidRequestError
from turnproof_adapters.openai import convert
from turnproof_adapters.openai.service import OPENAI, Service

from .kit import DATED, OURS, Json, arranged, call, request_call, result, thought

PNG, PDF = m.InlineData("image/png", b"\x89PNG"), m.InlineData("application/pdf", b"%PDF")
PNG_URL, PDF_URL = "data:image/png;base64,iVBORw==", "data:application/pdf;base64,JVBERg=="


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def image(url: str) -> Json:
    return {"type": "image_url", "image_url": {"url": url}}


@pytest.mark.parametrize(
    ("parts", "content"),
    [
        ([m.Text("hi")], "hi"),
        ([m.Text("")], ""),
        ([m.Text(" ")], " "),
        ([m.Text(""), m.Text("")], ""),
        ([m.Text("a"), m.Text("b")], [text("a"), text("b")]),
        ([m.Text(""), PNG], [image(PNG_URL)]),
        ([PNG], [image(PNG_URL)]),
        ([m.Text("see"), PNG, m.Text("?")], [text("see"), image(PNG_URL), text("?")]),
        ([m.FileRef("image/jpeg", "https://x.invalid/a.jpg")], [image("https://x.invalid/a.jpg")]),
        ([PDF], [{"type": "file", "file": {"filename": "document.pdf", "file_data": PDF_URL}}]),
        ([m.FileRef("application/pdf", "file-123")], [{"type": "file", "file": {"file_id": "file-123"}}]),
        (
            [m.InlineData("audio/wav", b"RIFF")],
            [{"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}],
        ),
        (
            [m.InlineData("audio/mpeg", b"ID3")],
            [{"type": "input_audio", "input_audio": {"data": "SUQz", "format": "mp3"}}],
        ),
        ([m.ExecutableCode("PYTHON", "print(1)")], "```python\nprint(1)\n```"),
        ([m.CodeExecutionResult("OUTCOME_OK", "1")], "```\n1\n```"),
        ([m.Opaque(OURS, "video_url", {"type": "video_url"})], [{"type": "video_url"}]),
        ([m.Opaque("gemini", "x", {"x": 1}), m.Text("hi")], "hi"),
    ],
    ids=lambda value: "",
)
def test_what_the_user_says_is_a_string_or_blocks(parts: list[m.Part], content: Any) -> None:
    assert arranged([m.Message("user", tuple(parts))]) == [{"role": "user", "content": content}]


@pytest.mark.parametrize(
    ("role", "part", "why"),
    [
        (
            "user",
            m.InlineData("text/plain", b"x"),
            r"parts\[0\] is a 'text/plain', and the API takes images, PDF, WAV and MP3",
        ),
        (
            "user",
            m.FileRef("application/pdf", "https://x.invalid/a.pdf"),
            "is a 'application/pdf', by an address, and the API fetches only images itself",
        ),
        (
            "tool",
            result(attachments=(m.InlineData("text/csv", b"x"),)),
            r"parts\[0\] is a 'text/csv', and the API takes",
        ),
        ("model", PNG, r"parts\[0\] is a 'image/png', which the API takes from the user only"),
        ("model", m.FileRef("image/png", "https://x"), "from the user only"),
        ("system", PNG, "from the user only"),
        ("model", m.Opaque(OURS, "custom", {}), "a 'custom' block, which an answer has no place for"),
        ("user", call(), "only the model calls tools"),
        ("system", result(), "belongs into a tool message"),
        ("user", m.Text("\ud83d"), "not valid Unicode"),
    ],
    ids=lambda value: "",
)
def test_what_has_no_form_is_refused_with_its_place(role: Any, part: m.Part, why: str) -> None:
    with pytest.raises(InvalidRequestError, match=why):
        arranged([m.Message(role, (part,))])


def test_an_answer_has_one_text_in_front_of_its_calls() -> None:
    message = m.Message.model("one ", call("call_1", p="’北"), "two", call("call_2"))
    (wire, *_) = arranged([message])
    arguments = '{"p":"’北"}'
    assert wire == {
        "role": "assistant",
        "content": "one two",
        "tool_calls": [request_call("call_1", "read", arguments), request_call("call_2")],
    }


def test_code_that_another_service_ran_is_told_as_text() -> None:
    code = m.ExecutableCode("PYTHON", "print(1)"), m.CodeExecutionResult("OUTCOME_OK", "1")
    (wire,) = arranged([m.Message("model", code)])
    assert wire["content"] == "\n```python\nprint(1)\n```\n\n```\n1\n```\n"


@pytest.mark.parametrize("blank", ["", "  ", "\n"])
def test_a_call_alone_has_no_content(blank: str) -> None:
    (wire, *_) = arranged([m.Message.model(blank, call())])
    assert wire["content"] is None


@pytest.mark.parametrize(
    ("value", "is_error", "content"),
    [
        ("ok", False, "ok"),
        ("", False, ""),
        ({"a": [1, None]}, False, '{"a":[1,null]}'),
        (None, False, "null"),
        (0, False, "0"),
        ("no such file", True, "Error: no such file"),
        ({"code": 2}, True, 'Error: {"code":2}'),
        ("", True, ""),
    ],
)
def test_a_result_is_text_and_says_itself_that_a_tool_failed(value: Any, is_error: bool, content: str) -> None:
    assert convert.result(result(value=value, is_error=is_error), "id") == {
        "role": "tool",
        "tool_call_id": "id",
        "content": content,
    }


def test_tools_are_sorted_and_have_parameters_that_the_api_takes() -> None:
    schemas = [m.ToolSchema("b.c", "B", {"type": "object", "properties": {"x": {}}}), m.ToolSchema("a")]
    a, b = convert.tools(schemas)
    assert a == {"type": "function", "function": {"name": "a", "parameters": {"type": "object", "properties": {}}}}
    assert b["function"]["parameters"] == {"type": "object", "properties": {"x": {}}}
    assert b["function"]["description"] == "B"
    assert b["function"]["name"].startswith("b_c-x")


@pytest.mark.parametrize("instruction", [None, "", "  ", m.Text(" ")])
def test_a_blank_system_text_is_none(instruction: Any) -> None:
    assert convert.system(instruction, OPENAI) is None


def test_instructions_have_the_role_that_the_service_wants() -> None:
    service = Service(instructions="developer")
    assert convert.system(m.Text("rules"), service) == {"role": "developer", "content": "rules"}
    assert arranged([m.Message.system("be brief")], service) == [{"role": "developer", "content": "be brief"}]
    assert arranged([m.Message.system("be brief")]) == [{"role": "system", "content": "be brief"}]


# -- thinking

SEALED = thought("hm", field="reasoning_text", encrypted="abc==")


@pytest.mark.parametrize(
    ("part", "back", "fields"),
    [
        (thought("hm"), False, {}),
        (thought("hm"), True, {"reasoning_content": "hm"}),
        (thought("hm", model="gpt-5"), True, {}),
        (thought("hm", dialect="anthropic-messages", signature="s"), True, {}),
        (m.Thought("hm"), True, {}),
        (SEALED, False, {"reasoning_text": "hm", "reasoning_opaque": "abc=="}),
        (thought("", encrypted="abc=="), False, {"reasoning_opaque": "abc=="}),
    ],
    ids=["not-asked", "own", "other-model", "foreign", "unissued", "sealed", "sealed-alone"],
)
def test_thinking_goes_back_to_who_issued_it_and_wants_it(part: m.Thought, back: bool, fields: Json) -> None:
    (wire,) = arranged([m.Message.model(part, "so")], Service(thoughts_back=back))
    assert wire == {"role": "assistant", "content": "so", **fields}


def test_thoughts_of_one_message_are_sent_as_one() -> None:
    (wire,) = arranged([m.Message.model(thought("a"), "so", thought("b"))], Service(thoughts_back=True))
    assert wire["reasoning_content"] == "ab"


def test_thinking_alone_is_nothing_that_was_said() -> None:
    assert len(arranged([m.Message.user("hi"), m.Message.model(thought("hm"))], Service(thoughts_back=True))) == 1


def test_an_alias_thinks_what_its_dated_version_thought() -> None:
    (wire,) = arranged([m.Message.model(thought("hm", model=DATED), "so")], Service(thoughts_back=True), "gpt-4.1")
    assert "reasoning_content" in wire


# -- the form of the answer

PLACE = {"type": "object", "properties": {"city": {"type": "string"}, "zip": {"type": "string"}}, "required": ["city"]}
CLOSED = {**PLACE, "required": ["city", "zip"], "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "sent", "strict"),
    [
        (PLACE, CLOSED, True),
        (
            {"type": "object", "properties": {"at": {"type": "array", "items": PLACE}}},
            {
                "type": "object",
                "properties": {"at": {"type": "array", "items": CLOSED}},
                "required": ["at"],
                "additionalProperties": False,
            },
            True,
        ),
        ({"anyOf": [PLACE, {"type": "null"}]}, {"anyOf": [CLOSED, {"type": "null"}]}, True),
        ({"$ref": "#/$defs/p", "$defs": {"p": PLACE}}, {"$ref": "#/$defs/p", "$defs": {"p": CLOSED}}, True),
        ({**PLACE, "additionalProperties": True}, {**PLACE, "additionalProperties": True}, False),
        ({"type": "object"}, {"type": "object"}, False),
        ({"type": "array", "items": {"type": "object"}}, {"type": "array", "items": {"type": "object"}}, False),
        ({"oneOf": [PLACE]}, {"oneOf": [PLACE]}, False),
        ({"type": "array", "items": True}, {"type": "array", "items": True}, True),
        ({"type": "string", "enum": ["a"]}, {"type": "string", "enum": ["a"]}, True),
    ],
    ids=["flat", "nested", "union", "defined", "open", "free", "free-inside", "one-of", "anything", "no-object"],
)
def test_a_schema_is_closed_and_strict_unless_it_is_open_on_purpose(schema: Json, sent: Json, strict: bool) -> None:
    before = repr(schema)
    assert convert.response_format(schema) == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": sent, "strict": strict},
    }
    assert repr(schema) == before, "the caller's schema is the caller's own"
