"""Each API has a way to ask for a call, for text alone and for a short answer, which its own rules and schema allow."""

from __future__ import annotations

import json
from typing import Any

import pytest

from turnproof.dialects import dialect
from turnproof.dialects.asked_settings import forced_tool, output_limits
from turnproof.dialects.base import Call, HttpRequest, WantedAnswer, World
from turnproof.wire.emulator.server_run import CANARY_KEY
from turnproof_suites.right.vendor_schemas import DIALECTS, illegal_places

ADDRESSES = {
    "anthropic-messages": "/v1/messages",
    "gemini": "/v1beta/models/gemini-3-flash-preview:generateContent",
    "gemini-interactions": "/v1beta/interactions",
    "ollama": "/v1/messages",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "zai": "/api/anthropic/v1/messages",
}

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"bed": {"type": "string"}}}
CHAT = [{"role": "user", "content": "Hi"}]


def functions(**more: str) -> list[dict[str, Any]]:
    return [{"name": name, "description": "Does it.", "parameters": SCHEMA, **more} for name in ("read", "write")]


MESSAGES: dict[str, Any] = {
    "messages": CHAT,
    "max_tokens": 1000,
    "tools": [{"name": name, "input_schema": SCHEMA} for name in ("read", "write")],
}

BODIES: dict[str, dict[str, Any]] = {
    "anthropic-messages": {"model": "claude-sonnet-4-6", **MESSAGES},
    "gemini": {
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
        "tools": [{"functionDeclarations": functions()}],
        "generationConfig": {"temperature": 0.5},
    },
    "gemini-interactions": {
        "model": "gemini-3.5-flash",
        "input": "Hi",
        "tools": functions(type="function"),
        "generation_config": {"temperature": 0.5},
    },
    "ollama": {"model": "qwen3", **MESSAGES},
    "openai-chat": {
        "model": "gpt-4.1",
        "messages": CHAT,
        "tools": [{"type": "function", "function": one} for one in functions()],
    },
    "openai-responses": {"model": "gpt-5.5", "input": "Hi", "tools": functions(type="function")},
    "zai": {"model": "glm-4.7", **MESSAGES},
}

ANSWERS = {
    "a call": WantedAnswer(tool="write"),
    "text alone": WantedAnswer(no_call=True),
    "a short answer": WantedAnswer(most_tokens=4),
    "a short call": WantedAnswer(tool="write", most_tokens=4),
}


def read(api: str, body: dict[str, Any]) -> tuple[Call, list[str]]:
    """The request as the dialect reads it, and what the API would refuse in it."""
    api_dialect = dialect(api)
    world = World(frozenset({CANARY_KEY}), api_dialect.models, lambda: 0.0, any_key=True)
    keys = {"x-api-key": CANARY_KEY, "x-goog-api-key": CANARY_KEY, "authorization": f"Bearer {CANARY_KEY}"}
    headers = {**keys, "content-type": "application/json", "anthropic-version": "2023-06-01"}
    request = HttpRequest("POST", ADDRESSES[api], {}, headers, json.dumps(body).encode())
    call = api_dialect.parse(request, world)
    assert isinstance(call, Call), call
    return call, [one.message for one in api_dialect.validate(request, call, world) if one.enforced]


LEAST = {"openai-responses": 16}
"""The smallest limit of an API that does not take any."""

UNFORCED = {"zai"}
"""APIs that refuse a forced call."""


@pytest.mark.parametrize("expected", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("api", ADDRESSES)
def test_a_request_that_asks_for_an_answer_is_legal_and_says_what_is_wanted(api: str, expected: WantedAnswer) -> None:
    body = BODIES[api]
    assert read(api, body)[1] == []
    fields = dialect(api).ask_for(body, expected)
    call, refused = read(api, body | fields)
    assert refused == []
    forced = forced_tool(call.settings, call.tools)
    assert (forced.name if forced is not None else None) == (None if api in UNFORCED else expected.tool)
    if expected.most_tokens is not None:
        assert set(output_limits(call.settings).values()) == {LEAST.get(api, 4)}
    settings = {key: value for key, value in call.settings.items() if key == "temperature"}
    assert settings == {key: value for key, value in read(api, body)[0].settings.items() if key == "temperature"}
    if api in DIALECTS:
        assert illegal_places(api, body | fields) == illegal_places(api, body)


def test_a_model_that_thinks_is_forced_to_nothing() -> None:
    body = {**BODIES["anthropic-messages"], "thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 4000}
    assert dialect("anthropic-messages").ask_for(body, ANSWERS["a short call"]) == {}
