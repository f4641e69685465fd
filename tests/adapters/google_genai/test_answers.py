"""Answers in one piece: parts in model order, usage, finish reasons, and what is no answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.genai import types

from turnproof import messages as m
from turnproof.dialects.gemini import DIALECT
from turnproof.errors import ContentFilterError, TransportError
from turnproof_adapters._answers import Listeners
from turnproof_adapters.google_genai.answers import other_part, read
from turnproof_adapters.google_genai.assemble import Assembler
from turnproof_adapters.google_genai.models import target

from ..callback_recorder import CallbackRecorder
from .kit import MARK, MODEL, SIGNATURE, Capture, answer, call, stateless, text, thought

HI = [m.Message.user("hi")]


def receive(reply: dict[str, Any], recorder: CallbackRecorder | None = None, **kwargs: Any) -> m.ProviderResponse:
    """The response for an answer in one piece; what `heard` is told beside it."""
    callbacks = {} if recorder is None else {key: each for key, each in recorder.callbacks.items() if key != "on_chunk"}
    provider = stateless(transport=Capture(reply).transport)
    return provider.complete(HI, **callbacks, **kwargs)


def issued(signature: str = SIGNATURE) -> m.ProviderData:
    return m.ProviderData("gemini", MODEL, {"signature": signature})


def test_parts_come_in_model_order_each_with_its_signature() -> None:
    response = receive(
        answer(
            thought("hm"),
            text("Let me "),
            text("see. "),
            call("berth_free", {"berth": "9"}, "a1", SIGNATURE),
            call("berth_free", {"berth": "10"}, "a2"),
            text("Soon."),
        )
    )
    assert response.parts == (
        m.Thought("hm", provider_data=MARK),
        m.Text("Let me see. "),
        m.FunctionCall("a1", "berth_free", {"berth": "9"}, provider_data=issued()),
        m.FunctionCall("a2", "berth_free", {"berth": "10"}),
        m.Text("Soon."),
    )
    assert response.finish_reason is m.FinishReason.TOOL_USE
    assert response.raw_finish == "STOP"


def test_a_signed_text_is_joined_with_nothing() -> None:
    response = receive(answer(text("a"), text("b", "AAAA"), text("c"), text("d"), text("e", "BBBB"), text("", "CCCC")))
    assert response.text == "abcde"
    assert response.parts == (
        m.Text("a"),
        m.Text("b", provider_data=issued("AAAA")),
        m.Text("cd"),
        m.Text("e", provider_data=issued("BBBB")),
        m.Text("", provider_data=issued("CCCC")),
    )


def test_thoughts_and_texts_are_never_joined_and_empty_ones_are_nothing() -> None:
    response = receive(answer(text(""), thought("a"), thought("b"), text("c"), thought(""), thought("d", "AAAA")))
    assert response.parts == (
        m.Thought("ab", provider_data=MARK),
        m.Text("c"),
        m.Thought("d", provider_data=issued("AAAA")),
    )


def test_a_signature_alone_is_an_empty_text() -> None:
    assert receive(answer(text("a"), {"thoughtSignature": SIGNATURE})).parts == (
        m.Text("a"),
        m.Text("", provider_data=issued()),
    )


def test_a_signature_is_kept_as_it_was_written() -> None:
    url_safe = SIGNATURE.replace("+", "-").replace("/", "_")
    assert url_safe != SIGNATURE
    (part,) = receive(answer(text("a", url_safe))).parts
    assert part.provider_data == issued(signature=url_safe)


def test_code_files_and_unnamed_parts_are_kept() -> None:
    unnamed = {"toolCall": {"id": "s1", "toolType": "GOOGLE_SEARCH_WEB", "args": {"q": "x"}}}
    response = receive(
        answer(
            {"executableCode": {"language": "PYTHON", "code": "1+1", "id": "x"}},
            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2", "id": "x"}},
            {"inlineData": {"mimeType": "image/png", "data": "+/8="}, "thoughtSignature": SIGNATURE},
            {"fileData": {"mimeType": "text/csv", "fileUri": "https://x/y"}, "thoughtSignature": SIGNATURE},
            {**unnamed, "thoughtSignature": SIGNATURE},
        )
    )
    code_data = m.ProviderData("gemini", MODEL, {"id": "x"})
    assert response.parts == (
        m.ExecutableCode("PYTHON", "1+1", provider_data=code_data),
        m.CodeExecutionResult("OUTCOME_OK", "2", provider_data=code_data),
        m.InlineData("image/png", b"\xfb\xff", provider_data=issued()),
        m.FileRef("text/csv", "https://x/y", provider_data=issued()),
        m.Opaque("gemini", "toolCall", unnamed, provider_data=issued()),
    )


def test_of_a_part_that_nothing_names_plain_json_is_kept() -> None:
    """The SDK has words of an enumeration in it, and bytes."""
    blob = types.FunctionResponseBlob(mime_type="image/png", data=b"hi!")
    answered = types.FunctionResponse(name="f", parts=[types.FunctionResponsePart(inline_data=blob)])
    called = types.ToolCall(id="s1", tool_type=types.ToolType.GOOGLE_SEARCH_WEB)
    parts = [
        other_part(part, target(MODEL))
        for part in (types.Part(function_response=answered), types.Part(tool_call=called))
    ]
    assert parts == [
        m.Opaque(
            "gemini",
            "functionResponse",
            {
                "functionResponse": {
                    "name": "f",
                    "parts": [{"inlineData": {"mimeType": "image/png", "data": "aGkh"}}],
                }
            },
        ),
        m.Opaque("gemini", "toolCall", {"toolCall": {"id": "s1", "toolType": "GOOGLE_SEARCH_WEB"}}),
    ]


def test_a_part_that_nobody_could_send_back_is_a_transport_error() -> None:
    half = types.Part(tool_call=types.ToolCall(id="s1", args={"q": "\ud83d"}))
    with pytest.raises(TransportError, match="cannot be kept"):
        other_part(half, target(MODEL))


CODE_DATA = m.ProviderData("gemini", MODEL, {})


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("functionCall", m.FunctionCall("a", "")),
        ("executableCode", m.ExecutableCode("", "", provider_data=CODE_DATA)),
        ("codeExecutionResult", m.CodeExecutionResult("", "", provider_data=CODE_DATA)),
        ("inlineData", m.InlineData("", b"")),
        ("fileData", m.FileRef("", "")),
    ],
)
def test_what_a_part_lacks_is_empty(kind: str, expected: m.Part) -> None:
    fields = {"id": "a"} if kind == "functionCall" else {}
    assert receive(answer({kind: fields})).parts == (expected,)


def test_what_came_goes_back_as_it_came() -> None:
    """The round trip of a whole answer: parse, keep, send."""
    parts = [
        thought("hm", "AAAA"),
        text("a"),
        text("b", SIGNATURE),
        {"executableCode": {"language": "PYTHON", "code": "1+1"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
        {"inlineData": {"mimeType": "image/png", "data": "+/8="}},
        {"toolCall": {"id": "s1", "toolType": "GOOGLE_SEARCH_WEB"}, "thoughtSignature": "DDDD"},
        call("f", {"x": [None, 1.5]}, "a1", "BBBB"),
        call("g", {}, "a2"),
        text("", "CCCC"),
    ]
    capture = Capture(answer(*parts))
    provider = stateless(transport=capture.transport)
    message = m.Message.model(*provider.complete(HI).parts)
    provider.complete([*HI, message])
    assert capture.body["contents"][1]["parts"] == parts


# -- calls


def test_calls_without_ids_get_unique_ones_that_depend_on_the_answer_alone() -> None:
    reply = answer(call("f", {}), call("f", {}), call("f", {}, "own"), call("f", {}))
    *unnamed, own, last = ids = [each.id for each in receive(reply).calls]
    assert len(set(ids)) == 4
    assert own == "own"
    assert [each.id for each in receive(reply).calls] == ids
    assert {each.id for each in receive({**reply, "responseId": "another"}).calls}.isdisjoint({*unnamed, last})


def test_calls_of_answers_without_a_name_get_ids_that_no_other_answer_has() -> None:
    reply = answer(call("f", {}), responseId=None)
    assert receive(reply).calls[0].id != receive(reply).calls[0].id


def test_a_call_without_arguments_has_none() -> None:
    assert receive(answer({"functionCall": {"name": "f", "id": "a"}})).calls == (m.FunctionCall("a", "f", {}),)


@pytest.mark.parametrize("name", ["SAFETY", "MAX_TOKENS", "RECITATION"])
def test_what_ended_early_is_not_taken_for_a_tool_use(name: str) -> None:
    assert receive(answer(text("a"), finish=name)).finish_reason is not m.FinishReason.TOOL_USE
    assert receive(answer(call("f", {}, "a"), finish=name)).finish_reason is not m.FinishReason.TOOL_USE


def test_a_call_of_an_undeclared_tool_is_a_call() -> None:
    response = receive(answer(call("nope", {}, "a"), finish="UNEXPECTED_TOOL_CALL"))
    assert response.calls[0].name == "nope"
    assert response.finish_reason is m.FinishReason.TOOL_USE
    assert response.raw_finish == "UNEXPECTED_TOOL_CALL"


# -- ends


@pytest.mark.filterwarnings("ignore:.*is not a valid FinishReason:UserWarning")
@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("STOP", m.FinishReason.STOP),
        ("MAX_TOKENS", m.FinishReason.MAX_TOKENS),
        ("SAFETY", m.FinishReason.SAFETY),
        ("PROHIBITED_CONTENT", m.FinishReason.SAFETY),
        ("MODEL_ARMOR", m.FinishReason.SAFETY),
        ("LANGUAGE", m.FinishReason.REFUSAL),
        ("CONTINUATION", m.FinishReason.PAUSED),
        ("OTHER", m.FinishReason.ERROR),
        ("UNEXPECTED_TOOL_CALL", m.FinishReason.ERROR),
        ("A_WORD_OF_TOMORROW", m.FinishReason.UNKNOWN),
        (None, m.FinishReason.UNKNOWN),
    ],
)
def test_the_reason_for_the_end_is_told_in_neutral_and_in_the_apis_words(
    raw: str | None, expected: m.FinishReason
) -> None:
    response = receive(answer(text("a"), finish=raw))
    assert response.finish_reason is expected
    assert response.raw_finish == raw


@pytest.mark.parametrize("part", [text("a"), call("f", {}, "a")], ids=["text", "call"])
def test_every_reason_that_the_sdk_knows_is_read_as_the_dialect_reads_it(part: dict[str, Any]) -> None:
    wrong, no_answers = [], []
    for reason in types.FinishReason:
        reply = answer(part, finish=reason.value)
        expected = DIALECT.read_response(200, {}, json.dumps(reply).encode()).finish
        try:
            found = receive(reply).finish_reason
        except TransportError:
            found = m.FinishReason.ERROR
            no_answers.append(reason)
        if found is not expected:
            wrong.append((reason, found, expected))
    assert wrong == []
    assert no_answers == [types.FinishReason.MALFORMED_FUNCTION_CALL, types.FinishReason.MALFORMED_RESPONSE]


def test_one_request_is_made_where_the_sdk_would_go_on_by_itself() -> None:
    """`CONTINUATION` with a token makes the SDK ask again, with our body a second time: that is switched off."""
    reply = answer(text("a"), finish="CONTINUATION")
    reply["candidates"][0]["continuationToken"] = "AAAA"
    capture = Capture(reply)
    response = stateless(transport=capture.transport).complete(HI)
    assert response.finish_reason is m.FinishReason.PAUSED
    assert len(capture.requests) == 1


@pytest.mark.parametrize(
    "content",
    [{"role": "model"}, {}, {"role": "model", "parts": []}, {"parts": [{"text": ""}]}, None],
    ids=["no-parts", "nothing", "empty-parts", "empty-text", "no-content"],
)
@pytest.mark.parametrize("finish", ["STOP", "MAX_TOKENS", "SAFETY"])
def test_a_candidate_without_parts_is_an_empty_answer(content: Any, finish: str) -> None:
    """Recorded: thinking ate the budget, or the answer was blocked."""
    reply = answer(finish=finish)
    reply["candidates"][0]["content"] = content
    response = receive(reply)
    assert response.parts == ()
    assert response.raw_finish == finish
    assert response.usage.prompt_tokens == 61


@pytest.mark.parametrize(("more", "detail"), [({"blockReasonMessage": "not this"}, ": not this"), ({}, "")])
@pytest.mark.parametrize("reason", ["SAFETY", "PROHIBITED_CONTENT", "MODEL_ARMOR"])
def test_a_blocked_prompt_is_a_content_filter_error(reason: str, more: dict[str, str], detail: str) -> None:
    reply = {"promptFeedback": {"blockReason": reason, **more}, "usageMetadata": {"trafficType": "ON_DEMAND"}}
    with pytest.raises(ContentFilterError) as failure:
        receive(reply)
    assert failure.value.message == f"the service refused the prompt ({reason}){detail}"
    assert failure.value.kind == reason
    assert not failure.value.retryable


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("MALFORMED_FUNCTION_CALL", "the model wrote a call that cannot be read"),
        ("MALFORMED_RESPONSE", "the model wrote an answer that cannot be read"),
    ],
)
@pytest.mark.parametrize(("finish_message", "detail"), [(None, ""), ("f(x=)", ": f(x=)")])
def test_what_the_model_wrote_badly_is_worth_another_try(
    finish: str, reason: str, finish_message: str | None, detail: str
) -> None:
    assembler = Assembler(target(MODEL), str, Listeners())
    candidate = types.Candidate(finish_reason=types.FinishReason(finish), finish_message=finish_message)
    assembler.feed(read(types.GenerateContentResponse(candidates=[candidate]), target(MODEL)))
    with pytest.raises(TransportError) as failure:
        assembler.response()
    assert failure.value.message == f"{reason}{detail}"
    assert failure.value.retryable
    assert failure.value.kind == finish


@pytest.mark.parametrize("platform", [{}, {"vertexai": {}}], ids=["studio", "vertex"])
def test_what_the_service_says_of_a_badly_written_call_is_told(platform: dict[str, Any]) -> None:
    reply = answer(finish="MALFORMED_FUNCTION_CALL")
    reply["candidates"][0] |= {"content": {}, "finishMessage": "f(x=)"}
    with pytest.raises(TransportError, match=r"cannot be read: f\(x=\)$"):
        stateless(transport=Capture(reply).transport, **platform).complete(HI)


@pytest.mark.parametrize("reply", [{}, {"candidates": []}, {"usageMetadata": {"promptTokenCount": 1}}])
def test_no_candidate_at_all_is_no_answer(reply: dict[str, Any]) -> None:
    with pytest.raises(TransportError, match="without a candidate"):
        receive(reply)


def test_of_an_answer_that_is_cancelled_what_stands_alone_is_kept() -> None:
    assembler = Assembler(target(MODEL), str, Listeners())
    parts = [thought("a"), thought("b", SIGNATURE), text("c"), call("f", {}, "1"), text("d", SIGNATURE), thought("e")]
    reply = types.GenerateContentResponse.model_validate(answer(*parts, finish=None, modelVersion="gemini-x"))
    assembler.feed(read(reply, target(MODEL)))
    assert assembler.cancelled() == m.ProviderResponse(
        parts=(m.Thought("b", provider_data=issued()), m.Text("c"), m.Text("d", provider_data=issued())),
        usage=m.TokenUsage(61, 29, 90, cache_read_tokens=40, thinking_tokens=23),
        finish_reason=m.FinishReason.CANCELLED,
        model="gemini-x",
    )
    assert not assembler.complete


@pytest.mark.parametrize(("piece", "kind"), [(thought, "thinking"), (text, "text")])
def test_half_a_character_is_told_as_what_it_ended(piece: Any, kind: str) -> None:
    recorder = CallbackRecorder()
    assembler = Assembler(target(MODEL), str, Listeners(**recorder.callbacks))
    reply = types.GenerateContentResponse.model_validate(answer(piece("so \ud83d"), call("f", {}, "a")))
    assembler.feed(read(reply, target(MODEL)))
    assert recorder.events[:2] == [(kind, "so "), (kind, "\ufffd")]
    assert assembler.response().calls == tuple(recorder.calls)


# -- usage


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {
                "promptTokenCount": 61,
                "toolUsePromptTokenCount": 9,
                "candidatesTokenCount": 6,
                "thoughtsTokenCount": 23,
                "cachedContentTokenCount": 40,
                "totalTokenCount": 99,
            },
            m.TokenUsage(70, 29, 99, cache_read_tokens=40, thinking_tokens=23),
        ),
        ({"promptTokenCount": 61, "totalTokenCount": 61}, m.TokenUsage(61, 0, 61)),
        ({"promptTokenCount": None, "candidatesTokenCount": None, "thoughtsTokenCount": None}, m.TokenUsage()),
        ({"trafficType": "ON_DEMAND"}, m.TokenUsage()),
        ({}, m.TokenUsage()),
    ],
)
def test_usage_adds_up(usage: dict[str, Any], expected: m.TokenUsage) -> None:
    recorder = CallbackRecorder()
    response = receive(answer(text("a"), usage=usage), recorder)
    assert response.usage == expected
    assert recorder.usage == [expected]
    assert response.usage.total_tokens == response.usage.prompt_tokens + response.usage.output_tokens


def test_no_usage_at_all_counts_as_nothing() -> None:
    assert receive(answer(text("a"), usage=None)).usage == m.TokenUsage()


# -- structured output and callbacks


@pytest.mark.parametrize(
    ("words", "finish", "expected"),
    [('{"x": 1}', "STOP", {"x": 1}), ('{"x": 1', "MAX_TOKENS", None), ("sorry", "STOP", None)],
)
def test_structured_output_is_parsed_where_it_is_whole(words: str, finish: str, expected: Any) -> None:
    reply = answer(thought("hm"), text(words), finish=finish)
    assert receive(reply, response_schema={"type": "object"}).structured_output == expected
    assert receive(reply).structured_output is None


def test_callbacks_hear_of_a_whole_answer_in_model_order() -> None:
    recorder = CallbackRecorder()
    receive(answer(thought("a"), call("f", {}, "1"), thought("b"), call("g", {}, "2")), recorder)
    assert recorder.kinds == ["thinking", "call", "thinking", "call"]
    assert len(recorder.usage) == 1


@pytest.mark.parametrize("named", [MODEL, None])
def test_the_model_that_answered_is_named_where_the_service_names_it(named: str | None) -> None:
    assert receive(answer(text("hi"), modelVersion=named)).model == named
