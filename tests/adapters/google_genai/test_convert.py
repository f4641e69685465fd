"""Each kind of part in the API's own form, as plain data. What leaves the client is looked at in `test_requests`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from turnproof import messages as m
from turnproof_adapters.google_genai import convert
from turnproof_adapters.google_genai.arrange import contents
from turnproof_adapters.google_genai.models import target
from turnproof_adapters.google_genai.names import wire_name

from .histories import FIRST, LAST, issued
from .kit import MARK, MODEL, SIGNATURE

OLD = "gemini-2.5-flash"
MADE_UP = "unnamed-0123456789abcdef-0"
STAND_IN = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="
"""`skip_thought_signature_validator` (https://ai.google.dev/gemini-api/docs/thought-signatures)."""

FOREIGN = m.ProviderData("anthropic-messages", "claude", {"signature": "s==", "id": "x"})
OURS = m.ProviderData("gemini", MODEL, {"id": "x"})
SEARCH = {"toolCall": {"id": "s", "toolType": "GOOGLE_SEARCH_WEB"}}

IMAGE, SOUND, PAPER = (m.InlineData(kind, b"\xfb\xff") for kind in ("image/png", "audio/wav", "application/pdf"))
LINK = m.FileRef("image/png", "gs://a/b")


def between(*messages: m.Message, model: str = MODEL) -> list[dict[str, Any]]:
    """What becomes of messages between two of the user's."""
    return contents([FIRST, *messages, LAST], target(model))[1:-1]


def data(media: m.InlineData) -> dict[str, Any]:
    return {"inlineData": {"mimeType": media.mime_type, "data": "+/8="}}


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (m.Text(""), None),
        (m.Text(" "), {"text": " "}),
        (m.Text("a", provider_data=FOREIGN), {"text": "a"}),
        (m.Text("a", provider_data=issued(OLD)), {"text": "a"}),
        (m.Text("a", provider_data=OURS), {"text": "a"}),
        (m.Text("", provider_data=issued()), {"text": "", "thoughtSignature": SIGNATURE}),
        (m.Thought("hm", provider_data=MARK), {"text": "hm", "thought": True}),
        (m.Thought("hm"), None),
        (m.Thought(""), None),
        (m.Thought("hm", provider_data=FOREIGN), None),
        (m.Thought("", provider_data=issued()), {"text": "", "thought": True, "thoughtSignature": SIGNATURE}),
        (IMAGE, data(IMAGE)),
        (m.InlineData("image/png", b"", provider_data=issued()),
         {"inlineData": {"mimeType": "image/png", "data": ""}, "thoughtSignature": SIGNATURE}),
        (LINK, {"fileData": {"mimeType": "image/png", "fileUri": "gs://a/b"}}),
        (m.ExecutableCode("PYTHON", "1", provider_data=OURS),
         {"executableCode": {"language": "PYTHON", "code": "1", "id": "x"}}),
        (m.ExecutableCode("PYTHON", "1", provider_data=issued()),
         {"executableCode": {"language": "PYTHON", "code": "1"}, "thoughtSignature": SIGNATURE}),
        (m.ExecutableCode("Python", "1"), {"text": "```python\n1\n```"}),
        (m.ExecutableCode("Python", "1", provider_data=FOREIGN), {"text": "```python\n1\n```"}),
        (m.CodeExecutionResult("OUTCOME_OK", "1", provider_data=OURS),
         {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1", "id": "x"}}),
        (m.CodeExecutionResult("ok", "1"), {"text": "```\n1\n```"}),
        (m.Opaque("gemini", "toolCall", SEARCH, provider_data=issued()), {**SEARCH, "thoughtSignature": SIGNATURE}),
        (m.Opaque("anthropic-messages", "x", {"type": "x"}), None),
    ],
)  # fmt: skip
def test_every_part_of_an_answer_has_its_form(part: m.Part, expected: dict[str, Any] | None) -> None:
    found = between(m.Message("model", (m.Text("so"), part)))
    assert found == [{"role": "model", "parts": [{"text": "so"}, *([expected] if expected else [])]}]


@pytest.mark.parametrize("parts", [[], [m.Text("")], [m.Thought("hm")], [m.Opaque("anthropic-messages", "x", {})]])
def test_a_message_that_says_nothing_is_no_content(parts: Sequence[m.Part]) -> None:
    assert between(m.Message("model", tuple(parts))) == []


def test_a_thought_that_is_said_by_the_user_is_left_out() -> None:
    assert between(m.Message("user", (m.Thought("hm", provider_data=issued()), m.Text("so")))) == [
        {"role": "user", "parts": [{"text": "so"}]}
    ]


def test_a_signed_thought_alone_is_said() -> None:
    assert len(between(m.Message.model(m.Thought("hm", provider_data=issued())))) == 1


@pytest.mark.parametrize(("model", "stand_in"), [(MODEL, {"thoughtSignature": STAND_IN}), (OLD, {})])
def test_calls_and_their_responses_have_their_form(model: str, stand_in: dict[str, str]) -> None:
    calls = [m.FunctionCall("a", "read it", {"x": 1}), m.FunctionCall(MADE_UP, "f"), m.FunctionCall(MADE_UP, "g")]
    results = [m.ToolResult("a", "read it", {"error": 1}), m.ToolResult(MADE_UP, "f", "no", is_error=True)]
    name = wire_name("read it")
    call_content, answered = between(m.Message.model(*calls), m.Message.tool(*results), model=model)
    assert call_content["parts"] == [
        {"functionCall": {"id": "a", "name": name, "args": {"x": 1}}, **stand_in},
        {"functionCall": {"name": "f", "args": {}}},
        {"functionCall": {"name": "g", "args": {}}},
    ]
    assert [part["functionResponse"] for part in answered["parts"]] == [
        {"id": "a", "name": name, "response": {"output": {"error": 1}}},
        {"name": "f", "response": {"error": "no"}},
        {"name": "g", "response": {"error": "No result: the call was not carried out."}},
    ]


def test_a_name_of_64_characters_is_sent_as_it_is_and_a_longer_one_is_cut() -> None:
    (call_content, _) = between(m.Message.model(m.FunctionCall("a", "x" * 64), m.FunctionCall("b", "x" * 65)))
    whole, cut = (part["functionCall"]["name"] for part in call_content["parts"])
    assert whole == "x" * 64
    assert len(cut) <= 64


def test_a_call_that_nobody_answered_is_answered_under_its_id() -> None:
    (_, answered) = between(m.Message.model(m.FunctionCall("a", "f")))
    assert answered["parts"][0]["functionResponse"]["id"] == "a"


def test_a_signed_call_needs_no_stand_in_and_the_call_behind_it_neither() -> None:
    calls = [m.FunctionCall("a", "f", provider_data=issued()), m.FunctionCall("b", "f")]
    call_content, _ = between(m.Message.model(*calls))
    assert [part.get("thoughtSignature") for part in call_content["parts"]] == [SIGNATURE, None]


@pytest.mark.parametrize(
    ("model", "inside", "outside"),
    [
        (MODEL, [data(IMAGE), data(PAPER)], [data(SOUND)]),
        (OLD, [], [data(IMAGE), data(PAPER), data(SOUND)]),
    ],
)
def test_attachments_stand_where_the_model_takes_them(model: str, inside: list[Any], outside: list[Any]) -> None:
    """Under the name of the call, too: a result may have been given without one."""
    result = m.ToolResult("a", "", 1, attachments=(IMAGE, PAPER, SOUND))
    response, *others = between(m.Message.model(m.FunctionCall("a", "f")), m.Message.tool(result), model=model)[1][
        "parts"
    ]
    assert response["functionResponse"].get("parts", []) == inside
    assert response["functionResponse"]["name"] == "f"
    assert others == outside


# -- what stands around the contents


def test_tools_are_declared_in_order_of_name_without_what_they_lack() -> None:
    schemas = [
        m.ToolSchema("b", "Second", {"properties": {}}),
        m.ToolSchema("a"),
        m.ToolSchema("c", "", {"type": "array"}),
    ]
    assert convert.tools(schemas) == [
        {
            "functionDeclarations": [
                {"name": "a"},
                {
                    "name": "b",
                    "description": "Second",
                    "parametersJsonSchema": {"type": "object", "properties": {}},
                },
                {"name": "c", "parametersJsonSchema": {"type": "array"}},
            ]
        }
    ]


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [("be brief", "be brief"), (m.Text(" be "), " be "), (None, None), ("", None), (" \n", None), (m.Text(""), None)],
)
def test_system_text_is_content_where_there_is_any(instruction: str | m.Text | None, expected: str | None) -> None:
    assert convert.system(instruction) == ({"parts": [{"text": expected}]} if expected else None)


def test_a_managed_cache_is_found_by_the_name_on_a_tool_or_on_the_system_text() -> None:
    named, unnamed = m.CacheMark(name="cachedContents/1"), m.CacheMark("1h")
    assert convert.cache_name(m.Text("rules", cache=named), None) == "cachedContents/1"
    assert convert.cache_name("rules", [m.ToolSchema("a", cache=unnamed), m.ToolSchema("b", cache=named)]) == named.name
    assert convert.cache_name(m.Text("rules", cache=unnamed), [m.ToolSchema("a")]) is None


def test_json_is_asked_for_by_its_type_and_schema() -> None:
    assert convert.response_format({"type": "object"}) == {
        "responseMimeType": "application/json",
        "responseJsonSchema": {"type": "object"},
    }
