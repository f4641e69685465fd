"""How answers end and what they cost: finish reasons, answers without parts, and figures that grow to their last."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import msgspec
import pytest

from turnproof.dialects.base import Rendered, Reply, ReplyPart
from turnproof.dialects.gemini import DIALECT
from turnproof.errors import HarnessError
from turnproof.messages import FinishReason, FunctionCall, Text, Thought, TokenUsage

from ..answers import chunks, reply
from ..requests import Json
from .rendering import FORMS, SHORT_REPLY, ending, new_call, read, render

# -- how it ends


@pytest.mark.parametrize(
    ("finish", "raw", "written", "neutral"),
    [
        (FinishReason.STOP, None, "STOP", FinishReason.STOP),
        (FinishReason.PAUSED, None, "STOP", FinishReason.STOP),
        (FinishReason.MAX_TOKENS, None, "MAX_TOKENS", FinishReason.MAX_TOKENS),
        (FinishReason.CONTEXT_LIMIT, None, "MAX_TOKENS", FinishReason.MAX_TOKENS),
        (FinishReason.SAFETY, None, "SAFETY", FinishReason.SAFETY),
        (FinishReason.REFUSAL, None, "PROHIBITED_CONTENT", FinishReason.SAFETY),
        (FinishReason.STOP, "stop_sequence", "STOP", FinishReason.STOP),
        (FinishReason.SAFETY, "RECITATION", "RECITATION", FinishReason.SAFETY),
        (FinishReason.SAFETY, "BLOCKLIST", "BLOCKLIST", FinishReason.SAFETY),
        (FinishReason.SAFETY, "MODEL_ARMOR", "MODEL_ARMOR", FinishReason.SAFETY),
        (FinishReason.UNKNOWN, "sundown", "sundown", FinishReason.UNKNOWN),
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_each_finish_reason_goes_out_and_comes_back(
    finish: FinishReason, raw: str | None, written: str, neutral: FinishReason, form: str
) -> None:
    answer = read(render(reply(Text("a"), finish=finish, raw_finish=raw), new_call(form)))
    assert (answer.raw_finish, answer.finish, answer.complete) == (written, neutral, True)
    assert "".join(part.text for part in answer.parts if isinstance(part, Text)) == "a"


@pytest.mark.parametrize(
    ("number", "finish"),
    [
        (1, FinishReason.STOP),
        (2, FinishReason.MAX_TOKENS),
        (3, FinishReason.SAFETY),
        (5, FinishReason.ERROR),
        ("8", FinishReason.SAFETY),
        (9, None),
        (12, None),
    ],
)
def test_a_reason_that_comes_as_a_number_is_read_where_it_means_one_thing(
    number: int | str, finish: FinishReason | None
) -> None:
    candidate = {"content": {"parts": [{"text": "a"}]}, "finishReason": number}
    answer = DIALECT.read_response(200, {}, msgspec.json.encode({"candidates": [candidate]}))
    assert (answer.finish, answer.raw_finish, answer.complete) == (finish, str(number), True)


def test_a_call_that_ends_with_the_number_of_stop_is_a_tool_use() -> None:
    candidate = {"content": {"parts": [{"functionCall": {"name": "read_sensor"}}]}, "finishReason": 1}
    answer = DIALECT.read_response(200, {}, msgspec.json.encode({"candidates": [candidate]}))
    assert answer.finish is FinishReason.TOOL_USE


def test_a_reason_that_the_api_lacks_is_our_mistake() -> None:
    with pytest.raises(HarnessError, match="no finishReason"):
        render(reply(Text("a"), finish=FinishReason.ERROR), new_call())


@pytest.mark.parametrize(
    ("finish", "raw", "content"),
    [
        (FinishReason.MAX_TOKENS, None, {"role": "model"}),
        (FinishReason.SAFETY, None, {}),
        (FinishReason.SAFETY, "MODEL_ARMOR", None),
        (FinishReason.SAFETY, "RECITATION", {}),
        (FinishReason.REFUSAL, None, {}),
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_an_answer_without_parts_has_the_content_recorded_for_its_end(
    finish: FinishReason, raw: str | None, content: Json | None, form: str
) -> None:
    rendered = render(reply(finish=finish, raw_finish=raw), new_call(form))
    assert ending(rendered).get("content") == content
    assert (read(rendered).parts, read(rendered).complete) == ((), True)
    assert len(rendered.events) == 1


def test_what_filters_stopped_says_what_they_saw() -> None:
    assert any(
        each.get("blocked") for each in ending(render(reply(finish=FinishReason.SAFETY), new_call()))["safetyRatings"]
    )
    armoured = ending(render(reply(finish=FinishReason.SAFETY, raw_finish="MODEL_ARMOR"), new_call()))
    assert "Responsible AI Safety" in armoured["finishMessage"]


def test_nothing_at_all_comes_in_both_recorded_forms() -> None:
    found = [ending(render(reply(), new_call(), seed=seed))["content"] for seed in "abcdefgh"]
    assert {"role": "model"} in found
    assert {"parts": [{"text": ""}], "role": "model"} in found
    assert {read(render(reply(), new_call(), seed=seed)).parts for seed in "abcdefgh"} == {()}


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (reply(finish=FinishReason.REFUSAL, raw_finish="PROMPT_BLOCKED:PROHIBITED_CONTENT"), "PROHIBITED_CONTENT"),
        (reply(finish=FinishReason.SAFETY, raw_finish="PROMPT_BLOCKED:BLOCKLIST"), "BLOCKLIST"),
        (reply(Text("never said"), finish=FinishReason.SAFETY, raw_finish="PROMPT_BLOCKED"), "SAFETY"),
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_a_blocked_prompt_has_no_candidates(script: Reply, reason: str, form: str) -> None:
    rendered = render(script, new_call(form))
    (chunk,) = chunks(rendered)
    assert "candidates" not in chunk
    assert chunk["promptFeedback"] == {"blockReason": reason}
    assert chunk["usageMetadata"]["totalTokenCount"] == 1551
    answer = read(rendered)
    assert (answer.finish, answer.raw_finish, answer.parts) == (FinishReason.SAFETY, reason, ())
    assert answer.complete
    assert rendered.events[0].kind == ("body" if form == "batch" else "end")


CLIPPED = ReplyPart(FunctionCall("c", "write", {"path": "a"}), ('{"path": "a", ', '"text": "pri'), broken=True)
MANGLED = ReplyPart(FunctionCall("c", "write"), ('{"path": a}',))


@pytest.mark.parametrize("form", FORMS)
def test_a_call_that_the_limit_cut_off_is_not_there(form: str) -> None:
    answer = read(render(reply(Text("I write."), CLIPPED, finish=FinishReason.MAX_TOKENS), new_call(form)))
    assert (answer.parts, answer.finish, answer.broken_calls) == ((Text("I write."),), FinishReason.MAX_TOKENS, 0)


@pytest.mark.parametrize(
    "script",
    [
        reply(Text("I write."), MANGLED, finish=FinishReason.TOOL_USE),
        reply(Text("I write."), CLIPPED, finish=FinishReason.TOOL_USE),
        reply(Text("I write."), FunctionCall("", "write", {"path": "a"}), raw_finish="MALFORMED_FUNCTION_CALL"),
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_a_call_that_is_none_is_told_by_the_finish(script: Reply, form: str) -> None:
    rendered = render(script, new_call(form))
    assert ending(rendered)["finishMessage"].startswith("Malformed function call: write({")
    answer = read(rendered)
    assert (answer.parts, answer.finish, answer.broken_calls) == ((Text("I write."),), FinishReason.ERROR, 1)


@pytest.mark.parametrize("form", FORMS)
def test_an_unexpected_call_is_still_there_to_be_answered(form: str) -> None:
    rendered = render(reply(FunctionCall("", "list_files"), raw_finish="UNEXPECTED_TOOL_CALL"), new_call(form))
    expected = "Unexpected tool call: Model tried to call an undeclared function: list_files"
    assert ending(rendered)["finishMessage"] == expected
    answer = read(rendered)
    assert [part.name for part in answer.parts if isinstance(part, FunctionCall)] == ["list_files"]
    assert (answer.finish, answer.raw_finish) == (FinishReason.TOOL_USE, "UNEXPECTED_TOOL_CALL")
    alone = b'{"candidates": [{"finishReason": "UNEXPECTED_TOOL_CALL"}]}'
    assert DIALECT.read_response(200, {}, alone).finish is FinishReason.ERROR


# -- usage


def test_the_parts_of_the_usage_add_up_and_zeros_are_left_out() -> None:
    usage = chunks(render(reply(Text("41 %")), new_call()))[0]["usageMetadata"]
    assert usage == {
        "promptTokenCount": 1551,
        "cachedContentTokenCount": 1520,
        "candidatesTokenCount": 1,
        "totalTokenCount": 1552,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 1551}],
        "cacheTokensDetails": [{"modality": "TEXT", "tokenCount": 1520}],
        "serviceTier": "standard",
    }


@pytest.mark.parametrize("form", FORMS)
def test_scripted_figures_win(form: str) -> None:
    script = replace(SHORT_REPLY, usage={"fresh": 5, "cache_read": 7, "cache_write": 2, "output": 9, "thinking": 4})
    assert read(render(script, new_call(form))).usage == TokenUsage(14, 9, 23, 7, 0, 4)


@pytest.mark.parametrize("form", FORMS)
def test_figures_that_are_all_zero_are_not_there(form: str) -> None:
    script = replace(SHORT_REPLY, usage={"fresh": 0, "cache_read": 0, "output": 0})
    rendered = render(script, new_call(form))
    assert chunks(rendered)[-1]["usageMetadata"] == {"serviceTier": "standard"}
    assert read(rendered).usage == TokenUsage()


def test_thinking_that_takes_more_than_the_whole_output_takes_all_of_it() -> None:
    script = replace(SHORT_REPLY, usage={"output": 3, "thinking": 8})
    assert read(render(script, new_call())).usage == TokenUsage(1551, 3, 1554, 1520, 0, 3)


def usages(rendered: Rendered) -> list[Json]:
    return [each["usageMetadata"] for each in chunks(rendered)]


def test_usage_is_in_every_chunk_and_grows_to_its_last_figures() -> None:
    script = reply(Thought("Bed 3 needs the sensor."), Text("41 % " * 20), Thought("Enough."), Text("Fine. " * 9))
    bodies = map(msgspec.json.encode, chunks(render(script, new_call("sse"))))
    found = [DIALECT.read_response(200, {}, body).usage or TokenUsage() for body in bodies]
    for before, after in pairwise(found):
        assert all(getattr(before, name) <= getattr(after, name) for name in TokenUsage.__struct_fields__)
    assert found[0] == TokenUsage(1551, 0, 1551, 1520)
    assert found[-1] == read(render(script, new_call())).usage


def test_on_some_answers_the_prompt_is_corrected_by_the_last_chunk() -> None:
    corrected = 0
    for seed in map(str, range(30)):
        first, *_, last = usages(render(SHORT_REPLY, new_call("sse"), seed=seed))
        assert last["promptTokenCount"] == 1551
        assert first["promptTokenCount"] in (1551, 1540)
        assert first["promptTokenCount"] >= first["cachedContentTokenCount"] == 1520
        corrected += first["promptTokenCount"] != 1551
    assert 3 <= corrected <= 20


def test_on_vertex_only_the_last_chunk_has_figures() -> None:
    *before, last = usages(render(SHORT_REPLY, new_call("sse", vertex=True)))
    assert all(each == {"trafficType": "ON_DEMAND"} for each in before)
    assert last["promptTokenCount"] == 1551


def test_null_and_missing_figures_count_as_nothing() -> None:
    body = b'{"usageMetadata": {"promptTokenCount": 12, "candidatesTokenCount": null, "totalTokenCount": 12}}'
    assert DIALECT.read_response(200, {}, body).usage == TokenUsage(12, 0, 12)


def test_what_tools_of_the_service_fed_back_is_prompt() -> None:
    body = b'{"usageMetadata": {"promptTokenCount": 10, "toolUsePromptTokenCount": 5, "candidatesTokenCount": 2}}'
    assert DIALECT.read_response(200, {}, body).usage == TokenUsage(15, 2, 17)
