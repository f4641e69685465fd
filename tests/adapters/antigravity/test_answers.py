"""Answers in one piece: out of the envelope, each kind of part, and what is known of each family of models."""

from __future__ import annotations

import json
from typing import Any

import pytest

from turnproof import messages as m
from turnproof.errors import ContentFilterError, ProviderError, RateLimitError, TransportError

from ..callback_recorder import CallbackRecorder
from .kit import (
    CLAUDE,
    GEMINI,
    OLD,
    PATHS,
    SIGNATURE,
    Capture,
    answer,
    asking,
    call,
    envelope,
    issued,
    mark,
    stateless,
    text,
    thought,
)

HI = [m.Message.user("hi")]


def receive(
    reply: Any, recorder: CallbackRecorder | None = None, model: str = GEMINI, **kwargs: Any
) -> m.ProviderResponse:
    """A batch answer; callbacks but `on_chunk`, which would stream."""
    callbacks: dict[str, Any] = dict(recorder.callbacks) if recorder is not None else {}
    callbacks.pop("on_chunk", None)
    return stateless(model=model, transport=Capture(reply).transport).complete(HI, **callbacks, **kwargs)


@PATHS
@pytest.mark.parametrize("wrapped", [True, False], ids=["envelope", "bare"])
def test_an_answer_is_read_with_and_without_its_envelope(path: str, wrapped: bool) -> None:
    reply = envelope(text("hi")) if wrapped else answer(text("hi"))
    response = asking(path, transport=Capture(reply).transport)()
    assert response == m.ProviderResponse(
        parts=(m.Text("hi"),),
        usage=m.TokenUsage(96, 32, 128, cache_read_tokens=40, thinking_tokens=10),
        finish_reason=m.FinishReason.STOP,
        raw_finish="STOP",
        model=GEMINI,
    )


@pytest.mark.parametrize(
    ("finish", "parts", "expected"),
    [
        ("OTHER", [call("gate", {}, "toolu_vrtx_01A")], m.FinishReason.TOOL_USE),
        ("STOP", [call("gate", {}, "toolu_vrtx_01A")], m.FinishReason.TOOL_USE),
        ("OTHER", [text("hm")], m.FinishReason.ERROR),
        ("STOP", [text("hm")], m.FinishReason.STOP),
        ("MAX_TOKENS", [text("hm")], m.FinishReason.MAX_TOKENS),
        ("MAX_TOKENS", [call("gate", {}, "toolu_vrtx_01A")], m.FinishReason.MAX_TOKENS),
        ("SAFETY", [], m.FinishReason.SAFETY),
        ("NEW_WORD", [text("hm")], m.FinishReason.UNKNOWN),
    ],
)
@pytest.mark.parametrize("model", [GEMINI, CLAUDE])
def test_it_is_the_parts_that_tell_whether_tools_are_called(
    model: str, finish: str, parts: list[Any], expected: m.FinishReason
) -> None:
    response = receive(envelope(*parts, finish=finish), model=model)
    assert (response.finish_reason, response.raw_finish) == (expected, finish)


def test_claudes_calls_keep_their_ids_and_tools_their_own_names() -> None:
    tool = m.ToolSchema("mcp/gate state")
    capture = Capture()
    provider = stateless(model=CLAUDE, transport=capture.transport)
    provider.complete(HI, tools=[tool])
    name = capture.request["tools"][0]["functionDeclarations"][0]["name"]
    reply = envelope(call(name, {"gate": "east"}, "toolu_vrtx_01A"), finish="OTHER")
    (part,) = receive(reply, model=CLAUDE, tools=[tool]).parts
    assert part == m.FunctionCall("toolu_vrtx_01A", "mcp/gate state", {"gate": "east"})


def test_calls_without_an_id_get_one_that_is_the_same_for_the_same_answer() -> None:
    reply = envelope(call("f", {}), call("f", {}))
    first, second = (receive(reply).calls for _ in range(2))
    assert first == second
    assert len({each.id for each in first}) == 2


SIGNED = m.Thought("Check the gate.", provider_data=issued(CLAUDE))


@pytest.mark.parametrize(
    "pieces",
    [
        [thought("Check the gate.", SIGNATURE)],
        [thought("Check the gate."), thought("", SIGNATURE)],
        [thought("Check "), thought("the gate."), thought("", SIGNATURE)],
        [thought("Check "), thought("the gate.", SIGNATURE)],
        [thought("Check the gate."), {"thoughtSignature": SIGNATURE, "thought": True}],
    ],
)
def test_a_signature_of_claudes_belongs_to_the_thought_before_it(pieces: list[Any]) -> None:
    recorder = CallbackRecorder()
    response = receive(envelope(*pieces, text("Shut.")), recorder, CLAUDE)
    assert response.parts == (SIGNED, m.Text("Shut."))
    assert "".join(piece for kind, piece in recorder.events if kind == "thinking") == "Check the gate."


