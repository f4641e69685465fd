"""One conversation as each dialect spells it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter

import msgspec
import pytest

from turnproof.dialects import dialect
from turnproof.dialects.base import (
    Call,
    HttpRequest,
    World,
)
from turnproof.dialects.contract import Dialect
from turnproof_suites.mutants._rewriting import WIRES
from turnproof_suites.mutants._wire import Json, Wire

PNG = "iVBORw0KGgo="


@dataclass(frozen=True)
class Case:
    """One dialect: how it is asked, and one conversation as it spells it.

    The conversation: instructions; a greeting, answered; a question with a picture; thinking, a text and two calls; two
    results, the second of which failed, and both with a picture where results have some.
    """

    id: str
    path: str
    body: Json
    model: str
    streams: Json

    @property
    def dialect(self) -> Dialect:
        return dialect(self.id)

    def request(self, body: Json | None = None, path: str | None = None) -> HttpRequest:
        return HttpRequest("POST", path or self.path, {}, {}, msgspec.json.encode(body or self.body))

    def read(self, request: HttpRequest) -> Call:
        call = self.dialect.parse(request, self.world())
        assert isinstance(call, Call), call
        return call

    def world(self) -> World:
        return World.with_any_key(self.dialect.models)

    def wire(self) -> Wire:
        (found,) = (wire for wire in WIRES if wire.is_request_for(self.request()))
        return found


def _anthropic(model: str) -> Json:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    return {
        "model": model,
        "max_tokens": 4096,
        "system": "Be brief.",
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "tools": [{"name": name, "input_schema": {"type": "object"}} for name in ("water", "mist")],
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": [{"type": "text", "text": "Hello."}]},
            {"role": "user", "content": [{"type": "text", "text": "Look."}, image]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Dry.", "signature": "c2ln"},
                    {"type": "text", "text": "I see."},
                    {"type": "tool_use", "id": "call_1", "name": "water", "input": {}},
                    {"type": "tool_use", "id": "call_2", "name": "mist", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "call_1",
                        "content": [{"type": "text", "text": "ok"}, image],
                    },
                    {"type": "tool_result", "tool_use_id": "call_2", "content": "no water", "is_error": True},
                ],
            },
        ],
    }


def _gemini() -> Json:
    image = {"inlineData": {"mimeType": "image/png", "data": PNG}}
    calls = [
        {"functionCall": {"name": name, "args": {}, "id": n}} for name, n in (("water", "call_1"), ("mist", "call_2"))
    ]
    return {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "generationConfig": {"thinkingConfig": {"includeThoughts": True}},
        "tools": [{"functionDeclarations": [{"name": "water"}, {"name": "mist"}]}],
        "contents": [
            {"role": "user", "parts": [{"text": "Hi"}]},
            {"role": "model", "parts": [{"text": "Hello."}]},
            {"role": "user", "parts": [{"text": "Look."}, image]},
            {
                "role": "model",
                "parts": [{"text": "Dry.", "thought": True, "thoughtSignature": "c2ln"}, {"text": "I see."}, *calls],
            },
            {
                "role": "user",
                "parts": [
                    {
                        "functionResponse": {
                            "name": "water",
                            "id": "call_1",
                            "response": {"output": "ok"},
                            "parts": [image],
                        }
                    },
                    {"functionResponse": {"name": "mist", "id": "call_2", "response": {"error": "no water"}}},
                ],
            },
        ],
    }


def _chat() -> Json:
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    return {
        "model": "gpt-4.1",
        "reasoning_effort": "low",
        "tools": [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("water", "mist")],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Hello."},
            {"role": "user", "content": [{"type": "text", "text": "Look."}, image]},
            {
                "role": "assistant",
                "content": "I see.",
                "reasoning_content": "Dry.",
                "reasoning_opaque": "c2ln",
                "tool_calls": [
                    {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": "{}"}}
                    for n, name in enumerate(("water", "mist"), 1)
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "ok"},
            {"role": "tool", "tool_call_id": "call_2", "content": "Error: no water"},
            {"role": "user", "content": [{"type": "text", "text": "From water:"}, image]},
        ],
    }


def _responses() -> Json:
    image = {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}
    message = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "I see."}],
    }
    return {
        "model": "gpt-5.3-codex",
        "instructions": "Be brief.",
        "store": False,
        "reasoning": {"summary": "auto"},
        "tools": [{"type": "function", "name": name, "parameters": {}} for name in ("water", "mist")],
        "input": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Hello."},
            {"role": "user", "content": [{"type": "input_text", "text": "Look."}, image]},
            {"type": "reasoning", "encrypted_content": "c2ln", "summary": [{"type": "summary_text", "text": "Dry."}]},
            message,
            {"type": "function_call", "call_id": "call_1", "name": "water", "arguments": "{}"},
            {"type": "function_call", "call_id": "call_2", "name": "mist", "arguments": "{}"},
            {
                "type": "function_call_output",
                "call_id": "call_1",
                "output": [{"type": "input_text", "text": "ok"}, image],
            },
            {"type": "function_call_output", "call_id": "call_2", "output": "Error: no water"},
        ],
    }


def _interactions() -> Json:
    image = {"type": "image", "data": PNG, "mime_type": "image/png"}

    def item(kind: str, *content: Json) -> Json:
        return {"type": kind, "content": list(content)}

    def text(words: str) -> Json:
        return {"type": "text", "text": words}

    return {
        "model": "gemini-3.5-flash",
        "system_instruction": "Be brief.",
        "store": False,
        "generation_config": {"thinking_summaries": "auto"},
        "tools": [{"type": "function", "name": name} for name in ("water", "mist")],
        "input": [
            item("user_input", text("Hi")),
            item("model_output", text("Hello.")),
            item("user_input", text("Look."), image),
            {"type": "thought", "signature": "c2ln", "summary": [text("Dry.")]},
            item("model_output", text("I see.")),
            {"type": "function_call", "id": "call_1", "name": "water", "arguments": {}},
            {"type": "function_call", "id": "call_2", "name": "mist", "arguments": {}},
            {"type": "function_result", "call_id": "call_1", "name": "water", "result": [text("ok"), image]},
            {"type": "function_result", "call_id": "call_2", "name": "mist", "result": "no water", "is_error": True},
        ],
    }


STREAM, OPTIONS = {"stream": True}, {"stream": True, "stream_options": {"include_usage": True}}


CASES = (
    Case("anthropic-messages", "/v1/messages", _anthropic("claude-sonnet-4-5"), "claude-haiku-4-5", STREAM),
    Case("zai", "/api/anthropic/v1/messages", _anthropic("glm-4.7"), "glm-4.5-air", STREAM),
    Case("ollama", "/v1/messages", _anthropic("qwen3:8b"), "llama3.2", STREAM),
    Case("gemini", "/v1beta/models/gemini-3-flash-preview:generateContent", _gemini(), "gemini-2.5-flash-lite", {}),
    Case("gemini-interactions", "/v1beta/interactions", _interactions(), "gemini-2.5-flash", STREAM),
    Case(
        "antigravity",
        "/v1internal:generateContent",
        {"project": "p", "model": "gemini-3-flash", "request": _gemini()},
        "gemini-2.5-pro",
        {},
    ),
    Case("openai-chat", "/v1/chat/completions", _chat(), "gpt-4o-mini", OPTIONS),
    Case("openai-responses", "/v1/responses", _responses(), "gpt-5-codex", STREAM),
)


each_dialect = pytest.mark.parametrize("case", CASES, ids=attrgetter("id"))


Change = Callable[[Wire, Json], object]


def untouched(wire: Wire, body: Json) -> None:
    pass
