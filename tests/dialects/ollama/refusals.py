"""Every refusal of Ollama's server as a pair, on the surface that gives it, and what Anthropic refuses, but not it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from turnproof.dialects.base import World
from turnproof.dialects.ollama import DIALECT, rules

from ..anthropic_messages.asks import Ask, Pair, body
from ..anthropic_messages.builders import OPENING, TOOL, assistant, call, image, mark, result, text, user
from ..refusals import Accepted, RefusalKit, judge_by
from ..requests import Json

MODEL = "qwen3:8b"
PLAIN = "gemma3:1b"
QUESTION: Json = {"role": "user", "content": "How moist is bed 3?"}
FUNCTION: Json = {
    "type": "function",
    "function": {"name": "read_sensor", "description": "Read one sensor", "parameters": {"type": "object"}},
}
NO_KEY: Mapping[str, str | None] = {"x-api-key": None, "anthropic-version": None}


def world() -> World:
    """No key, and all models."""
    return World(keys=frozenset(), models=DIALECT.models, clock=lambda: 1.7e9)


def anthropic(*messages: Json, **more: Any) -> Ask:
    """A request to `/v1/messages` (one question where there are no messages)."""
    return Ask(body(*messages, **{"model": MODEL, **more}), headers=NO_KEY)


def chat(*messages: Json, **more: Any) -> Ask:
    """A request to `/api/chat`."""
    return Ask({"model": MODEL, "messages": list(messages or (QUESTION,)), **more}, "/api/chat", headers=NO_KEY)


def generate(prompt: str = "How moist is bed 3?", **more: Any) -> Ask:
    """A request to `/api/generate`."""
    return Ask({"model": MODEL, "prompt": prompt, **more}, "/api/generate", headers=NO_KEY)


def shown(name: str) -> Ask:
    return Ask({"model": name}, "/api/show", headers=NO_KEY)


def native_call(arguments: Any, **more: Any) -> Json:
    wire_call = {"function": {"name": "read_sensor", "arguments": arguments}, **more}
    return {"role": "assistant", "content": "", "tool_calls": [wire_call]}


def native(rule: str, illegal: Ask, message: str, legal: Ask, status: int = 400, variant: str = "native") -> Pair:
    return Pair(rule, illegal, message, legal, status, "", variant=variant)


def _without(request: Ask, name: str) -> Ask:
    return replace(request, body={key: value for key, value in request.body.items() if key != name})


_PNG: Json = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
_LONG: Json = {"role": "user", "content": "m" * 8_000}

PAIRS: tuple[Pair, ...] = (
    Pair("not-found", replace(anthropic(), path="/v1/messages/count_tokens"), "404 page not found", anthropic(), 404,
         "not_found_error"),
    native("not-found", replace(chat(), path="/api/chats"), "404 page not found", chat(), 404),
    native("not-found", replace(chat(), method="GET"), "404 page not found", chat(), 404, "method"),
    native("missing-body", Ask(path="/api/chat", raw=b"", headers=NO_KEY), "missing request body", chat()),
    Pair("unreadable-body", replace(anthropic(), raw=b"{"), "invalid JSON", anthropic()),
    native("unreadable-body", replace(chat(), raw=b"[]"), "invalid JSON", chat()),
    native("unreadable-body", chat({"role": "user", "content": 5}),
           "json: cannot unmarshal number into Go struct field messages.0.content of type string",
           chat({"role": "user", "content": None}), variant="type"),
    native("unreadable-body", chat({**QUESTION, "images": ["?"]}), "illegal base64 data at input byte 0",
           chat({**QUESTION, "images": ["iVBORw0KGgo="]}), variant="image"),
    Pair(
        "unreadable-body",
        anthropic(max_tokens="5"),
        "json: cannot unmarshal value into Go struct field MessagesRequest.max_tokens of type int",
        anthropic(max_tokens=5),
        variant="limit",
    ),
    native("arguments-not-an-object", chat(QUESTION, native_call('{"bed": "3"}')),
           "json: cannot unmarshal string into Go struct field messages.1.tool_calls.0.function.arguments of type "
           "api.ToolCallFunctionArguments", chat(QUESTION, native_call({"bed": "3"}))),
    Pair("missing-model", _without(anthropic(), "model"), "model is required", anthropic()),
    native("missing-model", _without(chat(), "model"), "model is required", chat()),
    native("missing-model", shown(""), "model is required", shown(MODEL), variant="show"),
    Pair("missing-max-tokens", _without(anthropic(), "max_tokens"), "max_tokens is required and must be positive",
         anthropic()),
    Pair("missing-max-tokens", anthropic(max_tokens=0), "max_tokens is required and must be positive",
         anthropic(max_tokens=1), variant="zero"),
    Pair("missing-messages", _without(anthropic(), "messages"), "messages is required", anthropic()),
    Pair("missing-messages", replace(anthropic(), body={**anthropic().body, "messages": []}), "messages is required",
         anthropic(), variant="none"),
    Pair("call-without-id", anthropic(OPENING, assistant(call(id=""))), "tool_use block missing required 'id' field",
         anthropic(OPENING, assistant(call("a b")))),
    Pair("call-without-name", anthropic(OPENING, assistant(call(name=""))),
         "tool_use block missing required 'name' field", anthropic(OPENING, assistant(call(name="a.b")))),
    Pair("image-source", anthropic(user({"type": "image"})), "invalid image source", anthropic(user(image(_PNG)))),
    Pair("image-source", anthropic(user(image({"type": "url", "url": "https://garden.example/bed.png"}))),
         "invalid image source type: url. Only base64 images are supported.", anthropic(user(image(_PNG))),
         variant="url"),
    Pair("image-source", anthropic(user(image({**_PNG, "data": "?"}))),
         "invalid base64 image data: illegal base64 data at input byte 0", anthropic(user(image(_PNG))),
         variant="base64"),
    Pair("image-source", anthropic(OPENING, assistant(call()), user(result(content=[{"type": "image"}]))),
         "invalid tool_result image source", anthropic(OPENING, assistant(call()), user(result(content=[image(_PNG)]))),
         variant="result"),
    Pair("input-schema", anthropic(tools=[{**TOOL, "input_schema": "any"}]),
         'invalid input_schema for tool "read_sensor": json: cannot unmarshal', anthropic(tools=[TOOL])),
    Pair("messages-unknown-model", anthropic(model="qwen9"), "model 'qwen9' not found", anthropic(model="qwen3"), 404,
         "not_found_error"),
    native("unknown-model", chat(model="qwen9"), "model 'qwen9' not found", chat(model="qwen3:latest"), 404),
    native("unknown-model", generate(model=""), "model '' not found", generate(), 404, "generate"),
    native("unknown-model", shown("qwen9"), "model 'qwen9' not found", shown("llama3"), 404, "show"),
    native("no-thinking", chat(model=PLAIN, think=True), '"gemma3:1b" does not support thinking',
           chat(model=PLAIN, think=False)),
    native("think-value", chat(think="xhigh"),
           'invalid think value: "xhigh" (must be "high", "medium", "low", "max", true, or false)', chat(think="max")),
    replace(
        native(
            "format",
            chat(format="yaml"),
            'invalid format: expected "json" or a valid JSON Schema object',
            chat(format={"type": "object"}),
        ),
        enforced=False,
    ),
    native("no-tools", chat(model=PLAIN, tools=[FUNCTION]),
           "registry.ollama.ai/library/gemma3:1b does not support tools", chat(tools=[FUNCTION])),
    Pair("no-tools", anthropic(model="llama3", tools=[TOOL]),
         "registry.ollama.ai/library/llama3:latest does not support tools", anthropic(model="llama3", tools=[])),
    native("context-exceeded", chat(_LONG, QUESTION, truncate=False, options={"num_ctx": 1000}),
           "request (2013 tokens) exceeds the available context size (1000 tokens), try increasing it",
           chat(_LONG, QUESTION, truncate=False, options={"num_ctx": 2013})),
    Pair("prompt-truncated", chat(_LONG, QUESTION, options={"num_ctx": 1000}),
         "2013 tokens do not fit into num_ctx 1000: the 1 oldest messages were dropped",
         chat(_LONG, QUESTION, options={"num_ctx": 2013}), 200, "", enforced=False),
)  # fmt: skip

WITHOUT_PAIR: Mapping[str, str] = {
    "busy": "it depends on the load of the server: `error_kind(503)` and scripted faults"
}
"""Rules that no request can break by itself, with the reason."""

ACCEPTED: tuple[Accepted[Ask], ...] = (
    Accepted("dangling-call", anthropic(OPENING, assistant(call()), OPENING, tools=[TOOL])),
    Accepted("orphan-result", anthropic(user(result("call_9")))),
    Accepted("text-before-result", anthropic(OPENING, assistant(call()), user("Here:", result()))),
    Accepted("two-results-for-one-call", anthropic(OPENING, assistant(call()), user(result(), result()))),
    Accepted("empty-text", anthropic(user(text("")))),
    Accepted("foreign-role", anthropic({"role": "critic", "content": "Hm."})),
    Accepted("five-breakpoints", anthropic(user(*(text(f"{n}", **mark()) for n in range(5))))),
    Accepted("unknown-field", anthropic(colour="green")),
    Accepted(
        "forged-signature",
        anthropic(OPENING, assistant({"type": "thinking", "thinking": "Hm.", "signature": "forged"}), OPENING),
    ),
    Accepted(
        "thinking-of-a-model-that-has-none", anthropic(model=PLAIN, thinking={"type": "enabled", "budget_tokens": 9})
    ),
    Accepted("forced-tool", anthropic(tools=[TOOL], tool_choice={"type": "tool", "name": "read_sensor"})),
    Accepted("wrong-key", replace(anthropic(), headers={"x-api-key": "wrong"})),
    Accepted("native-orphan-result", chat({"role": "tool", "tool_name": "read_sensor", "content": "41 %"})),
    Accepted("native-dangling-call", chat(QUESTION, native_call({}), QUESTION)),
    Accepted("native-foreign-role", chat({"role": "critic", "content": "Hm."})),
    Accepted(
        "native-nulls",
        chat({**QUESTION, "images": None, "tool_calls": None}, options=None, tools=None, keep_alive=None),
    ),
    Accepted("native-no-messages", Ask({"model": MODEL}, "/api/chat")),
)
"""What other services refuse and this server does not look at."""


judge = judge_by(DIALECT, world)

REFUSALS: RefusalKit[Ask] = RefusalKit(
    DIALECT, rules.ALL, PAIRS, WITHOUT_PAIR, judge, ACCEPTED,
    several=(
        chat({"role": "user", "content": "m" * 8_000}, QUESTION, format="yaml", think="odd", options={"num_ctx": 9}),
        (True, False, False),
    ),
    meanings={
        "context-limit": [
            (400, "", "request (9 tokens) exceeds the available context size (1 tokens), try increasing it"),
            (400, "", "prompt too long; exceeded max context length by 1119046 tokens (ref: x)"),
        ],
        None: [(400, "", "model is required"), (500, "", "exceeds the available context"), (400, "", None)],
    },
)  # fmt: skip
