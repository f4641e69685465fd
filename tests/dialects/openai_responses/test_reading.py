"""Answers read from bytes that are not ours: cut anywhere, minimal, misshapen, or in the words of others.

The streams are written out by hand, in the form of published ones (what the Codex CLI takes, what gateways send).
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from turnproof.dialects.base import WireAnswer
from turnproof.dialects.openai_responses import DIALECT
from turnproof.messages import FinishReason, FunctionCall, Opaque, Text, Thought, TokenUsage

from ..answers import data
from .rendering import REPLIES, read, render

SSE = {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json"}
USAGE = {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11}


def stream(*events: dict[str, Any], named: bool = True) -> bytes:
    """Events as a body."""
    heads = [f"event: {event['type']}\n" if named else "" for event in events]
    return "".join(f"{head}data: {json.dumps(event)}\n\n" for head, event in zip(heads, events, strict=True)).encode()


def of(*events: dict[str, Any], **options: Any) -> WireAnswer:
    return DIALECT.read_response(200, SSE, stream(*events, **options))


def added(item: dict[str, Any], place: int = 0) -> dict[str, Any]:
    return {"type": "response.output_item.added", "output_index": place, "item": item}


def done(item: dict[str, Any], place: int = 0) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": place, "item": item}


def delta(kind: str, text: Any, place: int = 0, **more: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}.delta", "output_index": place, "delta": text, **more}


def ended(status: str = "completed", **more: Any) -> dict[str, Any]:
    return {"type": f"response.{status}", "response": {"status": status, "model": "gpt-5", **more}}


MESSAGE = {"type": "message", "role": "assistant", "content": []}
WHOLE_MESSAGE = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]}
CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": ""}


def test_the_least_that_the_codex_cli_takes_is_read() -> None:
    answer = of(
        {"type": "response.created", "response": {}}, added(MESSAGE), delta("output_text", "Hi"), done(WHOLE_MESSAGE),
        ended(usage=USAGE),
    )  # fmt: skip
    assert (answer.parts, answer.finish, answer.complete) == ((Text("Hi"),), FinishReason.STOP, True)
    assert answer.usage == TokenUsage(9, 2, 11)


def test_a_stream_without_event_names_is_read() -> None:
    assert of(done(WHOLE_MESSAGE), ended(), named=False).parts == (Text("Hi"),)


def test_items_that_only_the_end_tells_are_read() -> None:
    assert of(ended(output=[WHOLE_MESSAGE])).parts == (Text("Hi"),)


def test_deltas_alone_make_the_parts_of_a_stream_that_breaks_off() -> None:
    answer = of(
        added({"type": "reasoning", "summary": []}), delta("reasoning_summary_text", "Hm", summary_index=0),
        delta("reasoning_summary_text", "m", summary_index=0), delta("reasoning_summary_text", "Yes", summary_index=1),
        added(MESSAGE, 1), delta("output_text", "H", 1, content_index=0), delta("output_text", "i", 1, content_index=0),
        added(CALL, 2), delta("function_call_arguments", '{"a"', 2),
    )  # fmt: skip
    assert answer.parts == (Thought("Hmm\n\nYes"), Text("Hi"))
    assert (answer.complete, answer.finish, answer.broken_calls) == (False, None, 1)


def test_raw_reasoning_of_an_open_model_is_read() -> None:
    thought = {"type": "reasoning", "summary": []}
    assert of(added(thought), delta("reasoning_text", "raw", content_index=0), ended()).parts == (Thought("raw"),)


def test_a_refusal_in_pieces_is_read() -> None:
    refused = {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}
    answer = of(
        added(MESSAGE), delta("refusal", "No", content_index=0), delta("refusal", ".", content_index=0), ended()
    )
    assert (answer.parts, answer.finish) == ((Text("No."),), FinishReason.REFUSAL)
    assert of(done(refused), ended()).finish is FinishReason.REFUSAL


def test_a_call_is_whole_when_its_arguments_are() -> None:
    finished = {"type": "response.function_call_arguments.done", "output_index": 0, "arguments": '{"a":1}'}
    answer = of(added(CALL | {"status": "in_progress"}), finished)
    assert (answer.parts, answer.broken_calls) == ((FunctionCall("c", "f", {"a": 1}),), 0)


@pytest.mark.parametrize("item", [CALL | {"arguments": "{"}, CALL | {"arguments": 5}, CALL | {"status": "incomplete"}])
def test_a_call_that_is_not_whole_is_counted_as_broken(item: dict[str, Any]) -> None:
    answer = of(done(item), ended("incomplete", incomplete_details={"reason": "max_output_tokens"}))
    assert (answer.parts, answer.broken_calls, answer.finish) == ((), 1, FinishReason.MAX_TOKENS)


def test_a_failed_response_is_an_error_under_status_200() -> None:
    error = {"code": "rate_limit_exceeded", "message": "Slow down"}
    answer = of(done(WHOLE_MESSAGE), ended("failed", error=error))
    assert (answer.error_kind, answer.error_message, answer.complete) == ("rate_limit_exceeded", "Slow down", False)
    assert (answer.finish, answer.parts) == (FinishReason.ERROR, (Text("Hi"),))


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "code": "server_error", "message": "Oops", "param": None, "sequence_number": 3},
        {"type": "error", "error": {"type": "server_error", "message": "Oops"}},
        {"type": "error", "error": {"code": "server_error", "message": "Oops"}, "status": 500},
    ],
    ids=["documented", "nested", "with-status"],
)
def test_each_form_of_an_error_event_is_an_error(event: dict[str, Any]) -> None:
    answer = of(done(WHOLE_MESSAGE), event)
    assert (answer.error_kind, answer.error_message, answer.complete) == ("server_error", "Oops", False)


def test_an_error_without_a_type_is_an_error() -> None:
    answer = DIALECT.read_response(200, SSE, b'data: {"error": {"message": "Oops", "code": "server_error"}}\n\n')
    assert answer.error_kind == "server_error"


def test_unknown_events_comments_and_the_end_marker_of_others_change_nothing() -> None:
    body = stream(done(WHOLE_MESSAGE), {"type": "keepalive", "sequence_number": 1}, {"type": "vendor.news"}, ended())
    noisy = b"".join(DIALECT.noise) + body + b": bye\n\ndata: [DONE]\n\n"
    assert DIALECT.read_response(200, SSE, noisy) == DIALECT.read_response(200, SSE, body)


def test_garbage_makes_an_answer_incomplete() -> None:
    assert not DIALECT.read_response(200, SSE, stream(done(WHOLE_MESSAGE)) + DIALECT.garbage + stream(ended())).complete


@pytest.mark.parametrize(
    ("status", "headers", "body", "kind", "message"),
    [
        (401, JSON, b'{"error": {"message": "No", "type": "invalid_request_error", "code": "invalid_api_key"}}',
         "invalid_api_key", "No"),
        (400, JSON, b'{"error": {"message": "No", "type": "invalid_request_error", "code": null}}',
         "invalid_request_error", "No"),
        (400, JSON, b'{"error": {"message": "No", "code": "invalid_request_body"}}', "invalid_request_body", "No"),
        (200, JSON, b'{"error": {"message": "No", "code": "quota"}}', "quota", "No"),
        (500, JSON, b'{"error": "No"}', None, "No"),
        (502, {"content-type": "text/html"}, b"<html>Bad gateway", None, "<html>Bad gateway"),
        (400, {"content-type": "text/plain"}, b"bad request", None, "bad request"),
        (503, {}, b"", None, None),
    ],
)  # fmt: skip
def test_an_error_is_read_in_every_form(
    status: int, headers: dict[str, str], body: bytes, kind: str | None, message: str | None
) -> None:
    answer = DIALECT.read_response(status, headers | {"retry-after": "7"}, body)
    assert (answer.status, answer.error_kind, answer.error_message, answer.retry_after) == (status, kind, message, 7.0)


def test_a_batch_answer_without_figures_or_with_odd_ones_is_read() -> None:
    def usage(figures: Any) -> TokenUsage | None:
        body = json.dumps({"object": "response", "output": [], "usage": figures}).encode()
        return DIALECT.read_response(200, JSON, body).usage

    assert usage(None) is None
    assert usage({"input_tokens": None, "input_tokens_details": None}) == TokenUsage()
    assert usage(USAGE | {"input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2}}) == TokenUsage(
        9, 2, 11, 4, 2
    )


def test_a_token_count_is_read_as_usage() -> None:
    body = b'{"object": "response.input_tokens", "input_tokens": 12}'
    assert DIALECT.read_response(200, JSON, body).usage == TokenUsage(12, 0, 12)


def test_what_cannot_be_read_is_kept_as_it_is() -> None:
    odd = {"type": "message", "role": "assistant", "content": 5}
    assert of(done(odd), ended()).parts == (Opaque("openai-responses", "message", odd),)


def test_an_answer_that_is_nested_too_deeply_is_said_to_be_so() -> None:
    deep = '{"a":' * 300 + "1" + "}" * 300
    answer = of(done(CALL | {"arguments": deep, "status": "completed"}), ended())
    assert (answer.complete, answer.error_message) == (False, "the answer is nested too deeply to be read")


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"type": "response.created"}, "start"), (added(MESSAGE), "block_start"), (done(WHOLE_MESSAGE), "block_end"),
        (done({"type": "reasoning"}), "signature"), (delta("output_text", "Hi"), "text"),
        (delta("function_call_arguments", "{"), "args"), (delta("reasoning_summary_text", "Hm"), "thinking"),
        (ended(), "end"), (ended("failed"), "error"), ({"type": "error"}, "error"), ({"type": "keepalive"}, "ping"),
    ],
)  # fmt: skip
def test_a_stream_is_split_into_events_of_known_kinds(event: dict[str, Any], kind: str) -> None:
    (found,) = DIALECT.split_stream(SSE, stream(event))
    assert (found.kind, found.data) == (kind, stream(event))
    assert found.text == ("Hi" if kind == "text" else "")


def test_splitting_what_was_rendered_gives_the_same_events() -> None:
    for script in REPLIES.values():
        rendered = render(script, stream=True)
        assert DIALECT.split_stream(rendered.headers, data(rendered)) == rendered.events
    batch = render(REPLIES["text"])
    assert DIALECT.split_stream(batch.headers, data(batch)) == batch.events


@pytest.mark.parametrize("name", REPLIES)
def test_a_stream_cut_after_any_event_is_not_complete_and_never_says_more(name: str) -> None:
    rendered = render(REPLIES[name], stream=True)
    whole = read(rendered)
    for n in range(len(rendered.events)):
        body = b"".join(event.data for event in rendered.events[:n])
        answer = DIALECT.read_response(200, SSE, body)
        assert not answer.complete
        assert answer.finish is None
        assert len(answer.parts) <= len(whole.parts)
        calls = [part for part in answer.parts if isinstance(part, FunctionCall)]
        assert calls == [part for part in whole.parts if isinstance(part, FunctionCall)][: len(calls)]


@given(st.integers(0, 5000), st.binary(max_size=6), st.sampled_from(["text", "calls", "cut-off-in-a-call"]))
@examples(80)
def test_reading_never_raises(at: int, junk: bytes, name: str) -> None:
    body = data(render(REPLIES[name], stream=True))
    DIALECT.read_response(200, SSE, body[: at % len(body)] + junk + body[at % len(body) :])
    DIALECT.read_response(200, JSON, junk)


ODD: tuple[Any, ...] = (
    None, True, 5, -1, 2**40, "x", "{", [], [5], ["x"], [{"text": 5}], {}, {"type": 5}, {"type": "message"},
    {"type": "message", "content": [5]}, {"type": "reasoning", "summary": 5}, {"type": "function_call", "arguments": 5},
    {"output": 5}, {"output": [5, {"type": "message"}]}, {"status": 5, "usage": 5, "error": 5}, {"error": {"code": 5}},
)  # fmt: skip
NAMES = (
    "response.output_item.added", "response.output_item.done", "response.completed", "response.output_text.delta",
    "response.reasoning_summary_text.delta", "response.function_call_arguments.delta", "error",
    "response.function_call_arguments.done",
)  # fmt: skip
MEMBERS = ("item", "content_index", "summary_index", "delta", "arguments", "response", "error")


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.lists(st.sampled_from(ODD), min_size=7, max_size=7)), max_size=5))
@examples(60)
def test_misshapen_events_never_raise(names_and_values: list[tuple[str, list[Any]]]) -> None:
    opened = [added(MESSAGE), added(CALL, 1)]
    events = [
        {"type": name, "output_index": n % 2} | dict(zip(MEMBERS, odd, strict=True))
        for n, (name, odd) in enumerate(names_and_values)
    ]
    answer = of(*opened, *events)
    assert isinstance(answer, WireAnswer)
    assert len(DIALECT.split_stream(SSE, stream(*events))) == len(events)


@pytest.mark.parametrize("reply_name", [name for name in REPLIES if name not in ("searched", "nothing")])
def test_a_stream_whose_items_are_named_and_not_numbered_says_the_same(reply_name: str) -> None:
    rendered = render(REPLIES[reply_name], stream=True)
    whole = b"".join(event.data for event in rendered.events)
    bare = re.sub(rb'"(output_index|content_index|sequence_number)":\s*\d+,?\s*', b"", whole).replace(b",}", b"}")
    assert b"output_index" in whole
    assert b"output_index" not in bare
    numbered = DIALECT.read_response(200, rendered.headers, whole)
    assert numbered.parts
    assert DIALECT.read_response(200, rendered.headers, bare) == numbered
