"""What this adapter alone makes of answers: steps that grow, signatures, figures on the way, endings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from turnproof.errors import ContextLimitError, OverloadedError, RateLimitError, TransportError
from turnproof.messages import FinishReason, FunctionCall, InlineData, Message, Opaque, ProviderResponse, Text, Thought

from ..callback_recorder import CallbackRecorder
from .kit import (
    DONE,
    SIGNATURE,
    USAGE,
    Capture,
    calls,
    delta,
    event,
    finished,
    function_call,
    interaction,
    legacy,
    output,
    says,
    started,
    stateless,
    step,
    stream,
    thinking,
    thinks,
    thought,
)

each_path = pytest.mark.parametrize("path", ["stateless", "legacy"])


def streamed(path: str, events: Iterable[bytes], recorder: CallbackRecorder | None = None) -> ProviderResponse:
    callbacks = dict((recorder or CallbackRecorder()).callbacks)
    capture = Capture(events=events)
    if path == "stateless":
        return stateless(transport=capture.transport).complete([Message.user("hi")], **callbacks)
    on_chunk: Any = callbacks.pop("on_chunk")
    return legacy(transport=capture.transport).send_message_streaming("hi", on_chunk, **callbacks)


def batch(path: str, reply: Any) -> ProviderResponse:
    capture = Capture(reply)
    if path == "stateless":
        return stateless(transport=capture.transport).complete([Message.user("hi")])
    return legacy(transport=capture.transport).send_message("hi")


@each_path
def test_a_signature_comes_behind_the_pieces_of_a_summary_and_empty_ones_between_them(path: str) -> None:
    pieces = (
        delta(0, "thought_summary", content={"type": "text", "text": "One.\n"}),
        delta(0, "thought_signature", signature=""),
        delta(0, "thought_summary", content={"type": "text", "text": "Two.\n"}),
        delta(0, "thought_signature", signature=SIGNATURE),
    )
    answer = streamed(path, stream(step(0, {"type": "thought"}, *pieces), says(1, "so")))
    assert answer.parts == (thought("One.\nTwo.\n"), Text("so"))


@each_path
def test_texts_of_two_steps_keep_their_border(path: str) -> None:
    assert streamed(path, stream(says(0, "a", "b"), says(1, "c"))).parts == (Text("ab"), Text("c"))
    assert batch(path, interaction(output("ab", "c"))).parts == (Text("ab"), Text("c"))


@each_path
def test_arguments_join_and_a_call_without_any_has_none(path: str) -> None:
    runs = calls(0, "a", "read", '{"n"', ": 1}"), calls(1, "b", "read")
    answer = streamed(path, stream(*runs, status="requires_action"))
    assert answer.parts == (FunctionCall("a", "read", {"n": 1}), FunctionCall("b", "read", {}))
    assert (answer.finish_reason, answer.raw_finish) == (FinishReason.TOOL_USE, "requires_action")


@each_path
@pytest.mark.parametrize("text", ["{", "[1]", "7"])
def test_arguments_that_are_no_object_are_no_call(path: str, text: str) -> None:
    with pytest.raises(TransportError, match="malformed arguments for a call of 'read'"):
        streamed(path, stream(calls(0, "a", "read", text)))


@each_path
def test_a_call_that_the_limit_cut_off_is_left_out(path: str) -> None:
    cut = calls(1, "a", "read", '{"n')[:-1]
    answer = streamed(path, stream(says(0, "so"), cut, status="incomplete"))
    assert (answer.parts, answer.finish_reason) == ((Text("so"),), FinishReason.MAX_TOKENS)


@each_path
def test_a_call_that_no_event_ended_is_a_failure(path: str) -> None:
    with pytest.raises(TransportError, match="did not end step 0"):
        streamed(path, stream(calls(0, "a", "read", "{}")[:-1]))


@each_path
def test_pieces_for_no_step_of_their_kind_are_a_failure(path: str) -> None:
    for odd in (delta(0, "text", text="lost"), delta(7, "arguments_delta", arguments="{}")):
        with pytest.raises(TransportError, match="for no step of its kind"):
            streamed(path, stream(step(0, {"type": "thought"}, odd)))


@each_path
def test_figures_on_the_way_never_fall(path: str) -> None:
    def delta_with_usage(tokens: int) -> bytes:
        usage = {**USAGE, "total_input_tokens": tokens, "total_output_tokens": 1}
        return event("step.delta", index=0, delta={"type": "text", "text": "a"}, metadata={"usage": usage})

    recorder = CallbackRecorder()
    run = step(0, {"type": "model_output"}, delta_with_usage(7), delta_with_usage(5), delta_with_usage(9))
    answer = streamed(path, stream(run), recorder)
    assert [each.prompt_tokens for each in recorder.usage] == [7, 9, 120]
    assert recorder.usage[-1] == answer.usage
    assert (answer.usage.cache_read_tokens, answer.usage.thinking_tokens, answer.usage.output_tokens) == (100, 20, 30)


@each_path
def test_steps_of_the_service_are_kept_as_they_came(path: str) -> None:
    search = {"type": "google_search_call", "id": "s_1", "arguments": {"queries": ["beds"]}}
    answer = batch(path, interaction(search, output("so")))
    assert answer.parts == (Opaque("gemini-interactions", "google_search_call", search), Text("so"))


@each_path
def test_images_of_the_model_are_files(path: str) -> None:
    image = {"type": "image", "data": "cG5n", "mime_type": "image/png"}
    answer = batch(path, interaction({"type": "model_output", "content": [image]}))
    assert answer.parts == (InlineData("image/png", b"png"),)


@each_path
@pytest.mark.parametrize(
    ("status", "finish"),
    [("completed", FinishReason.STOP), ("incomplete", FinishReason.MAX_TOKENS),
     ("budget_exceeded", FinishReason.MAX_TOKENS), ("requires_continuation", FinishReason.PAUSED),
     ("cancelled", FinishReason.CANCELLED), ("sundown", FinishReason.UNKNOWN)],
)  # fmt: skip
def test_each_status_is_an_ending(path: str, status: str, finish: FinishReason) -> None:
    answer = batch(path, interaction(output("so"), status=status))
    assert (answer.finish_reason, answer.raw_finish) == (finish, status)


@each_path
def test_calls_are_answered_whatever_the_status_says(path: str) -> None:
    answer = batch(path, interaction(thinking(), function_call("a", "read", n=1)))
    assert answer.finish_reason is FinishReason.TOOL_USE
    assert [type(part) for part in answer.parts] == [Thought, FunctionCall]


@each_path
def test_an_interaction_that_failed_is_an_error_under_status_200(path: str) -> None:
    failures = [{"code": "too_many_requests", "message": "Slow down"}]
    with pytest.raises(RateLimitError, match="Slow down") as whole:
        batch(path, interaction(status="failed", errors=failures))
    with pytest.raises(RateLimitError, match="Slow down") as in_pieces:
        streamed(path, [started(), finished("failed", errors=failures)])
    for failure in (whole, in_pieces):
        assert (failure.value.status, failure.value.kind) == (200, "too_many_requests")
    with pytest.raises(OverloadedError, match="the interaction failed"):
        batch(path, interaction(status="failed"))


@each_path
def test_an_error_event_is_typed_by_its_code_and_its_words(path: str) -> None:
    full = "The input token count (7) exceeds the maximum number of tokens allowed (5)."
    for error, kind in (
        ({"code": "unavailable", "message": "Busy"}, OverloadedError),
        ({"code": "invalid_request", "message": full}, ContextLimitError),
        ({"code": "no_such_code", "message": "?"}, OverloadedError),
    ):
        with pytest.raises(kind) as failure:
            streamed(path, [started(), *says(0, "so"), event("error", error=error), DONE])
        assert failure.value.partial == (Text("so"),)


@each_path
def test_a_stream_that_ends_without_its_end_is_a_failure(path: str) -> None:
    with pytest.raises(TransportError, match="ended before its end marker"):
        streamed(path, [started(), *thinks(0, "hm"), *says(1, "so"), DONE])
