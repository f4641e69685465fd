"""What an answer becomes, batch and streamed, on both paths: four readings of one thing."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import pytest

from turnproof import messages as m

from ..callback_recorder import CallbackRecorder
from ..contract.adapter_kit import outcome
from .kit import (
    DATED,
    USAGE,
    Capture,
    answer,
    block,
    call_block,
    event,
    legacy,
    stateless,
    stream,
    text,
    text_block,
    thinking_block,
    tool_use,
)

OURS = "anthropic-messages"
THINKING = {"type": "thinking", "thinking": "hm so", "signature": "sig=="}
REDACTED = {"type": "redacted_thinking", "data": "EqkE=="}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
COMPACTION = {"type": "compaction", "content": "so far"}
CITATION = {"type": "char_location", "cited_text": "x"}


def issued(**data: Any) -> m.ProviderData:
    return m.ProviderData(OURS, DATED, data)


@dataclass(frozen=True)
class Case:
    id: str
    whole: dict[str, Any]
    events: list[bytes]
    parts: tuple[m.Part, ...]
    finish: m.FinishReason = m.FinishReason.STOP
    kinds: list[str] = field(default_factory=list)


def thinks() -> list[bytes]:
    return thinking_block(0, "hm", " so")


CASES = [
    Case(
        "text",
        answer(text("Hello ’北🌍")),
        stream(text_block(0, "Hel", "lo ", "’北🌍")),
        (m.Text("Hello ’北🌍"),),
        kinds=["text"],
    ),
    Case(
        "text-and-calls",
        answer(
            text("look"),
            tool_use("a", "read", {"p": "é"}),
            tool_use("b", "read", {"n": [1, 2.5, None]}),
            stop="tool_use",
        ),
        stream(
            text_block(0, "lo", "ok"),
            call_block(1, "a", "read", '{"p": "\\u00', 'e9"}'),
            call_block(2, "b", "read", '{"n": [1, 2', ".5, null]}"),
            stop="tool_use",
        ),
        (m.Text("look"), m.FunctionCall("a", "read", {"p": "é"}), m.FunctionCall("b", "read", {"n": [1, 2.5, None]})),
        m.FinishReason.TOOL_USE,
        ["text", "call", "call"],
    ),
    Case(
        "call-without-arguments",
        answer(tool_use("a", "now", {}), stop="tool_use"),
        stream(call_block(0, "a", "now"), stop="tool_use"),
        (m.FunctionCall("a", "now", {}),),
        m.FinishReason.TOOL_USE,
        ["call"],
    ),
    Case(
        "call-given-whole-at-its-start",
        answer(tool_use("a", "read", {"p": 1}), stop="tool_use"),
        stream(block(0, tool_use("a", "read", {"p": 1})), stop="tool_use"),
        (m.FunctionCall("a", "read", {"p": 1}),),
        m.FinishReason.TOOL_USE,
        ["call"],
    ),
    Case(
        "call-by-the-services-own-code",
        answer({**tool_use("a", "read", {}), "caller": {"type": "code_execution", "tool_id": "x"}}, stop="tool_use"),
        stream(
            block(0, {**tool_use("a", "read", {}), "caller": {"type": "code_execution", "tool_id": "x"}}),
            stop="tool_use",
        ),
        (m.FunctionCall("a", "read", {}, provider_data=issued(caller={"type": "code_execution", "tool_id": "x"})),),
        m.FinishReason.TOOL_USE,
        ["call"],
    ),
    Case(
        "thinking-then-call",
        answer(THINKING, tool_use("a", "read", {}), stop="tool_use"),
        stream(thinks(), call_block(1, "a", "read"), stop="tool_use"),
        (m.Thought("hm so", provider_data=issued(signature="sig==")), m.FunctionCall("a", "read", {})),
        m.FinishReason.TOOL_USE,
        ["thinking", "call"],
    ),
    Case(
        "call-that-the-limit-left-open-at-its-very-end",
        answer(text("look"), tool_use("a", "read", {"p": 1}), stop="max_tokens"),
        stream(text_block(0, "look"), call_block(1, "a", "read", '{"p": 1}', closed=False), stop="max_tokens"),
        (m.Text("look"),),
        m.FinishReason.MAX_TOKENS,
        ["text"],
    ),
    Case(
        "thinking-given-whole-at-its-start",
        answer(THINKING, text("so")),
        stream(block(0, THINKING), text_block(1, "so")),
        (m.Thought("hm so", provider_data=issued(signature="sig==")), m.Text("so")),
        kinds=["thinking", "text"],
    ),
    Case(
        "hidden-thinking",
        answer({**THINKING, "thinking": ""}, text("so")),
        stream(thinking_block(0), text_block(1, "so")),
        (m.Thought("", provider_data=issued(signature="sig==")), m.Text("so")),
        kinds=["text"],
    ),
    Case(
        "redacted-thinking",
        answer(REDACTED, text("so")),
        stream(block(0, REDACTED), text_block(1, "so")),
        (m.Thought(provider_data=issued(redacted="EqkE==")), m.Text("so")),
        kinds=["text"],
    ),
    Case(
        "server-tool",
        answer(SEARCH, FOUND, {**text("so"), "citations": [CITATION]}),
        stream(
            call_block(0, "srvtoolu_1", "web_search", '{"query": "x"}', closed=False)[1:1]
            + block(0, {**SEARCH, "input": {}}, {"type": "input_json_delta", "partial_json": '{"query": "x"}'}),
            block(1, FOUND),
            block(
                2,
                {**text(""), "citations": []},
                {"type": "citations_delta", "citation": CITATION},
                {"type": "text_delta", "text": "so"},
            ),
        ),
        (
            m.Opaque(OURS, "server_tool_use", SEARCH),
            m.Opaque(OURS, "web_search_tool_result", FOUND),
            m.Text("so", provider_data=issued(citations=[CITATION])),
        ),
        kinds=["text"],
    ),
    Case(
        "compaction",
        answer(COMPACTION, text("hello")),
        stream(
            block(0, {"type": "compaction", "content": None}, {"type": "compaction_delta", "content": "so far"}),
            text_block(1, "hello"),
        ),
        (m.Opaque(OURS, "compaction", COMPACTION), m.Text("hello")),
        kinds=["text"],
    ),
    Case("nothing", answer(), stream(), ()),
    *(
        Case(
            f"call-cut-by-{stop}",
            answer(text("look"), tool_use("a", "read", {}), tool_use("b", "write", {"path": "x"}), stop=stop),
            stream(
                text_block(0, "look"),
                call_block(1, "a", "read"),
                call_block(2, "b", "write", '{"path": "x", "content": "on', closed=False),
                stop=stop,
            ),
            (m.Text("look"), m.FunctionCall("a", "read", {})),
            finish,
            ["text", "call"],
        )
        for stop, finish in {
            "max_tokens": m.FinishReason.MAX_TOKENS,
            "model_context_window_exceeded": m.FinishReason.CONTEXT_LIMIT,
            "stop_sequence": m.FinishReason.STOP,
        }.items()
    ),
    *(
        Case(
            f"stopped-by-{stop}",
            answer(text("so"), stop=stop),
            stream(text_block(0, "so"), stop=stop),
            (m.Text("so"),),
            finish,
        )
        for stop, finish in {
            "end_turn": m.FinishReason.STOP,
            "stop_sequence": m.FinishReason.STOP,
            "max_tokens": m.FinishReason.MAX_TOKENS,
            "pause_turn": m.FinishReason.PAUSED,
            "refusal": m.FinishReason.REFUSAL,
            "model_context_window_exceeded": m.FinishReason.CONTEXT_LIMIT,
            "something_new": m.FinishReason.UNKNOWN,
        }.items()
    ),
]

WHOLE_USAGE = m.TokenUsage(125, 7, 132, cache_read_tokens=100, cache_creation_tokens=5)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("case", CASES, ids=attrgetter("id"))
def test_every_way_of_asking_gives_the_same_answer(case: Case) -> None:
    transport = Capture(case.whole, case.events).transport
    stateful = legacy("http://example.invalid", transport=transport)
    pure = stateless("http://example.invalid", transport=transport)
    recorder, heard_by_legacy = CallbackRecorder(), CallbackRecorder()
    on_chunk = heard_by_legacy.callbacks.pop("on_chunk")
    others = {name: call for name, call in heard_by_legacy.callbacks.items() if name != "on_chunk"}
    readings = [
        pure.complete([m.Message.user("hi")]),
        pure.complete([m.Message.user("hi")], **recorder.callbacks),
        stateful.send_message("hi"),
        stateful.send_message_streaming("hi", on_chunk, **others),
    ]
    assert {type(reading) for reading in readings} == {type(readings[0])}
    for reading in readings:
        assert outcome(reading) == (case.parts, WHOLE_USAGE, case.finish, case.whole["stop_reason"], None, DATED)
    for listener in (recorder, heard_by_legacy):
        assert listener.text == readings[0].text
        assert listener.calls == list(readings[0].calls)
        if case.kinds:
            assert list(dict.fromkeys(listener.kinds)) == list(dict.fromkeys(case.kinds))


def test_a_batch_answer_is_told_to_the_callbacks_in_model_order() -> None:
    reply = answer(THINKING, text("look"), tool_use("a", "read", {}), stop="tool_use")
    recorder = CallbackRecorder()
    callbacks = {name: call for name, call in recorder.callbacks.items() if name != "on_chunk"}
    provider = stateless("http://example.invalid", transport=Capture(reply).transport)
    provider.complete([m.Message.user("hi")], **callbacks)
    assert recorder.kinds == ["thinking", "call"]
    assert recorder.usage == [WHOLE_USAGE]


def test_usage_keeps_what_the_end_of_a_stream_does_not_repeat() -> None:
    """Recordings up to August 2025 end with `output_tokens` alone."""
    events = [
        *stream(text_block(0, "so"))[:-2],
        event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 9}),
    ]
    recorder = CallbackRecorder()
    transport = Capture(events=[*events, event("message_stop")]).transport
    response = stateless("http://example.invalid", transport=transport).complete(
        [m.Message.user("hi")], **recorder.callbacks
    )
    assert response.usage == m.TokenUsage(125, 9, 134, cache_read_tokens=100, cache_creation_tokens=5)
    assert [usage.output_tokens for usage in recorder.usage] == [1, 9]


def test_the_end_of_a_stream_without_figures_leaves_those_of_its_start() -> None:
    events = [*stream(text_block(0, "so"))[:-2], event("message_delta", delta={"stop_reason": "end_turn"}, usage={})]
    transport = Capture(events=[*events, event("message_stop")]).transport
    provider = stateless("http://example.invalid", transport=transport)
    assert provider.complete([m.Message.user("hi")], **CallbackRecorder().callbacks).usage.output_tokens == 1


def test_the_end_of_a_stream_without_a_reason_has_no_word_for_it() -> None:
    events = [*stream(text_block(0, "so"))[:-2], event("message_stop")]
    provider = stateless("http://example.invalid", transport=Capture(events=events).transport)
    response = provider.complete([m.Message.user("hi")], **CallbackRecorder().callbacks)
    assert (response.finish_reason, response.raw_finish) == (m.FinishReason.UNKNOWN, None)


def test_pieces_that_are_null_add_nothing() -> None:
    deltas: list[dict[str, Any]] = [
        {"type": "thinking_delta", "thinking": "hm"},
        {"type": "thinking_delta", "thinking": None},
        {"type": "signature_delta", "signature": "sig=="},
        {"type": "signature_delta", "signature": None},
    ]
    shell = {"type": "thinking", "thinking": "", "signature": ""}
    words: list[dict[str, Any]] = [{"type": "text_delta", "text": "so"}, {"type": "text_delta", "text": None}]
    args: list[dict[str, Any]] = [{"type": "input_json_delta", "partial_json": piece} for piece in ('{"p": 1}', None)]
    blocks = (block(0, shell, *deltas), block(1, text(""), *words), block(2, tool_use("a", "read", {}), *args))
    transport = Capture(events=stream(*blocks, stop="tool_use")).transport
    provider = stateless("http://example.invalid", transport=transport)
    response = provider.complete([m.Message.user("hi")], **CallbackRecorder().callbacks)
    assert response.parts == (
        m.Thought("hm", provider_data=issued(signature="sig==")),
        m.Text("so"),
        m.FunctionCall("a", "read", {"p": 1}),
    )


@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
def test_an_answer_names_the_model_that_gave_it(streamed: bool) -> None:
    transport = Capture(answer(text("hi")), stream(text_block(0, "hi"))).transport
    callbacks = CallbackRecorder().callbacks if streamed else {}
    provider = stateless("http://example.invalid", transport=transport)
    assert provider.complete([m.Message.user("hi")], **callbacks).model == DATED


def test_figures_at_the_end_of_a_stream_replace_those_at_its_start_and_no_callback_sees_one_fall() -> None:
    """With compaction the service's own figures fall (recorded: 55096 tokens read at the start, 0 at the end)."""
    first = {**USAGE, "cache_read_input_tokens": 55096}
    last = {**USAGE, "cache_read_input_tokens": 0, "input_tokens": 181, "output_tokens_details": {"thinking_tokens": 3}}
    events = [*stream(text_block(0, "so"), usage=first)[:-2], *stream(usage=last)[-2:]]
    recorder = CallbackRecorder()
    transport = Capture(events=events).transport
    response = stateless("http://example.invalid", transport=transport).complete(
        [m.Message.user("hi")], **recorder.callbacks
    )
    assert response.usage == m.TokenUsage(186, 7, 193, cache_creation_tokens=5, thinking_tokens=3)
    for earlier, later in itertools.pairwise(recorder.usage):
        assert later.cache_read_tokens >= earlier.cache_read_tokens
        assert later.prompt_tokens >= earlier.prompt_tokens


