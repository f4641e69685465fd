"""Requests read into neutral form: nothing lost, nothing renamed, at either door and in either spelling."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from properties import examples

from turnproof import messages as m
from turnproof.dialects.base import Call, HttpRequest, Refusal
from turnproof.dialects.base64_text import decode_base64
from turnproof.dialects.gemini import DIALECT
from turnproof.dialects.gemini.fields import FIELDS, Field
from turnproof.dialects.gemini.ids import is_positional
from turnproof.dialects.gemini.parts import part_of, signature_of, standard_base64
from turnproof.dialects.gemini.surfaces import GeminiCall, Surface

from .asks import Ask, ask, body, cached, counted, created, declared, loop, on_cache, parameters, vertex, world
from .builders import (
    CACHE,
    HANDBOOK,
    MODEL,
    OPENING,
    PROJECT,
    SIGNATURE,
    SIGNATURE_URL_SAFE,
    TOOL,
    TOOLS,
    call,
    model,
    response,
    user,
)

NAME = "gemini"


def parsed(sendable: Ask) -> GeminiCall:
    found = DIALECT.parse(sendable.request(), world())
    assert isinstance(found, GeminiCall), found
    return found


def data(**fields: m.JSON) -> m.ProviderData:
    return m.ProviderData(NAME, MODEL, fields)


# -- one part


PARTS: list[tuple[dict[str, Any], m.Part]] = [
    ({"text": "Hello"}, m.Text("Hello")),
    ({"text": ""}, m.Text("")),
    ({"text": "Hello", "thoughtSignature": SIGNATURE}, m.Text("Hello", provider_data=data(signature=SIGNATURE))),
    ({"text": "Hm.", "thought": True}, m.Thought("Hm.")),
    ({"text": "Hm.", "thought": False}, m.Text("Hm.")),
    ({"thought": True, "thoughtSignature": SIGNATURE}, m.Thought(provider_data=data(signature=SIGNATURE))),
    (
        {"functionCall": {"id": "a", "name": "read_sensor", "args": {"bed": "3"}}},
        m.FunctionCall("a", "read_sensor", {"bed": "3"}),
    ),
    ({"functionCall": {"name": "look"}}, m.FunctionCall("", "look", {})),
    (
        {"functionCall": {"name": "look", "args": None, "willContinue": True}},
        m.FunctionCall("", "look", {}, provider_data=data(willContinue=True)),
    ),
    (
        {"functionResponse": {"id": "a", "name": "look", "response": {"output": [1]}}},
        m.ToolResult("a", "look", {"output": [1]}),
    ),
    (
        {"functionResponse": {"name": "look", "response": {"error": "broken"}}},
        m.ToolResult("", "look", {"error": "broken"}, is_error=True),
    ),
    (
        {"functionResponse": {"name": "look", "response": {"output": 1, "error": None}}},
        m.ToolResult("", "look", {"output": 1, "error": None}),
    ),
    ({"functionResponse": {"name": "look", "response": {}}}, m.ToolResult("", "look", {})),
    (
        {
            "functionResponse": {
                "name": "look",
                "response": {},
                "parts": [
                    {"inlineData": {"mimeType": "image/png", "data": "AAE="}},
                    {"fileData": {"mimeType": "image/png", "fileUri": "https://garden.example/a"}},
                ],
            }
        },
        m.ToolResult(
            "",
            "look",
            {},
            attachments=(m.InlineData("image/png", b"\0\1"), m.FileRef("image/png", "https://garden.example/a")),
        ),
    ),
    ({"inlineData": {"mimeType": "image/png", "data": "+/8="}}, m.InlineData("image/png", b"\xfb\xff")),
    ({"inlineData": {"mimeType": "image/png", "data": "-_8"}}, m.InlineData("image/png", b"\xfb\xff")),
    (
        {"inlineData": {"mimeType": "image/png", "data": "", "displayName": "a"}, "videoMetadata": {"fps": 1}},
        m.InlineData("image/png", b"", provider_data=data(videoMetadata={"fps": 1}, displayName="a")),
    ),
    ({"fileData": {"fileUri": "gs://a/b"}}, m.FileRef("", "gs://a/b")),
    (
        {"executableCode": {"language": "PYTHON", "code": "1 + 1", "id": "c"}, "thoughtSignature": SIGNATURE},
        m.ExecutableCode("PYTHON", "1 + 1", provider_data=data(id="c", signature=SIGNATURE)),
    ),
    ({"codeExecutionResult": {"outcome": "OUTCOME_OK"}}, m.CodeExecutionResult("OUTCOME_OK", "")),
    (
        {"toolCall": {"id": "a"}, "thoughtSignature": SIGNATURE_URL_SAFE},
        m.Opaque(NAME, "toolCall", {"toolCall": {"id": "a"}}, provider_data=data(signature=SIGNATURE)),
    ),
    ({"hologram": 1}, m.Opaque(NAME, "hologram", {"hologram": 1})),
    ({}, m.Opaque(NAME, "", {})),
]


@pytest.mark.parametrize(("wire", "part"), PARTS)
def test_a_part_is_read_as_what_it_is(wire: dict[str, Any], part: m.Part) -> None:
    assert part_of(wire, MODEL) == part


@pytest.mark.parametrize(
    "wire",
    [
        {"text": 1},
        {"functionCall": "look"},
        {"functionCall": {"args": {}}},
        {"functionCall": {"name": "look", "args": []}},
        {"functionResponse": {"name": 1}},
        {"functionResponse": {"name": "look", "response": "41 %"}},
        {"functionResponse": {"name": "look", "response": {}, "parts": 1}},
        {"inlineData": {"mimeType": "image/png", "data": "?"}},
        {"inlineData": None},
        {"fileData": {}},
        {"executableCode": {"code": None}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": 1}},
    ],
)
def test_what_cannot_be_read_is_kept_as_it_is(wire: dict[str, Any]) -> None:
    (kind,) = wire
    assert part_of(wire, MODEL) == m.Opaque(NAME, kind, wire)


def test_parts_of_no_known_form_within_a_response_are_left_out() -> None:
    read = part_of({"functionResponse": {"name": "look", "response": {}, "parts": [1, {"text": "a"}]}}, MODEL)
    assert read == m.ToolResult("", "look", {})


@pytest.mark.parametrize("content", [b"", b"\xfb", b"\xfb\xff", b"\xfb\xff\xbf", bytes(range(256))])
def test_a_signature_is_its_bytes_in_whatever_alphabet(content: bytes) -> None:
    standard = b64encode(content).decode()
    for written in (standard, urlsafe_b64encode(content).decode(), standard.rstrip("=")):
        assert decode_base64(written) == content
        assert standard_base64(written) == standard


@pytest.mark.parametrize("text", ["A", "AAAAA", "a b", "é", "AA==AA==", "!"])
def test_what_is_no_base64_is_known_and_kept(text: str) -> None:
    assert decode_base64(text) is None
    assert standard_base64(text) == text


def test_only_a_signature_of_this_api_is_one() -> None:
    assert signature_of(m.Text("a", provider_data=data(signature="AAAA"))) == "AAAA"
    assert signature_of(m.Text("a", provider_data=m.ProviderData("other", "", {"signature": "AAAA"}))) is None
    assert signature_of(m.Text("a")) is None


# -- the conversation


def test_results_come_as_their_own_message_in_front_of_what_the_user_says() -> None:
    found = parsed(loop(model(call(id="a")), user("Here:", response(id="a"), "And bed 4?")))
    assert [(message.role, len(message.parts)) for message in found.messages] == [
        ("user", 1), ("model", 1), ("tool", 1), ("user", 2),
    ]  # fmt: skip


def test_neighbouring_contents_of_one_role_are_one_message() -> None:
    found = parsed(ask(OPENING, user("Bed 3."), model("41"), model(" %."), user("Thanks")))
    assert [(message.role, message.text) for message in found.messages] == [
        ("user", "How moist is bed 3?Bed 3."), ("model", "41 %."), ("user", "Thanks"),
    ]  # fmt: skip


def test_ids_stay_as_they_stood_on_the_wire() -> None:
    found = parsed(loop(model(call(id="a"), call(None, id="b")), user(response(id="b"), response(id="a"))))
    assert [each.id for each in found.messages[1].calls] == ["a", "b"]
    assert [each.call_id for each in found.messages[2].results] == ["b", "a"]


def test_calls_without_ids_are_linked_to_their_responses_by_place() -> None:
    found = parsed(
        loop(
            model(call(), call(None)),
            user(response({"output": 1}), response({"output": 2})),
            model(call()),
            user(response({"output": 3})),
        )
    )
    first, second = found.messages[1].calls
    (third,) = found.messages[3].calls
    assert len({first.id, second.id, third.id}) == 3
    assert all(is_positional(each.id) for each in (first, second, third))
    assert [(each.call_id, each.result) for message in found.messages for each in message.results] == [
        (first.id, {"output": 1}), (second.id, {"output": 2}), (third.id, {"output": 3}),
    ]  # fmt: skip


def test_a_name_says_which_call_a_response_without_an_id_is_for() -> None:
    found = parsed(loop(model(call(), call(None, name="water")), user(response(name="water"), response())))
    sensor, water = found.messages[1].calls
    assert [each.call_id for each in found.messages[2].results] == [water.id, sensor.id]


def test_a_response_under_another_name_stands_for_the_call_that_is_left() -> None:
    found = parsed(loop(model(call(), call(None, name="water")), user(response(), response(name="rain"))))
    assert found.messages[2].results[1].call_id == found.messages[1].calls[1].id


def test_one_more_response_than_calls_is_linked_to_none() -> None:
    found = parsed(loop(model(call()), user(response(), response())))
    assert [bool(each.call_id) for each in found.messages[2].results] == [True, False]


def test_a_response_without_the_id_that_its_call_had_is_linked_to_none() -> None:
    found = parsed(loop(model(call(id="a")), user(response())))
    assert found.messages[2].results[0].call_id == ""


def test_equal_requests_get_equal_positional_ids_and_longer_ones_keep_them() -> None:
    short, long = loop(model(call()), user(response())), loop(model(call()), user(response()), model("41 %."), OPENING)
    assert parsed(short).messages[1].calls == parsed(long).messages[1].calls


def test_system_text_comes_in_its_parts() -> None:
    assert parsed(ask(systemInstruction=user("Be brief.", "Be kind."))).system == (
        m.Text("Be brief."),
        m.Text("Be kind."),
    )
    assert parsed(ask()).system == ()


def test_settings_are_the_configuration_and_what_stands_beside_it() -> None:
    config = {"temperature": 0.5, "thinkingConfig": {"includeThoughts": True}}
    more_settings = {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}, "safetySettings": []}
    assert parsed(ask(tools=TOOLS, generationConfig=config, **more_settings)).settings == config | more_settings


# -- tools


@pytest.mark.parametrize(
    ("schema", "read"),
    [
        ({"type": "STRING"}, {"type": "string"}),
        ({"type": "string"}, {"type": "string"}),
        ({"type": 3}, {"type": "integer"}),
        ({"type": "STRING", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "STRING", "nullable": False}, {"type": "string"}),
        ({"type": "ARRAY", "items": {"type": "NUMBER"}}, {"type": "array", "items": {"type": "number"}}),
        (
            {"anyOf": [{"type": "STRING"}, {"type": "NULL"}], "description": "STRING"},
            {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "STRING"},
        ),
        ({"type": "STRING", "enum": ["A"], "format": "enum"}, {"type": "string", "enum": ["A"], "format": "enum"}),
        (
            {
                "type": "OBJECT",
                "properties": {"type": {"type": "STRING"}},
                "propertyOrdering": ["type"],
                "additionalProperties": {"type": "INTEGER"},
            },
            {
                "type": "object",
                "properties": {"type": {"type": "string"}},
                "additionalProperties": {"type": "integer"},
            },
        ),
        ({"type": "OBJECT", "additionalProperties": False}, {"type": "object", "additionalProperties": False}),
    ],
)
def test_parameters_are_read_as_the_json_schema_that_means_the_same(schema: m.JSON, read: m.JSON) -> None:
    (tool,) = parsed(parameters(**schema)).tools
    assert tool.parameters["properties"]["bed"] == read


def test_a_json_schema_is_taken_as_it_stands() -> None:
    schema = {"type": "object", "properties": {"bed": {"type": ["string", "null"], "const": "A"}}, "$defs": {}}
    for spelled in ("parametersJsonSchema", "parameters_json_schema"):
        assert parsed(declared({"name": "look", spelled: schema})).tools == (m.ToolSchema("look", "", schema),)


def test_a_tool_without_parameters_has_an_empty_schema() -> None:
    assert parsed(declared({"name": "look", "description": "Look"})).tools == (m.ToolSchema("look", "Look", {}),)


def test_tools_of_several_entries_and_of_the_service_itself_come_in_order() -> None:
    found = parsed(
        ask(tools=[{"functionDeclarations": [TOOL, {"name": "water"}]}, {"googleSearch": {}, "codeExecution": {}}])
    )
    assert [tool.name for tool in found.tools] == ["read_sensor", "water", "googleSearch", "codeExecution"]
    assert found.tools[2].parameters == {"googleSearch": {}}


# -- addresses


def test_each_operation_is_known_by_its_address() -> None:
    for version in ("v1", "v1beta", "v1alpha"):
        at = f"/{version}/models/{MODEL}"
        whole = parsed(Ask(body(), f"{at}:generateContent"))
        assert (whole.operation, whole.model, whole.stream, whole.version) == ("generate", MODEL, False, version)
        streamed = parsed(Ask(body(), f"{at}:streamGenerateContent", query={"alt": "sse"}))
        assert (streamed.operation, streamed.stream, streamed.sse) == ("generate", True, True)
        array = parsed(Ask(body(), f"{at}:streamGenerateContent"))
        assert (array.stream, array.sse) == (True, False)
        assert parsed(Ask(body(), f"{at}:countTokens")).operation == "count_tokens"
        assert parsed(Ask({}, at, "GET")).model == MODEL
        assert parsed(Ask({}, f"/{version}/models", "GET")).operation == "list_models"


def test_vertex_has_addresses_of_its_own() -> None:
    found = parsed(vertex(ask()))
    assert (found.surface, found.version, found.parent, found.model) == (Surface.VERTEX, "v1beta1", PROJECT, MODEL)
    assert parsed(ask()).surface is Surface.AI_STUDIO
    assert parsed(Ask(body(), f"/v1/{PROJECT}/publishers/google/models/{MODEL}:generateContent")).surface == "vertex"
    express = Ask(body(), f"/v1beta1/publishers/google/models/{MODEL}:generateContent")
    assert (parsed(express).surface, parsed(express).parent) == (Surface.VERTEX, "")
    assert parsed(Ask({}, f"/v1beta1/publishers/google/models/{MODEL}", "GET")).operation == "get_model"
    assert parsed(Ask({}, "/v1beta1/publishers/google/models", "GET")).operation == "list_models"


@pytest.mark.parametrize(
    ("method", "path", "action", "resource"),
    [
        ("POST", "cachedContents", "create", None),
        ("GET", "cachedContents", "list", None),
        ("GET", "cachedContents/a", "get", "cachedContents/a"),
        ("PATCH", "cachedContents/a", "update", "cachedContents/a"),
        ("DELETE", "cachedContents/a", "delete", "cachedContents/a"),
    ],
)
def test_operations_on_caches_are_known_at_both_doors(
    method: str, path: str, action: str, resource: str | None
) -> None:
    here = parsed(Ask({}, f"/v1beta/{path}", method))
    assert (here.operation, here.action, here.resource) == ("cache", action, resource)
    there = parsed(Ask({}, f"/v1beta1/{PROJECT}/{path}", method))
    named = f"{PROJECT}/{resource}" if resource else None
    assert (there.action, there.resource, there.parent) == (action, named, PROJECT)


@pytest.mark.parametrize("path", ["/", "/v1beta", "/v2/models/a:generateContent", "/v1beta/models/a/b", "/v1beta1/a"])
def test_there_is_nothing_at_another_address(path: str) -> None:
    found = DIALECT.parse(Ask(body(), path).request(), world())
    assert isinstance(found, Refusal)
    assert found.status == 404


def test_any_call_is_one_of_this_api() -> None:
    plain = Call("generate", MODEL, stream=True, tools=(m.ToolSchema("look"),), body={"a": 1})
    assert GeminiCall.from_call(plain) == GeminiCall(
        "generate", MODEL, stream=True, tools=(m.ToolSchema("look"),), body={"a": 1}
    )
    found = parsed(vertex(ask()))
    assert GeminiCall.from_call(found) is found
    assert replace(found, stream=True).surface is Surface.VERTEX


# -- counting and caches


def test_both_forms_of_counting_say_the_same_as_the_request_itself() -> None:
    request_body = body(OPENING, systemInstruction=user("Be brief."), tools=TOOLS)
    itself = parsed(Ask(request_body))
    for form in (
        counted(generateContentRequest=request_body | {"model": f"models/{MODEL}"}),
        vertex(counted(**request_body)),
    ):
        found = parsed(form)
        assert (found.operation, found.model) == ("count_tokens", MODEL)
        assert (found.system, found.tools) == (itself.system, itself.tools)
        assert [message.parts for message in found.messages] == [message.parts for message in itself.messages]


def test_what_a_named_cache_holds_stands_in_front() -> None:
    found = parsed(cached())
    assert (found.resource, found.managed_messages) == (CACHE, 1)
    assert [message.text for message in found.messages] == [HANDBOOK, "How moist is bed 3?"]
    assert found.tools == parsed(ask(tools=TOOLS)).tools


def test_a_call_within_a_cache_is_answered_in_the_request() -> None:
    here = world()
    here.resources[CACHE] = replace(here.resources[CACHE], body={"contents": [OPENING, model(call())]})
    request = cached(contents=[user(response())]).request()
    found = DIALECT.parse(request, here)
    assert isinstance(found, Call)
    assert found.managed_messages == 2
    assert found.messages[2].results[0].call_id == found.messages[1].calls[0].id
    assert DIALECT.validate(request, found, here) == []


def test_a_cache_that_is_gone_holds_nothing() -> None:
    found = parsed(cached("cachedContents/none"))
    assert (found.resource, found.managed_messages, len(found.messages)) == ("cachedContents/none", 0, 1)


def test_a_cache_to_be_made_is_read_like_a_request() -> None:
    found = parsed(created(systemInstruction=user("Be brief."), tools=TOOLS, ttl="300s"))
    assert (found.operation, found.action, found.model) == ("cache", "create", MODEL)
    assert (found.system, found.messages[0].text) == ((m.Text("Be brief."),), HANDBOOK)
    assert found.settings == {"ttl": "300s"}
    assert parsed(on_cache(CACHE, "PATCH", ttl="5s")).body == {"ttl": "5s"}


# -- spelling


def test_both_spellings_are_one_request() -> None:
    camel: dict[str, Any] = {
        "contents": [
            OPENING,
            {"role": "model", "parts": [{"functionCall": {"name": "a"}, "thoughtSignature": "AAAA"}]},
            user({"functionResponse": {"name": "a", "response": {"camelCase": 1, "snake_case": 2, "none": None}}}),
            user({"fileData": {"mimeType": "a/b", "fileUri": "c"}}),
        ],
        "systemInstruction": user("Be brief."),
        "tools": [{"functionDeclarations": [{"name": "a", "parametersJsonSchema": {"minLength": 1}}]}],
        "generationConfig": {"maxOutputTokens": 10},
    }
    snake: dict[str, Any] = {
        "contents": [
            OPENING,
            {"role": "model", "parts": [{"function_call": {"name": "a"}, "thought_signature": "AAAA"}]},
            user({"function_response": {"name": "a", "response": {"camelCase": 1, "snake_case": 2, "none": None}}}),
            user({"file_data": {"mime_type": "a/b", "file_uri": "c"}}),
        ],
        "system_instruction": user("Be brief."),
        "tools": [{"function_declarations": [{"name": "a", "parameters_json_schema": {"minLength": 1}}]}],
        "generation_config": {"max_output_tokens": 10},
    }
    assert parsed(Ask(snake)).body == parsed(Ask(camel)).body == camel


def test_null_is_as_good_as_absent_except_in_values_of_the_user() -> None:
    found = parsed(ask(user({"text": "Hello", "thought": None}), tools=None, generationConfig={"seed": None}))
    assert found.body == {"contents": [user("Hello")], "generationConfig": {}}
    args = parsed(loop(model({"functionCall": {"name": "a", "args": {"bed": None}}}))).messages[1].calls[0].args
    assert args == {"bed": None}


def test_no_body_is_an_empty_message() -> None:
    request = HttpRequest("PATCH", f"/v1beta/{CACHE}", {}, {}, b"")
    found = DIALECT.parse(request, world())
    assert isinstance(found, Call)
    assert found.body == {}


# -- anything at all


_NAMES = st.sampled_from(sorted({name for fields in FIELDS.values() for name in fields}))
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "user", "model", "AAAA", "STRING", "1s", CACHE]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=4),
    max_leaves=12,
)


@cache
def _message(name: str, depth: int = 0) -> st.SearchStrategy[dict[str, Any]]:
    """A message with some of its fields, well formed as far as its kinds say."""
    scalars = {"string": "a", "bytes": "AAAA", "number": 1, "bool": True, "object": {}, "type": 1, "duration": "9s"}

    def value(field: Field) -> st.SearchStrategy[Any]:
        if field.kind in FIELDS:
            one: st.SearchStrategy[Any] = _message(field.kind, depth + 1) if depth < 4 else st.just({})
        else:
            one = st.just(scalars[field.kind]) if field.kind in scalars else _VALUES
        return {"[": st.lists(one, max_size=2), "{": st.dictionaries(st.just("bed"), one, max_size=1)}.get(
            field.shape, one
        )

    listed = {field.name: field for field in FIELDS[name].values()}
    return st.fixed_dictionaries({}, optional={key: value(field) for key, field in listed.items()})


@settings(examples(100), suppress_health_check=list(HealthCheck))
@given(body=_message("GenerateContentRequest") | st.dictionaries(_NAMES, _VALUES), at_vertex=st.booleans())
def test_whatever_is_sent_is_read_and_judged_or_refused(body: dict[str, Any], at_vertex: bool) -> None:
    sendable = vertex(Ask(body)) if at_vertex else Ask(body)
    request, here = sendable.request(), world()
    found = DIALECT.parse(request, here)
    refusals = [found] if isinstance(found, Refusal) else DIALECT.validate(request, found, here)
    for refusal in refusals:
        assert DIALECT.render_refusal(refusal, "").status == refusal.status
    if isinstance(found, Call):
        assert DIALECT.new_cache().account(found, DIALECT.models[MODEL], 0.0)[0].whole == DIALECT.count(found)
