"""Answers of the gateway: Gemini's in an envelope, and Claude's in Gemini's form."""

from __future__ import annotations

import json
from base64 import b64decode
from dataclasses import replace
from operator import itemgetter

import pytest

from turnproof.dialects.antigravity import DIALECT
from turnproof.dialects.base import Rendered
from turnproof.messages import FinishReason, FunctionCall, ProviderData, Text, Thought, ToolSchema

from ..answers import chunks, data, reply
from ..gemini.builders import model, user
from ..requests import Json
from .builders import (
    CLAUDE,
    GEMINI,
    GPT,
    OLD,
    OPENING,
    SENSOR,
    ask,
    call,
    judged,
    read,
    response,
    thought,
    world,
)
from .rendering import FORMS, LOOK, new_call, render, understood

SEEDS = [str(n) for n in range(12)]


def bodies(rendered: Rendered) -> list[Json]:
    return list(map(itemgetter("response"), chunks(rendered)))


def wire_parts(rendered: Rendered) -> list[Json]:
    return [part for each in bodies(rendered) for part in each["candidates"][0]["content"].get("parts", ())]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", [GEMINI, CLAUDE, GPT])
def test_everything_stands_in_an_envelope_with_one_trace(form: str, name: str) -> None:
    rendered = render(reply(*LOOK, finish=FinishReason.TOOL_USE), new_call(form, name))
    found = chunks(rendered)
    assert {tuple(each) for each in found} == {("response", "traceId")}
    assert {each["traceId"] for each in found} == {rendered.headers["x-cloudaicompanion-trace-id"]}
    assert {each["response"]["modelVersion"] for each in found} == {name}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", [GEMINI, OLD, CLAUDE, GPT])
def test_batch_and_stream_say_the_same(form: str, name: str) -> None:
    script = reply(*LOOK, finish=FinishReason.TOOL_USE)
    answer = understood(render(script, new_call(form, name)))
    whole = understood(render(script, new_call("batch", name)))
    assert answer.complete
    assert [(type(part), getattr(part, "text", None)) for part in answer.parts] == [
        (type(part), getattr(part, "text", None)) for part in whole.parts
    ]
    assert (answer.usage, answer.finish, answer.raw_finish) == (whole.usage, whole.finish, whole.raw_finish)
    assert answer.finish is FinishReason.TOOL_USE


# -- Claude


@pytest.mark.parametrize("form", FORMS)
def test_a_thought_of_claude_is_signed_and_known_again(form: str) -> None:
    here = world()
    rendered = render(reply(*LOOK, finish=FinishReason.TOOL_USE), new_call(form), at=here)
    thought_part, text, called = understood(rendered).parts
    assert (thought_part, text) == (
        Thought("Bed 3 needs the sensor.", provider_data=thought_part.provider_data),
        Text("Let me look. 🌱"),
    )
    assert isinstance(called, FunctionCall)
    assert called.provider_data is None
    assert thought_part.provider_data is not None
    signature = thought_part.provider_data.data["signature"]
    assert b64decode(signature)
    assert list(here.issued) == [signature]
    back = ask(
        OPENING,
        model(thought("Bed 3 needs the sensor.", signature), "Let me look.", call(called.id, bed="3")),
        user(response(called.id)),
        model=CLAUDE,
    )
    assert judged(back, here) == []
    assert [each.rule.id for each in judged(back, world())] == ["antigravity/claude-invalid-signature"]


def test_in_a_stream_the_signature_stands_on_a_piece_of_its_own() -> None:
    parts = wire_parts(render(reply(*LOOK), new_call("sse")))
    signed = [part for part in parts if "thoughtSignature" in part]
    assert [(part["text"], part["thought"]) for part in signed] == [("", True)]
    assert "".join(part["text"] for part in parts if part.get("thought")) == "Bed 3 needs the sensor."


def test_a_thought_that_is_sent_back_in_its_pieces_is_one_thought() -> None:
    here = world()
    parts = wire_parts(render(reply(*LOOK, finish=FinishReason.TOOL_USE), new_call("sse"), at=here))
    parts = [part for part in parts if part.get("text") != "" or "thoughtSignature" in part]
    call_id = next(part["functionCall"]["id"] for part in parts if "functionCall" in part)
    back = ask(OPENING, {"role": "model", "parts": parts}, user(response(call_id)), model=CLAUDE)
    assert judged(back, here) == []


