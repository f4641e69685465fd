"""Requests that no client ought to send: refused as the API would refuse them, and never a fault of the emulator's."""

from __future__ import annotations

import json
from typing import Any

import pytest

from turnproof.dialects import dialect
from turnproof.dialects.base import HttpRequest, Refusal, World
from turnproof.messages import Message, ToolSchema
from turnproof.wire.emulator.server_run import CANARY_KEY

from .answers import damaged, nested, places

ANTHROPIC = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 2048,
    "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}],
    "tools": [{"name": "read", "input_schema": {"type": "object", "properties": {"bed": {}}, "required": ["bed"]}}],
    "tool_choice": {"type": "auto"},
    "metadata": {"user_id": "u"},
    "stop_sequences": ["x"],
    "messages": [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"bed": "3"}}],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "41"}]},
                {"type": "document", "source": {"type": "url", "url": "http://x/y.pdf"}},
            ],
        },
    ],
}
GEMINI = {
    "systemInstruction": {"parts": [{"text": "s"}]},
    "tools": [{"functionDeclarations": [{"name": "read", "parameters": {"type": "OBJECT", "properties": {}}}]}],
    "generationConfig": {"temperature": 0.5, "maxOutputTokens": 100},
    "contents": [
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "read", "args": {"bed": "3"}, "id": "c1"}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "read", "id": "c1", "response": {"output": "x"}}}]},
    ],
}
APIS: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "anthropic-messages": ("/v1/messages", "x-api-key", "claude-sonnet-4-5", ANTHROPIC),
    "gemini": ("/v1beta/models/gemini-2.5-flash:generateContent", "x-goog-api-key", "gemini-2.5-flash", GEMINI),
}
TOOLS = [ToolSchema("read", "", {"type": "object", "properties": {"bed": {}}, "required": ["bed"]})]


def statuses(api: str, body: str) -> list[int]:
    """What it is refused with, first the one that the service would name. Nothing: it is read, judged and compared."""
    path, header, model, _ = APIS[api]
    wire_dialect = dialect(api)
    world = World(frozenset({CANARY_KEY}), wire_dialect.models, clock=lambda: 0.0)
    headers = {header: CANARY_KEY, "anthropic-version": "2023-06-01", "content-type": "application/json"}
    request = HttpRequest("POST", path, {}, headers, body.encode())
    call = wire_dialect.parse(request, world)
    if isinstance(call, Refusal):
        wire_dialect.render_refusal(call, "seed")
        return [call.status]
    refused = [each for each in wire_dialect.validate(request, call, world) if each.enforced]
    if not refused:
        wire_dialect.differences([Message.user("hi")], "s", TOOLS, call, model)
    return [each.status for each in refused]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("value", [5, "x", [None], {"a": 1}], ids=["number", "text", "list", "object"])
def test_any_value_in_place_of_any_other_is_taken_or_refused(api: str, value: Any) -> None:
    body = APIS[api][3]
    assert statuses(api, json.dumps(body)) == []
    refused = 0
    for place in places(body):
        found = statuses(api, damaged(body, place, value))
        assert all(400 <= status < 500 for status in found), place
        refused += bool(found)
    assert refused > 10


@pytest.mark.parametrize("depth", [101, 1_000, 100_000])
@pytest.mark.parametrize(
    ("api", "place"),
    [
        ("anthropic-messages", ("messages", 1, "content", 0, "input", "bed")),
        ("anthropic-messages", ("tools", 0, "input_schema", "properties", "bed")),
        ("gemini", ("contents", 1, "parts", 0, "functionCall", "args", "bed")),
        ("gemini", ("contents", 2, "parts", 0, "functionResponse", "response", "output")),
    ],
)
def test_a_payload_deeper_than_a_message_may_be_is_refused(api: str, place: tuple[str | int, ...], depth: int) -> None:
    """One depth for histories, answers and requests: what cannot be held is taken from nobody."""
    assert statuses(api, damaged(APIS[api][3], place, nested(depth))) == [400]


@pytest.mark.parametrize("api", APIS)
def test_an_answer_with_a_payload_that_deep_is_read_as_one_that_is_not_whole(api: str) -> None:
    deep = nested(101)
    body = {
        "anthropic-messages": f'{{"model":"m","content":[{{"type":"hologram","x":{deep}}}],"stop_reason":"end_turn"}}',
        "gemini": f'{{"candidates":[{{"content":{{"parts":[{{"functionCall":{{"args":{{"x":{deep}}}}}}}]}}}}]}}',
    }[api]
    answer = dialect(api).read_response(200, {"content-type": "application/json"}, body.encode())
    assert not answer.complete
    assert answer.parts == ()


@pytest.mark.parametrize("figure", ["true", "1.5", "1" * 400, "null"])
def test_a_figure_of_an_answer_that_counts_nothing_is_nothing(figure: str) -> None:
    body = (
        f'{{"model":"m","content":[],"stop_reason":"end_turn","usage":{{"input_tokens":{figure},"output_tokens":2}}}}'
    )
    usage = dialect("anthropic-messages").read_response(200, {}, body.encode()).usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.total_tokens) == (0, 2)


@pytest.mark.parametrize("hint", ["inf", "nan", "1e999"])
def test_a_hint_that_nobody_can_wait_for_is_none(hint: str) -> None:
    assert dialect("gemini").read_response(429, {"retry-after": hint}, b"{}").retry_after is None


def test_a_text_in_many_chunks_is_one_part() -> None:
    chunk = 'data: {{"candidates":[{{"content":{{"parts":[{{"text":"{}"{}}}]}}}}]}}\r\n\r\n'.format
    body = "".join([chunk("a", ""), chunk("b", ""), chunk("hm", ',"thought":true'), chunk("c", ""), chunk("d", "")])
    answer = dialect("gemini").read_response(200, {"content-type": "text/event-stream"}, body.encode())
    assert [part.text for part in answer.parts] == ["ab", "hm", "cd"]  # type: ignore[union-attr]