def test_two_thoughts_of_claudes_stay_two() -> None:
    parts = receive(envelope(thought("a", "QUFB"), thought("b"), thought("", "QkJC")), model=CLAUDE).parts
    assert parts == (
        m.Thought("a", provider_data=issued(CLAUDE, "QUFB")),
        m.Thought("b", provider_data=issued(CLAUDE, "QkJC")),
    )


def test_half_a_character_ends_with_the_thought_that_it_ended(httpx2_mock: Any) -> None:
    body = json.dumps(envelope(thought("so \ud83d"), thought("", SIGNATURE)))
    httpx2_mock.route().respond(content=body.encode())
    (part,) = asking("stateless", model=CLAUDE)().parts
    assert part == m.Thought("so \ufffd", provider_data=issued(CLAUDE))


def test_a_signature_of_geminis_stands_in_the_part_it_came_in() -> None:
    parts = receive(envelope(thought("a"), text("b"), text("", SIGNATURE))).parts
    assert parts == (m.Thought("a", provider_data=mark()), m.Text("b"), m.Text("", provider_data=issued()))


def test_a_signature_is_kept_as_it_was_written() -> None:
    """It is the service's own: whichever alphabet it chose is the right one."""
    url_safe = SIGNATURE.replace("+", "-").replace("/", "_")
    (part,) = receive(envelope(text("a", url_safe))).parts
    assert part.provider_data == issued(signature=url_safe)


def test_code_files_and_unnamed_parts_are_kept() -> None:
    search = {"toolCall": {"id": "s", "toolType": "GOOGLE_SEARCH_WEB"}}
    parts = receive(
        envelope(
            {"executableCode": {"language": "PYTHON", "code": "1+1", "id": "x"}},
            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
            {"inlineData": {"mimeType": "image/png", "data": "+/8="}, "thoughtSignature": SIGNATURE},
            {"inlineData": {"mimeType": "image/png", "data": "-_8"}},
            {"fileData": {"mimeType": "text/csv", "fileUri": "gs://a/b"}},
            {**search, "thoughtSignature": SIGNATURE},
            {},
            {"thought": True},
        )
    ).parts
    assert parts == (
        m.ExecutableCode("PYTHON", "1+1", provider_data=m.ProviderData("antigravity", GEMINI, {"id": "x"})),
        m.CodeExecutionResult("OUTCOME_OK", "2", provider_data=m.ProviderData("antigravity", GEMINI, {})),
        m.InlineData("image/png", b"\xfb\xff", provider_data=issued()),
        m.InlineData("image/png", b"\xfb\xff"),
        m.FileRef("text/csv", "gs://a/b"),
        m.Opaque("antigravity", "toolCall", search, provider_data=issued()),
    )


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"promptTokenCount": 96, "candidatesTokenCount": 31, "totalTokenCount": 127}, m.TokenUsage(96, 31, 127)),
        ({"promptTokenCount": None, "candidatesTokenCount": None, "thoughtsTokenCount": None}, m.TokenUsage()),
        ({"promptTokenCount": -4, "candidatesTokenCount": 10**40}, m.TokenUsage()),
        ({"promptTokenCount": 1, "toolUsePromptTokenCount": 2, "candidatesTokenCount": 4}, m.TokenUsage(3, 4, 7)),
        ({}, m.TokenUsage()),
        (None, m.TokenUsage()),
    ],
)
@PATHS
def test_figures_add_up_whatever_is_missing(path: str, usage: Any, expected: m.TokenUsage) -> None:
    response = asking(path, transport=Capture(envelope(text("a"), usage=usage)).transport)()
    assert response.usage == expected


@pytest.mark.parametrize("reason", ["SAFETY", "PROHIBITED_CONTENT"])
@PATHS
def test_a_blocked_prompt_is_told_as_what_it_is(path: str, reason: str) -> None:
    feedback = {"blockReason": reason, "blockReasonMessage": "not this"}
    reply = {"response": {"promptFeedback": feedback, "usageMetadata": {"promptTokenCount": 5}}}
    with pytest.raises(ContentFilterError) as failure:
        asking(path, transport=Capture(reply).transport)()
    assert (failure.value.kind, failure.value.retryable) == (reason, False)
    assert failure.value.message == f"the service refused the prompt ({reason}): not this"