def test_two_thoughts_of_claude_have_a_signature_each() -> None:
    answer = understood(render(reply(Thought("One."), Thought("Two."), Text("Three.")), new_call("sse")))
    one, two, _ = answer.parts
    assert (one, two) == (
        Thought("One.", provider_data=one.provider_data),
        Thought("Two.", provider_data=two.provider_data),
    )
    assert one.provider_data != two.provider_data


def test_a_scripted_signature_is_the_one_that_is_sent() -> None:
    here = world()
    scripted = Thought("Hm.", provider_data=ProviderData("scenario", "", {"signature": "c2NyaXB0ZWQ="}))
    (part, _) = wire_parts(render(reply(scripted, Text("a")), new_call(), at=here))
    assert part == thought("Hm.", "c2NyaXB0ZWQ=")
    assert "c2NyaXB0ZWQ=" in here.issued


@pytest.mark.parametrize("name", [CLAUDE, GEMINI])
def test_thoughts_that_nobody_asked_for_are_not_shown(name: str) -> None:
    shown = wire_parts(render(reply(*LOOK), new_call("batch", name, thoughts=False)))
    assert [next(iter(part)) for part in shown] == ["text", "functionCall"]


def test_calls_of_claude_have_ids_of_their_own_form_and_end_with_either_word() -> None:
    script = reply(*LOOK, finish=FinishReason.TOOL_USE)
    endings = set()
    for seed in SEEDS:
        answer = understood(render(script, new_call(), seed=seed))
        assert answer.finish is FinishReason.TOOL_USE
        (called,) = (part for part in answer.parts if isinstance(part, FunctionCall))
        assert called.id.startswith("toolu_vrtx_01")
        endings.add(answer.raw_finish)
    assert endings == {"STOP", "OTHER"}


def test_other_without_a_call_is_an_error() -> None:
    answer = understood(render(reply(Text("a"), raw_finish="OTHER"), new_call()))
    assert answer.finish is FinishReason.ERROR


def test_what_claude_thought_is_counted_with_what_it_said() -> None:
    (body,) = bodies(render(reply(*LOOK), new_call()))
    figures = body["usageMetadata"]
    assert "thoughtsTokenCount" not in figures
    assert (
        figures["totalTokenCount"] == figures["promptTokenCount"] + figures["candidatesTokenCount"] == body_total(GPT)
    )
    assert body["responseId"].startswith("msg_vrtx_01")


def body_total(name: str) -> int:
    """All tokens of the same answer by another model."""
    (body,) = bodies(render(reply(*LOOK), new_call("batch", name)))
    total: int = body["usageMetadata"]["totalTokenCount"]
    return total


def test_no_figure_falls_in_a_stream() -> None:
    for name in (GEMINI, CLAUDE):
        totals = [
            each["usageMetadata"]["totalTokenCount"] for each in bodies(render(reply(*LOOK), new_call("sse", name)))
        ]
        assert totals == sorted(totals)


# -- Gemini


def test_a_call_of_gemini_is_signed_and_its_signature_is_demanded_back() -> None:
    here = world()
    rendered = render(reply(*LOOK, finish=FinishReason.TOOL_USE), new_call("sse", GEMINI), at=here)
    (called,) = (part for part in wire_parts(rendered) if "functionCall" in part)
    assert "thoughtSignature" in called
    answers = user(response(called["functionCall"]["id"]))
    assert judged(ask(OPENING, model(called), answers), here) == []
    bare = {"functionCall": called["functionCall"]}
    assert [each.rule.id for each in judged(ask(OPENING, model(bare), answers), here)] == [
        "antigravity/missing-signature"
    ]


def test_a_tool_is_called_by_the_name_that_was_offered_for_it() -> None:
    long = "read_the_sensor_in_bed_" + "3" * 60
    offered = ask(tools=[{"functionDeclarations": [SENSOR | {"name": long[:64]}]}], model=CLAUDE)
    wire_reply = DIALECT.speak(reply(FunctionCall("", long)), [ToolSchema(long, SENSOR["description"])], read(offered))
    assert [each.part.name for each in wire_reply.parts if isinstance(each.part, FunctionCall)] == [long[:64]]


def test_a_blocked_prompt_has_no_candidates() -> None:
    (body,) = bodies(
        render(reply(finish=FinishReason.SAFETY, raw_finish="PROMPT_BLOCKED:OTHER"), new_call("batch", GEMINI))
    )
    assert body["promptFeedback"] == {"blockReason": "OTHER"}
    assert "candidates" not in body


# -- what is learned from answers that came from elsewhere


