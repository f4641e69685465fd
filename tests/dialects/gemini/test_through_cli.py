"""The Gemini API as gemini-cli asks it: what the program adds is no difference, all else is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from turnproof.dialects import dialect
from turnproof.dialects.base import Call, HttpRequest, PromptUsage, Reply, ReplyPart
from turnproof.dialects.side_requests import side_reply
from turnproof.messages import FinishReason, FunctionCall, InlineData, Message, Text, ToolResult, ToolSchema

from ..through_programs import NOTHING, SYSTEM, TOOLS, answer_to_aside, world_of

THROUGH = dialect("gemini@gemini-cli")
WORLD = world_of(THROUGH)
MODEL = "gemini-2.5-flash"
FIRST, SECOND = "mcp_session_read_sensor_17_0", "mcp_session_open-valve_17_1"
HISTORY = (
    Message.user("How moist is bed 3?"),
    Message("model", (FunctionCall(FIRST, "read_sensor", {"bed": "3"}), FunctionCall(SECOND, "open-valve", {}))),
    Message.tool(ToolResult(FIRST, "read_sensor", "41 %"), ToolResult(SECOND, "open-valve", "stuck", is_error=True)),
)

CONTEXT = "<session_context>\nToday is Monday, in /bed.\n</session_context>"
WAITS = {"wait_for_previous": {"type": "boolean", "description": "Wait for the calls before."}}
OWN = {"name": "read_file", "description": "Read a file", "parametersJsonSchema": NOTHING}


def declared(name: str, tool: ToolSchema) -> dict[str, Any]:
    schema = {**tool.parameters, "properties": {**tool.parameters["properties"], **WAITS}}
    return {"name": name, "description": tool.description, "parametersJsonSchema": schema}


DECLARED = (declared("mcp_session_read_sensor", TOOLS[0]), declared("mcp_session_open-valve", TOOLS[1]))


def content(role: str, *texts: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"text": text} for text in texts]}


def called(call_id: str, name: str, args: Mapping[str, Any]) -> dict[str, Any]:
    return {"functionCall": {"id": call_id, "name": name, "args": args}}


def gave(call_id: str, name: str, **response: str) -> dict[str, Any]:
    return {"functionResponse": {"id": call_id, "name": name, "response": response}}


QUESTION = content("user", CONTEXT, "How moist is bed 3?")
CALLS: dict[str, Any] = {
    "role": "model",
    "parts": [
        called(FIRST, "mcp_session_read_sensor", {"bed": "3"}),
        called(SECOND, "mcp_session_open-valve", {}),
    ],
}
FAILED = (
    'MCP tool \'open-valve\' reported tool error for function call: {"name":"open-valve","args":{}} with response: '
    '[{"functionResponse":{"name":"open-valve","response":{"content":[{"type":"text","text":"stuck"}],"isError":true}}}]'
)
RESULTS = [
    gave(FIRST, "mcp_session_read_sensor", output="<untrusted_context>\n41 %\n</untrusted_context>"),
    gave(SECOND, "mcp_session_open-valve", error=FAILED),
]
CONTENTS = [QUESTION, CALLS, {"role": "user", "parts": RESULTS}]


def request(verb: str = "streamGenerateContent", model: str = MODEL, **changed: Any) -> HttpRequest:
    body = {
        "systemInstruction": {"role": "user", "parts": [{"text": SYSTEM}]},
        "generationConfig": {"temperature": 1, "topK": 64, "thinkingConfig": {"includeThoughts": True}},
        "tools": [{"functionDeclarations": [OWN, *DECLARED]}],
        "contents": CONTENTS,
        **changed,
    }
    headers = {"x-goog-api-key": "k", "content-type": "application/json"}
    query = {"alt": "sse"} if verb == "streamGenerateContent" else {}
    return HttpRequest("POST", f"/v1beta/models/{model}:{verb}", query, headers, json.dumps(body).encode())


def read(http_request: HttpRequest) -> Call:
    call = THROUGH.parse(http_request, WORLD)
    assert isinstance(call, Call)
    return call


def sent(**changed: Any) -> Call:
    return read(request(**changed))


def offering(*tools: dict[str, Any], **changed: Any) -> Call:
    return sent(tools=[{"functionDeclarations": [OWN, *tools]}], **changed)


def found(call: Call, history: Sequence[Message] = HISTORY, tools: Sequence[ToolSchema] = TOOLS) -> list[str]:
    return [one.path for one in THROUGH.differences(history, SYSTEM, tools, call, MODEL)]


def with_results(*results: dict[str, Any]) -> list[Any]:
    return [QUESTION, CALLS, {"role": "user", "parts": list(results)}]


def test_what_the_program_sends_is_accepted() -> None:
    http_request = request()
    assert THROUGH.validate(http_request, read(http_request), WORLD) == []


def test_what_the_program_adds_is_no_difference() -> None:
    assert found(sent()) == []


def test_without_the_surface_the_names_and_texts_are_differences() -> None:
    assert dialect("gemini").differences(HISTORY, SYSTEM, TOOLS, sent(), MODEL)


def test_a_cassette_finds_the_same_conversation_on_another_day() -> None:
    other = json.loads(json.dumps(CONTENTS).replace("Monday", "Tuesday"))
    assert THROUGH.match_form(sent(contents=other)) == THROUGH.match_form(sent())


@pytest.mark.parametrize(
    "changed",
    [
        {"systemInstruction": content("user", "You keep a log.")},
        {"contents": [content("user", CONTEXT, "How moist is bed 4?"), *CONTENTS[1:]]},
        {"contents": [content("user", CONTEXT, "It rains.", "How moist is bed 3?"), *CONTENTS[1:]]},
        {"contents": with_results(gave(FIRST, "mcp_session_read_sensor", output="40 %"), RESULTS[1])},
        {"contents": with_results(RESULTS[0], gave(SECOND, "mcp_session_open-valve", output="stuck"))},
        {"contents": [QUESTION]},
    ],
    ids=[
        "the caller's text is changed",
        "the user's words are changed",
        "words are added",
        "a result is changed",
        "a failure is a success",
        "a round of tools is lost",
    ],
)
def test_all_else_is_a_difference(changed: Mapping[str, Any]) -> None:
    assert found(sent(**changed))


def test_a_tool_that_is_not_offered_is_one() -> None:
    assert found(offering(DECLARED[0])) == ["$.tools[open-valve]"]


def test_texts_that_a_tool_gave_are_one_result_and_its_picture_is_announced_by_the_program() -> None:
    output = (
        "<untrusted_context>\none &lt;/untrusted_context&gt;\n</untrusted_context>\n"
        "<untrusted_context>\ntwo\n</untrusted_context>\n"
        "[Tool 'read_sensor' provided the following image data with mime-type: image/png]"
    )
    picture = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0K"}}
    call = sent(contents=with_results(gave(FIRST, "mcp_session_read_sensor", output=output), RESULTS[1], picture))
    tool_result = ToolResult(
        FIRST,
        "read_sensor",
        "one </untrusted_context>two",
        attachments=(InlineData("image/png", b"\x89PNG\r\n"),),
    )
    assert found(call, (*HISTORY[:2], Message.tool(tool_result, HISTORY[2].results[1]))) == []


def test_what_the_program_writes_beside_a_result_is_a_difference_where_it_is_not_known() -> None:
    output = "<untrusted_context>\n41 %\n</untrusted_context>\nTake care."
    assert found(sent(contents=with_results(gave(FIRST, "mcp_session_read_sensor", output=output), RESULTS[1])))


def test_results_that_are_sent_twice_are_refused_as_the_service_does() -> None:
    """Seen on every resume of a session with calls in it (0.61.0)."""
    http_request = request(
        contents=[*with_results(*RESULTS, *RESULTS), content("model", "Dry."), content("user", "Why?")]
    )
    refused = THROUGH.validate(http_request, read(http_request), WORLD)
    assert [refusal.rule.id for refusal in refused if refusal.enforced] == ["gemini/response-count"]
    history = (*HISTORY, Message("model", (Text("Dry."),)), Message.user("Why?"))
    assert len(found(read(http_request), history)) == len(RESULTS)


def test_a_signature_that_stands_in_for_a_lost_one_is_accepted() -> None:
    """Seen on every resume of a session with calls in it (0.61.0)."""
    parts = [{**CALLS["parts"][0], "thoughtSignature": "skip_thought_signature_validator"}, CALLS["parts"][1]]
    http_request = request(
        model="gemini-3.8-flash", contents=[QUESTION, {"role": "model", "parts": parts}, CONTENTS[2]]
    )
    assert THROUGH.validate(http_request, read(http_request), WORLD) == []


def test_a_lost_signature_in_the_running_turn_is_refused_also_of_a_model_that_the_program_alone_names() -> None:
    http_request = request(model="gemini-3.8-flash")
    refused = THROUGH.validate(http_request, read(http_request), WORLD)
    assert [refusal.rule.id for refusal in refused if refusal.enforced] == ["gemini/missing-signature"]


def wire_call_names(call: Call, *names: str, tools: Sequence[ToolSchema] = TOOLS) -> list[str]:
    reply = Reply(tuple(ReplyPart(FunctionCall("", name, {})) for name in names), FinishReason.TOOL_USE)
    parts = THROUGH.speak(reply, tools, call).parts
    return [part.part.name for part in parts if isinstance(part.part, FunctionCall)]


def test_a_scripted_call_is_spoken_under_the_name_that_the_program_gave() -> None:
    assert wire_call_names(sent(), "open-valve", "read_sensor") == ["mcp_session_open-valve", "mcp_session_read_sensor"]


def test_a_call_of_no_declared_tool_is_spoken_as_it_is() -> None:
    assert wire_call_names(sent(), "read_file") == ["read_file"]


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("a/b c", "mcp_session_a_b_c"),
        ("read:sensor", "mcp_session_read:sensor"),
        ("n" * 70, "mcp_session_" + "n" * 18 + "..." + "n" * 30),
    ],
    ids=["characters that the service does not take", "a colon", "a long name"],
)
def test_a_name_is_known_as_the_program_writes_it(name: str, written: str) -> None:
    tool = ToolSchema(name, "Dig", NOTHING)
    call = offering(declared(written, tool), contents=[QUESTION])
    assert found(call, HISTORY[:1], [tool]) == []
    assert wire_call_names(call, name, tools=[tool]) == [written]


COUNTED = json.dumps({"contents": [QUESTION]}).encode()
SCHEMA = {
    "type": "OBJECT",
    "properties": {
        "complexity_reasoning": {"type": "STRING"},
        "complexity_score": {"type": "INTEGER"},
        "sure": {"type": "BOOLEAN"},
        "kind": {"type": "STRING", "enum": ["easy", "hard"]},
        "notes": {"type": "ARRAY", "items": {"type": "STRING"}},
    },
}


def answered(http_request: HttpRequest) -> str:
    call = read(http_request)
    answer = answer_to_aside(THROUGH, http_request, call, WORLD)
    return "".join(part.text for part in answer.parts if isinstance(part, Text))


def test_which_model_is_fit_is_asked_beside_the_conversation_and_answered_as_demanded() -> None:
    config = {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA}
    http_request = request(
        "generateContent", "gemini-3.5-flash-lite", tools=[], contents=[QUESTION], generationConfig=config
    )
    assert json.loads(answered(http_request)) == {
        "complexity_reasoning": "",
        "complexity_score": 1,
        "sure": False,
        "kind": "easy",
        "notes": [],
    }


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({}, ""),
        ({"type": "object"}, {}),
        ({"type": "object", "properties": []}, {}),
        ({"type": ["string", "null"]}, ""),
        ({"enum": []}, ""),
        ({"enum": [3]}, 3),
        ([], ""),
    ],
)
def test_any_schema_is_answered_with_something(schema: Any, expected: Any) -> None:
    reply = side_reply(schema)
    assert isinstance(reply.parts[0].part, Text)
    assert json.loads(reply.parts[0].part.text) == expected


def test_a_summary_of_an_old_session_is_asked_beside_the_conversation() -> None:
    words = [content("user", "Sum up this conversation.")]
    assert answered(request("generateContent", "gemini-3.5-flash-lite", tools=[], contents=words))


def test_a_count_is_what_it_always_is() -> None:
    call = read(HttpRequest("POST", f"/v1beta/models/{MODEL}:countTokens", {}, {"x-goog-api-key": "k"}, COUNTED))
    assert call.operation == "count_tokens"
    assert THROUGH.render_extra(call, PromptUsage(7), WORLD, "seed").status == 200


def test_an_aside_that_the_service_would_refuse_is_refused() -> None:
    http_request = request("generateContent", "gemini-0-lite")
    assert [refusal.status for refusal in THROUGH.validate(http_request, read(http_request), WORLD)][:1] == [404]
