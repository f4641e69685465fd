"""The Responses API as Codex asks it: what the program adds is no difference, all else is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from turnproof.dialects import dialect
from turnproof.dialects.base import Call, HttpRequest, PromptUsage, Reply, ReplyPart
from turnproof.messages import FinishReason, FunctionCall, Message, Text, ToolResult, ToolSchema

from ..through_programs import NOTHING, SYSTEM, TOOLS, answer_to_aside, world_of

THROUGH = dialect("openai-responses@codex")
WORLD = world_of(THROUGH)
MODEL = "gpt-5.5"
HISTORY = (
    Message.user("How moist is bed 3?"),
    Message("model", (FunctionCall("call_1", "read_sensor", {"bed": "3"}), FunctionCall("call_2", "open-valve", {}))),
    Message.tool(ToolResult("call_1", "read_sensor", "41 %"), ToolResult("call_2", "open-valve", "stuck")),
)

FOLDER = "<environment_context>\n  <cwd>/bed</cwd>\n</environment_context>"
PERMITS = "<permissions instructions>\nAsk nobody.\n</permissions instructions>"
SKILLS = "<skills_instructions>\n## Skills\n</skills_instructions>"
DEFERRED = "<tools>\nDeferred tool namespaces:\n- multi_agent_v1: Sub-agents.\n- mcp__session\n</tools>"
OWN: Sequence[Mapping[str, Any]] = (
    {"type": "function", "name": "exec_command", "description": "Run it", "strict": False, "parameters": NOTHING},
    {"type": "custom", "name": "apply_patch", "description": "Patch it", "format": {"type": "text"}},
    {"type": "web_search", "external_web_access": True},
    {"type": "namespace", "name": "multi_agent_v1", "description": "Agents", "tools": []},
)


def function(name: str, tool: ToolSchema) -> dict[str, Any]:
    return {
        "type": "function",
        "name": name,
        "description": tool.description,
        "strict": False,
        "parameters": dict(tool.parameters),
    }


def namespace(*tools: dict[str, Any]) -> dict[str, Any]:
    return {"type": "namespace", "name": "mcp__session", "description": "Tools of a server", "tools": list(tools)}


DECLARED = namespace(function("open_valve", TOOLS[1]), function("read_sensor", TOOLS[0]))


def message(role: str, *texts: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text} for text in texts]}


def called(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    return {
        "type": "function_call",
        "call_id": call_id,
        "name": name,
        "namespace": "mcp__session",
        "arguments": arguments,
    }


def gave(call_id: str, output: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


CALLS = (called("call_1", "read_sensor", '{"bed":"3"}'), called("call_2", "open_valve", "{}"))
NEWER = [
    *(message("developer", SYSTEM), message("developer", SKILLS, PERMITS), message("user", FOLDER)),
    *(message("user", "How moist is bed 3?"), *CALLS),
    gave("call_1", [{"type": "input_text", "text": t} for t in ("Wall time: 0.0031 seconds\nOutput:", "41 %")]),
    gave("call_2", [{"type": "input_text", "text": t} for t in ("Wall time: 0.0027 seconds\nOutput:", "stuck")]),
]
"""As 0.169 sends it."""

OLDER = [
    *(message("developer", PERMITS, SKILLS), message("user", FOLDER), message("user", "How moist is bed 3?"), *CALLS),
    gave("call_1", 'Wall time: 0.0013 seconds\nOutput:\n[{"type":"text","text":"41 %"}]'),
    gave("call_2", 'Wall time: 0.0010 seconds\nOutput:\n[{"type":"text","text":"stuck"}]'),
]
"""As 0.137 sends it, with the instructions in their own field."""


def request(kind: str = "turn", **changed: Any) -> HttpRequest:
    body = {
        "model": MODEL,
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "medium", "summary": "auto"},
        "tools": [*OWN, DECLARED],
        "input": NEWER,
        "client_metadata": {"thread_id": "t"},
        **changed,
    }
    headers = {
        "authorization": "Bearer k",
        "content-type": "application/json",
        "x-codex-turn-metadata": json.dumps({"request_kind": kind}),
    }
    return HttpRequest("POST", "/v1/responses", {}, headers, json.dumps(body).encode())


def sent(**changed: Any) -> Call:
    call = THROUGH.parse(request(**changed), WORLD)
    assert isinstance(call, Call)
    return call


def found(call: Call, history: Sequence[Message] = HISTORY, tools: Sequence[ToolSchema] = TOOLS) -> list[str]:
    return [one.path for one in THROUGH.differences(history, SYSTEM, tools, call, MODEL)]


SENT: dict[str, dict[str, Any]] = {"0.169": {"input": NEWER}, "0.137": {"input": OLDER, "instructions": SYSTEM}}


@pytest.mark.parametrize("version", SENT)
def test_what_the_program_sends_is_accepted(version: str) -> None:
    http_request = request(**SENT[version])
    call = THROUGH.parse(http_request, WORLD)
    assert isinstance(call, Call)
    assert THROUGH.validate(http_request, call, WORLD) == []


@pytest.mark.parametrize("version", SENT)
def test_what_the_program_adds_is_no_difference(version: str) -> None:
    assert found(sent(**SENT[version])) == []


def test_the_tools_of_a_server_are_read_one_by_one() -> None:
    assert [tool.name for tool in sent().tools][-2:] == ["open_valve", "read_sensor"]


def test_without_the_surface_the_names_and_texts_are_differences() -> None:
    assert dialect("openai-responses").differences(HISTORY, SYSTEM, TOOLS, sent(), MODEL)


def test_both_versions_ask_for_the_same_conversation() -> None:
    older, newer = (THROUGH.match_form(sent(**SENT[version])) for version in SENT)
    assert older == newer


def test_the_time_that_a_tool_took_does_not_tell_requests_apart() -> None:
    slower = json.loads(json.dumps(NEWER).replace("0.0031", "12.5"))
    assert THROUGH.match_form(sent(input=slower)) == THROUGH.match_form(sent())


def test_a_note_about_an_interrupted_turn_is_the_program_s_own() -> None:
    note = message("user", "<turn_aborted>\nThe user did so.\n</turn_aborted>")
    history = (*HISTORY, Message("model", (Text("Dry."),)), Message.user("And bed 4?"))
    answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Dry."}]}
    assert found(sent(input=[*NEWER, answer, note, message("user", "And bed 4?")]), history) == []


@pytest.mark.parametrize(
    "items",
    [
        NEWER[1:],
        [message("developer", "You keep a log."), *NEWER[1:]],
        [*NEWER[:2], message("developer", "Be brief."), *NEWER[2:]],
        [*NEWER[:2], message("user", "I am in a folder."), *NEWER[3:]],
        NEWER[:4],
        [*NEWER[:-1], gave("call_2", "Wall time: 0.1 seconds\nOutput:\nopen")],
    ],
    ids=[
        "the caller's text is lost",
        "the caller's text is changed",
        "an instruction is added",
        "the user says something else",
        "a round of tools is lost",
        "a result is changed",
    ],
)
def test_all_else_is_a_difference(items: list[Any]) -> None:
    assert found(sent(input=items))


def test_a_tool_that_is_not_offered_is_one() -> None:
    offered = [*OWN, namespace(function("read_sensor", TOOLS[0]))]
    assert found(sent(tools=offered)) == ["$.tools[open-valve]"]


def test_a_tool_of_the_server_that_nobody_declared_is_one() -> None:
    assert found(sent(), tools=TOOLS[:1])[-1:] == ["$.tools[open_valve]"]


@pytest.mark.parametrize("inside", [None, "none", 3, ["a name"], [{"name": 3}], [{"name": "x", "parameters": []}]])
def test_a_namespace_that_cannot_be_read_offers_no_declared_tool(inside: Any) -> None:
    call = sent(tools=[{**namespace(), "tools": inside}], input=NEWER[:4])
    assert {"$.tools[read_sensor]", "$.tools[open-valve]"} <= set(found(call, HISTORY[:1]))


def test_tools_that_are_only_searched_for_stand_in_no_request() -> None:
    items = [NEWER[0], message("developer", SKILLS, PERMITS, DEFERRED), *NEWER[2:]]
    assert found(sent(tools=list(OWN), input=items)) == []
    assert found(sent(tools=list(OWN))) != []


def wire_calls(call: Call, *names: str, tools: Sequence[ToolSchema] = TOOLS) -> list[tuple[str, Any]]:
    """The calls of a streamed reply as they stand on the wire, each with its namespace."""
    reply = Reply(tuple(ReplyPart(FunctionCall("", name, {})) for name in names), FinishReason.TOOL_USE)
    rendered = THROUGH.render(call, THROUGH.speak(reply, tools, call), PromptUsage(1), WORLD, "seed")
    lines = b"".join(event.data for event in rendered.events).decode().splitlines()
    events = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: {")]
    items = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    return [(item["name"], item.get("namespace")) for item in items]


def test_a_scripted_call_is_spoken_in_the_namespace_of_its_tool() -> None:
    written = [("open_valve", "mcp__session"), ("read_sensor", "mcp__session")]
    assert wire_calls(sent(), "open-valve", "read_sensor") == written


def test_a_call_of_a_tool_that_is_searched_for_is_spoken_in_the_namespace_that_is_named() -> None:
    call = sent(tools=list(OWN), input=[NEWER[0], message("developer", DEFERRED), *NEWER[2:4]])
    assert wire_calls(call, "open-valve") == [("open_valve", "mcp__session")]


def test_a_call_of_no_declared_tool_is_spoken_as_it_is() -> None:
    assert wire_calls(sent(), "exec_command") == [("exec_command", None)]


def test_tools_whose_names_become_alike_are_known_by_what_they_do() -> None:
    tools = (ToolSchema("x-y", "Dig", NOTHING), ToolSchema("x_y", "Sow", NOTHING))
    offered = namespace(function("x_y_2f9d5c337776", tools[0]), function("x_y_e28ed457addc", tools[1]))
    call = sent(tools=[offered], input=NEWER[:4])
    assert found(call, HISTORY[:1], tools) == []
    assert [name for name, _ in wire_calls(call, "x_y", "x-y", tools=tools)] == ["x_y_e28ed457addc", "x_y_2f9d5c337776"]


def test_a_long_name_is_known_by_its_beginning() -> None:
    tool = ToolSchema("n" * 70, "Dig", NOTHING)
    call = sent(tools=[namespace(function("n" * 39 + "_07adaec5acd8", tool))], input=NEWER[:4])
    assert found(call, HISTORY[:1], [tool]) == []
    assert wire_calls(call, tool.name, tools=[tool]) == [("n" * 39 + "_07adaec5acd8", "mcp__session")]


def test_a_compaction_is_an_aside_that_is_judged_and_answered_all_the_same() -> None:
    http_request = request("compaction", tools=[], input=[*NEWER, message("user", "Sum it up.")])
    call = THROUGH.parse(http_request, WORLD)
    assert isinstance(call, Call)
    answer_to_aside(THROUGH, http_request, call, WORLD)


def test_a_compaction_that_the_service_would_refuse_is_refused() -> None:
    http_request = request("compaction", input=NEWER[:-1])
    call = THROUGH.parse(http_request, WORLD)
    assert isinstance(call, Call)
    assert [refusal.rule.id for refusal in THROUGH.validate(http_request, call, WORLD)] == [
        "openai-responses/dangling-call"
    ]


@pytest.mark.parametrize("metadata", ["", "no JSON", "[]", "{}", '{"request_kind": "turn"}'])
def test_a_request_that_does_not_say_otherwise_is_of_a_turn(metadata: str) -> None:
    http_request = request()
    call = THROUGH.parse(
        HttpRequest(
            "POST",
            http_request.path,
            {},
            {**http_request.headers, "x-codex-turn-metadata": metadata},
            http_request.body,
        ),
        WORLD,
    )
    assert isinstance(call, Call)
    assert call.operation == "generate"


@pytest.mark.parametrize(("kind", "operation"), [("turn", "generate"), ("prewarm", "other")])
def test_a_message_on_a_socket_says_itself_what_it_is_for(kind: str, operation: str) -> None:
    metadata = {"x-codex-turn-metadata": json.dumps({"request_kind": kind})}
    call = THROUGH.parse(request("prewarm", client_metadata=metadata), WORLD)
    assert isinstance(call, Call)
    assert call.operation == operation


def test_the_program_is_given_an_address_as_openai_s_client_is() -> None:
    assert THROUGH.service.base_path == "/v1"
