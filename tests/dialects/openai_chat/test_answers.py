"""Scripted replies as each surface writes them, whole and streamed, and what is read of them again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from turnproof.dialects.base import Rendered, Reply, ReplyPart, WireAnswer
from turnproof.dialects.openai_chat import DIALECT
from turnproof.dialects.openai_chat.surfaces import Surface
from turnproof.dialects.sse import respelled
from turnproof.errors import HarnessError
from turnproof.messages import FinishReason, FunctionCall, Opaque, Part, ProviderData, Text, Thought, TokenUsage

from ..answers import IMAGE, TOOLS, VALUES, data, reply
from .rendering import FIGURES, read, rendered

BOTH = (FunctionCall("call_a", "read_sensor", {"bed": "3"}), FunctionCall("call_b", "water", {"litres": 2}))


def body(answer: Rendered) -> Any:
    return msgspec.json.decode(answer.events[0].data)


def chunks(answer: Rendered) -> list[Any]:
    """The JSON of each chunk; the end marker is checked and left out."""
    assert answer.events[-1].data == b"data: [DONE]\n\n"
    return [msgspec.json.decode(event.data.removeprefix(b"data: ")) for event in answer.events[:-1]]


def deltas(answer: Rendered) -> Iterator[Any]:
    for chunk in chunks(answer):
        for choice in chunk["choices"]:
            yield choice["delta"]


# -- both forms say the same

REPLIES: Sequence[Reply] = (
    reply(Text("It is 41 %.")),
    reply(Text("  né 北🌍\n")),
    reply(*BOTH, finish=FinishReason.TOOL_USE),
    reply(Text("Let me look."), BOTH[0], finish=FinishReason.TOOL_USE),
    reply(FunctionCall("call_1", "water", {}), finish=FinishReason.TOOL_USE),
    reply(Text("Cut of"), finish=FinishReason.MAX_TOKENS),
    reply(finish=FinishReason.STOP),
    reply(Text("I will not."), finish=FinishReason.REFUSAL),
    reply(Text("Filtered"), finish=FinishReason.SAFETY),
)


@pytest.mark.parametrize("surface", list(Surface))
@pytest.mark.parametrize("script", REPLIES, ids=range(len(REPLIES)))
def test_a_reply_is_read_back_as_it_was_scripted_in_either_form(script: Reply, surface: Surface) -> None:
    for stream in (False, True):
        answer = read(rendered(script, surface, stream=stream))
        assert answer.complete
        assert [_bare(part) for part in answer.parts] == [each.part for each in script.parts]
        makers = surface not in (Surface.ZAI, Surface.OLLAMA)
        refused = script.finish is FinishReason.REFUSAL and not makers
        assert answer.finish is (FinishReason.STOP if refused else script.finish)
        assert answer.broken_calls == 0


def _bare(part: Part) -> Part:
    return Text(part.text) if isinstance(part, Text) else part


@pytest.mark.parametrize("surface", list(Surface))
def test_equal_requests_get_equal_bytes_and_other_seeds_others(surface: Surface) -> None:
    for stream in (False, True):
        first, again = (rendered(REPLIES[2], surface, stream=stream) for _ in range(2))
        assert data(first) == data(again)
        assert data(first) != data(rendered(REPLIES[2], surface, stream=stream, seed="other"))


@pytest.mark.parametrize("surface", [Surface.ZAI, Surface.OLLAMA, Surface.COPILOT])
def test_thinking_stands_in_front_where_the_surface_shows_it(surface: Surface) -> None:
    script = reply(Thought("Bed 3."), Text("41 %"))
    fields = {Surface.ZAI: "reasoning_content", Surface.OLLAMA: "reasoning", Surface.COPILOT: "reasoning_text"}
    assert body(rendered(script, surface))["choices"][0]["message"][fields[surface]] == "Bed 3."
    for stream in (False, True):
        assert read(rendered(script, surface, stream=stream)).parts == (Thought("Bed 3."), Text("41 %"))


@pytest.mark.parametrize("surface", [Surface.OPENAI, Surface.AZURE, Surface.GITHUB])
def test_thinking_that_is_not_shown_is_counted_all_the_same(surface: Surface) -> None:
    for stream in (False, True):
        answer = read(rendered(reply(Thought("x" * 40), Text("41 %")), surface, stream=stream, **FIGURES))
        assert answer.parts == (Text("41 %"),)
        assert answer.usage == TokenUsage(198, 11, 209, 128, 0, 10)


def test_copilot_seals_the_thinking_that_a_script_seals() -> None:
    sealed = Thought("Bed 3.", provider_data=ProviderData("scenario", "", {"signature": "c2VhbA=="}))
    for stream in (False, True):
        (thought, _) = read(rendered(reply(sealed, Text("41 %")), Surface.COPILOT, stream=stream)).parts
        assert thought.provider_data is not None
        assert thought.provider_data.data == {"encrypted": "c2VhbA=="}


# -- the form of a stream


def test_a_text_opens_with_its_role_and_ends_with_an_empty_delta() -> None:
    found = list(deltas(rendered(reply(Text("It is 41 %.")), stream=True)))
    assert found[0] == {"role": "assistant", "content": "", "refusal": None}
    assert "".join(delta["content"] for delta in found[1:-1]) == "It is 41 %."
    assert found[-1] == {}


def test_a_single_call_starts_together_with_the_message() -> None:
    found = list(deltas(rendered(reply(BOTH[0], finish=FinishReason.TOOL_USE), stream=True)))
    assert found[0]["role"] == "assistant"
    assert found[0]["tool_calls"][0]["function"] == {"name": "read_sensor", "arguments": ""}


@pytest.mark.parametrize("seed", ["seed", "a", "b", "c", "d"])
def test_parallel_calls_have_their_ids_in_the_first_fragment_only(seed: str) -> None:
    pieces = [
        piece for delta in deltas(rendered(REPLIES[2], stream=True, seed=seed)) for piece in delta.get("tool_calls", ())
    ]
    starts = [piece for piece in pieces if "id" in piece]
    assert [(each["index"], each["id"], each["function"]["arguments"]) for each in starts] == [
        (0, "call_a", ""),
        (1, "call_b", ""),
    ]
    assert all(set(piece) == {"index", "function"} for piece in pieces if piece not in starts)
    assert len(pieces) > 4


@pytest.mark.parametrize("seed", list("01234567"))
def test_parallel_calls_come_one_after_the_other(seed: str) -> None:
    found = deltas(rendered(REPLIES[2], stream=True, seed=seed))
    numbers = [piece["index"] for delta in found for piece in delta.get("tool_calls", ())]
    assert numbers == sorted(numbers)


def test_calls_that_overlap_begin_together_and_each_keeps_its_order() -> None:
    events = [event.data for event in rendered(REPLIES[2], stream=True).events]
    overlapped = list(respelled(events, "overlapping"))
    assert sorted(overlapped) == sorted(events)
    ours, theirs = _call_events(events), _call_events(overlapped)
    numbers = [number for number, _ in theirs]
    assert numbers[:2] == [0, 1]
    assert numbers != sorted(numbers)
    for number in (0, 1):
        assert [one for one in theirs if one[0] == number] == [one for one in ours if one[0] == number]


def _call_events(events: Sequence[bytes]) -> list[tuple[int, bytes]]:
    documents = [(msgspec.json.decode(event[6:]), event) for event in events if event.startswith(b"data: {")]
    deltas = [(choice["delta"], event) for document, event in documents for choice in document["choices"]]
    return [(call["index"], event) for delta, event in deltas for call in delta.get("tool_calls", ())]


@pytest.mark.parametrize("surface", [Surface.ZAI, Surface.OLLAMA])
def test_where_calls_come_whole_each_is_one_chunk_with_its_index(surface: Surface) -> None:
    pieces = [
        each for delta in deltas(rendered(REPLIES[2], surface, stream=True)) for each in delta.get("tool_calls", ())
    ]
    assert [(each["index"], each["id"], each["function"]["name"]) for each in pieces] == [
        (0, "call_a", "read_sensor"),
        (1, "call_b", "water"),
    ]


def test_a_model_without_a_parser_of_its_own_numbers_all_streamed_calls_0() -> None:
    answer = rendered(REPLIES[2], Surface.OLLAMA, stream=True, model="llama3.2")
    pieces = [each for delta in deltas(answer) for each in delta.get("tool_calls", ())]
    assert [(each["index"], each["id"]) for each in pieces] == [(0, "call_a"), (0, "call_b")]
    assert read(answer).parts == BOTH
    whole = body(rendered(REPLIES[2], Surface.OLLAMA, model="llama3.2"))["choices"][0]["message"]["tool_calls"]
    assert [each["index"] for each in whole] == [0, 1]


def test_scripted_pieces_are_the_pieces_of_the_stream() -> None:
    call = ReplyPart(BOTH[0], ('{"be', 'd": "3"}'))
    found = list(deltas(rendered(reply(ReplyPart(Text("41 %"), ("4", "1 %")), call), stream=True)))
    assert [delta["content"] for delta in found if delta.get("content")] == ["4", "1 %"]
    arguments = [each["function"]["arguments"] for delta in found for each in delta.get("tool_calls", ())]
    assert arguments == ["", '{"be', 'd": "3"}']


@pytest.mark.parametrize("surface", [Surface.OPENAI, Surface.AZURE, Surface.GITHUB, Surface.COPILOT, Surface.OLLAMA])
def test_figures_come_on_request_in_a_chunk_without_choices(surface: Surface) -> None:
    with_usage, unasked = (chunks(rendered(REPLIES[0], surface, stream=True, **more)) for more in (FIGURES, {}))
    assert with_usage[-1]["choices"] == []
    assert with_usage[-1]["usage"]["total_tokens"] > 198
    assert not any(chunk.get("usage") for chunk in [*unasked, *with_usage[:-1]])
    makers = surface is not Surface.OLLAMA
    assert all(("usage" in chunk) is makers for chunk in with_usage[:-1] if "prompt_filter_results" not in chunk)


def test_zai_puts_the_figures_beside_the_ending_and_repeats_the_role() -> None:
    found = chunks(rendered(REPLIES[0], Surface.ZAI, stream=True, **FIGURES))
    assert found[-1]["choices"][0]["finish_reason"] == "stop"
    assert found[-1]["usage"]["prompt_tokens_details"] == {"cached_tokens": 128}
    assert all(chunk["choices"][0]["delta"]["role"] == "assistant" for chunk in found)
    assert not any("finish_reason" in chunk["choices"][0] for chunk in found[:-1])


@pytest.mark.parametrize("surface", [Surface.AZURE, Surface.GITHUB, Surface.COPILOT])
def test_a_filtered_stream_begins_with_a_chunk_that_has_no_choices(surface: Surface) -> None:
    answer = rendered(REPLIES[0], surface, stream=True)
    assert answer.events[0].kind == "ping"
    assert chunks(answer)[0]["choices"] == []
    assert read(answer).parts == (Text("It is 41 %."),)


def test_the_events_are_of_the_kinds_that_faults_and_cancels_name() -> None:
    kinds = [event.kind for event in rendered(reply(Text("41 %"), *BOTH), stream=True, **FIGURES).events]
    assert kinds[0] == "start"
    assert kinds[-3:] == ["end", "usage", "end"]
    assert set(kinds) == {"start", "text", "block_start", "args", "end", "usage"}
    thinking = [event.kind for event in rendered(reply(Thought("Hm.")), Surface.ZAI, stream=True).events]
    assert "thinking" in thinking


def test_the_visible_text_of_the_events_is_the_text() -> None:
    answer = rendered(REPLIES[1], stream=True)
    assert "".join(event.text for event in answer.events) == "  né 北🌍\n"
    assert [event.text for event in DIALECT.split_stream(answer.headers, data(answer))] == [
        event.text for event in answer.events
    ]


# -- what only one form or one surface has


def test_arguments_are_a_string_of_json() -> None:
    message = body(rendered(REPLIES[2]))["choices"][0]["message"]
    assert message["content"] is None
    assert [call["function"]["arguments"] for call in message["tool_calls"]] == ['{"bed": "3"}', '{"litres": 2}']


def test_ollama_has_an_empty_content_beside_calls() -> None:
    assert body(rendered(REPLIES[2], Surface.OLLAMA))["choices"][0]["message"]["content"] == ""


def test_a_refusal_has_a_field_of_its_own() -> None:
    message = body(rendered(REPLIES[7]))["choices"][0]["message"]
    assert (message["content"], message["refusal"]) == (None, "I will not.")
    assert body(rendered(REPLIES[7]))["choices"][0]["finish_reason"] == "stop"


def test_a_filtered_answer_on_azure_says_what_the_filter_found() -> None:
    (choice,) = body(rendered(REPLIES[8], Surface.AZURE))["choices"]
    assert choice["finish_reason"] == "content_filter"
    assert choice["content_filter_results"]["violence"] == {"filtered": True, "severity": "high"}
    assert body(rendered(REPLIES[8], Surface.AZURE))["prompt_filter_results"][0]["prompt_index"] == 0
    assert body(rendered(REPLIES[8], Surface.ZAI))["choices"][0]["finish_reason"] == "sensitive"


def test_a_forced_function_ends_with_stop_and_is_a_tool_use_all_the_same() -> None:
    forced: Any = {"tool_choice": {"type": "function", "function": {"name": "water"}}}
    answer = rendered(reply(BOTH[1], finish=FinishReason.TOOL_USE), **forced)
    assert body(answer)["choices"][0]["finish_reason"] == "stop"
    assert read(answer).finish is FinishReason.TOOL_USE


def test_copilot_puts_the_text_and_the_calls_of_claude_into_choices_of_their_own() -> None:
    script = reply(Text("Let me look."), BOTH[0], finish=FinishReason.TOOL_USE)
    answer = rendered(script, Surface.COPILOT, model="claude-sonnet-4.5")
    assert len(body(answer)["choices"]) == 2
    assert read(answer).parts == (Text("Let me look."), BOTH[0])
    assert len(body(rendered(script, Surface.COPILOT))["choices"]) == 1


def test_a_call_without_an_id_gets_one_of_the_surface() -> None:
    def new_id(surface: Surface) -> str:
        (part,) = read(rendered(reply(FunctionCall("", "water", {})), surface)).parts
        assert isinstance(part, FunctionCall)
        return part.id

    assert len(new_id(Surface.OPENAI)) == len("call_") + 24
    assert len(new_id(Surface.OLLAMA)) == len("call_") + 8


@pytest.mark.parametrize("stream", [False, True])
def test_a_call_that_the_limit_cut_is_counted_as_broken(stream: bool) -> None:
    broken = ReplyPart(BOTH[0], broken=True)
    answer = read(rendered(reply(Text("Hm."), broken, finish=FinishReason.MAX_TOKENS), stream=stream))
    assert answer.parts == (Text("Hm."),)
    assert (answer.broken_calls, answer.finish) == (1, FinishReason.MAX_TOKENS)


def test_figures_of_a_script_win_over_those_that_were_counted() -> None:
    script = reply(Text("41 %"), usage={"fresh": 5, "cache_read": 7, "cache_write": 3, "output": 11, "thinking": 2})
    assert read(rendered(script)).usage == TokenUsage(15, 11, 26, 7, 3, 2)


def test_ollama_reports_nothing_about_caches() -> None:
    assert set(body(rendered(REPLIES[0], Surface.OLLAMA))["usage"]) == {
        "prompt_tokens",
        "completion_tokens",
        "total_tokens",
    }


def test_an_answer_names_the_dated_model_and_a_local_server_the_one_that_was_asked() -> None:
    assert body(rendered(REPLIES[0]))["model"] == "gpt-4o-2024-08-06"
    assert body(rendered(REPLIES[0], Surface.OLLAMA, model="qwen3:latest"))["model"] == "qwen3:latest"


def test_a_part_scripted_in_the_words_of_the_api_stands_in_the_message() -> None:
    citations = [{"type": "url_citation", "url_citation": {"url": "https://garden.example"}}]
    scripted = Opaque("scenario", "block", {"openai-chat": {"annotations": citations}})
    for stream in (False, True):
        parts = read(rendered(reply(Text("41 %"), scripted), stream=stream)).parts
        assert parts == (Text("41 %"), Opaque("openai-chat", "annotations", {"annotations": citations}))


@pytest.mark.parametrize("part", [IMAGE, Opaque("gemini", "x", {})])
def test_a_part_that_has_no_form_is_a_fault_of_the_script(part: Part) -> None:
    with pytest.raises(HarnessError, match="openai-chat cannot answer"):
        rendered(reply(part))


def test_a_reason_that_has_no_word_is_a_fault_of_the_script() -> None:
    with pytest.raises(HarnessError, match="no finish_reason"):
        rendered(reply(Text("41 %"), finish=FinishReason.ERROR))
    assert read(rendered(reply(finish=FinishReason.ERROR), Surface.ZAI)).raw_finish == "network_error"


# -- what is read of others


def stream_of(*events: Any) -> WireAnswer:
    data = b"".join(b"data: %b\n\n" % msgspec.json.encode(event) for event in events)
    return DIALECT.read_response(200, {"content-type": "text/event-stream"}, data + b"data: [DONE]\n\n")


def fragment(index: int | None = None, call_id: str | None = None, name: str | None = None, arguments: str = "") -> Any:
    function = {"arguments": arguments} | ({"name": name} if name else {})
    piece = {"function": function} | ({"id": call_id} if call_id else {}) | ({} if index is None else {"index": index})
    return {"choices": [{"index": 0, "delta": {"tool_calls": [piece]}}]}


END = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
A, B = FunctionCall("a", "read", {"n": 1}), FunctionCall("b", "water", {"n": 2})


@pytest.mark.parametrize(
    "events",
    [
        [
            fragment(0, "a", "read"),
            fragment(1, "b", "water"),
            fragment(1, arguments='{"n"'),
            fragment(0, arguments='{"n":1}'),
            fragment(1, arguments=":2}"),
        ],
        [fragment(0, "a", "read", '{"n":1}'), fragment(0, "b", "water", '{"n":2}')],
        [
            fragment(0, "a", "read", '{"n"'),
            fragment(0, arguments=":1}"),
            fragment(0, "b", "water", '{"n"'),
            fragment(0, arguments=":2}"),
        ],
        [fragment(None, "a", "read", '{"n":1}'), fragment(None, "b", "water", '{"n":2}')],
        [
            fragment(0, "a", "read", '{"n"'),
            fragment(0, "a", "read", ":1}"),
            fragment(1, "b", "water", '{"n":2}'),
        ],
    ],
    ids=["interleaved", "one-index", "one-index-in-pieces", "no-index", "ids-repeated"],
)
def test_parallel_calls_are_told_apart_however_a_server_numbers_them(events: list[Any]) -> None:
    answer = stream_of(*events, END)
    assert answer.parts == (A, B)
    assert answer.broken_calls == 0


def test_all_calls_in_one_chunk_are_read() -> None:
    pieces = [
        {"index": 0, "id": "a", "function": {"name": "read", "arguments": '{"n":1}'}},
        {"index": 1, "id": "b", "function": {"name": "water", "arguments": '{"n":2}'}},
    ]
    assert stream_of({"choices": [{"index": 0, "delta": {"tool_calls": pieces}}]}, END).parts == (A, B)


def test_a_call_is_whole_once_its_arguments_are_and_without_any_when_the_answer_has_ended() -> None:
    data = [
        fragment(0, "a", "read"),
        fragment(0, arguments='{"n"'),
        fragment(0, arguments=":1}"),
        fragment(1, "c", "go"),
    ]
    rows = [stream_of(*data[:n]).parts for n in range(1, 5)]
    assert rows == [(), (), (A,), (A,)]
    assert stream_of(*data, END).parts == (A, FunctionCall("c", "go", {}))


def test_a_call_that_is_no_function_is_kept_as_it_is() -> None:
    custom = {"id": "call_1", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    choices = [{"index": 0, "message": {"content": None, "tool_calls": [custom]}, "finish_reason": "tool_calls"}]
    (part,) = DIALECT.read_response(200, {}, msgspec.json.encode({"choices": choices})).parts
    assert part == Opaque("openai-chat", "custom", custom)


def test_arguments_that_no_session_can_hold_are_a_broken_call() -> None:
    deep = '{"n":' + "[" * 200 + "]" * 200 + "}"
    answer = stream_of(fragment(0, "a", "read", deep), fragment(1, "b", "water", '{"n":2}'), END)
    assert (answer.parts, answer.broken_calls) == ((B,), 1)


def test_of_several_choices_the_first_is_the_answer() -> None:
    choices = [{"index": n, "message": {"content": text}, "finish_reason": "stop"} for n, text in enumerate("ab")]
    answer = DIALECT.read_response(200, {}, msgspec.json.encode({"choices": choices}))
    assert answer.parts == (Text("a"),)


def test_more_cached_tokens_than_there_are_count_as_all_of_them() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 12}}
    answer = DIALECT.read_response(200, {}, msgspec.json.encode({"choices": [], "usage": usage}))
    assert answer.usage == TokenUsage(10, 2, 12, 10)


def test_an_error_in_mid_stream_keeps_what_came_before() -> None:
    event = DIALECT.error_event(*DIALECT.error_kind(500))
    assert event.kind == "error"
    stream = rendered(REPLIES[0], stream=True)
    data = b"".join(each.data for each in stream.events[:2]) + event.data
    answer = DIALECT.read_response(200, stream.headers, data)
    assert answer.parts
    assert answer.error_kind == "server_error"
    assert not answer.complete


@pytest.mark.parametrize(
    ("status", "data", "kind", "message"),
    [
        (401, b'{"error":{"message":"no","type":"t","param":null,"code":"c"}}', "c", "no"),
        (404, b'{"error":{"message":"no","type":"t","param":null,"code":null}}', "t", "no"),
        (500, b'{"error":{"message":"no","code":500}}', "500", "no"),
        (503, b'{"error":"DNS resolution failure"}', None, "DNS resolution failure"),
        (200, b'{"code":401,"msg":"token expired","success":false}', "401", "token expired"),
        (502, b"<html>Bad gateway</html>", None, "<html>Bad gateway</html>"),
        (400, b"", None, None),
    ],
)
def test_errors_are_read_in_every_form(status: int, data: bytes, kind: str | None, message: str | None) -> None:
    answer = DIALECT.read_response(status, {}, data)
    assert (answer.status, answer.error_kind, answer.error_message) == (status, kind, message)


@pytest.mark.parametrize("spelling", sorted(DIALECT.spellings))
def test_a_stream_spelled_in_another_way_says_the_same(spelling: Any) -> None:
    answer = rendered(reply(Text("41 %"), *BOTH, finish=FinishReason.TOOL_USE), stream=True, **FIGURES)
    other = b"".join(respelled([event.data for event in answer.events], spelling))
    assert other != data(answer)
    assert DIALECT.read_response(200, answer.headers, other) == read(answer)


@pytest.mark.parametrize("noise", DIALECT.noise)
def test_noise_between_events_says_nothing(noise: bytes) -> None:
    answer = rendered(REPLIES[2], stream=True)
    noisy = b"".join(noise + event.data for event in answer.events)
    assert DIALECT.read_response(200, answer.headers, noisy) == read(answer)


def test_a_broken_frame_is_no_end() -> None:
    answer = rendered(REPLIES[0], stream=True)
    data = b"".join(event.data for event in answer.events[:2]) + DIALECT.garbage
    assert not DIALECT.read_response(200, answer.headers, data).complete


def test_a_stream_without_its_end_marker_is_whole_once_it_said_how_it_ended() -> None:
    answer = rendered(REPLIES[0], stream=True)
    *before, _ = answer.events
    assert DIALECT.read_response(200, answer.headers, b"".join(event.data for event in before)).complete
    assert not DIALECT.read_response(200, answer.headers, b"".join(event.data for event in before[:-1])).complete


@pytest.mark.parametrize(
    "data",
    [
        b"[]", b"3", b'{"choices":3}', b'{"choices":[3]}', b'{"choices":[{"message":3}]}', b'{"usage":[]}',
        b'{"choices":[{"index":"x","message":{"content":{},"tool_calls":[3,{"function":3},{"id":4}]}}]}',
        b'{"error":3}', b"[" * 3000, b'data: {"choices":[{"delta":{"tool_calls":{}}}]}\n\n', b"data: 3\n\n",
    ],
)  # fmt: skip
def test_reading_never_raises(data: bytes) -> None:
    for headers in ({}, {"content-type": "text/event-stream"}):
        DIALECT.read_response(200, headers, data)
        assert b"".join(event.data for event in DIALECT.split_stream(headers, data)) == data


# -- whatever is said

_calls = st.builds(
    FunctionCall,
    st.uuids().map(lambda each: f"call_{each.hex}"),
    st.sampled_from([tool.name for tool in TOOLS]),
    st.dictionaries(st.text(max_size=5), VALUES, max_size=3),
)


@examples(60)
@given(st.text(), st.lists(_calls, max_size=3), st.sampled_from(list(Surface)), st.text(max_size=4))
def test_any_reply_survives_both_forms(text: str, calls: list[FunctionCall], surface: Surface, seed: str) -> None:
    script = reply(Text(text), *calls, finish=FinishReason.TOOL_USE if calls else FinishReason.STOP)
    batch, stream = (rendered(script, surface, stream=form, seed=seed, **FIGURES) for form in (False, True))
    assert read(batch) == read(stream)
    assert read(batch).parts == ((Text(text),) if text else ()) + tuple(calls)
    for answer in (batch, stream):
        assert DIALECT.split_stream(answer.headers, data(answer)) == answer.events


@examples(60)
@given(st.integers(0, 3000), st.binary(max_size=8))
def test_no_cut_and_no_garbage_makes_reading_raise(cut: int, garbage: bytes) -> None:
    for stream in (False, True):
        answer = rendered(REPLIES[3], stream=stream, **FIGURES)
        whole = data(answer)
        DIALECT.read_response(200, answer.headers, whole[:cut] + garbage + whole[cut:])
        seen = DIALECT.read_response(200, answer.headers, whole[:cut]).parts
        assert "Let me look.".startswith("".join(part.text for part in seen if isinstance(part, Text)))
        assert [part for part in seen if isinstance(part, FunctionCall)] in ([], [BOTH[0]])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "other_calls", [(), (FunctionCall("call_2", "read_sensor", {"bed": "3"}),)], ids=["alone", "beside"]
)
def test_a_call_of_a_tool_that_takes_a_text_goes_out_and_comes_back(
    stream: bool, other_calls: tuple[FunctionCall, ...]
) -> None:
    """`custom` stands where `function` does, and its input streams in pieces."""
    custom = {"id": "call_1", "type": "custom", "custom": {"name": "sql", "input": "select count(*) from beds"}}
    script = reply(Opaque("openai-chat", "custom", custom), *other_calls, finish=FinishReason.TOOL_USE)
    answer = rendered(script, stream=stream)
    assert read(answer).parts == (Opaque("openai-chat", "custom", custom), *other_calls)
    if stream:
        pieces = [each["choices"][0]["delta"].get("tool_calls", []) for each in chunks(answer) if each["choices"]]
        assert sum("custom" in call for calls in pieces for call in calls) > 2
