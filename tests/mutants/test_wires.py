"""Where each dialect keeps what mutants break in a request, read back by the dialect itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from turnproof.dialects.base import (
    Call,
)
from turnproof.messages import FunctionCall, InlineData, Message, Part, Text, Thought, ToolResult
from turnproof_suites.mutants._rewriting import WIRES
from turnproof_suites.mutants._wire import Json, Wire

from .wire_conversations import CASES, Case, Change, each_dialect, untouched


def changed(case: Case, change: Change) -> Call:
    """The request as the dialect reads it once the change was made."""
    wire = case.wire()
    body = wire.to_messages(msgspec.json.decode(case.request().body))
    change(wire, body)
    return case.read(case.request(wire.from_messages(body)))


def parts(call: Call, kind: type[Part]) -> list[Any]:
    return [part for message in call.messages for part in message.parts if isinstance(part, kind)]


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
