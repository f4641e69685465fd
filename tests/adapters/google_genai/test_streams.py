"""Answers in pieces: the same result as in one, told as it arrives; and streams that do not come to their end."""

from __future__ import annotations

import json
from typing import Any

import pytest

from turnproof.errors import ContentFilterError, OverloadedError, ProviderError, RateLimitError, TransportError
from turnproof.messages import FinishReason, FunctionCall, Message, ProviderData, ProviderResponse, Text, Thought

from ..callback_recorder import CallbackRecorder
from .kit import MARK, MODEL, SIGNATURE, Capture, call, chunk, event, stateless, stream, text, thought

HI = [Message.user("hi")]


def streamed(events: list[bytes], recorder: CallbackRecorder | None = None, **kwargs: Any) -> ProviderResponse:
    provider = stateless(transport=Capture(events=events).transport)
    return provider.complete(HI, **(recorder or CallbackRecorder()).callbacks, **kwargs)


def failing(events: list[bytes], recorder: CallbackRecorder | None = None) -> ProviderError:
    with pytest.raises(ProviderError) as failure:
        streamed(events, recorder)
    return failure.value


PARTS = [
    thought("h"),
    thought("m"),
    text("Berth "),
    text("9 "),
    text("is free.", SIGNATURE),
    call("f", {"x": 1}, "a1", "AAAA"),
    call("g", {}, "a2"),
    text("", "BBBB"),
]


def test_the_pieces_of_a_text_are_one_part_up_to_a_signature() -> None:
    """A stream splits a text anywhere; the signed end of it stays apart, however it was cut."""
    response = streamed(stream(text("Be"), text("rth"), text(" 9", SIGNATURE)))
    assert response.parts == (
        Text("Berth"),
        Text(" 9", provider_data=ProviderData("gemini", MODEL, {"signature": SIGNATURE})),
    )


def test_several_parts_of_one_chunk_are_all_taken() -> None:
    recorder = CallbackRecorder()
    response = streamed([chunk(text("a"), thought("b"), text("c"), call("f", {}, "1"), finish="STOP")], recorder)
    assert response.parts == (Text("a"), Thought("b", provider_data=MARK), Text("c"), FunctionCall("1", "f", {}))
    assert recorder.events[:3] == [("text", "a"), ("thinking", "b"), ("text", "c")]


def test_calls_keep_their_order_and_their_place_among_texts_over_chunks() -> None:
    response = streamed(stream(text("a"), call("f", {}, "1"), text("b"), call("f", {}, "2"), text("")))
    assert [type(part) for part in response.parts] == [Text, FunctionCall, Text, FunctionCall]
    assert response.finish_reason is FinishReason.TOOL_USE


def test_calls_without_ids_are_told_apart_over_chunks_too() -> None:
    recorder = CallbackRecorder()
    response = streamed(stream(call("f", {}), call("f", {}), text("")), recorder)
    assert len({each.id for each in response.calls}) == 2
    assert recorder.calls == list(response.calls)


def test_the_last_figures_count_and_none_that_a_callback_heard_falls() -> None:
    """Recorded: `promptTokenCount` goes from 169 to 79 in the last chunk, or from 59 to 128. Nothing is summed."""
    recorder = CallbackRecorder()
    response = streamed(
        [
            chunk(text("a"), usage={"promptTokenCount": 169, "totalTokenCount": 169}),
            chunk(text("b"), usage={"promptTokenCount": 169, "candidatesTokenCount": 3, "thoughtsTokenCount": 9}),
            chunk(text("c"), finish="STOP", usage={"promptTokenCount": 79, "candidatesTokenCount": 4}),
        ],
        recorder,
    )
    assert (response.usage.prompt_tokens, response.usage.output_tokens) == (79, 4)
    assert response.usage.total_tokens == 83
    assert [each.prompt_tokens for each in recorder.usage] == [169, 169, 169]
    assert [each.output_tokens for each in recorder.usage] == [0, 12, 12]


def test_chunks_that_say_nothing_change_nothing() -> None:
    nothing: list[Any] = [{}, {"candidates": []}, {"candidates": [{"index": 0}]}, {"candidates": [{"content": {}}]}]
    response = streamed([*map(event, nothing), *stream(text("a"), text("b")), event({"usageMetadata": None})])
    assert response.text == "ab"
    assert response.usage.prompt_tokens == 61


