"""Without a scenario the emulator is like a small model: it keeps limits, thinks, and calls tools where it has to."""

from __future__ import annotations

from typing import Any

import httpx
import jsonschema
import openai
import pytest

from turnproof.dialects import dialect
from turnproof.messages import ToolSchema
from turnproof.wire.emulator import EmulatorServer
from turnproof.wire.emulator.echo import EchoResponder, arguments_for

TAKES: dict[str, Any] = {"type": "object", "properties": {"bed": {"type": "string"}}, "required": ["bed"]}
TOOL = {"name": "read", "input_schema": TAKES}


def ask(server: EmulatorServer, text: str = "How moist is bed 3?", **more: Any) -> dict[str, Any]:
    """What a request to the Messages API is answered."""
    run = server.open_run(dialect("anthropic-messages"), EchoResponder(), any_key=True)
    body = {"model": "claude-sonnet-4-5", "max_tokens": 2048, "messages": [{"role": "user", "content": text}], **more}
    headers = {"x-api-key": "k", "anthropic-version": "2023-06-01"}
    answer = httpx.post(f"{run.base_url}/v1/messages", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_it_says_what_was_said(server: EmulatorServer) -> None:
    answer = ask(server)

    assert answer["content"] == [{"type": "text", "text": "You said: How moist is bed 3?"}]
    assert answer["stop_reason"] == "end_turn"


def test_a_limit_cuts_the_answer(server: EmulatorServer) -> None:
    answer = ask(server, "word " * 100, max_tokens=10)

    assert answer["stop_reason"] == "max_tokens"
    assert len(answer["content"][0]["text"]) < 100
    assert answer["usage"]["output_tokens"] <= 10


def test_a_long_text_is_cut_as_quickly_as_a_short_one(server: EmulatorServer) -> None:
    answer = ask(server, "word " * 40_000, max_tokens=10)

    assert answer["usage"]["output_tokens"] <= 10


def test_a_stop_sequence_ends_the_answer(server: EmulatorServer) -> None:
    answer = ask(server, "one two three", stop_sequences=["two"])

    assert answer["content"][0]["text"] == "You said: one "
    assert answer["stop_reason"] == "stop_sequence"


def test_a_tool_that_has_to_be_called_is_called_with_arguments_that_fit(server: EmulatorServer) -> None:
    answer = ask(server, tools=[TOOL], tool_choice={"type": "any"})

    [call] = answer["content"]
    assert (call["type"], call["name"], answer["stop_reason"]) == ("tool_use", "read", "tool_use")
    jsonschema.validate(call["input"], TAKES)


def test_a_tool_that_may_be_called_is_not(server: EmulatorServer) -> None:
    assert ask(server, tools=[TOOL])["stop_reason"] == "end_turn"


def test_it_thinks_where_it_is_asked_to(server: EmulatorServer) -> None:
    answer = ask(server, thinking={"type": "enabled", "budget_tokens": 1024})

    assert [block["type"] for block in answer["content"]] == ["thinking", "text"]


def chat(server: EmulatorServer) -> openai.OpenAI:
    run = server.open_run(dialect("openai-chat"), EchoResponder(), any_key=True)
    return openai.OpenAI(api_key="k", base_url=run.base_url, max_retries=0)


def test_as_many_choices_as_are_asked_for_are_given_and_billed(server: EmulatorServer) -> None:
    with chat(server) as client:
        hello: Any = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hello."}]}
        one, three = client.chat.completions.create(**hello), client.chat.completions.create(**hello, n=3)
    assert [(each.index, each.message.content) for each in three.choices] == [
        (index, "You said: Hello.") for index in range(3)
    ]
    assert one.usage is not None
    assert three.usage is not None
    assert three.usage.completion_tokens == 3 * one.usage.completion_tokens
    assert three.usage.prompt_tokens == one.usage.prompt_tokens


def test_several_choices_of_a_stream_come_abreast_and_each_has_calls_and_an_end_of_its_own(
    server: EmulatorServer,
) -> None:
    function: Any = {"type": "function", "function": {"name": "read", "parameters": TAKES}}
    calls: dict[int, list[str]] = {}
    order: list[int] = []
    ends: list[int] = []
    with chat(server) as client:
        stream = client.chat.completions.create(
            model="gpt-4.1",
            messages=[{"role": "user", "content": "Hello."}],
            tools=[function],
            tool_choice="required",
            n=2,
            stream=True,
        )
        for chunk in stream:
            for choice in chunk.choices:
                order.append(choice.index)
                calls.setdefault(choice.index, []).extend(each.id for each in choice.delta.tool_calls or () if each.id)
                ends += [choice.index] if choice.finish_reason else []
    assert order[:4] == [0, 1, 0, 1]
    assert ends == [0, 1]
    assert len({calls[0][0], calls[1][0]}) == 2


SCHEMAS: list[dict[str, Any]] = [
    {"type": "object", "properties": {}},
    {
        "type": "object",
        "properties": {
            "bed": {"enum": ["3", "4"]},
            "depth": {"type": "number", "minimum": 2},
            "when": {"anyOf": [{"type": "null"}, {"type": "string"}]},
            "plants": {"type": "array", "items": {"$ref": "#/$defs/plant"}, "minItems": 1},
            "kind": {"const": "basil"},
            "wet": {"type": ["null", "boolean"]},
            "other": {"type": "string"},
        },
        "required": ["bed", "depth", "when", "plants", "kind", "wet"],
        "$defs": {"plant": {"type": "object", "properties": {"rows": {"type": "integer"}}, "required": ["rows"]}},
    },
    {"type": "object", "properties": {"up": {"$ref": "#"}}},
]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_arguments_fit_the_schema(schema: dict[str, Any]) -> None:
    jsonschema.validate(arguments_for(ToolSchema("t", "", schema)), schema)
