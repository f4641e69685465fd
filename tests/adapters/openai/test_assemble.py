"""A stream's chunks become an answer, whatever a server's way of cutting calls, and whenever it is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from turnproof.errors import OverloadedError, ProviderError, TransportError
from turnproof.messages import FinishReason, Message, ProviderData, Text, Thought, TokenUsage
from turnproof_adapters._answers import Listeners
from turnproof_adapters._names import tool_names
from turnproof_adapters.openai.assemble import Assembler, Reading, stands_alone
from turnproof_adapters.openai.names import restorer
from turnproof_adapters.openai.service import OPENAI
from turnproof_adapters.openai.wire import END, Answer, Failure, chunks, decode, failure_of

from ..callback_recorder import CallbackRecorder
from .kit import (
    DATED,
    DONE,
    OURS,
    USAGE,
    Json,
    answer,
    call,
    chunk,
    event,
    opening,
    pieces,
    stream,
    texts,
    thought,
    tool_call,
)

TOOLS = [Message.model(call("x", "mcp.srv.ls"))]


def error_of(failure: Failure) -> ProviderError:
    return OverloadedError(failure.text or "", kind=failure.kind)


def assembler(recorder: CallbackRecorder | None = None) -> Assembler:
    listeners = Listeners(**(recorder or CallbackRecorder()).callbacks)
    return Assembler(Reading(OPENAI, restorer(lambda: tool_names(TOOLS, None)), error_of), listeners)


def read(events: list[bytes], recorder: CallbackRecorder | None = None) -> Assembler:
    """What has become of these events. Without `DONE` among them the stream goes on."""
    assembly = assembler(recorder)
    for each in chunks("text/event-stream", events):
        if (each is END and DONE not in events) or assembly.failure is not None:
            break
        assembly.feed(each)
    return assembly


def deltas(*fields: Json, finish: str = "tool_calls") -> list[bytes]:
    return [opening(), *(chunk(each) for each in fields), chunk({}, finish), DONE]


def piece(*args: Any, **fields: Any) -> Json:
    return {"tool_calls": [tool_call(*args, **fields)]}


TWO = (call("a", p=1), call("b", "write", p=2))
SPELLINGS: dict[str, list[bytes]] = {
    "as-the-api-does": stream(
        pieces(0, "a", "read", '{"p"', ": 1}"), pieces(1, "b", "write", '{"p"', ": 2}"), finish="tool_calls"
    ),
    "interleaved": deltas(
        piece("a", "read", "", index=0),
        piece("b", "write", "", index=1),
        piece(None, None, '{"p"', index=1),
        piece(None, None, '{"p"', index=0),
        piece(None, None, ": 1}", index=0),
        piece(None, None, ": 2}", index=1),
    ),
    "whole-in-one-chunk-each": deltas(
        piece("a", "read", '{"p": 1}', index=0), piece("b", "write", '{"p": 2}', index=1)
    ),
    "all-in-one-chunk": deltas(
        {"tool_calls": [tool_call("a", "read", '{"p": 1}', index=0), tool_call("b", "write", '{"p": 2}', index=1)]}
    ),
    "one-index-for-all": deltas(
        piece("a", "read", '{"p": 1}', index=0),
        piece("b", "write", '{"p"', index=0),
        piece(None, None, ": 2}", index=0),
    ),
    "without-an-index": deltas(piece("a", "read", '{"p": 1}'), piece("b", "write", '{"p": 2}')),
    "id-and-name-repeated": deltas(
        piece("a", "read", '{"p"', index=0),
        piece("a", "read", ": 1}", index=0),
        piece("b", "write", '{"p"', index=1),
        piece("b", "write", ": 2}", index=1),
    ),
    "the-id-late": deltas(
        piece(None, "read", "", index=0),
        piece("a", None, '{"p": 1}', index=0),
        piece("b", "write", '{"p": 2}', index=1),
    ),
    "arguments-as-objects": deltas(piece("a", "read", {"p": 1}, index=0), piece("b", "write", {"p": 2}, index=1)),
    "role-in-every-delta": deltas(
        {"role": "assistant", "content": "", **piece("a", "read", '{"p": 1}', index=0)},
        {"role": "assistant", "content": "", **piece("b", "write", '{"p": 2}', index=1)},
    ),
    "ends-with-stop": deltas(
        piece("a", "read", '{"p": 1}', index=0), piece("b", "write", '{"p": 2}', index=1), finish="stop"
    ),
}  # fmt: skip


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_parallel_calls_are_told_apart_however_a_server_writes_them(spelling: str) -> None:
    recorder = CallbackRecorder()
    response = read(SPELLINGS[spelling], recorder).response()
    assert response.calls == TWO
    assert recorder.calls == list(TWO), "each once, in order"
    assert response.finish_reason is FinishReason.TOOL_USE


def test_calls_with_neither_ids_nor_an_index_are_told_apart_by_their_names() -> None:
    delta_fields = [piece(None, "read", '{"p": 1}'), piece(None, "read", '{"p"'), piece(None, None, ": 2}")]
    first, second = read(deltas(*delta_fields)).response().calls
    assert (first.args, second.args) == ({"p": 1}, {"p": 2})
    assert first.id != second.id


def test_a_call_in_the_old_form_is_a_call() -> None:
    delta_fields = [{"function_call": {"name": "read", "arguments": ""}}, {"function_call": {"arguments": '{"p": 1}'}}]
    (found,) = read(deltas(*delta_fields, finish="function_call")).response().calls
    assert (found.name, found.args) == ("read", {"p": 1})
    assert found.id


def test_calls_of_two_choices_do_not_mix() -> None:
    """Reported of Claude on Copilot: text and calls in choices of their own, each counting its calls from 0."""
    split = [
        event({"choices": [{"index": n, "delta": piece(each.id, each.name, dict(each.args), index=0)}]})
        for n, each in enumerate(TWO)
    ]
    assert read([*split, chunk({}, "tool_calls"), DONE]).response().calls == TWO


def test_a_call_is_announced_when_the_answer_has_ended_and_not_before() -> None:
    recorder = CallbackRecorder()
    read(stream(pieces(0, "a", "read", "{}"), finish="tool_calls")[:-1], recorder)
    assert recorder.calls == []


def test_thinking_text_and_refusal_are_told_as_they_come() -> None:
    recorder = CallbackRecorder()
    delta_fields = [{"reasoning": "h"}, {"reasoning": "m"}, {"content": "a"}, {"content": "b"}, {"refusal": "no"}]
    response = read(deltas(*delta_fields, finish="stop"), recorder).response()
    assert recorder.events == [("thinking", "h"), ("thinking", "m"), ("text", "a"), ("text", "b"), ("text", "no")]
    assert [type(part) for part in response.parts] == [Thought, Text, Text]
    assert response.text == recorder.text == "abno"
    assert response.finish_reason is FinishReason.REFUSAL


def test_the_seal_of_thinking_is_kept_whole() -> None:
    delta_fields = [
        {"reasoning_text": "hm"},
        {"reasoning_opaque": "ab"},
        {"reasoning_opaque": "c=="},
        {"content": "so"},
    ]
    (first, _) = read(deltas(*delta_fields, finish="stop")).response().parts
    assert first.provider_data == ProviderData(OURS, DATED, {"field": "reasoning_text", "encrypted": "abc=="})


def test_citations_come_in_pieces_too() -> None:
    delta_fields: list[dict[str, Any]] = [{"content": "so"}, {"annotations": [{"n": 1}]}, {"annotations": [{"n": 2}]}]
    (text,) = read(deltas(*delta_fields, finish="stop")).response().parts
    assert text.provider_data is not None
    assert text.provider_data.data["annotations"] == [{"n": 1}, {"n": 2}]


def test_citations_that_no_session_could_hold_are_a_failure() -> None:
    deep: Any = {}
    for _ in range(500):
        deep = {"x": deep}
    assembly = assembler()
    assembly.feed(msgspec.convert({"choices": [{"delta": {"annotations": [deep]}}]}, Answer))
    assert isinstance(assembly.failure, TransportError)


@pytest.mark.parametrize(
    "events",
    [
        [opening(), *texts("so"), chunk({}, "stop"), chunk(usage=USAGE), DONE],
        [opening(), *texts("so"), chunk({}, "stop", usage=USAGE), DONE],
        [opening(), *texts("so"), chunk({"role": "assistant", "content": ""}, "stop", usage=USAGE), DONE],
        [chunk(usage={"prompt_tokens": 1}), opening(), *texts("so"), chunk({}, "stop"), chunk(usage=USAGE), DONE],
        [event({"choices": [], "model": "", "id": "", "prompt_filter_results": []}), *stream(texts("so"))],
        [event({"choices": [{"index": 0, "content_filter_results": {}}]}), *stream(texts("so"))],
    ],
    ids=["apart", "with-the-finish", "zai", "repeated", "azure", "a-choice-that-says-nothing"],
)
def test_figures_are_found_wherever_a_service_puts_them(events: list[bytes]) -> None:
    recorder = CallbackRecorder()
    response = read(events, recorder).response()
    assert response.usage == TokenUsage(120, 7, 127, cache_read_tokens=100, thinking_tokens=3)
    assert recorder.usage[-1] == response.usage
    assert (response.text, response.model) == ("so", DATED)


def test_no_figure_ever_falls_for_those_who_listen() -> None:
    recorder = CallbackRecorder()
    events = [chunk(usage={"prompt_tokens": 9, "completion_tokens": 5}), *stream(usage={"prompt_tokens": 4})]
    assert read(events, recorder).response().usage == TokenUsage(4, 0, 4)
    assert [usage.prompt_tokens for usage in recorder.usage] == [9, 9]


def test_a_pair_cut_in_the_middle_is_one_character() -> None:
    recorder = CallbackRecorder()
    halves = [{"content": "a\ud83c"}, {"content": "\udf0d!"}, {"content": "\ud83c"}]
    assembly = assembler(recorder)
    for each in halves:
        assembly.feed(decode(b'{"choices":[{"delta":{"content":"%b"}}]}' % escaped(each["content"])))
    assembly.feed(decode(b'{"choices":[{"delta":{},"finish_reason":"stop"}]}'))
    assembly.feed(END)
    assert recorder.text == assembly.response().text == "a🌍!\ufffd"


def escaped(text: str) -> bytes:
    return b"".join(b"\\u%04x" % ord(each) for each in text)


MIDDLES: list[tuple[list[bytes], str]] = [
    ([], ""),
    ([opening()], ""),
    ([opening(), *texts("so ", "far")], "so far"),
    ([opening(), *texts("so far"), *pieces(0, "a", "rm", "{}")], "so far"),
    (stream(texts("so far"))[:-1], "so far"),
]


@pytest.mark.parametrize(("events", "words"), MIDDLES)
def test_what_had_arrived_of_a_cancelled_answer_is_its_text(events: list[bytes], words: str) -> None:
    response = read(events).cancelled()
    assert (response.text, response.calls, response.finish_reason) == (words, (), FinishReason.CANCELLED)
    assert len(response.parts) == (1 if words else 0)


@pytest.mark.parametrize(
    ("delta_fields", "kinds"),
    [
        ([{"reasoning": "hm"}], []),
        ([{"reasoning": "hm"}, {"content": "so"}], [Text]),
        ([{"reasoning_text": "hm"}, {"reasoning_opaque": "abc=="}], [Thought]),
    ],
    ids=["unfinished", "unsealed", "sealed"],
)
def test_thinking_is_kept_of_a_cancelled_answer_only_with_its_seal(delta_fields: list[Json], kinds: list[type]) -> None:
    parts = read([opening(), *map(chunk, delta_fields)]).cancelled().parts
    assert [type(part) for part in parts] == kinds
    assert all(map(stands_alone, parts))


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([*stream(texts("so"))[:-3], DONE], "ended before it said how the answer ended"),
        ([DONE], "ended before it said"),
        (stream(pieces(0, "a", "rm", '{"p": "/'), finish="tool_calls"), "malformed arguments for a call of 'rm'"),
        (deltas(piece("a", None, "{}", index=0)), "malformed"),
        (deltas({"tool_calls": [{"index": 0, "id": "a", "type": "custom"}]}), "call of type 'custom'"),
    ],
    ids=["no-finish", "nothing", "malformed", "nameless", "custom"],
)
def test_a_stream_that_is_no_answer_fails_and_announces_no_call(events: list[bytes], words: str) -> None:
    recorder = CallbackRecorder()
    assembly = read(events, recorder)
    assert not assembly.complete
    assert isinstance(assembly.failure, TransportError)
    assert words in assembly.failure.message
    assert recorder.calls == []


def test_an_error_in_the_stream_is_told_by_whoever_types_it() -> None:
    assembly = read([opening(), event({"error": {"message": "Sorry", "type": "server_error"}})])
    assert isinstance(assembly.failure, OverloadedError)
    assert (assembly.failure.message, assembly.failure.kind) == ("Sorry", "server_error")


def test_what_follows_the_end_changes_nothing() -> None:
    recorder = CallbackRecorder()
    assembly = read(stream(texts("so")), recorder)
    before = assembly.response()
    for more in (texts("!")[0], event({"error": "late"})):
        assembly.feed(decode(more.removeprefix(b"data: ")))
    assert assembly.response() == before
    assert assembly.failure is None
    assert recorder.text == "so"


BATCH = answer("so", tool_call("a", "read", '{"p": 1}'), reasoning_content="hm", finish="tool_calls")
STREAMED = stream(
    [chunk({"reasoning_content": "hm"})], texts("s", "o"), pieces(0, "a", "read", '{"p"', ": 1}"), finish="tool_calls"
)


def test_a_stream_and_a_batch_answer_become_the_same() -> None:
    whole = assembler()
    whole.feed(msgspec.convert(BATCH, Answer))
    whole.end()
    assert read(STREAMED).response() == whole.response()
    assert whole.response().parts == (thought("hm"), Text("so"), call("a", p=1))


@pytest.mark.parametrize("name", ["on_chunk", "on_thinking", "on_function_call", "on_usage_update"])
def test_what_a_callback_raises_passes_through(name: str) -> None:
    def fail(_: object) -> None:
        raise LookupError("mine")

    class Failing(CallbackRecorder):
        @property
        def callbacks(self) -> dict[str, Callable[..., None]]:
            return {**super().callbacks, name: fail}

    with pytest.raises(LookupError, match="mine"):
        read(STREAMED, Failing())


# -- bodies that are streams, or not


def test_a_body_that_calls_itself_json_may_be_a_stream_all_the_same() -> None:
    """Recorded: the official client reads it, too."""
    assert [each.model for each in chunks("application/json", [b"".join(STREAMED)])][:-1] == [DATED] * 9


def test_a_page_of_a_proxy_has_no_chunks() -> None:
    assert list(chunks("text/html", [b"<html>\n\n<body>busy</body></html>"])) == [END]


@pytest.mark.parametrize("data", [b"7", b"[]", b'"so"', b"{", b"", b"\xff", b'{"choices": 7}', b'{"usage": [1]}'])
def test_what_is_no_answer_cannot_be_read(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode(data)


def test_a_failure_is_found_in_its_envelope_or_without_it() -> None:
    error = {"code": "x", "message": "Sorry"}
    assert failure_of({"error": error}) == failure_of(error) == Failure("Sorry", code="x")
    assert failure_of({"error": "Sorry"}) == failure_of(" Sorry\n") == Failure("Sorry")
    assert failure_of(["odd"]) == failure_of(None) == failure_of("<html>") == Failure()


def test_an_unknown_body_says_nothing_and_a_code_counts_before_a_type() -> None:
    assert Failure().text is Failure().kind is None
    assert Failure(code=0, type="x").kind == "0"
    assert Failure(code=True, type="x").kind == "x"
    assert Failure(message=7, detail="so").text == "so"