def test_null_figures_count_as_nothing() -> None:
    usage = {
        "input_tokens": 3,
        "cache_creation_input_tokens": None,
        "cache_read_input_tokens": None,
        "output_tokens": 2,
    }
    transport = Capture(answer(text("so"), usage=usage)).transport
    response = stateless("http://example.invalid", transport=transport).complete([m.Message.user("hi")])
    assert response.usage == m.TokenUsage(3, 2, 5)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
def test_a_response_schema_gives_parsed_output(streamed: bool) -> None:
    words = '{"city": "Köln"}'
    transport = Capture(answer(text(words)), stream(text_block(0, words[:7], words[7:]))).transport
    schema = {"type": "object"}
    callbacks = CallbackRecorder().callbacks if streamed else {}
    pure = stateless("http://example.invalid", transport=transport)
    assert pure.complete([m.Message.user("hi")], response_schema=schema, **callbacks).structured_output == {
        "city": "Köln"
    }
    assert legacy("http://example.invalid", transport=transport).send_message("hi", schema).structured_output
    assert pure.complete([m.Message.user("hi")], **callbacks).structured_output is None


@pytest.mark.parametrize(
    ("words", "stop"), [("I would rather not.", "refusal"), ('{"city": "K', "max_tokens"), ("not JSON", "end_turn")]
)
def test_an_answer_that_does_not_follow_the_schema_has_no_parsed_output(words: str, stop: str) -> None:
    transport = Capture(answer(text(words), stop=stop)).transport
    provider = stateless("http://example.invalid", transport=transport)
    response = provider.complete([m.Message.user("hi")], response_schema={"type": "object"})
    assert response.structured_output is None
    assert response.text == words
