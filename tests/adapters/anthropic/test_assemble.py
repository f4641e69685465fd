"""A stream put together event by event, and a batch answer read at once, with no client around them.

What arrives before a stream is cut, and what a service leaves out, is easiest said here; that both paths read the whole
of an answer alike is in `test_answers`.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from operator import attrgetter
from typing import Any

import pytest

from turnproof.errors import OverloadedError, ProviderError, TransportError
from turnproof.messages import FinishReason, FunctionCall, Opaque, ProviderResponse, Text, Thought, TokenUsage
from turnproof_adapters._answers import Listeners, stands_alone
from turnproof_adapters.anthropic.assemble import Assembler, read_answer
from turnproof_adapters.anthropic.service import ANTHROPIC
from turnproof_adapters.anthropic.wire import Failure, decode_answer, decode_event

from ..callback_recorder import CallbackRecorder
from .kit import (
    DATED,
    answer,
    as_it_came,
    block,
    call_block,
    event,
    finish,
    start,
    stream,
    text,
    text_block,
    thinking_block,
    tool_use,
)
from .test_answers import CASES, CITATION, REDACTED, THINKING, WHOLE_USAGE, Case, issued

each_case = pytest.mark.parametrize("case", CASES, ids=attrgetter("id"))


def error_of(failure: Failure) -> ProviderError:
    return OverloadedError(f"told of {failure}")


def fed(events: Iterable[bytes], listeners: Listeners | None = None) -> Assembler:
    """An assembler that has heard these events, up to the first failure."""
    assembler = Assembler(ANTHROPIC, as_it_came, listeners or Listeners(), error_of)
    for each in events:
        if assembler.failure is None:
            assembler.feed(decode_event(each.partition(b"data:")[2]))
    return assembler


def read(reply: dict[str, Any], listeners: Listeners | None = None) -> ProviderResponse:
    return read_answer(ANTHROPIC, as_it_came, decode_answer(json.dumps(reply).encode()), listeners or Listeners())


def refused(events: Iterable[bytes]) -> str:
    """In what words the answer of these events is refused."""
    assembler = fed(events)
    if assembler.failure is None:
        with pytest.raises(TransportError) as failure:
            assembler.response()
        return failure.value.message
    assert isinstance(assembler.failure, TransportError)
    return assembler.failure.message


@each_case
def test_an_answer_is_the_same_whole_and_in_pieces(case: Case) -> None:
    recorder, heard_whole = CallbackRecorder(), CallbackRecorder()
    streamed, batch = (
        fed(case.events, Listeners(**recorder.callbacks)),
        read(case.whole, Listeners(**heard_whole.callbacks)),
    )
    assert streamed.complete
    assert streamed.response() == batch
    assert batch.model == DATED
    assert (batch.parts, batch.usage, batch.finish_reason) == (case.parts, WHOLE_USAGE, case.finish)
    assert recorder.calls == heard_whole.calls == list(batch.calls)
    assert recorder.usage[-1] == heard_whole.usage[-1] == WHOLE_USAGE
    thoughts = "".join(part.text for part in case.parts if isinstance(part, Thought))
    for listener in (recorder, heard_whole):
        assert "".join(piece for kind, piece in listener.events if kind == "thinking") == thoughts
        assert "" not in [piece for _, piece in listener.events]


@each_case
def test_nobody_has_to_listen(case: Case) -> None:
    assert fed(case.events).response().parts == read(case.whole).parts == case.parts


@each_case
def test_wherever_a_stream_is_cut_what_was_shown_of_it_is_kept_and_no_call(case: Case) -> None:
    for cut in range(len(case.events)):
        recorder = CallbackRecorder()
        assembler = fed(case.events[:cut], Listeners(**recorder.callbacks))
        assert assembler.complete is False
        response = assembler.cancelled()
        assert response.finish_reason is FinishReason.CANCELLED
        assert response.text == recorder.text
        assert (response.model, response.usage) == ((DATED, recorder.usage[-1]) if cut else (None, TokenUsage()))
        assert all(isinstance(part, Text | Thought) and stands_alone(part) for part in response.parts)
        assert response.raw_finish is None


def test_the_parts_of_a_cut_answer_keep_the_models_order() -> None:
    events = [
        start(),
        *thinking_block(0, "hm"),
        *block(1, REDACTED),
        *text_block(2, "so"),
        *call_block(3, "a", "rm", "{}"),
        *call_block(4, "b", "rm", "{", closed=False),
        *text_block(5, "and", closed=False),
        *thinking_block(6, "unsigned", signature=None, closed=False),
    ]
    assert fed(events).cancelled().parts == (
        Thought("hm", provider_data=issued(signature="sig==")),
        Thought(provider_data=issued(redacted="EqkE==")),
        Text("so"),
        Text("and"),
    )


def test_thinking_that_was_signed_is_kept_even_where_its_end_is_missing() -> None:
    events = [start(), *thinking_block(0, "hm", closed=False)]
    assert fed(events).cancelled().parts == (Thought("hm", provider_data=issued(signature="sig==")),)


@pytest.mark.parametrize("stop", ["max_tokens", "model_context_window_exceeded", "stop_sequence"])
def test_of_blocks_that_the_limit_left_open_words_are_kept(stop: str) -> None:
    blocks = (
        thinking_block(0, "hm", closed=False),
        text_block(1, "so", closed=False),
        call_block(2, "a", "rm", closed=False),
    )
    response = fed(stream(*blocks, stop=stop)).response()
    assert response.parts == (Thought("hm", provider_data=issued(signature="sig==")), Text("so"))
    assert response.raw_finish == stop


def test_words_that_the_service_did_not_end_lose_nothing_by_it() -> None:
    assert fed(stream(text_block(0, "so", closed=False))).response().parts == (Text("so"),)


@pytest.mark.parametrize(
    ("events", "words"),
    [
        (stream(call_block(0, "a", "rm", '{"p": "/'), stop="tool_use"), "malformed arguments for a call of 'rm'"),
        (stream(call_block(0, "a", "rm", "[1]"), stop="tool_use"), "malformed arguments for a call of 'rm'"),
        (stream(call_block(0, "a", "rm", "[" * 100_000), stop="tool_use"), "malformed arguments for a call of 'rm'"),
        (stream(block(0, {**tool_use("a", "rm", {}), "id": None})), "malformed arguments for a call of 'rm'"),
        (
            stream(call_block(0, "a", "rm", "{"), call_block(1, "b", "ls", "{"), stop="tool_use"),
            "malformed arguments for a call of 'rm'",
        ),
        (stream(text_block(0, "so"), call_block(1, "a", "rm", closed=False), stop="tool_use"), "did not end block 1"),
        (stream(text_block(0, "so"), text_block(0, "so")), "two blocks 0 in one answer"),
        (stream(text_block(1, "so", closed=False), text_block(1, "so")), "two blocks 1 in one answer"),
        (stream(block(0, {"type": "text", "text": 5})), "a text block of int"),
        (stream(block(0, {"type": "thinking", "thinking": ["hm"]})), "a thinking block of list"),
        (
            stream(block(0, text(""), {"type": "thinking_delta", "thinking": "hm"})),
            "a thinking_delta for a 'text' block, at index 0",
        ),
        (
            stream(block(0, text(""), {"type": "input_json_delta", "partial_json": "{}"})),
            "a input_json_delta for a 'text' block, at index 0",
        ),
        (
            stream(block(3, tool_use("a", "rm", {}), {"type": "text_delta", "text": "so"})),
            "a text_delta for a 'tool_use' block, at index 3",
        ),
        (stream(block(0, {"no": "type"}, {"type": "text_delta", "text": "so"})), "a text_delta for a '' block"),
        (stream(block(0, {"type": ["text"]}, {"type": "text_delta", "text": "so"})), "a text_delta for a '' block"),
        *(
            (stream([event("content_block_delta", index=2, delta={"type": kind})]), f"a {kind} for no block")
            for kind in ("text_delta", "thinking_delta", "input_json_delta")
        ),
        (
            stream(text_block(0, "so"), [event("content_block_delta", index=0, delta={"type": "text_delta"})]),
            "a text_delta for no block, at index 0",
        ),
        (
            stream(
                text_block(1, "so", closed=False),
                [event("content_block_delta", delta={"type": "text_delta", "text": "far"})],
            ),
            "a text_delta for no block",
        ),
    ],
)
def test_an_answer_of_which_a_piece_would_be_lost_is_refused(events: list[bytes], words: str) -> None:
    assert words in refused(events)


def test_what_the_limit_cut_is_no_reason_to_refuse_an_answer() -> None:
    blocks = (text_block(0, "so"), call_block(1, "a", "rm", '{"p": "/'), call_block(2, "b", "rm", closed=False))
    assert fed(stream(*blocks, stop="max_tokens")).response().parts == (Text("so"),)


@pytest.mark.parametrize(
    ("kind", "name", "shell"),
    [
        ("text_delta", "text", text("so")),
        ("thinking_delta", "thinking", THINKING),
        ("signature_delta", "signature", THINKING),
        ("input_json_delta", "partial_json", tool_use("a", "read", {"p": 1})),
        ("citations_delta", "citation", {**text("so"), "citations": [CITATION]}),
        ("compaction_delta", "content", {"type": "compaction"}),
        ("something_new", "text", text("so")),
        (None, "text", text("so")),
    ],
)
def test_a_change_that_says_nothing_changes_nothing(kind: str | None, name: str, shell: dict[str, Any]) -> None:
    nothing = [{"type": kind}, {"type": kind, name: None}]
    whole_block = {**shell, "content": None} if kind == "compaction_delta" else shell
    for deltas in (nothing, nothing[:1], nothing[1:]):
        assert fed(stream(block(0, shell, *deltas))).response().parts == read(answer(whole_block)).parts


def test_citations_given_at_the_start_and_later_are_all_kept() -> None:
    more = {"type": "citations_delta", "citation": {**CITATION, "cited_text": "y"}}
    for citations in ([CITATION], None, [], 5):
        response = fed(stream(block(0, {**text("so"), "citations": citations}, more))).response()
        expected = [*(citations if isinstance(citations, list) else ()), more["citation"]]
        assert response.parts == (Text("so", provider_data=issued(citations=expected)),)


HEAD = {"type": "message", "model": DATED}


@pytest.mark.parametrize(
    "extra",
    [
        event("message_start"),
        event("message_start", message={**HEAD, "usage": None}),
        event("message_start", message=HEAD),
        event("message_start", message={**HEAD, "usage": {}}),
        event("message_delta"),
        event("message_delta", delta={}, usage={"output_tokens_details": {}}),
        event("message_delta", delta={"stop_reason": None}, usage={"output_tokens_details": None}),
        event("content_block_start", index=7),
        event("content_block_start", index=7, content_block=None),
        event("content_block_delta", index=0),
        event("content_block_delta", index=0, delta={"type": "citations_delta"}),
        event("content_block_delta", index=7, delta={"type": "signature_delta", "signature": "x"}),
        event("content_block_stop", index=7),
        event("content_block_stop"),
        event("ping"),
        event("something_new", index=0, delta={"type": "text_delta", "text": "no"}),
        b"data: {}\n\n",
    ],
)
def test_an_event_that_says_nothing_changes_nothing(extra: bytes) -> None:
    events = stream(text_block(0, "so"), call_block(1, "a", "rm"), stop="tool_use")
    expected = fed(events).response()
    for place in range(1, len(events) + 1):
        assert fed([*events[:place], extra, *events[place:]]).response() == expected


def test_what_follows_the_end_marker_is_not_heard() -> None:
    recorder = CallbackRecorder()
    late = [*text_block(1, "more"), event("error", error={"type": "api_error"}), *finish("refusal")]
    assembler = fed([*stream(text_block(0, "so")), *late], Listeners(**recorder.callbacks))
    assert (assembler.failure, assembler.response().parts, recorder.text) == (None, (Text("so"),), "so")
    assert assembler.response().raw_finish == "end_turn"


@pytest.mark.parametrize("error", [{"error": {"type": "x", "message": "y"}}, {"error": None}, {}])
def test_an_error_event_is_a_failure_whatever_it_says(error: dict[str, Any]) -> None:
    failure = fed([start(), event("error", **error)]).failure
    assert isinstance(failure, OverloadedError)
    assert failure.message == f"told of {Failure(**(error.get('error') or {}))}"


def test_an_answer_without_its_head_names_no_model_and_counts_nothing() -> None:
    events = [*thinking_block(0, "hm"), *text_block(1, "so"), event("message_stop")]
    response = fed(events).response()
    assert [type(part) for part in response.parts] == [Thought, Text]
    assert (response.model, response.usage) == (None, TokenUsage())
    assert (response.finish_reason, response.raw_finish) == (FinishReason.UNKNOWN, None)


@pytest.mark.parametrize("fields", [{}, {"content": [], "stop_reason": None, "usage": None}, {"usage": {}}])
def test_a_batch_answer_may_leave_out_everything_but_its_model(fields: dict[str, Any]) -> None:
    recorder = CallbackRecorder()
    assert read({"model": DATED, **fields}, Listeners(**recorder.callbacks)) == ProviderResponse(
        parts=(), usage=TokenUsage(), finish_reason=FinishReason.UNKNOWN, raw_finish=None, model=DATED
    )
    assert recorder.usage == [TokenUsage()]
    assert read({"model": "", **fields}).model is None


def test_a_batch_answer_with_a_malformed_call_names_it() -> None:
    for broken in ({"input": "no object"}, {"id": 5}, {"input": [1]}):
        with pytest.raises(TransportError, match="malformed arguments for a call of 'rm'"):
            read(answer({**tool_use("a", "rm", {}), **broken}, stop="max_tokens"))


def test_a_call_without_input_is_a_call_without_arguments() -> None:
    batch, streamed = (
        read(answer({**tool_use("a", "now", {}), "input": None})),
        fed(stream(call_block(0, "a", "now", "null"))),
    )
    assert batch.parts == streamed.response().parts == (FunctionCall("a", "now", {}),)


@pytest.mark.parametrize(
    ("shell", "part"),
    [
        (text(""), None),
        ({**text("so"), "citations": None}, Text("so")),
        ({**text("so"), "citations": []}, Text("so")),
        ({"type": "thinking", "thinking": "hm"}, Thought("hm")),
        ({"type": "thinking", "thinking": "hm", "signature": ""}, Thought("hm")),
        ({**tool_use("a", "read", {}), "caller": None}, FunctionCall("a", "read", {})),
        ({**tool_use("a", "read", {}), "caller": {"type": "direct"}}, FunctionCall("a", "read", {})),
        ({"beam": 1}, Opaque("anthropic-messages", "", {"beam": 1})),
        ({"type": 5}, Opaque("anthropic-messages", "", {"type": 5})),
        ({"type": "text", "text": None}, None),
        (
            {"type": "redacted_thinking"},
            Opaque("anthropic-messages", "redacted_thinking", {"type": "redacted_thinking"}),
        ),
    ],
)
def test_a_block_is_the_same_part_whole_and_at_its_start(shell: dict[str, Any], part: Any) -> None:
    assert fed(stream(block(0, shell))).response().parts == (() if part is None else (part,))
    if shell != {"type": "text", "text": None}:
        assert read(answer(shell)).parts == (() if part is None else (part,))


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (["a\ud83c", "\udf0db"], ["a", "🌍b"]),
        (["\ud83c", "\udf0d"], ["🌍"]),
        (["\ud83c\udf0d"], ["🌍"]),
        (["a\ud83c", "b"], ["a", "\ufffdb"]),
        (["a\udf0d"], ["a\ufffd"]),
        (["a\ud83c"], ["a", "\ufffd"]),
        (["a\ud83c", "", None, "\udf0d"], ["a", "🌍"]),
    ],
)
def test_a_character_cut_in_two_is_shown_whole_and_a_lost_half_is_visible(
    pieces: list[str | None], shown: list[str]
) -> None:
    for kind, delta, heard_as in (("text", "text_delta", "text"), ("thinking", "thinking_delta", "thinking")):
        recorder = CallbackRecorder()
        deltas = [{"type": delta, kind: piece} for piece in pieces]
        events = [
            start(),
            halves("content_block_start", index=0, content_block={"type": kind, kind: ""}),
            *(halves("content_block_delta", index=0, delta=each) for each in deltas),
            event("content_block_stop", index=0),
            *finish(),
        ]
        (part,) = fed(events, Listeners(**recorder.callbacks)).response().parts
        assert isinstance(part, Text | Thought)
        assert recorder.events == [(heard_as, piece) for piece in shown]
        assert part.text == "".join(shown)


def test_a_character_cut_at_the_start_of_its_block_is_whole_too() -> None:
    block_start = halves("content_block_start", index=0, content_block=text("\ud83c"))
    rest = halves("content_block_delta", index=0, delta={"type": "text_delta", "text": "\udf0d"})
    assert fed([start(), block_start, rest, *finish()]).response().parts == (Text("🌍"),)


def halves(kind: str, **fields: Any) -> bytes:
    """An event with halves of surrogate pairs in it, which JSON can only carry escaped."""
    return b"data: " + json.dumps({"type": kind, **fields}).encode() + b"\n\n"


def test_no_figure_that_is_shown_falls_and_the_last_ones_count() -> None:
    first = {"input_tokens": 20, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 5, "output_tokens": 1}
    last = {"input_tokens": 30, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0, "output_tokens": 9}
    recorder = CallbackRecorder()
    events = [
        start(first),
        event("message_delta", delta={"stop_reason": "end_turn"}, usage=last),
        event("message_stop"),
    ]
    response = fed(events, Listeners(**recorder.callbacks)).response()
    assert response.usage == TokenUsage(30, 9, 39)
    assert recorder.usage == [
        TokenUsage(125, 1, 126, cache_read_tokens=100, cache_creation_tokens=5),
        TokenUsage(125, 9, 126, cache_read_tokens=100, cache_creation_tokens=5),
    ]
    for earlier, later in itertools.pairwise(recorder.usage):
        assert later.total_tokens >= earlier.total_tokens
