"""Answers as they are written: batch, SSE and JSON array say the same, in the shapes that were recorded.

The written side is checked against the recorded forms (which parts, which order, which ids and signatures); the readers
(ours, and in `test_gemini_answers_over_http.py` Google's) keep it honest.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from turnproof.dialects.base import ReplyPart
from turnproof.dialects.gemini import DIALECT, signing
from turnproof.messages import (
    CodeExecutionResult,
    ExecutableCode,
    FinishReason,
    FunctionCall,
    Opaque,
    ProviderData,
    Text,
    Thought,
    ToolSchema,
)

from ..answers import LOOK, chunks, data, reply
from .asks import world
from .builders import MODEL, OLD
from .rendering import FORMS, OLDEST, SHORT_REPLY, ending, new_call, parts_of, read, render, signatures

NAME = "gemini"


# -- what was scripted


@pytest.mark.parametrize("form", FORMS)
def test_code_that_the_service_ran_goes_out_and_comes_back(form: str) -> None:
    code_part = ExecutableCode("PYTHON", "print(41)", provider_data=ProviderData(NAME, MODEL, {"id": "code_1"}))
    script = reply(code_part, CodeExecutionResult("OUTCOME_OK", "41\n"), Text("41 %"))
    code, result, text = read(render(script, new_call(form))).parts
    assert isinstance(code, ExecutableCode)
    assert (code.language, code.code) == ("PYTHON", "print(41)")
    assert code.provider_data is not None
    assert code.provider_data.data["id"] == "code_1"
    assert (result, text) == (CodeExecutionResult("OUTCOME_OK", "41\n"), Text("41 %"))


def test_thinking_shows_only_to_those_who_asked_for_it() -> None:
    shown, hidden = (read(render(SHORT_REPLY, new_call(thoughts=thoughts))) for thoughts in (True, False))
    assert [type(part) for part in shown.parts] == [Thought, Text]
    assert [type(part) for part in hidden.parts] == [Text]
    assert shown.usage == hidden.usage
    assert hidden.usage is not None
    assert hidden.usage.thinking_tokens == 1


@pytest.mark.parametrize("form", FORMS)
def test_neighbouring_thoughts_are_one(form: str) -> None:
    script = reply(Thought("One."), Thought(""), ReplyPart(Thought("Two."), ("Tw", "o.")), Text("3"), Thought("Four."))
    answer = read(render(script, new_call(form)))
    assert [part for part in answer.parts if isinstance(part, Thought)] == [Thought("One.Two."), Thought("Four.")]


@pytest.mark.parametrize("form", FORMS)
def test_parts_that_no_neutral_part_names_go_through(form: str) -> None:
    search = Opaque(NAME, "toolCall", {"toolCall": {"id": "t", "args": {"queries": ["moss"]}}})
    assert read(render(reply(search, Text("Moss.")), new_call(form))).parts == (search, Text("Moss."))


def test_a_tool_is_called_by_a_legal_name() -> None:
    call = replace(new_call(), tools=(ToolSchema("sensor_read"), ToolSchema("water")))
    (found,) = read(render(reply(FunctionCall("", "sensor read")), call)).parts
    assert isinstance(found, FunctionCall)
    assert found.name == "sensor_read"
    wire_reply = DIALECT.speak(
        reply(FunctionCall("", "3beds")), [ToolSchema("3beds")], replace(call, tools=(ToolSchema("_3beds"),))
    )
    assert wire_reply.parts[0].part == FunctionCall("", "_3beds")


# -- the form of a stream


def test_a_stream_has_the_recorded_order_of_chunks() -> None:
    script = reply(Thought("Hm."), ReplyPart(Text("ab"), ("a", "b")), *LOOK[2:], finish=FinishReason.TOOL_USE)
    rendered = render(script, new_call("sse"))
    assert [(event.kind, event.text) for event in rendered.events] == [
        ("thinking", ""), ("text", "a"), ("text", "b"), ("args", ""), ("args", ""), ("end", ""),
    ]  # fmt: skip
    assert all(event.data.startswith(b"data: {") and event.data.endswith(b"}\r\n\r\n") for event in rendered.events)
    assert b"[DONE]" not in data(rendered)
    assert rendered.headers["content-type"] == "text/event-stream"


def test_an_array_is_framed_as_recorded() -> None:
    rendered = render(SHORT_REPLY, new_call("array"))
    first, *middle, last = (event.data for event in rendered.events)
    assert first.startswith(b'[{\n  "candidates": [\n    {\n')
    assert first.endswith(b'"\n}')
    assert all(each.startswith(b'\n,\r\n{\n  "candidates"') for each in (*middle, last))
    assert last.endswith(b'"\n}\n]')
    assert rendered.headers["content-type"] == "application/json; charset=UTF-8"


def test_only_the_last_chunk_has_the_finish_and_it_has_no_text() -> None:
    *before, last = chunks(render(SHORT_REPLY, new_call("sse")))
    assert all("finishReason" not in each["candidates"][0] for each in before)
    assert last["candidates"][0]["finishReason"] == "STOP"
    assert last["candidates"][0]["content"]["parts"][0]["text"] == ""


def test_a_call_comes_whole_in_one_chunk_whatever_its_pieces() -> None:
    call = ReplyPart(FunctionCall("", "read_sensor", {"bed": "3"}), ('{"be', 'd": "3"}'))
    rendered = render(reply(call), new_call("sse"))
    (chunk,) = [each for each in rendered.events if each.kind == "args"]
    assert b'"args": {"bed": "3"}' in chunk.data


@pytest.mark.parametrize("pieces", [(), ("",), ("{", "}")])
def test_a_call_without_arguments_has_an_empty_object(pieces: tuple[str, ...]) -> None:
    rendered = render(reply(ReplyPart(FunctionCall("", "read_sensor"), pieces)), new_call())
    (call,) = parts_of(rendered)
    assert call["functionCall"]["args"] == {}


def test_behind_a_call_a_stream_ends_without_the_remark_that_a_batch_answer_has() -> None:
    script = reply(*LOOK, finish=FinishReason.TOOL_USE)
    assert ending(render(script, new_call()))["finishMessage"] == "Model generated function call(s)."
    assert "finishMessage" not in ending(render(script, new_call("sse")))
    assert "finishMessage" not in ending(render(script, new_call(model=OLDEST)))
    assert "finishMessage" not in ending(render(script, new_call(vertex=True)))


@pytest.mark.parametrize("form", FORMS)
def test_the_two_surfaces_differ_as_recorded(form: str) -> None:
    here, there = (render(SHORT_REPLY, new_call(form, vertex=vertex)) for vertex in (False, True))
    assert [type(part) for part in read(here).parts] == [type(part) for part in read(there).parts]
    assert read(here).usage == read(there).usage
    for chunk in chunks(here):
        assert chunk["candidates"][0]["index"] == 0
        assert chunk["usageMetadata"]["serviceTier"] == "standard"
        assert "createTime" not in chunk
    for chunk in chunks(there):
        assert "index" not in chunk["candidates"][0]
        assert chunk["usageMetadata"]["trafficType"] == "ON_DEMAND"
        assert chunk["createTime"] == "2023-11-14T22:13:20.000000Z"


def test_an_answer_names_the_model_behind_an_alias() -> None:
    (chunk,) = chunks(render(SHORT_REPLY, new_call(model="gemini-flash-latest")))
    assert chunk["modelVersion"] == "gemini-3.6-flash"


# -- ids and signatures


@pytest.mark.parametrize(("model", "ids"), [(MODEL, True), ("gemini-3-pro-preview", False), (OLD, False)])
@pytest.mark.parametrize("form", FORMS)
def test_calls_have_ids_where_the_model_gives_them(model: str, ids: bool, form: str) -> None:
    rendered = render(reply(*LOOK), new_call(form, model))
    calls = [part["functionCall"] for part in parts_of(rendered) if "functionCall" in part]
    assert ["id" in call for call in calls] == [ids, ids]
    assert [bool(part.id) for part in read(rendered).parts if isinstance(part, FunctionCall)] == [ids, ids]


@pytest.mark.parametrize("form", FORMS)
def test_only_the_first_call_of_an_answer_is_signed(form: str) -> None:
    found = [bool(each) for each in signatures(render(reply(*LOOK), new_call(form)))]
    closing = [False] if form != "batch" else []
    texts = len(found) - 3 - len(closing)
    assert found == [False, *[False] * texts, True, False, *closing]


@pytest.mark.parametrize("form", FORMS)
def test_an_answer_without_calls_is_signed_at_its_end(form: str) -> None:
    rendered = render(SHORT_REPLY, new_call(form))
    *before, last = signatures(rendered)
    assert last is not None
    assert not any(before)
    issued = ProviderData(NAME, MODEL, {"signature": last})
    closing = (Text("41 %", provider_data=issued),) if form == "batch" else (
        Text("41 %"), Text("", provider_data=issued),
    )  # fmt: skip
    assert read(rendered).parts == (Thought("Hm."), *closing)


@pytest.mark.parametrize("form", FORMS)
def test_without_thinking_a_text_is_not_signed(form: str) -> None:
    assert not any(signatures(render(reply(Text("41 %")), new_call(form))))


def test_a_model_that_does_not_sign_signs_nothing() -> None:
    assert not any(signatures(render(reply(*LOOK), new_call(model=OLDEST))))


@pytest.mark.parametrize("form", FORMS)
def test_issued_signatures_are_known_to_the_world_with_what_they_sign(form: str) -> None:
    at = world()
    before = dict(at.issued)
    rendered = render(reply(*LOOK), new_call(form), at=at)
    ((signature, (signed, model)),) = at.issued.items() - before.items()
    assert signature in signatures(rendered)
    assert signed == signing.digest(FunctionCall("another", "read_sensor", {"leaf": "🍃", "unit": "°C", "bed": "3"}))
    assert model == MODEL
    elsewhere = world()
    DIALECT.observe(new_call(form), 200, rendered.headers, data(rendered), elsewhere)
    assert elsewhere.issued == at.issued


def test_a_signature_is_written_differently_in_the_two_alphabets() -> None:
    (signature,) = filter(None, signatures(render(reply(*LOOK), new_call())))
    assert "+" in signature
    assert "/" in signature


def test_what_was_thought_goes_into_the_signature_redacted_or_not() -> None:
    redacted = Thought("", provider_data=ProviderData("scenario", "", {"redacted": "aGlkZGVu"}))
    scripts = [reply(*thoughts, FunctionCall("", "read_sensor")) for thoughts in ((), (Thought("Hm."),), (redacted,))]
    found = {next(filter(None, signatures(render(each, new_call())))) for each in scripts}
    assert len(found) == 3
    hidden = render(scripts[2], new_call())
    assert [type(part) for part in read(hidden).parts] == [FunctionCall]


def test_a_scripted_signature_is_kept_in_its_own_alphabet_and_known_in_the_other() -> None:
    at = world()
    scripted = FunctionCall("", "read_sensor", provider_data=ProviderData("scenario", "", {"signature": "-_-_c2ln"}))
    rendered = render(reply(scripted), new_call(model=OLDEST), at=at)
    assert signatures(rendered) == ["-_-_c2ln"]
    (call,) = read(rendered).parts
    assert call.provider_data == ProviderData(NAME, OLDEST, {"signature": "+/+/c2ln"})
    assert at.issued["+/+/c2ln"] == (signing.digest(scripted), OLDEST)