def test_figures_behind_the_finish_reason_still_count() -> None:
    late = event({"usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 5}})
    assert streamed([*stream(text("a")), late]).usage.total_tokens == 10


def test_a_stream_without_a_finish_reason_was_cut_and_what_came_is_shown_apart() -> None:
    for events in ([chunk(thought("hm")), chunk(text("so far")), chunk(call("f", {}, "a"))], []):
        failure = failing(events)
        assert type(failure) is TransportError
        assert failure.retryable
        assert failure.partial == ((Text("so far"),) if events else ())


@pytest.mark.parametrize("cut", [5, 20, 60])
def test_a_stream_that_ends_within_an_event_was_cut(cut: int) -> None:
    events = stream(text("a"), text("b"))
    failure = failing([events[0], events[1][:-cut]])
    assert type(failure) is TransportError
    assert failure.partial == (Text("a"),)


@pytest.mark.parametrize(
    ("code", "status", "expected"),
    [
        (503, "UNAVAILABLE", OverloadedError),
        (500, "INTERNAL", OverloadedError),
        (429, "RESOURCE_EXHAUSTED", RateLimitError),
    ],
)
def test_an_error_within_a_stream_is_typed_by_its_own_code(
    code: int, status: str, expected: type[ProviderError]
) -> None:
    error = {"error": {"code": code, "message": "busy", "status": status}}
    failure = failing([chunk(text("so far")), event(error)])
    assert type(failure) is expected
    assert (failure.status, failure.kind, failure.message) == (code, status, "busy")
    assert failure.partial == (Text("so far"),)


@pytest.mark.parametrize(
    "garbage",
    [
        b"data: {\r\n\r\n",
        b"data: 7\r\n\r\n",
        b"<html>sorry</html>",
        b'data: {"error": "odd"}\r\n\r\n',
        b'data: {"error": {"message": "odd"}}\r\n\r\n',
        b'data: {"candidates": [{"content": {"parts": [{"text": 5}]}}]}\r\n\r\n',
        b'data: {"candidates": [{"content": {"parts": [{"functionCall": {"args": [1]}}]}}]}\r\n\r\n',
        b'data: {"candidates": [{"content": {"parts": [{"functionCall": {"args": {"x": NaN}}}]}}]}\r\n\r\n',
    ],
)
def test_what_is_not_of_the_apis_form_is_a_transport_error(garbage: bytes) -> None:
    failure = failing([chunk(text("so far")), garbage, *stream(text("more"))])
    assert type(failure) is TransportError
    assert failure.partial == (Text("so far"),)


def test_a_prompt_may_be_blocked_in_a_stream_too() -> None:
    failure = failing([event({"promptFeedback": {"blockReason": "SAFETY"}})])
    assert type(failure) is ContentFilterError


def test_a_badly_written_call_ends_a_stream_with_what_came_before_it() -> None:
    failure = failing([chunk(text("so far")), chunk(finish="MALFORMED_FUNCTION_CALL")])
    assert type(failure) is TransportError
    assert failure.kind == "MALFORMED_FUNCTION_CALL"
    assert failure.partial == (Text("so far"),)


def test_nothing_behind_a_call_that_cannot_be_read_is_told() -> None:
    recorder = CallbackRecorder()
    failure = failing(
        [chunk(text("so far"), call("f", {"x": "HALF"}), text("more"), finish="STOP").replace(b"HALF", rb"\ud83d")],
        recorder,
    )
    assert type(failure) is TransportError
    assert "malformed arguments for a call of 'f'" in failure.message
    assert recorder.events == [("text", "so far")]
    assert failure.partial == (Text("so far"),)


@pytest.mark.parametrize("later_chunks", [[chunk(call("f", {}, "a"), finish="STOP")], [chunk(finish="STOP")]])
def test_half_a_character_that_a_text_ends_with_is_visible_as_lost(later_chunks: list[bytes]) -> None:
    """A gateway may cut a text where JavaScript counts; UTF-8 has no form for what is left."""
    half = b'data: {"candidates": [{"content": {"parts": [{"text": "so \\ud83d"}]}}]}\r\n\r\n'
    recorder = CallbackRecorder()
    assert streamed([half, *later_chunks], recorder).text == recorder.text == "so \ufffd"


def test_a_stream_is_asked_for_by_its_own_method_and_body() -> None:
    capture = Capture()
    stateless(transport=capture.transport).complete(HI, on_chunk=lambda piece: None)
    assert json.loads(capture.requests[0].content) == {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    assert capture.requests[0].url.params["alt"] == "sse"
