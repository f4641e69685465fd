"""Where each dialect keeps what mutants break: tables of bodies and answers, read back by the dialect itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import msgspec
import pytest

from turnproof.dialects import dialect
from turnproof.dialects.base import (
    Call,
    HttpRequest,
    PromptUsage,
    Rendered,
    Reply,
    ReplyPart,
    WireAnswer,
    WireEvent,
    World,
)
from turnproof.dialects.contract import Dialect
from turnproof.messages import FinishReason, FunctionCall, InlineData, Message, Part, Text, Thought, ToolResult
from turnproof.run.driver.mutation import mutant_named
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


def changed(case: Case, change: Change) -> Call:
    """The request as the dialect reads it once the change was made."""
    wire = case.wire()
    body = wire.to_messages(msgspec.json.decode(case.request().body))
    change(wire, body)
    return case.read(case.request(wire.from_messages(body)))


def untouched(wire: Wire, body: Json) -> None:
    pass


def parts(call: Call, kind: type[Part]) -> list[Any]:
    return [part for message in call.messages for part in message.parts if isinstance(part, kind)]


# -- requests -----------------------------------------------------------------------------------------------------


@each_dialect
def test_a_body_that_is_closed_at_once_is_the_same(case: Case) -> None:
    wire = case.wire()
    assert wire.from_messages(wire.to_messages(msgspec.json.decode(case.request().body))) == case.body


@each_dialect
def test_messages_hold_blocks_in_the_order_in_which_they_are_said(case: Case) -> None:
    wire = case.wire()
    body = wire.to_messages(msgspec.json.decode(case.request().body))
    outline = [(wire.spoken_by_model(one), *map(wire.kind, wire.blocks(one))) for one in wire.messages(body)]
    assert outline[:5] == [
        (False, "text"),
        (True, "text"),
        (False, "text", "image"),
        (True, "thinking", "text", "call", "call"),
        (False, "result", "result"),
    ]


@each_dialect
def test_what_is_said_in_between_is_read_where_it_was_put(case: Case) -> None:
    def say(wire: Wire, body: Json) -> None:
        wire.messages(body)[1:1] = wire.model_message("Nothing."), wire.user_message("And?")

    texts = [message.text for message in changed(case, say).messages if message.text]
    assert texts[:5] == ["Hi", "Nothing.", "And?", "Hello.", "Look."]


@each_dialect
def test_a_text_goes_into_any_message(case: Case) -> None:
    def say(wire: Wire, body: Json) -> None:
        for message in wire.messages(body)[:5]:
            wire.blocks(message).append(wire.text_block("!"))

    call = changed(case, say)
    assert [part.text for part in parts(call, Text)].count("!") == 5
    assert [result.call_id for result in parts(call, ToolResult)] == ["call_1", "call_2"]


@each_dialect
def test_blocks_are_turned_doubled_and_dropped(case: Case) -> None:
    def turn(wire: Wire, body: Json) -> None:
        wire.blocks(wire.messages(body)[4]).reverse()

    def double(wire: Wire, body: Json) -> None:
        blocks = wire.blocks(wire.messages(body)[4])
        blocks.insert(1, dict(blocks[0]))

    def drop(wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            blocks = wire.blocks(message)
            blocks[:] = [block for block in blocks if not (wire.kind(block) == "result" and wire.is_error(block))]

    sent = {
        change.__name__: [one.call_id for one in parts(changed(case, change), ToolResult)]
        for change in (turn, double, drop)
    }
    assert sent == {
        "turn": ["call_2", "call_1"],
        "double": ["call_1", "call_1", "call_2"],
        "drop": ["call_1"],
    }


@each_dialect
def test_results_are_renamed_with_the_id_of_their_call(case: Case) -> None:
    def exchange(wire: Wire, body: Json) -> None:
        (first, key), (second, _) = wire.result_ids(body)
        first[key], second[key] = second[key], first[key]

    assert [one.call_id for one in parts(changed(case, exchange), ToolResult)] == ["call_2", "call_1"]


@each_dialect
def test_ids_are_renamed_in_calls_and_results_alike(case: Case) -> None:
    def rename(wire: Wire, body: Json) -> None:
        for place, key in (*wire.call_ids(body), *wire.result_ids(body)):
            place[key] = place[key].replace("call", "other")

    call = changed(case, rename)
    assert [one.id for one in parts(call, FunctionCall)] == ["other_1", "other_2"]
    assert [one.call_id for one in parts(call, ToolResult)] == ["other_1", "other_2"]


@each_dialect
def test_tools_are_renamed_where_they_are_declared_and_where_they_were_called(case: Case) -> None:
    def rename(wire: Wire, body: Json) -> None:
        for place, key in wire.declared_names(body):
            place[key] += "_declared"
        for place, key in wire.replayed_names(body):
            place[key] += "_called"

    call = changed(case, rename)
    assert [tool.name for tool in call.tools] == ["water_declared", "mist_declared"]
    assert [one.name for one in parts(call, FunctionCall)] == ["water_called", "mist_called"]


@each_dialect
def test_system_and_tools_are_taken_away(case: Case) -> None:
    def drop(wire: Wire, body: Json) -> None:
        wire.tools(body).reverse()
        assert [place[key] for place, key in wire.declared_names(body)] == ["mist", "water"]
        wire.drop_system(body)
        wire.drop_tools(body)
        wire.drop_thinking_setting(body)

    before, after = changed(case, untouched), changed(case, drop)
    assert (len(before.system), len(before.tools)) == (1, 2)
    assert (after.system, after.tools) == ((), ())
    assert before.settings != after.settings


@each_dialect
def test_thinking_is_edited_stripped_and_dropped(case: Case) -> None:
    def thoughts(change: Callable[[Wire, Json], object]) -> list[tuple[str, object]]:
        def thinking(wire: Wire, body: Json) -> None:
            for block in wire.blocks(wire.messages(body)[3]):
                if wire.kind(block) == "thinking":
                    change(wire, block)

        return [(one.text, one.provider_data) for one in parts(changed(case, thinking), Thought)]

    whole = thoughts(untouched)
    assert len(whole) == 1
    assert whole[0][0] == "Dry."
    assert thoughts(lambda wire, block: wire.edit_thinking(block, lambda text: text[:-1])) != whole
    assert thoughts(lambda wire, block: wire.strip_signature(block)) != whole
    assert parts(changed(case, lambda wire, body: wire.drop_thinking(wire.messages(body)[3])), Thought) == []


@each_dialect
def test_what_results_have_attached_is_found(case: Case) -> None:
    def drop(wire: Wire, body: Json) -> None:
        for attached in wire.attachments(body):
            attached[:] = [one for one in attached if wire.kind(one) != "image"]

    call = changed(case, drop)
    assert [len(result.attachments) for result in parts(call, ToolResult)] == [0, 0]
    assert len(parts(call, InlineData)) == 1  # what the user showed


@each_dialect
def test_another_model_of_the_service_is_asked(case: Case) -> None:
    other_model = case.read(case.wire().for_other_model(case.request())).model
    assert other_model == case.model != changed(case, untouched).model
    assert other_model in case.dialect.models


@pytest.mark.parametrize(
    ("publisher", "other_model"), [("openai/gpt-4.1", "openai/gpt-4o-mini"), ("gpt-4.1", "gpt-4o-mini")]
)
def test_a_models_publisher_is_kept(publisher: str, other_model: str) -> None:
    case = next(one for one in CASES if one.id == "openai-chat")
    other = case.wire().for_other_model(case.request(case.body | {"model": publisher}))
    assert msgspec.json.decode(other.body)["model"] == other_model


SCHEMAS: dict[str, Json] = {
    "anthropic-messages": {"output_config": {"format": {"type": "json_schema"}}},
    "gemini": {"generationConfig": {"responseJsonSchema": {}}},
    "gemini-interactions": {"response_format": {"type": "text", "mime_type": "application/json", "schema": {}}},
    "openai-chat": {"response_format": {"type": "json_schema"}},
    "openai-responses": {"text": {"format": {"type": "json_schema"}}},
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_demanded_schema_is_seen(name: str) -> None:
    case = next(one for one in CASES if one.id == name)
    assert not case.wire().has_schema(case.body)
    assert case.wire().has_schema(case.body | SCHEMAS[name])


@pytest.mark.parametrize(
    ("output", "failed"), [("Error: no", True), ("[ERROR] no", True), ("no errors", False), ([], False), ("", False)]
)
def test_a_result_without_a_flag_fails_in_words(output: object, failed: bool) -> None:
    case = next(one for one in CASES if one.id == "openai-responses")
    assert case.wire().is_error({"output": output}) is failed


@pytest.mark.parametrize(("name", "key"), [("openai-chat", "messages"), ("openai-responses", "input")])
def test_instructions_in_front_are_no_part_of_the_conversation(name: str, key: str) -> None:
    case = next(one for one in CASES if one.id == name)
    wire = case.wire()
    front = [{"role": role, "content": "Be brief."} for role in ("system", "developer")]
    native = {"model": "m", key: [*front, {"role": "user", "content": "Hi"}, front[0]]}
    body = wire.to_messages(msgspec.json.decode(msgspec.json.encode(native)))
    assert [message["role"] for message in wire.messages(body)] == ["user", "system"]
    assert wire.from_messages(body) == native
    wire.drop_system(body)
    assert [message["role"] for message in wire.from_messages(body)[key]] == ["user", "system"]


def test_a_question_alone_is_a_conversation_too() -> None:
    case = next(one for one in CASES if one.id == "openai-responses")
    wire = case.wire()
    body = wire.to_messages({"model": "m", "input": "Hi"})
    assert [wire.kind(block) for block in wire.blocks(wire.messages(body)[0])] == ["text"]
    assert wire.from_messages(body)["input"] == [{"role": "user", "content": "Hi"}]


@each_dialect
def test_each_request_is_read_by_one_wire_and_other_operations_by_none(case: Case) -> None:
    case.wire()
    other = case.request(path=case.path.replace("generateContent", "countTokens").rstrip("s") + "/count_tokens")
    assert [
        wire
        for wire in WIRES
        if wire.is_request_for(other) or wire.is_request_for(replace(case.request(), method="GET"))
    ] == []


# -- answers ------------------------------------------------------------------------------------------------------

REPLY = Reply(
    (
        ReplyPart(Text("I water it now.")),
        ReplyPart(FunctionCall("call_1", "water", {})),
        ReplyPart(FunctionCall("call_2", "mist", {})),
    ),
    FinishReason.TOOL_USE,
)
CUT = Reply((ReplyPart(Text("Monday, Tuesday, and")),), FinishReason.MAX_TOKENS)
both_ways = pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])


def answered(case: Case, reply: Reply, streamed: bool) -> Rendered:
    request = case.request(case.body | case.streams) if streamed else case.request()
    if streamed and not case.streams:
        request = replace(
            request, path=case.path.replace("generateContent", "streamGenerateContent"), query={"alt": "sse"}
        )
    call = case.read(request)
    assert call.stream is streamed
    return case.dialect.render(call, reply, PromptUsage(100, cache_read=2048), case.world(), "seed")


def retold(case: Case, rendered: Rendered, change: Callable[[Wire, Json], object]) -> WireAnswer:
    """The answer as the dialect reads it once each of its documents was changed."""

    def event(one: WireEvent) -> WireEvent:
        document = wire.document(one)
        if document is None:
            return one
        change(wire, document)
        return wire.with_document(one, document)

    wire = case.wire()
    body = b"".join(event(one).data for one in rendered.events)
    return case.dialect.read_response(rendered.status, rendered.headers, body)


@each_dialect
@both_ways
def test_an_answer_that_is_written_anew_says_the_same(case: Case, streamed: bool) -> None:
    rendered = answered(case, REPLY, streamed)
    body = b"".join(event.data for event in rendered.events)
    assert retold(case, rendered, untouched) == case.dialect.read_response(200, rendered.headers, body)


@each_dialect
@both_ways
def test_calls_are_renamed_wherever_an_answer_names_them(case: Case, streamed: bool) -> None:
    def rename(wire: Wire, document: Json) -> None:
        for place, key in wire.calls(document):
            place[key] = f"other_{place[key]}"

    answer_parts = retold(case, answered(case, REPLY, streamed), rename).parts
    ids = [part.id for part in answer_parts if isinstance(part, FunctionCall)]
    assert len(ids) == 2
    assert all(each.startswith("other_") for each in ids)


@each_dialect
@both_ways
def test_an_answer_that_was_cut_can_be_called_whole(case: Case, streamed: bool) -> None:
    def call_it_whole(wire: Wire, document: Json) -> None:
        if wire.finish(document) is FinishReason.MAX_TOKENS:
            wire.set_finish(document, FinishReason.STOP)

    rendered = answered(case, CUT, streamed)
    assert retold(case, rendered, untouched).finish is FinishReason.MAX_TOKENS
    assert retold(case, rendered, call_it_whole).finish is FinishReason.STOP


@each_dialect
@both_ways
def test_the_last_figures_lose_what_the_cache_gave(case: Case, streamed: bool) -> None:
    def clear(wire: Wire, document: Json) -> None:
        if (usage := wire.final_usage(document)) is not None:
            found.append(usage)
            wire.clear_cache_figures(usage)

    found: list[Json] = []
    rendered = answered(case, REPLY, streamed)
    before, after = retold(case, rendered, untouched).usage, retold(case, rendered, clear).usage
    assert found
    assert before is not None
    assert after is not None
    assert after.cache_read_tokens == 0
    assert before.cache_read_tokens == (0 if case.id == "ollama" else 2048)


@each_dialect
def test_a_keep_alive_becomes_a_piece_of_the_text(case: Case) -> None:
    make = mutant_named("pings-read-as-text").filter
    assert make is not None
    proxy, rendered = make(), answered(case, CUT, True)
    proxy.request(case.request())
    shown = proxy.response(case.read(case.request()), rendered)
    (new,) = (event for event in shown.events if event not in rendered.events)
    assert new.text == "ping"
    assert b'"ping"' in new.data
    assert [event for event in shown.events if event is not new] == list(rendered.events)


def test_messages_have_what_they_had() -> None:
    """What a message has beside its content goes over the wire again."""
    case = next(one for one in CASES if one.id == "openai-chat")
    wire = case.wire()
    named = {
        "model": "m",
        "messages": [{"role": "user", "name": "ann", "content": "Hi"}, {"role": "assistant", "content": None}],
    }
    body = wire.to_messages(msgspec.json.decode(msgspec.json.encode(named)))
    assert wire.from_messages(body)["messages"][0] == named["messages"][0]
    assert isinstance(case.read(case.request(wire.from_messages(body))).messages[0], Message)
