"""Where in a body something stands that a dialect read from it: lists with one item, signed parts, and lone text."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.dialects import dialect
from turnproof.dialects.base import Call, World
from turnproof.judge.view.exchange import read_call
from turnproof.judge.view.provenance import Path, Provenance
from turnproof.messages import JSON
from turnproof.run.transcript import WireRequest

PNG = "iVBORw0KGgo="
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
TOOL = {"name": "water", "description": "Water a bed", "input_schema": {"type": "object"}}

ANTHROPIC: dict[str, Any] = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 4096,
    "system": "Be brief.",
    "tools": [TOOL],
    "messages": [
        {"role": "user", "content": "Look."},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Dry.", "signature": "c2ln"},
                {"type": "tool_use", "id": "call_1", "name": "water", "input": {"bed": 3}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "call_1", "content": [{"type": "text", "text": "ok"}, IMAGE]}
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
    ],
}
GEMINI: dict[str, Any] = {
    "systemInstruction": {"parts": [{"text": "Be brief."}]},
    "tools": [{"functionDeclarations": [{"name": "water", "description": "Water a bed"}]}],
    "contents": [
        {"role": "user", "parts": [{"text": "Look."}]},
        {
            "role": "model",
            "parts": [{"functionCall": {"name": "water", "args": {"bed": 3}}, "thoughtSignature": "c2ln"}],
        },
        {
            "role": "user",
            "parts": [
                {
                    "functionResponse": {
                        "name": "water",
                        "response": {"output": "ok"},
                        "parts": [{"inlineData": {"mimeType": "image/png", "data": PNG}}],
                    }
                }
            ],
        },
    ],
}
CHAT: dict[str, Any] = {
    "model": "gpt-4.1",
    "messages": [
        {"role": "user", "content": "Look."},
        {
            "role": "assistant",
            "content": "I see.",
            "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "water", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "ok"},
    ],
}

BODIES = {
    "anthropic-messages": ("/v1/messages", ANTHROPIC),
    "gemini": ("/v1beta/models/gemini-3-flash-preview:generateContent", GEMINI),
    "openai-chat": ("/v1/chat/completions", CHAT),
}

PLACES: list[tuple[str, Path, str]] = [
    ("anthropic-messages", ("messages",), "/messages"),
    ("anthropic-messages", ("messages", 0), "/messages/0"),
    ("anthropic-messages", ("messages", 1), "/messages/1/content"),
    ("anthropic-messages", ("messages", 1, "parts", 0), "/messages/1/content/0"),
    ("anthropic-messages", ("messages", 1, "parts", 1, "args"), "/messages/1/content/1/input/bed"),
    ("anthropic-messages", ("messages", 2), "/messages/2/content"),
    ("anthropic-messages", ("messages", 2, "parts", 0), "/messages/2/content/0"),
    ("anthropic-messages", ("messages", 2, "parts", 0, "attachments"), "/messages/2/content/0/content"),
    ("anthropic-messages", ("messages", 2, "parts", 0, "attachments", 0), "/messages/2/content/0/content/1"),
    ("anthropic-messages", ("messages", 3), "/messages/3/content"),
    ("anthropic-messages", ("messages", 3, "parts", 0), "/messages/3/content/0"),
    ("anthropic-messages", ("messages", 3, "parts", 0, "text"), "/messages/3/content/0/text"),
    ("anthropic-messages", ("messages", 0, "parts", 0), "/messages/0/content"),
    ("anthropic-messages", ("system",), "/system"),
    ("anthropic-messages", ("tools",), "/tools"),
    ("anthropic-messages", ("tools", 0), "/tools/0"),
    ("anthropic-messages", ("nothing",), ""),
    ("gemini", ("messages",), "/contents"),
    ("gemini", ("messages", 0), "/contents/0/parts"),
    ("gemini", ("messages", 1), "/contents/1/parts"),
    ("gemini", ("messages", 1, "parts", 0), "/contents/1/parts/0"),
    ("gemini", ("messages", 2, "parts", 0), "/contents/2/parts/0"),
    ("gemini", ("messages", 2, "parts", 0, "attachments"), "/contents/2/parts/0/functionResponse/parts"),
    ("gemini", ("system",), "/systemInstruction/parts"),
    ("gemini", ("system", 0), "/systemInstruction/parts/0"),
    ("gemini", ("tools",), "/tools/0/functionDeclarations"),
    ("gemini", ("tools", 0), "/tools/0/functionDeclarations/0"),
    ("gemini", ("tools", 0, "description"), "/tools/0/functionDeclarations/0/description"),
    ("openai-chat", ("messages",), "/messages"),
    ("openai-chat", ("messages", 1), "/messages/1"),
    ("openai-chat", ("messages", 1, "parts", 0), "/messages/1/content"),
    ("openai-chat", ("messages", 2), "/messages"),
    ("openai-chat", ("messages", 2, "parts", 0), "/messages/2"),
]


@pytest.mark.parametrize(("name", "path", "expected"), PLACES)
def test_a_thing_is_found_in_the_body_it_was_read_from(name: str, path: Path, expected: str) -> None:
    speaks, (address, body) = dialect(name), BODIES[name]
    world = World.with_any_key(speaks.models)

    def read(body: JSON) -> Call | None:
        request = WireRequest(
            exchange=0, method="POST", path=address, headers={}, body=body, digest="", operation="generate"
        )
        return read_call(speaks, request, world)

    assert Provenance(body, read).pointer_to(*path) == expected
