"""What the emulator says and how it is read again, batch and stream."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest

from turnproof.dialects.base import ReplyPart
from turnproof.dialects.gemini_interactions import DIALECT
from turnproof.dialects.sse import frames
from turnproof.messages import FinishReason, FunctionCall, ProviderData, Text, Thought, TokenUsage

from ..answers import CLIPPED, NO_ANSWERS, body_of, data, reply
from .asks import loop, world
from .builders import MODEL, call, model, result, thought
from .rendering import REPLIES, events, new_call, read, read_request, render


@pytest.mark.parametrize(
    ("name", "finish", "raw"),
    [
        ("text", FinishReason.STOP, "completed"),
        ("calls", FinishReason.TOOL_USE, "requires_action"),
        ("cut-off", FinishReason.MAX_TOKENS, "incomplete"),
        ("window-full", FinishReason.MAX_TOKENS, "incomplete"),
        ("refused", FinishReason.STOP, "completed"),
        ("failed", FinishReason.ERROR, "failed"),
        ("unknown-finish", FinishReason.UNKNOWN, "sundown"),
    ],
)
def test_each_ending_is_told_in_the_words_of_the_api(name: str, finish: FinishReason, raw: str) -> None:
    answer = read(render(REPLIES[name]))
    assert (answer.finish, answer.raw_finish) == (finish, raw)


def test_a_batch_answer_has_the_recorded_members_in_their_order() -> None:
    interaction = body_of(render(reply(Thought("Hm."), Text("41 %"))))
    assert list(interaction) == [
        "id", "status", "usage", "created", "updated", "service_tier", "steps", "object", "model",
    ]  # fmt: skip
    assert interaction["created"] == "2023-11-14T22:13:20Z"
    assert [step["type"] for step in interaction["steps"]] == ["thought", "model_output"]


def test_an_id_has_the_recorded_form() -> None:
    name = body_of(render(reply(Text("41 %"))))["id"]
    raw = base64.b64decode(name.removeprefix("v1_") + "==")
    own = raw[2:25]
    assert raw == b"\n\x17%b\x12\x17%b" % (own, own)


def test_the_events_come_in_the_recorded_order() -> None:
    rendered = render(reply(Thought("Hm."), ReplyPart(Text("41 %"), ("41", " %"))), stream=True)
    assert [each["event_type"] for each in events(rendered)] == [
        "interaction.created", "interaction.status_update",
        "step.start", "step.delta", "step.delta", "step.stop",
        "step.start", "step.delta", "step.delta", "step.stop",
        "interaction.completed",
    ]  # fmt: skip
    deltas = [each["delta"]["type"] for each in events(rendered, "step.delta")]
    assert deltas == ["thought_summary", "thought_signature", "text", "text"]
    assert rendered.events[-1].data == b"event: done\ndata: [DONE]\n\n"
    named = [frame.event for frame in frames(data(rendered))][:-1]
    assert named == [each["event_type"] for each in events(rendered)]


def test_arguments_come_in_pieces_of_a_call_that_opens_without_any() -> None:
    asked_for = FunctionCall("c", "read_sensor", {"bed": "3", "unit": "percent"})
    rendered = render(reply(asked_for, finish=FinishReason.TOOL_USE), stream=True)
    [start] = events(rendered, "step.start")
    assert start["step"] == {"id": "c", "name": "read_sensor", "arguments": {}, "type": "function_call"}
    pieces = [each["delta"]["arguments"] for each in events(rendered, "step.delta")]
    assert len(pieces) > 1
    assert "".join(pieces) == '{"bed": "3", "unit": "percent"}'


@pytest.mark.parametrize("stream", [False, True])
def test_a_call_that_was_cut_off_is_not_among_the_parts(stream: bool) -> None:
    answer = read(render(reply(Text("I write."), CLIPPED, finish=FinishReason.MAX_TOKENS), stream=stream))
    assert answer.parts == (Text("I write."),)
    # A batch answer has no form for half a call.
    assert answer.broken_calls == (1 if stream else 0)


def test_summaries_are_told_only_where_they_are_asked_for() -> None:
    script = reply(Thought("Hm."), Text("41 %"))
    quiet = read(render(script, new_call(generation_config={})))
    assert [part.text for part in quiet.parts if isinstance(part, Thought)] == [""]
    assert [part.text for part in read(render(script)).parts if isinstance(part, Thought)] == ["Hm."]


def test_thinking_that_nobody_may_read_is_sealed_in_the_signature() -> None:
    hidden = Thought("", provider_data=ProviderData("scenario", "", {"redacted": "secret"}))
    one, other = (body_of(render(reply(part)))["steps"] for part in (hidden, Thought("")))
    assert one[0].keys() == {"signature", "type"}
    assert one != other


def test_a_scripted_signature_is_used_as_it_is() -> None:
    own = Thought("", provider_data=ProviderData("gemini-interactions", MODEL, {"signature": "b3du"}))
    assert body_of(render(reply(own)))["steps"] == [{"signature": "b3du", "type": "thought"}]


def test_what_was_signed_is_known_again_and_belongs_to_its_call() -> None:
    at = world()
    interaction = body_of(
        render(reply(Thought("Hm."), FunctionCall("c", "read_sensor", {}), finish=FinishReason.TOOL_USE), at=at)
    )
    signature = interaction["steps"][0]["signature"]
    whole = loop(thought(signature), call("c"), result("c"))
    unsigned = loop(call("c"), result("c"))
    assert [DIALECT.validate(each.request(), read_request(each, at), at) == [] for each in (whole, unsigned)] == [
        True,
        False,
    ]


@pytest.mark.parametrize("body", [*NO_ANSWERS, b"{", b'{"steps": 3}', b'{"id": 4, "steps": [{"signature": 3}, 5]}'])
def test_observing_what_is_no_answer_teaches_nothing(body: bytes) -> None:
    at = world()
    before = dict(at.issued)
    DIALECT.observe(new_call(), 200, {}, body, at)
    DIALECT.observe(new_call(), 500, {}, body, at)
    assert at.issued == before


def test_usage_counts_what_is_cached_as_input_and_thoughts_apart() -> None:
    rendered = render(reply(Thought("Hm, let me see."), Text("41 %")))
    usage = body_of(rendered)["usage"]
    assert usage["total_input_tokens"] == 31 + 1536
    assert usage["input_tokens_by_modality"] == [{"modality": "text", "tokens": 31 + 1536}]
    assert usage["total_cached_tokens"] == 1536
    assert usage["total_thought_tokens"] > 0
    assert usage["total_tokens"] == sum(usage[f"total_{of}_tokens"] for of in ("input", "output", "thought"))
    thoughts, output = usage["total_thought_tokens"], usage["total_output_tokens"]
    assert read(rendered).usage == TokenUsage(
        1567, output + thoughts, usage["total_tokens"], cache_read_tokens=1536, thinking_tokens=thoughts
    )


def test_images_are_counted_apart() -> None:
    picture = {"type": "image", "data": "cG5n", "mime_type": "image/png"}
    request = new_call(steps=({"type": "text", "text": "See:"}, picture))
    counted = body_of(DIALECT.render(request, reply(Text("41 %")), replace(_prompt(request)), world(), "s"))["usage"]
    assert [each["modality"] for each in counted["input_tokens_by_modality"]] == ["text", "image"]
    assert sum(each["tokens"] for each in counted["input_tokens_by_modality"]) == counted["total_input_tokens"]


def _prompt(request: Any) -> Any:
    facts = DIALECT.models[MODEL]
    return DIALECT.new_cache().account(request, facts, 0.0)[0]


def test_a_stream_tells_of_tokens_on_the_way_and_never_of_more_than_in_the_end() -> None:
    rendered = render(reply(Thought("Hm."), Text("41 %"), Text("And dry.")), stream=True)
    on_the_way = [each["metadata"]["usage"]["total_tokens"] for each in events(rendered) if "metadata" in each]
    [end] = events(rendered, "interaction.completed")
    assert len(on_the_way) == 4
    assert on_the_way == sorted(on_the_way)
    assert on_the_way[-1] == end["interaction"]["usage"]["total_tokens"]


def test_scripted_figures_override_the_counted_ones() -> None:
    usage = body_of(render(reply(Text("a"), usage={"fresh": 7, "cache_read": 2, "output": 5, "thinking": 3})))["usage"]
    assert [usage[f"total_{of}_tokens"] for of in ("input", "cached", "output", "thought")] == [9, 2, 2, 3]


def test_an_agent_answers_under_its_own_name() -> None:
    request = new_call(model=None, agent="deep-research-pro-preview-12-2025")
    interaction = body_of(render(reply(Text("Done.")), request))
    assert interaction["agent"] == "deep-research-pro-preview-12-2025"
    assert "model" not in interaction


def test_an_error_event_is_read_as_an_error() -> None:
    head = render(REPLIES["text"], stream=True).events[:3]
    event = DIALECT.error_event("unavailable", "Busy")
    answer = DIALECT.read_response(200, {}, b"".join(each.data for each in (*head, event)))
    assert (answer.error_kind, answer.error_message, answer.complete) == ("unavailable", "Busy", False)


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        (b'{"error": {"message": "No.", "code": "invalid_request"}}', "invalid_request", "No."),
        (b'{"error": {"code": 400, "message": "No.", "status": "INVALID_ARGUMENT"}}', "INVALID_ARGUMENT", "No."),
        (b"<html>", None, "<html>"),
    ],
)
def test_an_error_is_read_in_every_form(body: bytes, kind: str | None, message: str) -> None:
    answer = DIALECT.read_response(400, {}, body)
    assert (answer.error_kind, answer.error_message) == (kind, message)


@pytest.mark.parametrize("body", [*NO_ANSWERS, b'{"steps": [3, {"type": 4}, {"type": "thought", "signature": 5}]}'])
def test_reading_never_raises(body: bytes) -> None:
    for headers in ({}, {"content-type": "text/event-stream"}, {"content-type": "application/json"}):
        assert DIALECT.read_response(200, headers, body).status == 200


def test_misshapen_events_change_nothing() -> None:
    odd = (
        '{"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "lost"}}', "5", '{"index": 0}',
        '{"event_type": "step.start", "index": "a", "step": 3}', '{"event_type": "hologram"}',
    )  # fmt: skip
    frames_of_odd = "".join(f"data: {each}\n\n" for each in odd).encode()
    rendered = render(REPLIES["text"], stream=True)
    answer = DIALECT.read_response(200, rendered.headers, frames_of_odd + data(rendered))
    assert answer == read(rendered)


def test_an_answer_that_is_nested_too_deeply_is_said_to_be_so() -> None:
    deep = b'{"steps": [{"type": "function_call", "arguments": ' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"}]}"
    answer = DIALECT.read_response(200, {}, deep)
    assert not answer.complete


def test_steps_of_the_service_are_kept_as_they_are() -> None:
    step = {"type": "google_search_result", "call_id": "s_1", "result": [{"title": "Beds"}]}
    request = read_request(loop(step, model("41 %")))
    assert [part.kind for message in request.messages for part in message.parts if hasattr(part, "kind")] == [
        "google_search_result"
    ]


def test_the_event_that_ends_an_answer_is_the_last_one_that_counts() -> None:
    """The word behind it adds nothing: a sweep breaks no answer between the two."""
    rendered = render(reply(Text("41 %")), stream=True)
    for found in (rendered.events, DIALECT.split_stream(rendered.headers, data(rendered))):
        assert found[-1].data.endswith(b"[DONE]\n\n")
        assert [event.kind for event in found][-2:] == ["end", "ping"]
