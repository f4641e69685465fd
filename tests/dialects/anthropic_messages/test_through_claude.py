"""The Messages API as Claude's command line program asks it: what the program adds is no difference, all else is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from turnproof.dialects import dialect
from turnproof.dialects.base import Call, HttpRequest, PromptUsage, Reply, ReplyPart
from turnproof.messages import FinishReason, FunctionCall, Message, Text, ToolResult, ToolSchema

from ..through_programs import SYSTEM, answer_to_aside, world_of

THROUGH = dialect("anthropic-messages@claude-cli")
MODEL = "claude-haiku-4-5"
SENSOR = ToolSchema("read_sensor", "Read one sensor", {"type": "object", "properties": {"bed": {"type": "string"}}})
HISTORY = (
    Message.user("How moist is bed 3?"),
    Message("model", (FunctionCall("toolu_01", "read_sensor", {"bed": "3"}),)),
    Message.tool(ToolResult("toolu_01", "read_sensor", "41 %")),
)
BILLING = "x-anthropic-billing-header: cc_version=2.1.330.0f7; cc_entrypoint=sdk-cli;"
WORLD = world_of(THROUGH)
IDENTITY = "You are a Claude agent, built on Anthropic's Claude Agent SDK."


def sent(**changed: Any) -> Call:
    """The request that the program makes of `HISTORY`."""
    body = {
        "model": MODEL,
        "max_tokens": 1000,
        "system": [{"type": "text", "text": text} for text in (BILLING, IDENTITY, SYSTEM)],
        "tools": [
            {
                "name": "mcp__session__read_sensor",
                "description": SENSOR.description,
                "input_schema": {"type": "object", "properties": {"bed": {"type": "string"}}},
            }
        ],
        "messages": [
            {"role": "user", "content": "How moist is bed 3?"},
            {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "id": "toolu_01", "name": "mcp__session__read_sensor", "input": {"bed": "3"}}
                ],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_01", "content": "41 %"}]},
        ],
        **changed,
    }
    headers = {"x-api-key": "k", "anthropic-version": "2023-06-01", "content-type": "application/json"}
    call = THROUGH.parse(HttpRequest("POST", "/v1/messages", {}, headers, json.dumps(body).encode()), WORLD)
    assert isinstance(call, Call)
    return call


def found(call: Call) -> list[str]:
    return [one.path for one in THROUGH.differences(HISTORY, SYSTEM, [SENSOR], call, MODEL)]


def test_what_the_program_adds_is_no_difference() -> None:
    assert found(sent()) == []


def test_without_the_surface_the_names_and_texts_are_differences() -> None:
    plain = dialect("anthropic-messages")
    assert plain.differences(HISTORY, SYSTEM, [SENSOR], sent(), MODEL)


@pytest.mark.parametrize(
    "texts",
    [(BILLING, IDENTITY), (BILLING, IDENTITY, SYSTEM, "Be brief."), (BILLING, IDENTITY, "You keep a log.")],
    ids=["the caller's text is lost", "another text is added", "the caller's text is changed"],
)
def test_only_the_program_s_own_texts_are_passed_over(texts: tuple[str, ...]) -> None:
    assert found(sent(system=[{"type": "text", "text": text} for text in texts]))


def test_the_program_s_texts_count_as_such_in_front_alone() -> None:
    assert found(sent(system=[{"type": "text", "text": text} for text in (SYSTEM, IDENTITY, BILLING)]))


REMINDER = {"type": "text", "text": "<system-reminder>\nIt is Monday.\n</system-reminder>\n\n"}
QUESTION = {"type": "text", "text": "How moist is bed 3?"}
NOTE = {"type": "text", "text": "[Request interrupted by user]\n"}
LATER = {"type": "text", "text": "Never mind."}


def around(*first: Any, note: Any = NOTE, filler: str = "No response requested.") -> Call:
    """Before and behind a turn that was interrupted before anything came of it."""
    return sent(
        messages=[
            {"role": "user", "content": list(first)},
            {"role": "assistant", "content": [{"type": "text", "text": filler}]},
            {"role": "user", "content": [note, LATER]},
        ]
    )


def test_what_the_program_says_in_the_conversation_is_no_difference() -> None:
    history = (HISTORY[0], Message.user("Never mind."))
    assert THROUGH.differences(history, SYSTEM, [SENSOR], around(REMINDER, QUESTION), MODEL) == []


@pytest.mark.parametrize(
    "call",
    [
        around({"type": "text", "text": "It is Monday."}, QUESTION),
        around(REMINDER),
        around(REMINDER, QUESTION, note={"type": "text", "text": "[Request interrupted by nobody]"}),
        around(REMINDER, QUESTION, filler="No response."),
    ],
    ids=["a reminder in plain words", "the question is lost", "another note", "another filler"],
)
def test_what_is_said_besides_is_one(call: Call) -> None:
    assert THROUGH.differences((HISTORY[0], Message.user("Never mind.")), SYSTEM, [SENSOR], call, MODEL)


def test_a_tool_of_the_program_s_own_is_one() -> None:
    bash = {"name": "Bash", "description": "Run it", "input_schema": {"type": "object", "properties": {}}}
    assert found(sent(tools=[*sent().body["tools"], bash])) == ["$.tools[Bash]"]


def test_whether_anybody_is_there_is_asked_beside_the_conversation() -> None:
    probe = HttpRequest("HEAD", "/", {}, {"user-agent": "Bun/1.4.0"}, b"")
    call = THROUGH.parse(probe, WORLD)
    assert isinstance(call, Call)
    assert call.operation == "other"
    assert THROUGH.validate(probe, call, WORLD) == []
    assert THROUGH.render_extra(call, PromptUsage(0), WORLD, "seed").status == 404


NAMING = "You are naming a coding session so the user can pick it out of a long list of sessions."
ABOUT_IT = [{"role": "user", "content": "<session>\nHow moist is bed 3?\n</session>\n\nWrite the title."}]
SIDE_REQUESTS = {
    "a name": {
        "system": [{"type": "text", "text": text} for text in (BILLING, IDENTITY, NAMING)],
        "messages": ABOUT_IT,
    },
    "a sign of life": {"max_tokens": 1, "system": [], "messages": [{"role": "user", "content": "Hi"}]},
}


def asked_beside(**fields: Any) -> tuple[HttpRequest, Call]:
    body = {"model": MODEL, "max_tokens": 1000, "tools": [], **fields}
    headers = {"x-api-key": "k", "anthropic-version": "2023-06-01", "content-type": "application/json"}
    request = HttpRequest("POST", "/v1/messages", {}, headers, json.dumps(body).encode())
    call = THROUGH.parse(request, WORLD)
    assert isinstance(call, Call)
    return request, call


@pytest.mark.parametrize("stream", [True, False], ids=["in pieces", "whole"])
@pytest.mark.parametrize("fields", SIDE_REQUESTS.values(), ids=SIDE_REQUESTS)
def test_what_is_asked_beside_the_conversation_is_judged_and_answered_all_the_same(
    fields: dict[str, Any], stream: bool
) -> None:
    request, call = asked_beside(**fields, stream=stream)
    answer = answer_to_aside(THROUGH, request, call, WORLD)
    assert (answer.finish is FinishReason.MAX_TOKENS) is ("max_tokens" in fields)


@pytest.mark.parametrize("fields", SIDE_REQUESTS.values(), ids=SIDE_REQUESTS)
def test_what_is_asked_beside_the_conversation_is_refused_like_anything_else(fields: dict[str, Any]) -> None:
    request, call = asked_beside(**{**fields, "messages": [{"role": "user", "content": " "}]})
    assert call.operation == "other"
    assert [refusal.status for refusal in THROUGH.validate(request, call, WORLD)] == [400]


def test_a_system_text_that_speaks_of_names_is_the_callers_where_tools_are_offered() -> None:
    system = [{"type": "text", "text": text} for text in (BILLING, IDENTITY, NAMING)]
    assert sent(system=system).operation == "generate"


def test_a_lost_message_is_a_loss_all_the_same() -> None:
    assert found(sent(messages=[{"role": "user", "content": "How moist is bed 3?"}]))


def test_a_scripted_call_is_spoken_under_the_name_that_the_program_gave() -> None:
    parts = (ReplyPart(Text("Let me look.")), ReplyPart(FunctionCall("c", "read_sensor", {"bed": "3"})))
    reply = Reply(parts, FinishReason.TOOL_USE)
    wire_reply = THROUGH.speak(reply, [SENSOR], sent())
    assert [part.part.name for part in wire_reply.parts if isinstance(part.part, FunctionCall)] == [
        "mcp__session__read_sensor"
    ]


def test_a_cassette_finds_the_same_conversation_whatever_the_server_is_called() -> None:
    other = json.loads(json.dumps(sent().body).replace("mcp__session__", "mcp__tools__"))
    assert THROUGH.match_form(sent(**other)) == THROUGH.match_form(sent())
