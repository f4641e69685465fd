"""What the service answers, as the caller gets it: whole and streamed, on both paths, and cut off anywhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from turnproof import errors
from turnproof.messages import (
    FinishReason,
    FunctionCall,
    Message,
    Opaque,
    Part,
    ProviderData,
    ProviderResponse,
    Text,
    Thought,
    TokenUsage,
)
from turnproof_adapters._answers import Listeners
from turnproof_adapters.openai.calling import OpenAIErrorMapper
from turnproof_adapters.openai_responses.assemble import Assembler
from turnproof_adapters.openai_responses.wire import decode_event

from ..callback_recorder import CallbackRecorder
from .kit import (
    BATCH,
    DATED,
    KEY,
    OURS,
    STREAM,
    STREAMED,
    Capture,
    Json,
    answer,
    call,
    calls,
    done,
    event,
    finished,
    function_call,
    legacy,
    message,
    opened,
    own_text,
    reasoned,
    reasoning,
    refusal,
    says,
    started,
    stateless,
    stream,
    thinks,
    unheard,
    words,
)

HI = [Message.user("hi")]
FIGURES = TokenUsage(120, 30, 150, 100, 0, 20)
both_batch = pytest.mark.parametrize("way", BATCH.values(), ids=BATCH)
both_streams = pytest.mark.parametrize("way", STREAM.values(), ids=STREAM)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

ITEMS = [
    reasoning("Bed 3."),
    message("It’s 北🌍."),
    function_call("a", "read", '{"bed": 3}'),
    function_call("b", "ls", ""),
]
PARTS: tuple[Part, ...] = (reasoned("Bed 3."), Text("It’s 北🌍."), call("a", "read", bed=3), call("b", "ls"))
EVENTS = [
    started(),
    event("response.in_progress", response=answer(status="in_progress", usage=None)),
    *thinks(0, "Bed", " 3."),
    *says(1, "It’s ", "北🌍."),
    *calls(2, "a", "read", '{"be', 'd": 3}'),
    *calls(3, "b", "ls", ""),
    finished(*ITEMS),
]


def test_everything_that_an_answer_can_say_is_alike_on_all_four_ways() -> None:
    expected = ProviderResponse(
        parts=PARTS, usage=FIGURES, finish_reason=FinishReason.TOOL_USE, raw_finish="completed", model=DATED
    )
    for ways in (BATCH, STREAM):
        for way in ways.values():
            assert way(Capture(answer(*ITEMS), EVENTS), CallbackRecorder().callbacks) == expected


@both_streams
def test_callbacks_hear_an_answer_as_it_comes_and_each_call_once(way: Any) -> None:
    recorder = CallbackRecorder()
    way(Capture(events=EVENTS), recorder.callbacks)
    assert recorder.events == [
        ("thinking", "Bed"),
        ("thinking", " 3."),
        ("text", "It’s "),
        ("text", "北🌍."),
        ("call", PARTS[2]),
        ("call", PARTS[3]),
    ]
    assert recorder.usage == [FIGURES]


def test_a_batch_answer_is_told_to_the_callbacks_too() -> None:
    recorder = CallbackRecorder()
    BATCH["stateless"](Capture(answer(*ITEMS)), recorder.callbacks)
    assert recorder.events == [("thinking", "Bed 3."), ("call", PARTS[2]), ("call", PARTS[3])]
    assert recorder.usage == [FIGURES]


def both(items: list[Json], **more: Any) -> list[tuple[str, ProviderResponse]]:
    """The same answer whole and, its items complete from the start, streamed."""
    events = [started(), *(each for n, item in enumerate(items) for each in (opened(n, item), done(n, item)))]
    capture = Capture(answer(*items, **more), [*events, finished(*items, **more)])
    ways = {f"batch-{name}": way for name, way in BATCH.items()} | {
        f"stream-{name}": way for name, way in STREAM.items()
    }
    return [(name, way(capture, CallbackRecorder().callbacks)) for name, way in ways.items()]


def data(**fields: Any) -> ProviderData:
    return ProviderData(OURS, DATED, fields)


CITED = [{"type": "url_citation", "url": "https://a"}]
ODD = {"type": "hologram", "id": "h_1", "beam": [1, 2]}
READ: dict[str, tuple[list[Json], tuple[Part, ...]]] = {
    "nothing": ([], ()),
    "an-empty-text": ([message("")], ()),
    "two-texts": ([message("a", "b")], (Text("a"), Text("b"))),
    "a-phase": ([message("a", phase="final_answer")], (own_text("a", phase="final_answer"),)),
    "a-refusal": ([refusal("no")], (own_text("no", refusal=True),)),
    "annotations": (
        [message() | {"content": [{"type": "output_text", "text": "a", "annotations": CITED}]}],
        (own_text("a", annotations=CITED),),
    ),
    "an-unknown-block": (
        [message() | {"content": [{"type": "output_smell", "x": 1}]}],
        (
            Opaque(
                OURS,
                "message",
                {"type": "message", "role": "assistant", "content": [{"type": "output_smell", "x": 1}]},
            ),
        ),
    ),
    "an-unknown-item": ([ODD], (Opaque(OURS, "hologram", ODD),)),
    "hidden-reasoning": ([reasoning()], (reasoned(),)),
    "two-summaries": ([reasoning("a", "b")], (reasoned("a\n\nb"),)),
    "open-reasoning": (
        [reasoning(encrypted=None) | {"content": [{"type": "reasoning_text", "text": "a"}]}],
        (Thought("a"),),
    ),
    "empty-reasoning": ([reasoning(encrypted=None)], ()),
    "a-program-that-calls": (
        [function_call(caller={"type": "program", "caller_id": "p"})],
        (FunctionCall("call_1", "read", {}, provider_data=data(caller={"type": "program", "caller_id": "p"})),),
    ),
    "a-direct-call": ([function_call(caller={"type": "direct"})], (call(),)),
    "blank-arguments": ([function_call(arguments=" ")], (call(),)),
}


@pytest.mark.parametrize("name", READ)
def test_items_are_read_alike_whole_and_streamed(name: str) -> None:
    items, parts = READ[name]
    for way, response in both(items):
        assert response.parts == parts, way


ENDINGS: dict[str, tuple[list[Json], str, str | None, FinishReason, str]] = {
    "answer": ([message("a")], "completed", None, FinishReason.STOP, "completed"),
    "calls": ([message("a"), function_call()], "completed", None, FinishReason.TOOL_USE, "completed"),
    "refusal": ([refusal("no")], "completed", None, FinishReason.REFUSAL, "completed"),
    "limit": ([message("a")], "incomplete", "max_output_tokens", FinishReason.MAX_TOKENS, "max_output_tokens"),
    "filter": ([message("a")], "incomplete", "content_filter", FinishReason.SAFETY, "content_filter"),
    "steered": ([message("a")], "incomplete", "steered", FinishReason.UNKNOWN, "steered"),
    "no-reason": ([message("a")], "incomplete", None, FinishReason.UNKNOWN, "incomplete"),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_why_an_answer_ended(name: str) -> None:
    items, status, reason, neutral, raw = ENDINGS[name]
    for way, response in both(items, status=status, reason=reason):
        assert (response.finish_reason, response.raw_finish) == (neutral, raw), way


USAGES: dict[str, tuple[Any, TokenUsage]] = {
    "none": (None, TokenUsage()),
    "null-figures": ({"input_tokens": None, "output_tokens": None, "input_tokens_details": None}, TokenUsage()),
    "written": (
        {
            "input_tokens": 50,
            "input_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 10},
            "output_tokens": 5,
        },
        TokenUsage(50, 5, 55, 20, 10),
    ),
    "parts-beyond-their-whole": (
        {
            "input_tokens": 5,
            "input_tokens_details": {"cached_tokens": 9, "cache_write_tokens": 9},
            "output_tokens": 2,
            "output_tokens_details": {"reasoning_tokens": 3},
        },
        TokenUsage(5, 2, 7, 5, 0, 2),
    ),
}


@pytest.mark.parametrize("name", USAGES)
def test_figures_count_every_token_once(name: str) -> None:
    wire, neutral = USAGES[name]
    for way, response in both([message("a")], usage=wire):
        assert response.usage == neutral, way


def test_a_structured_answer_is_read() -> None:
    capture = Capture(answer(message('{"a": 1}')), stream(says(0, '{"a": 1}')))
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    assert stateless(transport=capture.transport).complete(HI, response_schema=schema).structured_output == {"a": 1}
    assert legacy(transport=capture.transport).send_message_streaming("hi", unheard, response_schema=schema).text


def test_a_legacy_conversation_grows_by_what_was_said() -> None:
    provider = legacy(transport=Capture(answer(*ITEMS)).transport)
    provider.send_message("hi")
    history = provider.get_history()
    assert [each.role for each in history] == ["user", "model"]
    assert history[1].parts == PARTS
    assert provider.get_token_usage() == FIGURES


# -- what services do that are not quite the API


def test_the_last_form_of_a_reasoning_item_counts() -> None:
    """What opens one holds other encrypted content, which could not be sent back."""
    (thought,) = STREAM["stateless"](Capture(events=stream(thinks(0, encrypted="final"))), STREAMED).parts
    assert thought == reasoned(encrypted="final")


def test_items_are_known_by_their_place_whatever_ids_their_events_have() -> None:
    events = [
        started(),
        opened(0, message() | {"id": "msg_1"}),
        event("response.output_text.delta", output_index=0, item_id="msg_2", content_index=0, delta="so"),
        done(0, message("so") | {"id": "msg_3"}),
        finished(message("so") | {"id": "msg_4"}),
    ]
    assert STREAM["stateless"](Capture(events=events), STREAMED).parts == (Text("so"),)


def test_an_item_that_no_event_ended_is_taken_from_the_response() -> None:
    item = function_call("a", "read", '{"x": 1}')
    recorder = CallbackRecorder()
    events = [started(), opened(0, function_call("a", "read", "", "in_progress")), finished(item)]
    assert STREAM["stateless"](Capture(events=events), recorder.callbacks).calls == (call("a", "read", x=1),)
    assert recorder.calls == [call("a", "read", x=1)]


def test_a_response_whose_items_came_in_no_event_is_read_whole() -> None:
    recorder = CallbackRecorder()
    response = STREAM["stateless"](Capture(events=[started(), finished(*ITEMS)]), recorder.callbacks)
    assert response.parts == PARTS
    assert recorder.text == "It’s 北🌍."


def test_a_text_that_came_in_no_piece_is_shown_at_its_end() -> None:
    recorder = CallbackRecorder()
    events = stream([opened(0, message()), *words(0, "so "), done(0, message("so far"))])
    assert STREAM["stateless"](Capture(events=events), recorder.callbacks).text == recorder.text == "so far"


def test_what_was_heard_is_what_is_held_when_the_end_says_another_text() -> None:
    recorder = CallbackRecorder()
    events = stream([opened(0, message()), *words(0, "so far"), done(0, message("else"))])
    assert STREAM["stateless"](Capture(events=events), recorder.callbacks).parts == (Text("so far"),)
    assert recorder.text == "so far"


def test_arguments_that_the_end_of_a_call_leaves_out_are_those_of_its_pieces() -> None:
    piece = event("response.function_call_arguments.delta", output_index=0, delta='{"x": 1}')
    events = stream([opened(0, function_call(arguments="")), piece, done(0, function_call(arguments=""))])
    assert STREAM["stateless"](Capture(events=events), STREAMED).calls == (call(x=1),)


def test_halves_of_a_character_are_joined_across_pieces() -> None:
    halves = [
        b'data: {"type":"response.output_text.delta","output_index":0,"delta":"%b"}\n\n' % half
        for half in (b"a\\ud83c", b"\\udf0d")
    ]
    recorder = CallbackRecorder()
    events = stream([opened(0, message()), *halves, done(0, message("a🌍"))])
    assert STREAM["stateless"](Capture(events=events), recorder.callbacks).parts == (Text("a🌍"),)
    assert recorder.events == [("text", "a"), ("text", "🌍")]


@both_streams
def test_events_that_nobody_knows_change_nothing(way: Any) -> None:
    noise = [
        event("keepalive", sequence_number=0),
        event("response.web_search_call.searching", output_index=9),
        event("response.something.new", output_index=0, delta={"not": "a text"}),
        b": comment\n\n",
    ]
    noisy = [EVENTS[0], *(each for real in EVENTS[1:] for each in (*noise, real))]
    assert way(Capture(events=noisy), CallbackRecorder().callbacks).parts == PARTS


# -- what is no answer


MALFORMED: dict[str, Json] = {
    "no-json": function_call(arguments='{"path": "/'),
    "no-object": function_call(arguments="[1]"),
    "no-name": {"type": "function_call", "call_id": "a", "arguments": "{}"},
    "not-whole": function_call(status="incomplete"),
    "arguments-as-an-object": function_call() | {"arguments": {"a": 1}},
    "too-deep": function_call(arguments='{"a":' * 2000 + "1" + "}" * 2000),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_call_is_an_error_and_never_run(name: str) -> None:
    item = MALFORMED[name]
    events = [started(), opened(0, message()), *words(0, "so"), done(0, message("so")), opened(1, item), done(1, item)]
    capture = Capture(answer(item), [*events, finished(item)])
    for ways in (BATCH, STREAM):
        for way in ways.values():
            recorder = CallbackRecorder()
            with pytest.raises(errors.TransportError, match="malformed arguments for a call of"):
                way(capture, recorder.callbacks)
            assert recorder.calls == []


@pytest.mark.parametrize("status", ["incomplete", "completed"])
def test_a_call_that_the_limit_cut_is_dropped(status: str) -> None:
    item = function_call(arguments='{"pa', status=status)
    for way, response in both([message("so"), item], status="incomplete", reason="max_output_tokens"):
        assert response.parts == (Text("so"),), way


def test_a_call_that_was_cut_within_its_item_is_dropped_too() -> None:
    events = [*stream(says(0, "so"))[:-1], opened(1, function_call(arguments="", status="in_progress"))]
    ends = finished(status="incomplete", reason="max_output_tokens")
    assert STREAM["stateless"](Capture(events=[*events, ends]), STREAMED).parts == (Text("so"),)


def test_a_call_that_was_never_ended_is_an_error() -> None:
    events = [started(), opened(0, function_call(arguments="", status="in_progress")), finished()]
    with pytest.raises(errors.TransportError, match="did not end item 0"):
        STREAM["stateless"](Capture(events=events), STREAMED)


STRAY: dict[str, list[bytes]] = {
    "words-for-no-item": words(0, "so"),
    "words-for-a-call": [opened(0, function_call()), *words(0, "so")],
    "words-that-are-none": [opened(0, message()), event("response.output_text.delta", output_index=0, delta=7)],
    "two-items-in-one-place": [opened(0, message()), opened(0, message())],
    "an-item-that-ends-twice": [*says(0, "so"), done(0, message("so"))],
    "an-item-that-ends-with-nothing": [opened(0, message()), event("response.output_item.done", output_index=0)],
}


@pytest.mark.parametrize("name", STRAY)
@both_streams
def test_a_stream_that_would_lose_a_piece_without_a_word_is_an_error(way: Any, name: str) -> None:
    with pytest.raises(errors.TransportError, match="the service"):
        way(Capture(events=stream(STRAY[name])), CallbackRecorder().callbacks)


@pytest.mark.parametrize(
    "body",
    [{}, {"output": None}, {"id": "resp_1", "status": "completed"}, {"output": []}],
    ids=["empty", "null", "no-output", "no-status"],
)
@both_batch
def test_a_batch_answer_without_any_output_is_none(way: Any, body: Json) -> None:
    with pytest.raises(errors.TransportError):
        way(Capture(body or {"object": "response"}), {})


# -- failures

FAILURES: list[tuple[str, type[errors.ProviderError], bool]] = [
    ("rate_limit_exceeded", errors.RateLimitError, True),
    ("insufficient_quota", errors.RateLimitError, False),
    ("server_error", errors.OverloadedError, True),
    ("server_is_overloaded", errors.OverloadedError, True),
    ("invalid_prompt", errors.ContentFilterError, False),
    ("content_filter", errors.ContentFilterError, False),
    ("context_length_exceeded", errors.ContextLimitError, False),
    ("invalid_request_error", errors.InvalidRequestError, False),
    ("invalid_image_url", errors.InvalidRequestError, False),
    ("invalid_api_key", errors.AuthenticationError, False),
    ("vector_store_timeout", errors.OverloadedError, True),
]
ERROR_EVENTS: dict[str, Callable[[str], bytes]] = {
    "event": lambda code: event("error", code=code, message="Sorry", param=None, sequence_number=3),
    "nested": lambda code: event("error", error={"type": "x", "code": code, "message": "Sorry"}),
    "failed": lambda code: finished(status="failed", error={"code": code, "message": "Sorry"}),
}


@pytest.mark.parametrize(("code", "expected", "retryable"), FAILURES, ids=[each[0] for each in FAILURES])
@pytest.mark.parametrize("form", ERROR_EVENTS)
@both_streams
def test_a_failure_inside_a_stream_is_the_error_that_it_names(
    way: Any, form: str, code: str, expected: type[errors.ProviderError], retryable: bool
) -> None:
    recorder = CallbackRecorder()
    events = [started(), opened(0, message()), *words(0, "so far"), ERROR_EVENTS[form](code)]
    with pytest.raises(errors.ProviderError) as failure:
        way(Capture(events=events), recorder.callbacks)
    assert type(failure.value) is expected
    assert (failure.value.status, failure.value.kind, failure.value.message) == (200, code, "Sorry")
    assert failure.value.retryable is retryable
    assert failure.value.partial == (Text("so far"),)
    assert recorder.text == "so far"


@both_batch
def test_a_batch_answer_that_failed_is_the_error_that_it_names(way: Any) -> None:
    for body in (
        answer(status="failed", error={"code": "rate_limit_exceeded", "message": "Sorry"}),
        {"error": {"code": "rate_limit_exceeded", "message": "Sorry"}},
    ):
        with pytest.raises(errors.RateLimitError, match="Sorry") as failure:
            way(Capture(body), {})
        assert failure.value.status == 200


@both_batch
def test_a_response_that_failed_without_a_word_is_the_services_trouble(way: Any) -> None:
    with pytest.raises(errors.OverloadedError):
        way(Capture(answer(status="failed")), {})


# -- cut anywhere


def assembled(events: list[bytes]) -> tuple[Assembler, CallbackRecorder]:
    recorder = CallbackRecorder()
    error_mapper = OpenAIErrorMapper(lambda: KEY)
    assembler = Assembler(lambda name: name, Listeners(**recorder.callbacks), error_mapper.failure)
    for each in events:
        assembler.feed(decode_event(each.split(b"data: ", 1)[1]))
        assert assembler.failure is None
    return assembler, recorder


def unnumbered(events: list[bytes]) -> list[bytes]:
    """The events as llama.cpp writes them: items are named in each event, and nothing is numbered."""
    names: dict[int, str] = {}
    found = []
    for each in events:
        payload = json.loads(each.partition(b"data: ")[2])
        place = payload.pop("output_index", None)
        payload.pop("content_index", None)
        if "item" in payload:
            names[place] = payload["item"]["id"] = f"item_{place}"
        elif place is not None:
            payload["item_id"] = names[place]
        found.append(b"data: " + json.dumps(payload).encode())
    return found


def test_items_that_a_server_names_and_does_not_number_are_told_apart() -> None:
    numbered, recorder = assembled(EVENTS)
    named, as_well = assembled(unnumbered(EVENTS))
    one, other = numbered.response(), named.response()
    assert len(one.parts) == len(other.parts) > 1
    assert other.text == one.text
    assert [(call.name, call.args) for call in other.calls] == [(call.name, call.args) for call in one.calls]
    assert [kind for kind, _ in as_well.events] == [kind for kind, _ in recorder.events]


@pytest.mark.parametrize("place", range(len(EVENTS)))
def test_what_had_arrived_stands_alone_wherever_a_stream_is_cut(place: int) -> None:
    assembler, recorder = assembled(EVENTS[:place])
    response = assembler.cancelled()
    assert not assembler.complete
    assert response.finish_reason is FinishReason.CANCELLED
    assert response.text == recorder.text
    assert all(isinstance(part, Text | Thought) for part in response.parts)
    thoughts = [part for part in response.parts if isinstance(part, Thought)]
    assert thoughts in ([], [PARTS[0]]), "reasoning is kept with its final encrypted content, or not at all"


def test_what_follows_the_end_changes_nothing() -> None:
    assembler, _ = assembled([*EVENTS, *says(7, "more"), event("error", code="x", message="y")])
    assert assembler.complete
    assert assembler.response().parts == PARTS


@both_streams
def test_a_stream_without_its_end_is_an_error_with_what_had_arrived(way: Any) -> None:
    with pytest.raises(errors.TransportError, match="end marker") as failure:
        way(Capture(events=EVENTS[:-1]), CallbackRecorder().callbacks)
    assert failure.value.partial == PARTS[:2]
