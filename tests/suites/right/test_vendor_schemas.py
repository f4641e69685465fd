"""The vendors' own schemas as judge: what services accepted is legal by them, and what nobody publishes is not."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from recordings.material import recordings
from shared_material import recordings_dir

from turnproof_suites.right.vendor_schemas import DIALECTS, illegal_places

pytestmark = pytest.mark.long

TOOL = {"type": "object", "properties": {"bed": {"type": "integer"}}}

LEGAL: dict[str, dict[str, Any]] = {
    "anthropic-messages": {
        "model": "claude-sonnet-4-6",
        "max_tokens": 64,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello."}]}],
        "tools": [{"name": "read", "description": "Read", "input_schema": TOOL}],
    },
    "gemini": {
        "contents": [{"role": "user", "parts": [{"text": "Hello."}]}],
        "tools": [{"functionDeclarations": [{"name": "read", "description": "Read"}]}],
        "generationConfig": {"maxOutputTokens": 64},
    },
    "openai-chat": {
        "model": "gpt-5-mini",
        "messages": [{"role": "user", "content": "Hello."}],
        "tools": [{"type": "function", "function": {"name": "read", "parameters": TOOL}}],
    },
    "openai-responses": {
        "model": "gpt-5-mini",
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "Hello."}]}],
        "tools": [{"type": "function", "name": "read", "parameters": TOOL, "strict": True}],
    },
}

ILLEGAL: list[tuple[str, str, Any, str]] = [
    ("anthropic-messages", "max_tokens", "64", "/max_tokens"),
    ("anthropic-messages", "messages", [{"role": "user", "content": [{"type": "txt", "text": "a"}]}], "/messages/0"),
    ("anthropic-messages", "tools", [{"name": "read"}], "/tools/0"),
    ("gemini", "contents", [{"role": "user", "parts": [{"txet": "Hello."}]}], "/contents/0/parts/0/txet"),
    ("gemini", "content", [], "/content"),
    ("gemini", "generationConfig", {"maxOutputTokens": "many"}, "/generationConfig/maxOutputTokens"),
    ("openai-chat", "messages", [{"role": "nobody", "content": "Hello."}], "/messages/0"),
    ("openai-chat", "messages", [{"role": "tool", "content": "12 %"}], "/messages/0"),
    ("openai-chat", "tools", [{"type": "function", "function": {"description": "Read"}}], "/tools/0"),
    ("openai-responses", "input", [{"role": "nobody", "content": 5}], "/input"),
    ("openai-responses", "max_output_tokens", "many", "/max_output_tokens"),
]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_plain_request_is_legal(dialect: str) -> None:
    assert illegal_places(dialect, LEGAL[dialect]) == []


@pytest.mark.parametrize(("dialect", "key", "value", "pointer"), ILLEGAL)
def test_what_the_vendor_does_not_publish_is_named_with_its_place(
    dialect: str, key: str, value: Any, pointer: str
) -> None:
    illegal = illegal_places(dialect, {**LEGAL[dialect], key: value})
    assert any(one.pointer.startswith(pointer) for one in illegal), illegal


def test_a_beta_header_lets_the_beta_document_count() -> None:
    body = {**LEGAL["anthropic-messages"], "context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}}
    assert [one.pointer for one in illegal_places("anthropic-messages", body)] == [""]
    assert illegal_places("anthropic-messages", body, {"Anthropic-Beta": "context-management-2025-06-27"}) == []


def test_a_field_of_gemini_may_have_its_name_of_protocol_buffers() -> None:
    body = {"contents": [{"role": "user", "parts": [{"text": "Hello."}]}], "system_instruction": {"parts": []}}
    assert illegal_places("gemini", body) == []
    assert [one.pointer for one in illegal_places("gemini", {**body, "generation_config": {"no_such": 1}})] == [
        "/generation_config/no_such"
    ]


def test_a_dialect_without_a_published_schema_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="no vendor's schema for 'ollama'; there are those of anthropic-messages"):
        illegal_places("ollama", {})


ACCEPTED = [
    ("anthropic", "anthropic-messages", "/messages$", 140, 0.92),
    ("gemini", "gemini", "(g|streamG)enerateContent$", 130, 0.96),
    ("openai-chat", "openai-chat", "/chat/completions$", 135, 0.92),
    ("openai-responses", "openai-responses", "/responses$", 240, 0.88),
]


@pytest.mark.parametrize(("folder", "dialect", "path", "least", "share"), ACCEPTED)
def test_what_a_service_accepted_is_legal_but_for_what_is_newer_than_its_schema(
    folder: str, dialect: str, path: str, least: int, share: float
) -> None:
    accepted = [
        exchange.request
        for recording in recordings(recordings_dir(), folder, lambda host: {})
        for exchange in recording.exchanges
        if exchange.status == 200 and re.search(path, exchange.request.path) and exchange.request.body
    ]
    legal = [one for one in accepted if not illegal_places(dialect, json.loads(one.body), one.headers)]
    assert len(accepted) >= least
    assert len(legal) >= share * len(accepted)
