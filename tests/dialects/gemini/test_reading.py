"""Answers read from their bytes: whole, cut anywhere, with garbage in them, or nothing like an answer at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from turnproof.dialects.base import ReplyPart, WireEvent
from turnproof.dialects.gemini import DIALECT
from turnproof.dialects.gemini.surfaces import GeminiCall
from turnproof.messages import Opaque, Part, Text, Thought, TokenUsage

from ..answers import LOOK, NO_ANSWERS, any_parts, data, reply
from ..requests import Json
from .asks import world
from .builders import MODEL, OLD
from .rendering import FORMS, OLDEST, SHORT_REPLY, new_call, read, render

# -- reading what servers might send


_parts = any_parts(r"[a-zA-Z0-9_-]{0,8}")


def joined(parts: tuple[Part, ...]) -> list[Part]:
    """Parts without text signatures and with neighbouring texts joined: what all forms have in common."""
    found: list[Part] = []
    for part in parts:
        last = found[-1] if found else None
        if isinstance(part, Text) and isinstance(last, Text):
            found[-1] = Text(last.text + part.text)
        else:
            found.append(Text(part.text) if isinstance(part, Text) else part)
    return found


@examples(60)
@given(
    st.lists(any_parts(r"[a-zA-Z0-9_-]{0,8}"), max_size=4),
    st.text(max_size=4),
    st.sampled_from([MODEL, OLD, OLDEST]),
    st.booleans(),
)
def test_any_reply_survives_all_forms(parts: list[Part], seed: str, model: str, vertex: bool) -> None:
    batch, *streams = (render(reply(*parts), new_call(form, model, vertex=vertex), seed=seed) for form in FORMS)
    one = read(batch)
    assert [type(part) for part in one.parts] == [type(part) for part in joined_thoughts(parts)]
    assert DIALECT.split_stream(batch.headers, data(batch)) == batch.events
    for stream in streams:
        other = read(stream)
        assert joined(other.parts) == joined(one.parts)
        assert replace(other, parts=()) == replace(one, parts=())
        assert DIALECT.split_stream(stream.headers, data(stream)) == stream.events


def joined_thoughts(parts: list[Part]) -> list[Part]:
    nonempty_parts = [part for part in parts if not isinstance(part, Thought) or part.text]
    return [
        part
        for n, part in enumerate(nonempty_parts)
        if not (n and isinstance(part, Thought) and isinstance(nonempty_parts[n - 1], Thought))
    ]


@pytest.mark.parametrize("form", ["sse", "array"])
def test_a_stream_cut_before_its_last_chunk_lacks_only_the_finish_and_the_last_figures(form: str) -> None:
    for script in (SHORT_REPLY, reply(*LOOK)):
        rendered = render(script, new_call(form))
        cut = b"".join(event.data for event in rendered.events[:-1])
        answer = DIALECT.read_response(200, rendered.headers, cut)
        assert (answer.finish, answer.raw_finish, answer.complete) == (None, None, False)
        assert joined(answer.parts) == joined(tuple(p for p in read(rendered).parts if p != Text("") and _speaks(p)))


def _speaks(part: Part) -> bool:
    return not isinstance(part, Text) or part.text != ""


def test_every_byte_of_the_array_counts_for_its_end() -> None:
    rendered = render(SHORT_REPLY, new_call("array"))
    assert not DIALECT.read_response(200, rendered.headers, data(rendered)[:-1]).complete
    assert DIALECT.read_response(200, rendered.headers, data(rendered) + b"\n").complete


def test_brackets_and_quotes_in_texts_end_no_element() -> None:
    script = reply(ReplyPart(Text('a}]["{\\"b'), ("a}]", '["{', '\\"b')))
    rendered = render(script, new_call("array"))
    assert [event.text for event in rendered.events] == ["a}]", '["{', '\\"b', ""]
    assert DIALECT.split_stream(rendered.headers, data(rendered)) == rendered.events
    assert read(rendered).parts == (Text('a}]["{\\"b'),)


@pytest.mark.parametrize(
    "body",
    [
        *NO_ANSWERS,
        b"[",
        b"[]",
        b"[1, 2]",
        b'[{"candidates": 3}]',
        b'{"candidates": null, "usageMetadata": null}',
        b'{"candidates": [], "usageMetadata": {"promptTokenCount": "many"}}',
        b'{"candidates": [null]}',
        b'{"candidates": [{"content": null, "finishReason": {}}]}',
        b'{"candidates": [{"content": {"role": "model"}, "finishReason": "STOP"}]}',
        b'{"candidates": [{"content": {"parts": null}}]}',
        b'{"candidates": [{"content": {"parts": [null, {"text": 4}, {}, {"functionCall": null}]}}]}',
        b'{"candidates": [{"content": {"parts": [{"functionCall": []}, {"functionCall": {"name": 7}}]}}]}',
        b'{"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": 3}}]}}]}',
        b'{"promptFeedback": {"blockReason": null}}',
        b'{"error": "no object"}',
        b'{"candidates": [{"content": {"parts": [{"x": ' + b"[" * 90 + b"]" * 90 + b"}]}}]}",
    ],
)
@pytest.mark.parametrize("frame", [b"%b", b"data: %b\r\n\r\n"])
def test_odd_bodies_are_read_as_far_as_they_go(body: bytes, frame: bytes) -> None:
    answer = DIALECT.read_response(200, {}, frame % body)
    assert all(isinstance(part, Opaque) for part in answer.parts)
    assert b"".join(event.data for event in DIALECT.split_stream({}, frame % body)) == frame % body


def test_feedback_on_a_prompt_that_was_answered_blocks_nothing() -> None:
    chunk = b'{"candidates": [{"content": {"parts": [{"text": "a"}]}}], "promptFeedback": {"safetyRatings": []}}'
    answer = DIALECT.read_response(200, {}, chunk)
    assert (answer.parts, answer.finish) == ((Text("a"),), None)
    framed = b"data: %b\r\n\r\n" % chunk
    assert DIALECT.split_stream({}, framed) == (WireEvent(framed, "text", "a"),)


def test_only_the_first_candidate_is_read() -> None:
    body = b'{"candidates": [{"content": {"parts": [{"text": "a"}]}}, {"content": {"parts": [{"text": "b"}]}}]}'
    assert DIALECT.read_response(200, {}, body).parts == (Text("a"),)


def test_blank_lines_and_comments_between_events_change_nothing() -> None:
    rendered = render(SHORT_REPLY, new_call("sse"))
    noisy = b"".join(noise + event.data for event in rendered.events for noise in (*DIALECT.noise, b": note\r\n\r\n"))
    once = b"".join(b"".join((*DIALECT.noise, event.data, b": note\r\n\r\n")) for event in rendered.events)
    assert DIALECT.read_response(200, rendered.headers, once) == read(rendered)
    assert DIALECT.read_response(200, rendered.headers, noisy).complete


def test_garbage_is_no_end_and_no_part() -> None:
    rendered = render(SHORT_REPLY, new_call("sse"))
    body = rendered.events[0].data + DIALECT.garbage
    answer = DIALECT.read_response(200, rendered.headers, body)
    assert (answer.parts, answer.complete) == ((Thought("Hm."),), False)


@pytest.mark.parametrize(
    ("chunk", "kind", "text"),
    [
        (b'{"candidates": [{"content": {"parts": [{"text": "a", "thought": true}]}}]}', "thinking", ""),
        (b'{"candidates": [{"content": {"parts": [{"text": "a"}]}}]}', "text", "a"),
        (b'{"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"}]}', "end", "a"),
        (b'{"candidates": [{"content": {"parts": [{"functionCall": {"name": "f"}}]}}]}', "args", ""),
        (b'{"candidates": [{"content": {"parts": [{"executableCode": {"code": "1"}}]}}]}', "text", ""),
        (b'{"promptFeedback": {"blockReason": "SAFETY"}}', "end", ""),
        (b'{"usageMetadata": {"promptTokenCount": 3}}', "usage", ""),
        (b'{"error": {"code": 503}}', "error", ""),
        (b"no json", "ping", ""),
    ],
)
def test_each_kind_of_chunk_is_known_as_an_event(chunk: bytes, kind: Any, text: str) -> None:
    framed: list[Callable[[bytes], bytes]] = [lambda body: b"data: %b\r\n\r\n" % body, lambda body: b"[%b]" % body]
    for frame in framed[: 1 if kind == "ping" else 2]:
        assert DIALECT.split_stream({}, frame(chunk)) == (WireEvent(frame(chunk), kind, text),)


# -- errors


QUOTA: Json = {
    "error": {
        "code": 429,
        "message": "You exceeded your current quota. Please retry in 48.9s.",
        "status": "RESOURCE_EXHAUSTED",
        "details": [
            {"@type": "type.googleapis.com/google.rpc.Help", "links": []},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "48.5s"},
        ],
    }
}


@pytest.mark.parametrize("body", [QUOTA, [QUOTA]])
def test_an_error_answer_has_its_kind_message_and_delay(body: Any) -> None:
    answer = DIALECT.read_response(429, {"content-type": "application/json"}, msgspec.json.encode(body))
    assert (answer.status, answer.error_kind, answer.retry_after) == (429, "RESOURCE_EXHAUSTED", 48.5)
    assert answer.error_message == "You exceeded your current quota. Please retry in 48.9s."
    assert (answer.parts, answer.complete) == ((), True)


def test_a_header_that_says_how_long_to_wait_is_read_too() -> None:
    assert DIALECT.read_response(503, {"retry-after": "3"}, b'{"error": {"code": 503}}').retry_after == 3.0
    broken = b'{"error": {"code": 429, "details": [null, {"retryDelay": "soon"}]}}'
    assert DIALECT.read_response(429, {}, broken).retry_after is None


def test_an_error_in_mid_stream_keeps_what_came_before_it() -> None:
    rendered = render(SHORT_REPLY, new_call("sse"))
    event = DIALECT.error_event(*DIALECT.error_kind(503))
    assert event.kind == "error"
    body = b"".join(each.data for each in rendered.events[:2]) + event.data
    answer = DIALECT.read_response(200, rendered.headers, body)
    assert answer.parts == (Thought("Hm."), Text("41"))
    assert (answer.error_kind, answer.status, answer.complete) == ("UNAVAILABLE", 200, False)
    assert answer.error_message


@pytest.mark.parametrize("form", ["sse", "array"])
def test_an_error_that_is_the_whole_of_a_stream_is_read(form: str) -> None:
    chunk = msgspec.json.encode({"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}})
    body = b"data: %b\r\n\r\n" % chunk if form == "sse" else b"[%b]" % chunk
    answer = DIALECT.read_response(200, {}, body)
    assert (answer.error_kind, answer.error_message, answer.complete) == ("UNAVAILABLE", "busy", False)


# -- other operations


@pytest.mark.parametrize(
    ("body", "tokens"),
    [
        (b'{"totalTokens": 31, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 31}]}', 31),
        (b'{"name": "cachedContents/a", "expireTime": "x", "usageMetadata": {"totalTokenCount": 3512}}', 3512),
    ],
)
def test_counts_and_caches_are_read_as_prompts(body: bytes, tokens: int) -> None:
    assert DIALECT.read_response(200, {}, body).usage == TokenUsage(tokens, 0, tokens)


def test_what_a_recorded_cache_holds_is_known_from_then_on() -> None:
    at, call = world(), GeminiCall("cache", MODEL, body={"ttl": "60s"}, action="create")
    cache = {
        "name": "cachedContents/fresh", "model": f"models/{MODEL}", "usageMetadata": {"totalTokenCount": 2000},
        "updateTime": "2026-05-28T14:45:17Z", "expireTime": "2026-05-28T14:46:17Z",
    }  # fmt: skip
    DIALECT.observe(call, 200, {}, msgspec.json.encode(cache), at)
    assert at.resources["cachedContents/fresh"].expires == at.clock() + 60