NOTHING = [
    {},
    {"response": {}},
    {"response": {"candidates": []}},
    {"response": {"candidates": None}},
    {"response": None},
    {"response": {"candidates": [{"content": None}]}},
    {"response": {"candidates": [{"content": {"parts": None}}]}},
]


@PATHS
@pytest.mark.parametrize("reply", NOTHING)
def test_an_answer_without_a_candidate_is_none(path: str, reply: Any) -> None:
    with pytest.raises(TransportError, match="without a candidate") as failure:
        asking(path, transport=Capture(reply).transport)()
    assert failure.value.retryable


def test_an_answer_that_ended_without_a_word_is_one() -> None:
    response = receive(envelope(finish="STOP"))
    assert (response.parts, response.finish_reason) == ((), m.FinishReason.STOP)


WRONG = [
    b"{",
    b"null",
    b'"hi"',
    b"[]",
    b'{"response": 7}',
    b'{"response": {"candidates": {}}}',
    b'{"response": {"candidates": [{"content": {"parts": [7]}}]}}',
    b'{"response": {"candidates": [{"content": {"parts": [{"text": 7}]}}]}}',
    b'{"response": {"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": []}}]}}]}}',
    b'{"response": {"candidates": [{"content": {"parts": [{"inlineData": {"data": "!"}}]}}]}}',
    b'{"response": {"usageMetadata": {"promptTokenCount": "many"}}}',
    b'{"response": {"candidates": [{"content": {"parts": [{"toolCall": {"x": NaN}}]}}]}}',
    b'{"response": {"candidates": [{"content": {"parts": [{"toolCall": {"x": "\\ud83d"}}]}}]}}',
    b'{"response": {"candidates": [{"content": {"parts": [{"toolCall": %b1%b}]}}]}}' % (b"[" * 900, b"]" * 900),
    b"[" * 20_000,
    b'{"response": ' * 20_000,
    b"<html>Sign in</html>",
    b"",
]


@PATHS
@pytest.mark.parametrize("body", WRONG, ids=range(len(WRONG)))
def test_what_is_no_answer_of_the_gateways_says_so_under_its_status(path: str, body: bytes, httpx2_mock: Any) -> None:
    httpx2_mock.route().respond(content=body)
    with pytest.raises(TransportError, match="what is no answer") as failure:
        asking(path)()
    assert failure.value.status == 200
    assert failure.value.retryable
    assert failure.value.__cause__ is failure.value.__context__ is None, "what was decoded stays with the decoder"


@PATHS
def test_an_error_in_place_of_an_answer_is_one_whatever_the_status_was(path: str) -> None:
    reply = {"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED"}}
    with pytest.raises(RateLimitError) as failure:
        asking(path, transport=Capture(reply).transport)()
    assert (failure.value.status, failure.value.kind, failure.value.message) == (429, "RESOURCE_EXHAUSTED", "slow")


@pytest.mark.parametrize("error", ["odd", {"code": "odd"}, {"code": 7}, ["x"], {"code": True}])
def test_an_error_without_a_number_is_still_one(error: Any) -> None:
    with pytest.raises(ProviderError) as failure:
        receive({"error": error})
    assert type(failure.value) is TransportError
    assert failure.value.status is None


def test_a_badly_written_call_is_worth_another_try() -> None:
    candidate = {"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "f(x=)"}
    with pytest.raises(TransportError, match=r"cannot be read: f\(x=\)$") as failure:
        receive({"response": {"candidates": [candidate]}})
    assert failure.value.retryable


@PATHS
def test_halves_of_characters_are_joined_or_shown_as_lost(path: str, httpx2_mock: Any) -> None:
    body = json.dumps(envelope(text("a \ud83d"), text("\ude00 \ud83d"))).encode()
    httpx2_mock.route().respond(content=body)
    assert asking(path)().parts == (m.Text("a 😀 \ufffd"),)


def test_structured_output_is_parsed_where_it_is_whole() -> None:
    assert receive(envelope(text('{"x": 1}')), response_schema={"type": "object"}).structured_output == {"x": 1}
    assert receive(envelope(text('{"x": 1'), finish="MAX_TOKENS"), response_schema={}).structured_output is None


def test_an_old_model_has_no_signatures_and_needs_none() -> None:
    (part,) = receive(envelope(call("f", {"x": 1.5})), model=OLD).parts
    assert isinstance(part, m.FunctionCall)
    assert part.provider_data is None
