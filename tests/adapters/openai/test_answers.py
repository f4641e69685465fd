"""Answers in one piece, on both paths: what they become, why they ended, what they cost, and which are none."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from turnproof import errors
from turnproof.cancel import CancelToken
from turnproof.messages import FinishReason, Message, Part, ProviderData, ProviderResponse, Text, Thought, TokenUsage

from ..callback_recorder import CallbackRecorder
from ..contract.adapter_kit import outcome
from .kit import DATED, OURS, URL, Capture, Json, answer, call, legacy, stateless, thought, tool_call

HI = [Message.user("hi")]
JSON = {"content-type": "application/json"}
Ask = Callable[..., ProviderResponse]


def by_complete(reply: Any, **ears: Any) -> ProviderResponse:
    return stateless(URL, transport=Capture(reply).transport).complete(HI, **ears)


def by_legacy(reply: Any) -> ProviderResponse:
    return legacy(URL, transport=Capture(reply).transport).send_message("hi")


WAYS = pytest.mark.parametrize("ask", [by_complete, by_legacy], ids=["stateless", "legacy"])


def issued(**data: Any) -> ProviderData:
    return ProviderData(OURS, DATED, data)


CITED = [{"type": "url_citation", "url_citation": {"url": "https://x.invalid", "start_index": 0}}]
ANSWERS: dict[str, tuple[Json, tuple[Part, ...], FinishReason]] = {
    "text": (answer("hi"), (Text("hi"),), FinishReason.STOP),
    "nothing": (answer(""), (), FinishReason.STOP),
    "text-and-calls": (
        answer("so", tool_call("a", "read", '{"p": 1}'), tool_call("b", "read", "{}"), finish="tool_calls"),
        (Text("so"), call("a", p=1), call("b")),
        FinishReason.TOOL_USE,
    ),
    "a-call-without-arguments": (
        answer(None, tool_call("a", "read", ""), finish="tool_calls"),
        (call("a"),),
        FinishReason.TOOL_USE,
    ),
    "arguments-as-an-object": (
        answer(None, tool_call("a", "read", {"p": [1]}), finish="tool_calls"),
        (call("a", p=[1]),),
        FinishReason.TOOL_USE,
    ),
    "a-forced-call": (answer(None, tool_call("a", "read", "{}")), (call("a"),), FinishReason.TOOL_USE),
    "a-refusal": (
        answer(None, refusal="I will not."),
        (Text("I will not.", provider_data=issued(refusal=True)),),
        FinishReason.REFUSAL,
    ),
    "thinking": (
        answer("so", reasoning_content="hm"),
        (thought("hm"), Text("so")),
        FinishReason.STOP,
    ),
    "thinking-of-ollama": (
        answer("so", reasoning="hm"),
        (Thought("hm", provider_data=issued(field="reasoning")), Text("so")),
        FinishReason.STOP,
    ),
    "thinking-in-two-fields": (
        answer("so", reasoning_content="hm", reasoning="hm"),
        (thought("hm"), Text("so")),
        FinishReason.STOP,
    ),
    "sealed-thinking": (
        answer("so", reasoning_text="hm", reasoning_opaque="abc=="),
        (Thought("hm", provider_data=issued(field="reasoning_text", encrypted="abc==")), Text("so")),
        FinishReason.STOP,
    ),
    "citations": (
        answer("so", annotations=CITED),
        (Text("so", provider_data=issued(annotations=CITED)),),
        FinishReason.STOP,
    ),
    "content-in-blocks": (
        answer([{"type": "text", "text": "so "}, {"type": "text", "text": "it is"}]),
        (Text("so it is"),),
        FinishReason.STOP,
    ),
    "cut": (answer("so", finish="length"), (Text("so"),), FinishReason.MAX_TOKENS),
    "a-call-cut-off": (
        answer(None, tool_call("a", "read", "{}"), tool_call("b", "rm", '{"p": "/'), finish="length"),
        (call("a"),),
        FinishReason.MAX_TOKENS,
    ),
    "a-call-cut-before-its-arguments": (
        answer("so", tool_call("b", "rm", ""), finish="length"),
        (Text("so"),),
        FinishReason.MAX_TOKENS,
    ),
    "filtered": (answer("so", finish="content_filter"), (Text("so"),), FinishReason.SAFETY),
    "zai-filtered": (answer("", finish="sensitive"), (), FinishReason.SAFETY),
    "zai-full": (answer("", finish="model_context_window_exceeded"), (), FinishReason.CONTEXT_LIMIT),
    "zai-network": (answer("so", finish="network_error"), (Text("so"),), FinishReason.ERROR),
    "a-new-word": (answer("so", finish="tired"), (Text("so"),), FinishReason.UNKNOWN),
    "no-word": (answer("so", finish=None), (Text("so"),), FinishReason.UNKNOWN),
}


@WAYS
@pytest.mark.parametrize("case", ANSWERS)
def test_an_answer_becomes_parts_and_a_reason(case: str, ask: Ask) -> None:
    reply, parts, finish = ANSWERS[case]
    response = ask(reply)
    assert (response.parts, response.finish_reason) == (parts, finish)
    assert response.raw_finish == reply["choices"][0]["finish_reason"]
    assert response.model == DATED


USAGES: list[tuple[Any, TokenUsage]] = [
    (None, TokenUsage()),
    ({}, TokenUsage()),
    ({"prompt_tokens": None, "completion_tokens": None, "prompt_tokens_details": None}, TokenUsage()),
    ({"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 99}, TokenUsage(5, 2, 7)),
    (
        {"prompt_tokens": 50, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 40}},
        TokenUsage(50, 9, 59, cache_read_tokens=40),
    ),
    (
        {"prompt_tokens": 50, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 400}},
        TokenUsage(50, 9, 59, cache_read_tokens=50),
    ),
    (
        {"prompt_tokens": 50, "completion_tokens": 9, "prompt_tokens_details": {"cache_write_tokens": 30}},
        TokenUsage(50, 9, 59, cache_creation_tokens=30),
    ),
    (
        {"prompt_tokens": 50, "completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 8}},
        TokenUsage(50, 9, 59, thinking_tokens=8),
    ),
    ({"prompt_tokens": -1, "completion_tokens": 1 << 60}, TokenUsage()),
]


@WAYS
@pytest.mark.parametrize(("usage", "expected"), USAGES)
def test_the_parts_of_the_figures_are_inside_their_wholes(usage: Any, expected: TokenUsage, ask: Ask) -> None:
    assert ask(answer("hi", usage=usage)).usage == expected


@WAYS
def test_calls_without_ids_get_ids_of_their_own(ask: Ask) -> None:
    reply = answer(None, tool_call(None, "read", "{}"), tool_call("", "read", "{}"), finish="tool_calls")
    first, second = (each.id for each in ask(reply).calls)
    assert first != second
    assert (first, second) == tuple(each.id for each in ask(reply).calls), "the same answer, the same ids"
    other = ask({**reply, "id": "chatcmpl-2"}).calls[0].id
    assert other != first
    unnamed = {**reply, "id": None}
    assert ask(unnamed).calls[0].id != ask(unnamed).calls[0].id


def test_half_of_a_pair_of_surrogates_is_shown_as_what_it_is() -> None:
    body = json.dumps(answer("so \ud83d")).encode()
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, content=body, headers=JSON))
    assert stateless(URL, transport=transport).complete(HI).text == "so \ufffd"
    assert legacy(URL, transport=transport).send_message("hi").text == "so \ufffd"


@WAYS
def test_choices_are_one_answer(ask: Ask) -> None:
    """Reported of Claude on Copilot: the text and the calls come in choices of their own, without an index."""
    words, calls = answer("so", finish="tool_calls"), answer(None, tool_call("a", "read", "{}"), finish="tool_calls")
    choices = [{key: value for key, value in each["choices"][0].items() if key != "index"} for each in (words, calls)]
    response = ask({**words, "choices": choices})
    assert response.parts == (Text("so"), call("a"))


def test_a_batch_call_is_heard_in_the_models_order() -> None:
    recorder = CallbackRecorder()
    ears = {name: listen for name, listen in recorder.callbacks.items() if name != "on_chunk"}
    reply = answer("so", tool_call("a", "read", "{}"), reasoning_content="hm", finish="tool_calls")
    response = by_complete(reply, **ears)
    assert recorder.events == [("thinking", "hm"), ("call", call("a"))]
    assert recorder.usage == [response.usage]


NONE: dict[str, Any] = {
    "no-choices": {**answer(), "choices": []},
    "null-choices": {**answer(), "choices": None},
    "choices-missing": {"id": "x", "model": "m"},
    "a-choice-of-another-form": {**answer(), "choices": [7]},
    "malformed-arguments": answer(None, tool_call("a", "rm", '{"p": "/'), finish="tool_calls"),
    "arguments-that-are-no-object": answer(None, tool_call("a", "rm", "[1]"), finish="tool_calls"),
    "arguments-that-hold-no-number": answer(None, tool_call("a", "rm", '{"p": NaN}'), finish="tool_calls"),
    "arguments-nested-too-deeply": answer(None, tool_call("a", "rm", '{"p": ' + "[" * 9999), finish="tool_calls"),
    "a-call-without-a-name": answer(None, tool_call("a", None, "{}"), finish="tool_calls"),
    "a-call-of-another-kind": answer(None, {"id": "a", "type": "custom", "custom": {}}, finish="tool_calls"),
}


@WAYS
@pytest.mark.parametrize("case", NONE)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_is_no_answer_is_a_transport_error(case: str, ask: Ask) -> None:
    with pytest.raises(errors.TransportError):
        ask(NONE[case])


FAILURES: list[tuple[Any, type[errors.ProviderError], str | None, str]] = [
    (
        {"error": {"message": "Sorry", "type": "server_error", "code": None}},
        errors.OverloadedError,
        "server_error",
        "Sorry",
    ),
    (
        {"error": {"message": "wait", "code": "rate_limit_exceeded"}},
        errors.RateLimitError,
        "rate_limit_exceeded",
        "wait",
    ),
    ({"error": {"message": "full", "code": "1261"}}, errors.ContextLimitError, "1261", "full"),
    ({"error": {"message": "no", "code": 401}}, errors.AuthenticationError, "401", "no"),
    ({"error": "DNS resolution failure"}, errors.OverloadedError, None, "DNS resolution failure"),
    ({"code": 500, "msg": "404 NOT_FOUND", "success": False}, errors.OverloadedError, "500", "404 NOT_FOUND"),
    ({"code": 401, "msg": "token expired", "success": False}, errors.AuthenticationError, "401", "token expired"),
    (
        {"object": "error", "message": "busy", "type": "ServiceUnavailable", "code": 503},
        errors.OverloadedError,
        "503",
        "busy",
    ),
]


@pytest.mark.parametrize(("body", "expected", "kind", "words"), FAILURES, ids=lambda value: "")
def test_a_failure_told_in_an_answers_place_is_what_it_says(
    body: Any, expected: type[errors.ProviderError], kind: str | None, words: str
) -> None:
    """On both paths, whether a whole answer or a stream was asked for."""
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, json=body))
    provider, conversation = stateless(URL, transport=transport), legacy(URL, transport=transport)
    asks: tuple[Callable[[], ProviderResponse], ...] = (
        lambda: provider.complete(HI),
        lambda: provider.complete(HI, on_chunk=print),
        lambda: conversation.send_message("hi"),
        lambda: conversation.send_message_streaming("hi", print),
    )
    for ask in asks:
        with pytest.raises(expected) as failure:
            ask()
        assert type(failure.value) is expected
        assert (failure.value.kind, failure.value.message, failure.value.status) == (kind, words, 200)


def test_a_service_that_never_streams_is_understood_all_the_same() -> None:
    """What was asked for in pieces comes in one; that it is JSON, the head says."""
    reply = answer("so", tool_call("a", "read", "{}"), finish="tool_calls")
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, json=reply))
    recorder, callbacks = CallbackRecorder(), CallbackRecorder().callbacks
    del callbacks["on_chunk"]
    ours = stateless(URL, transport=transport).complete(HI, **recorder.callbacks)
    theirs = legacy(URL, transport=transport).send_message_streaming("hi", print, **callbacks)
    assert outcome(ours) == outcome(theirs) == outcome(by_complete(reply))
    assert recorder.events == [("text", "so"), ("call", call("a"))]


SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}


@pytest.mark.parametrize(
    ("reply", "structured"),
    [
        (answer('{"city": "Bern"}'), {"city": "Bern"}),
        (answer("Bern"), None),
        (answer('{"city": "B', finish="length"), None),
        (answer(None, refusal='{"city": "Bern"}'), None),
    ],
    ids=["json", "words", "cut", "refused"],
)
def test_an_answer_to_a_schema_is_parsed_if_it_came_to_its_end(reply: Json, structured: Any) -> None:
    capture = Capture(reply)
    response = stateless(URL, transport=capture.transport).complete(HI, response_schema=SCHEMA)
    assert response.structured_output == structured
    assert capture.body["response_format"]["json_schema"]["strict"] is True
    assert legacy(URL, transport=capture.transport).send_message("hi", SCHEMA).structured_output == structured


@pytest.mark.parametrize("opened", [stateless, legacy], ids=["stateless", "legacy"])
def test_a_batch_answer_that_arrives_after_the_cancel_keeps_no_thinking(opened: Any) -> None:
    reply = answer("so far", tool_call("a", "rm", "{}"), reasoning_content="hm", finish="tool_calls")
    token = CancelToken()

    class Late(Capture):
        def respond(self, request: Any) -> Any:
            token.cancel()
            return super().respond(request)

    provider = opened(URL, transport=Late(reply).transport)
    if opened is stateless:
        response = provider.complete(HI, cancel_token=token)
    else:
        response = provider.send_message("hi", cancel_token=token)
    assert (response.parts, response.finish_reason) == ((Text("so far"),), FinishReason.CANCELLED)
    assert response.usage.prompt_tokens == 120
