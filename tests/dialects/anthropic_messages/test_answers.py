"""Answers written and read: batch and stream say the same, at every cut, in pieces as awkward as the service's.

The written side is checked against the recorded forms (which blocks, which order, which figures); the two readers
(ours, and through the recordings the SDK's) keep it honest.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from turnproof.dialects.anthropic_messages import DIALECT
from turnproof.dialects.base import Call, PromptUsage, ReplyPart, WireEvent
from turnproof.dialects.stream_cuts import arguments_json, completed_members, cut_arguments
from turnproof.errors import HarnessError
from turnproof.messages import (
    FinishReason,
    FunctionCall,
    Opaque,
    Part,
    ProviderData,
    Text,
    Thought,
    TokenUsage,
    ToolSchema,
)

from ..answers import LOOK, NO_ANSWERS, TOOLS, VALUES, any_parts, body_of, data, payloads, reply
from .asks import world
from .rendering import MODEL, PROMPT, read, render

NAME = "anthropic-messages"
DATED = "claude-sonnet-4-5-20250929"


def test_issued_signatures_are_known_to_the_world_and_bound_to_text_and_model() -> None:
    at = world()
    answer = read(render(reply(*LOOK), stream=True, at=at))
    issued = answer.parts[0].provider_data
    assert issued is not None
    assert (issued.dialect, issued.model) == (NAME, DATED)
    again = world()
    streamed = data(render(reply(*LOOK), stream=True))
    DIALECT.observe(Call("generate", MODEL), 200, {"content-type": "text/event-stream"}, streamed, again)
    assert again.issued == at.issued
    assert at.issued[issued.data["signature"]][1] == DATED


def test_redacted_thinking_comes_whole_and_is_issued() -> None:
    hidden = Thought("", provider_data=ProviderData(NAME, DATED, {"redacted": "aGlkZGVu"}))
    at = world()
    rendered = render(reply(hidden), stream=True, at=at)
    assert payloads(rendered, "block_start")[0]["content_block"] == {"type": "redacted_thinking", "data": "aGlkZGVu"}
    assert read(rendered).parts == (hidden,)
    assert "aGlkZGVu" in at.issued


def test_hidden_thinking_is_a_signature_without_a_text() -> None:
    rendered = render(reply(Thought("")), stream=True)
    assert [event.kind for event in rendered.events] == [
        "start", "block_start", "ping", "signature", "block_end", "usage", "end",
    ]  # fmt: skip


def test_a_scripted_signature_is_kept() -> None:
    signed_thought = Thought("So.", provider_data=ProviderData(NAME, DATED, {"signature": "a2VwdA=="}))
    assert read(render(reply(signed_thought), stream=True)).parts == (signed_thought,)


def test_a_stream_has_the_recorded_order_of_events() -> None:
    rendered = render(reply(ReplyPart(Text("ab"), ("a", "b")), FunctionCall("", "read_sensor")), stream=True)
    assert [(event.kind, event.text) for event in rendered.events] == [
        ("start", ""), ("block_start", ""), ("ping", ""), ("text", "a"), ("text", "b"), ("block_end", ""),
        ("block_start", ""), ("args", ""), ("block_end", ""), ("usage", ""), ("end", ""),
    ]  # fmt: skip
    assert payloads(rendered, "args")[0]["delta"] == {"type": "input_json_delta", "partial_json": ""}


def test_data_lines_are_padded_like_the_recorded_ones() -> None:
    rendered = render(reply(Text("word " * 200)), stream=True)
    lines = [event.data.rstrip(b"\n") for event in rendered.events if event.kind not in ("ping",)]
    padding = [len(line[:-1]) - len(line[:-1].rstrip(b" ")) for line in lines]
    assert min(padding) == 0
    assert 10 < max(padding) <= 15


def test_usage_is_full_at_the_start_and_final_at_the_end() -> None:
    rendered = render(reply(Text("41 % " * 50)), stream=True)
    start = payloads(rendered, "start")[0]["message"]["usage"]
    final = payloads(rendered, "usage")[0]["usage"]
    assert start["cache_creation"] == {"ephemeral_5m_input_tokens": 40, "ephemeral_1h_input_tokens": 2}
    for usage in (start, final):
        assert (usage["input_tokens"], usage["cache_read_input_tokens"]) == (31, 1520)
        assert usage["cache_creation_input_tokens"] == 42
    assert start["output_tokens"] < final["output_tokens"] == 63
    assert read(rendered).usage == TokenUsage(1593, 63, 1656, 1520, 42)


@pytest.mark.parametrize("stream", [False, True])
def test_scripted_figures_win(stream: bool) -> None:
    answer = read(render(reply(Text("a"), usage={"output": 7, "fresh": 5}), stream=stream))
    assert answer.usage == TokenUsage(1567, 7, 1574, 1520, 42)


def test_the_dated_id_answers_for_the_alias() -> None:
    assert body_of(render(reply(Text("a")), stream=False))["model"] == DATED


def test_a_clipped_call_is_never_closed_and_batch_keeps_only_whole_members() -> None:
    clipped = ReplyPart(FunctionCall("c", "write"), ('{"path": "hello.py", ', '"text": "pri'), broken=True)
    script = reply(clipped, finish=FinishReason.MAX_TOKENS)
    stream = render(script, stream=True)
    assert "block_end" not in [event.kind for event in stream.events]
    answer = read(stream)
    assert (answer.parts, answer.broken_calls, answer.finish) == ((), 1, FinishReason.MAX_TOKENS)
    assert body_of(render(script, stream=False))["content"][0]["input"] == {"path": "hello.py"}


def test_a_clipped_call_without_pieces_is_cut_by_itself() -> None:
    clipped = ReplyPart(FunctionCall("c", "write", {"path": "hello.py", "text": "print(1)" * 9}), broken=True)
    assert read(render(reply(clipped), stream=True)).broken_calls == 1


@pytest.mark.parametrize(
    ("finish", "raw", "stop_reason"),
    [
        (FinishReason.STOP, None, "end_turn"),
        (FinishReason.TOOL_USE, None, "tool_use"),
        (FinishReason.MAX_TOKENS, None, "max_tokens"),
        (FinishReason.REFUSAL, None, "refusal"),
        (FinishReason.PAUSED, None, "pause_turn"),
        (FinishReason.CONTEXT_LIMIT, None, "model_context_window_exceeded"),
        (FinishReason.STOP, "stop_sequence", "stop_sequence"),
        (FinishReason.UNKNOWN, "brand_new", "brand_new"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_each_finish_reason_goes_out_and_comes_back(
    finish: FinishReason, raw: str | None, stop_reason: str, stream: bool
) -> None:
    answer = read(render(reply(Text("a"), finish=finish, raw_finish=raw), stream=stream))
    assert (answer.raw_finish, answer.finish) == (stop_reason, finish)


def test_a_stop_sequence_is_named() -> None:
    script = reply(Text("a"), raw_finish="stop_sequence")
    assert body_of(render(script, stream=False, stop_sequences=["```"]))["stop_sequence"] == "```"


def test_a_reason_that_the_api_lacks_is_our_mistake() -> None:
    with pytest.raises(HarnessError, match="no stop_reason"):
        render(reply(Text("a"), finish=FinishReason.ERROR), stream=False)


def test_a_warm_up_generates_nothing() -> None:
    found = body_of(render(reply(Text("a")), stream=False, max_tokens=0))
    assert (found["content"], found["stop_reason"]) == ([], "max_tokens")


@pytest.mark.parametrize("stream", [False, True])
def test_citations_and_unknown_blocks_go_through(stream: bool) -> None:
    cited = Text("41 %", provider_data=ProviderData(NAME, DATED, {"citations": [{"type": "x", "n": 1}]}))
    search = Opaque(NAME, "server_tool_use", {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}})
    called = FunctionCall("c", "read_sensor", provider_data=ProviderData(NAME, DATED, {"caller": {"type": "code"}}))
    assert read(render(reply(cited, search, called), stream=stream)).parts == (cited, search, called)


def test_an_illegal_scripted_name_is_spoken_as_the_tool_it_resembles() -> None:
    call = Call("generate", MODEL, False, tools=(ToolSchema("sensor_read"), TOOLS[1]), body={})
    rendered = DIALECT.render(call, reply(FunctionCall("c", "sensor.read")), PROMPT, world(), "s")
    assert body_of(rendered)["content"][0]["name"] == "sensor_read"


def test_a_scripted_tool_that_nobody_declared_is_spoken_as_it_is() -> None:
    assert (
        body_of(render(reply(FunctionCall("c", "no_such_tool")), stream=False))["content"][0]["name"] == "no_such_tool"
    )


# -- pieces


def test_escapes_are_cut_in_the_middle() -> None:
    text = arguments_json({"leaf": "🍃é"}, escaped=True)
    pieces = cut_arguments(text, 0)
    assert "".join(pieces) == text
    assert any(piece.endswith(("\\", "\\u", "\\ud", "\\ud8", "\\ud83")) for piece in pieces)


@given(st.dictionaries(st.text(max_size=5), VALUES, max_size=4), st.booleans(), st.integers(0, 200))
def test_completed_members_are_a_prefix_of_the_arguments(args: dict[str, Any], escaped: bool, cut: int) -> None:
    text = arguments_json(args, escaped=escaped)
    members = completed_members(text[:cut])
    assert list(members.items()) == list(args.items())[: len(members)]
    assert completed_members(text) == args


# -- reading what servers might send


@examples(60)
@given(st.lists(any_parts(r"[a-zA-Z0-9_-]{1,8}"), max_size=4), st.text(max_size=4))
def test_any_reply_survives_both_forms(parts: list[Part], seed: str) -> None:
    script = reply(*parts)
    batch, stream = render(script, stream=False, seed=seed), render(script, stream=True, seed=seed)
    assert read(batch) == read(stream)
    assert [type(part) for part in read(batch).parts] == [type(part) for part in parts]
    assert DIALECT.split_stream(stream.headers, data(stream)) == stream.events
    assert DIALECT.split_stream(batch.headers, data(batch)) == batch.events


@pytest.mark.parametrize(
    "body",
    [
        *NO_ANSWERS,
        b'{"content": 1, "stop_reason": 2}',
        b'{"content": [1, {"type": 3}, {"type": "text", "text": 4}, {"type": "tool_use", "input": []}]}',
        b'{"content": [], "usage": {"input_tokens": "many"}}',
        b'{"type": "error", "error": "no object"}',
        b'{"content": [{"type": "x", "y": ' + b"[" * 90 + b"]" * 90 + b"}]}",
    ],
)
def test_odd_bodies_are_read_as_far_as_they_go(body: bytes) -> None:
    answer = DIALECT.read_response(200, {}, body)
    assert all(isinstance(part, Opaque) for part in answer.parts)


def test_an_error_in_mid_stream_keeps_what_came_before_it() -> None:
    rendered = render(reply(ReplyPart(Text("Bed 3 is"), ("Bed 3", " is"))), stream=True)
    event = DIALECT.error_event("overloaded_error", "Overloaded")
    assert event.kind == "error"
    body = b"".join(each.data for each in rendered.events[:4]) + event.data
    answer = DIALECT.read_response(200, rendered.headers, body)
    assert answer.parts == (Text("Bed 3"),)
    assert (answer.error_kind, answer.error_message, answer.complete) == ("overloaded_error", "Overloaded", False)


def test_an_error_answer_has_its_kind_message_and_hint() -> None:
    body = b'{"type":"error","error":{"type":"rate_limit_error","message":"Slow down"},"request_id":"req_1"}'
    answer = DIALECT.read_response(429, {"content-type": "application/json", "retry-after": "12"}, body)
    assert (answer.status, answer.error_kind, answer.error_message, answer.retry_after) == (
        429, "rate_limit_error", "Slow down", 12.0,
    )  # fmt: skip
    assert DIALECT.read_response(429, {"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, body).retry_after is None


def test_an_old_final_usage_leaves_the_figures_of_the_start_standing() -> None:
    events = [
        {"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 9, "output_tokens": 1}}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}},
        {"type": "surprise", "index": 0},
        {"type": "message_stop"},
    ]
    body = b"".join(b"data: " + msgspec.json.encode(event) + b"\n\n" for event in events)
    answer = DIALECT.read_response(200, {"content-type": "text/event-stream"}, body)
    assert answer.usage == TokenUsage(9, 5, 14)
    assert answer.complete


# -- operations without a script


def extra(call: Call) -> tuple[int, dict[str, Any]]:
    rendered = DIALECT.render_extra(call, PromptUsage(11, cache_read=1111), world(), "s")
    return rendered.status, json.loads(data(rendered))


def test_counting_answers_with_the_whole_prompt() -> None:
    assert extra(Call("count_tokens", MODEL, body={})) == (200, {"input_tokens": 1122})
    assert DIALECT.read_response(200, {}, b'{"input_tokens": 42}').usage == TokenUsage(42, 0, 42)


def test_the_model_list_has_dated_ids_only_and_no_retired_ones() -> None:
    status, listing = extra(Call("list_models"))
    ids = [each["id"] for each in listing["data"]]
    assert status == 200
    assert DATED in ids
    assert MODEL not in ids
    assert "claude-3-opus-20240229" not in ids
    assert (listing["first_id"], listing["last_id"]) == (ids[0], ids[-1])


def test_one_model_is_shown_under_its_dated_id() -> None:
    assert extra(Call("get_model", MODEL)) == (
        200,
        {
            "type": "model",
            "id": DATED,
            "display_name": "Claude Sonnet 4 5",
            "created_at": "2025-09-29T00:00:00Z",
            "lifecycle": "active",
            "max_input_tokens": 200_000,
            "max_tokens": 64_000,
        },
    )


def test_an_unknown_model_is_not_found() -> None:
    status, found = extra(Call("get_model", "claude-sonet"))
    assert (status, found["error"]) == (404, {"type": "not_found_error", "message": "model: claude-sonet"})


def test_events_of_unknown_kinds_are_still_events() -> None:
    body = b"event: surprise\ndata: {}\n\n: note\n\n"
    found = DIALECT.split_stream({"content-type": "text/event-stream"}, body)
    assert found == (WireEvent(b"event: surprise\ndata: {}\n\n", "ping"), WireEvent(b": note\n\n", "ping"))
