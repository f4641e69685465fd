"""Answers of Z.ai's Anthropic-compatible endpoint: Anthropic's format, its figures where this service puts them."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import msgspec
import pytest

from turnproof.dialects.base import Call, PromptUsage, Rendered
from turnproof.dialects.zai import DIALECT
from turnproof.messages import FinishReason, FunctionCall, Text, Thought

from .. import answers
from ..answers import CALLS, data
from ..anthropic_messages.builders import OPENING, assistant, mark, text, thinking, user
from ..requests import Json
from .refusals import MODEL, ask, world
from .rendering import read, render

SIGNING, PLAIN = "glm-4.7", "glm-4.6"
reply = partial(answers.reply, finish=FinishReason.TOOL_USE)


def payload(rendered: Rendered, kind: str) -> Json:
    (event,) = (each for each in rendered.events if each.kind == kind)
    found: Json = json.loads(event.data.split(b"data: ", 1)[1])
    return found


def test_usage_is_zero_at_the_start_and_true_at_the_end() -> None:
    rendered = render(reply(*CALLS, usage={"output": 58}), stream=True)
    assert payload(rendered, "start")["message"]["usage"] == {"input_tokens": 0, "output_tokens": 0}
    assert payload(rendered, "usage")["usage"] == {
        "input_tokens": 31, "output_tokens": 58, "cache_read_input_tokens": 1520,
    }  # fmt: skip


def test_a_whole_answer_has_neither_a_write_nor_a_split_of_lives() -> None:
    body = json.loads(data(render(reply(*CALLS), stream=False)))
    assert set(body["usage"]) == {"input_tokens", "output_tokens", "cache_read_input_tokens"}
    assert set(body) == {"id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage"}


@pytest.mark.parametrize("stream", [False, True])
def test_what_was_scripted_is_read_back_as_of_this_service(stream: bool) -> None:
    answer = read(render(reply(*CALLS), stream=stream))
    thought, text_part, look, water = answer.parts
    assert isinstance(thought, Thought)
    assert thought.provider_data is not None
    assert (thought.provider_data.dialect, thought.provider_data.model) == ("zai", "glm-4.7")
    assert text_part == Text("Let me look at bed 3. 🌱")
    assert isinstance(look, FunctionCall)
    assert isinstance(water, FunctionCall)
    assert look.args == {"bed": "3", "unit": "°C"}
    assert look.id.startswith("call_")
    assert look.id != water.id
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.cache_read_tokens) == (1551, 1520)
    assert (answer.finish, answer.complete) == (FinishReason.TOOL_USE, True)


def test_some_models_sign_their_thinking_and_others_do_not() -> None:
    at = world()
    for stream in (False, True):
        signed, plain = (read(render(reply(*CALLS), stream=stream, model=each, at=at)) for each in (SIGNING, PLAIN))
        assert signed.parts[0].provider_data is not None
        assert plain.parts[0] == Thought("Bed 3 needs the sensor.")
        assert list(at.issued) == [signed.parts[0].provider_data.data["signature"]]
    again = world()
    DIALECT.observe(Call("generate", SIGNING), 200, {}, data(render(reply(*CALLS), stream=False)), again)
    assert again.issued == at.issued


def test_a_claude_name_is_answered_by_a_glm_model() -> None:
    assert json.loads(data(render(reply(Text("Yes.")), stream=False, model="claude-sonnet-4-5")))["model"] == "glm-4.7"
    assert payload(render(reply(), stream=True, model="claude-haiku-4-5"), "start")["message"]["model"] == "glm-4.5-air"


def test_nothing_is_padded_and_a_ping_follows_the_start() -> None:
    rendered = render(reply(*CALLS), stream=True)
    assert [event.kind for event in rendered.events[:2]] == ["start", "ping"]
    assert not any(b" }\n" in event.data for event in rendered.events)


def test_a_full_window_ends_an_answer_under_status_200() -> None:
    answer = read(render(reply(finish=FinishReason.CONTEXT_LIMIT), stream=False))
    assert (answer.status, answer.raw_finish) == (200, "model_context_window_exceeded")
    assert (answer.finish, answer.parts) == (FinishReason.CONTEXT_LIMIT, ())


# -- errors that are read


@pytest.mark.parametrize(
    ("status", "body", "kind", "message"),
    [
        (429, {"type": "error", "error": {"type": "rate_limit_error", "code": "1113", "message": "No money."}},
         "1113", "No money."),
        (429, {"error": {"code": "1302", "message": "Slow down."}, "request_id": "2026"}, "1302", "Slow down."),
        (200, {"code": 500, "msg": "404 NOT_FOUND", "success": False}, "500", "404 NOT_FOUND"),
        (200, {"code": 401, "msg": "token expired", "success": False}, "401", "token expired"),
        (503, {"error": "DNS resolution failure"}, "", "DNS resolution failure"),
        (400, {"type": "error", "error": {"type": "invalid_request_error", "message": "[1210][No.][2026]"}},
         "invalid_request_error", "No."),
        (502, {}, None, None),
    ],
)  # fmt: skip
def test_every_shape_of_an_error_is_read(status: int, body: Json, kind: str | None, message: str | None) -> None:
    answer = DIALECT.read_response(status, {"content-type": "application/json"}, msgspec.json.encode(body))
    assert (answer.error_kind, answer.error_message, answer.parts) == (kind, message, ())


@pytest.mark.parametrize(
    "event",
    [
        DIALECT.error_event("1305", "Overloaded.").data,
        b'data: {"error":{"code":"1305","message":"Overloaded."}}\n\n',
        b'data: {"code":1305,"msg":"Overloaded.","success":false}\n\n',
    ],
    ids=["event", "line", "third-shape"],
)
def test_an_error_after_the_stream_began_is_read_in_any_shape(event: bytes) -> None:
    first_events = render(reply(Text("Let me")), stream=True).events[:4]
    body = b"".join(each.data for each in first_events) + event
    answer = DIALECT.read_response(200, {"content-type": "text/event-stream"}, body)
    assert (answer.error_kind, answer.error_message, answer.complete) == ("1305", "Overloaded.", False)


# -- the cache


def account(cache: Any, *messages: Json, now: float = 0.0, model: str = MODEL) -> PromptUsage:
    sendable = ask(*messages, model=model)
    call = DIALECT.parse(sendable.request(), world())
    assert isinstance(call, Call)
    usage, commit = cache.account(call, DIALECT.models[model], now)
    assert usage.whole == DIALECT.count(call)
    commit()
    found: PromptUsage = usage
    return found


LONG = user("The log of the greenhouse. " * 100)


def test_a_prefix_is_read_without_a_mark_and_in_steps_and_never_counted_as_written() -> None:
    cache = DIALECT.new_cache()
    first = account(cache, LONG, OPENING)
    second = account(cache, LONG, OPENING, assistant("41 %"), OPENING)
    assert (first.cache_read, first.cache_write_5m, second.cache_write_5m) == (0, 0, 0)
    assert second.cache_read > 600
    assert second.cache_read % 64 == 0


def test_a_mark_changes_nothing() -> None:
    plain, marked = DIALECT.new_cache(), DIALECT.new_cache()
    words = LONG["content"]
    for _ in range(2):
        assert account(plain, LONG, OPENING) == account(marked, user(text(words, **mark("1h"))), OPENING)


@pytest.mark.parametrize(
    ("change", "read"),
    [
        pytest.param({"now": 301.0}, False, id="later"),
        pytest.param({"model": PLAIN}, False, id="another-model"),
        pytest.param({"model": "claude-sonnet-4-5"}, True, id="the-same-model-by-a-claude-name"),
    ],
)
def test_entries_live_five_minutes_in_the_cache_of_one_model(change: Json, read: bool) -> None:
    cache = DIALECT.new_cache()
    account(cache, LONG, OPENING)
    assert bool(account(cache, LONG, OPENING, **change).cache_read) is read


def test_changed_thinking_breaks_the_prefix() -> None:
    cache = DIALECT.new_cache()
    account(cache, OPENING, assistant(thinking("a" * 4000), "Yes."), OPENING, OPENING)
    cached_tokens = account(cache, OPENING, assistant(thinking("a" * 4000), "Yes."), OPENING, OPENING).cache_read
    assert cached_tokens > account(cache, OPENING, assistant("Yes."), OPENING, OPENING).cache_read


# -- what no script speaks of


def test_a_count_cannot_be_relied_on() -> None:
    counted = [DIALECT.render_extra(Call("count_tokens", MODEL), PromptUsage(42), world(), str(n)) for n in range(20)]
    bodies = {(each.status, data(each)) for each in counted}
    assert (200, b'{"input_tokens":42}') in bodies
    assert {status for status, _ in bodies} == {200, 404}
    assert len(bodies) == 3


def test_the_list_has_the_models_by_their_own_names() -> None:
    listed = json.loads(data(DIALECT.render_extra(Call("list_models"), PromptUsage(0), world(), "s")))
    assert "glm-4.7" in [each["id"] for each in listed["data"]]
    assert not any("claude" in each["id"] for each in listed["data"])
    described = DIALECT.render_extra(Call("get_model", "claude-sonnet-4-5"), PromptUsage(0), world(), "s")
    assert json.loads(data(described))["id"] == "glm-4.7"
    assert read(DIALECT.render_extra(Call("get_model", "glm-1"), PromptUsage(0), world(), "s")).error_kind == "1211"