@pytest.mark.parametrize("name", [GEMINI, CLAUDE])
@pytest.mark.parametrize("form", ["batch", "sse"])
def test_signatures_of_a_recorded_answer_are_known(name: str, form: str) -> None:
    script, there, here = reply(*LOOK, finish=FinishReason.TOOL_USE), world(), world()
    to = new_call(form, name)
    rendered = render(script, to, at=there)
    DIALECT.observe(to, rendered.status, rendered.headers, data(rendered), here)
    assert here.issued == there.issued != {}


# -- reading what others wrote


def test_lines_without_an_envelope_are_read_too() -> None:
    rendered = render(reply(Text("It is shut. 🌱")), new_call("sse"))
    bare = b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in bodies(rendered))
    answer = DIALECT.read_response(200, rendered.headers, bare)
    assert replace(answer, parts=()) == replace(understood(rendered), parts=())
    assert answer.parts == (Text("It is shut. 🌱"),)


def test_a_stream_that_is_cut_says_so_wherever_it_is_cut() -> None:
    rendered = render(reply(Text("It is shut, and will be.")), new_call("sse"))
    events = rendered.events
    for count in range(len(events)):
        body = b"".join(event.data for event in events[:count])
        assert not DIALECT.read_response(200, rendered.headers, body).complete
    assert understood(rendered).complete


def test_split_streams_joined_are_the_stream() -> None:
    rendered = render(reply(*LOOK, finish=FinishReason.TOOL_USE), new_call("sse"))
    body = data(rendered)
    found = DIALECT.split_stream(rendered.headers, body)
    assert b"".join(event.data for event in found) == body
    assert [event.kind for event in found] == [event.kind for event in rendered.events]
    assert "".join(event.text for event in found) == "Let me look. 🌱"


ERROR: Json = {
    "code": 503,
    "message": "No capacity available for model gemini-3.1-pro-high on the server",
    "status": "UNAVAILABLE",
    "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "39s"}],
}


@pytest.mark.parametrize("body", [{"error": ERROR}, [{"error": ERROR}]], ids=["an object", "a list of one"])
@pytest.mark.parametrize("content_type", ["application/json; charset=UTF-8", "text/event-stream", ""])
def test_an_error_is_json_whatever_its_content_type_says(body: Json | list[Json], content_type: str) -> None:
    headers = {"content-type": content_type}
    answer = DIALECT.read_response(503, headers, json.dumps(body, indent=2).encode())
    assert (answer.error_kind, answer.error_message) == ("UNAVAILABLE", ERROR["message"])
    assert answer.retry_after == 39.0


def test_an_error_in_mid_stream_keeps_what_came_before() -> None:
    rendered = render(reply(Text("It is shut.")), new_call("sse"))
    event = DIALECT.error_event("UNAVAILABLE", "Gone.")
    answer = DIALECT.read_response(200, rendered.headers, rendered.events[0].data + event.data)
    assert (answer.error_kind, answer.error_message, answer.complete) == ("UNAVAILABLE", "Gone.", False)
    assert "It is shut.".startswith("".join(part.text for part in answer.parts if isinstance(part, Text)))


def test_of_an_error_of_claudes_the_words_are_read_that_stand_within() -> None:
    error_text = "prompt is too long: 200001 tokens > 200000 maximum"
    inner = json.dumps({"type": "error", "error": {"type": "invalid_request_error", "message": error_text}})
    body = json.dumps({"error": {"code": 400, "message": inner, "status": "INVALID_ARGUMENT"}}).encode()
    answer = DIALECT.read_response(400, {"content-type": "application/json"}, body)
    assert (answer.error_kind, answer.error_message) == ("INVALID_ARGUMENT", error_text)
    for message in (inner, error_text):
        assert DIALECT.error_meaning(400, "INVALID_ARGUMENT", message) == "context-limit"


def test_a_refused_refresh_is_read_as_an_error() -> None:
    body = b'{"error": "invalid_grant", "error_description": "Token has been expired or revoked."}'
    answer = DIALECT.read_response(400, {"content-type": "application/json"}, body)
    assert (answer.error_kind, answer.error_message) == ("invalid_grant", "Token has been expired or revoked.")


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b"{}", b"null", b'{"response": 1}', b'{"error": 1}', b"data: \n\n"]
)
@pytest.mark.parametrize("status", [200, 502])
def test_reading_never_raises(body: bytes, status: int) -> None:
    for content_type in ("text/event-stream", "application/json", "text/html"):
        answer = DIALECT.read_response(status, {"content-type": content_type}, body)
        assert answer.parts == ()
