"""GitHub Models through azure's SDK: what both paths send, what they make of answers, and how calls are ended."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from azure.core.exceptions import AzureError, HttpResponseError, ServiceRequestError

from turnproof import errors
from turnproof.messages import FinishReason, InlineData, Message, ProviderResponse, Text, TokenUsage, ToolSchema
from turnproof_adapters.github_models.calling import from_exception
from turnproof_adapters.openai.names import wire_name

from ..callback_recorder import CallbackRecorder
from ..contract.adapter_kit import outcome
from ..scripted_server import scripted
from .kit import (
    DATED,
    DONE,
    KEY,
    STREAMED,
    Capture,
    answer,
    call,
    chunk,
    legacy,
    result,
    stateless,
    stream,
    unheard,
    wire_call,
)
from .refusals import error

HI = Message.user("hi")
TOOLS = [
    ToolSchema("mcp.ls", "List files", {"type": "object", "properties": {"at": {"type": "string"}}}),
    ToolSchema("z"),
]
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
PIXEL = InlineData("image/png", b"\x89")
HISTORY = [
    Message.user("see", PIXEL),
    Message.model("look", call(path="’北🌍")),
    Message.tool(result(value={"n": [1.5, None]})),
    Message.system("be brief"),
]


def sent(capture: Capture) -> Any:
    assert len(capture.requests) == 1
    return capture.body


@pytest.mark.parametrize("model", ["openai/gpt-4.1", "openai/gpt-5", "meta/llama-3.3-70b-instruct"])
def test_a_request_names_its_version_and_has_fields_passed_through(model: str) -> None:
    pure, stateful = Capture(), Capture()
    options: dict[str, Any] = {"max_tokens": 99, "thinking": {"effort": "low"}}
    stateless(model=model, transport=pure.transport, **options).complete([*HISTORY, HI], "Be kind.", TOOLS)
    provider = legacy(model=model, transport=stateful.transport, **options)
    provider.create_session("Be kind.", TOOLS, HISTORY)
    provider.send_message("hi")
    assert sent(pure) == sent(stateful)
    for capture in (pure, stateful):
        request = capture.requests[0]
        assert request.url.path == "/chat/completions"
        assert request.url.params["api-version"] == "2024-05-01-preview"
        assert request.headers["extra-parameters"] == "pass-through"
        assert request.headers["authorization"] == f"Bearer {KEY}"


def test_figures_are_asked_for_with_a_stream() -> None:
    capture = Capture()
    stateless(transport=capture.transport).complete([HI], **STREAMED)
    assert capture.body["stream_options"] == {"include_usage": True}


CALLED = [wire_call("call_1", wire_name("mcp.ls"), '{"at":"北"}'), wire_call("call_2", "z", "{}")]
PIECES: list[dict[str, Any]] = [
    {"role": "assistant", "content": None},
    {"content": "it’s "},
    {"content": "北🌍"},
    {"tool_calls": [{"index": 0, **wire_call("call_1", wire_name("mcp.ls"), "")}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": '{"at":'}}]},
    {"tool_calls": [{"index": 1, **wire_call("call_2", "z", "")}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": '"北"}'}}]},
    {"tool_calls": [{"index": 1, "function": {"arguments": "{}"}}]},
]
RICH = stream(*PIECES, finish="tool_calls")
RESPONSE = ProviderResponse(
    parts=(Text("it’s 北🌍"), call("call_1", "mcp.ls", at="北"), call("call_2", "z")),
    usage=TokenUsage(120, 30, 150, 100),
    finish_reason=FinishReason.TOOL_USE,
    raw_finish="tool_calls",
    model=DATED,
)

Way = Callable[[Any, CallbackRecorder], ProviderResponse]


def whole(transport: Any, recorder: CallbackRecorder) -> ProviderResponse:
    return stateless(transport=transport).complete([HI], tools=TOOLS)


def streamed(transport: Any, recorder: CallbackRecorder) -> ProviderResponse:
    callbacks: dict[str, Any] = dict(recorder.callbacks)
    return stateless(transport=transport).complete([HI], tools=TOOLS, **callbacks)


def legacy_whole(transport: Any, recorder: CallbackRecorder) -> ProviderResponse:
    provider = legacy(transport=transport)
    provider.create_session(tools=TOOLS)
    return provider.send_message("hi")


def legacy_streamed(transport: Any, recorder: CallbackRecorder) -> ProviderResponse:
    provider = legacy(transport=transport)
    provider.create_session(tools=TOOLS)
    callbacks: dict[str, Any] = dict(recorder.callbacks)
    return provider.send_message_streaming("hi", callbacks.pop("on_chunk"), **callbacks)


BATCHES: dict[str, Way] = {"stateless": whole, "legacy": legacy_whole}
STREAMS: dict[str, Way] = {"stateless": streamed, "legacy": legacy_streamed}
WAYS = {f"batch-{name}": way for name, way in BATCHES.items()} | {
    f"stream-{name}": way for name, way in STREAMS.items()
}
every_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
every_stream = pytest.mark.parametrize("way", STREAMS.values(), ids=STREAMS)


@every_way
def test_everything_that_an_answer_can_say(way: Way) -> None:
    capture, recorder = Capture(answer("it’s 北🌍", *CALLED, finish="tool_calls"), RICH), CallbackRecorder()
    assert outcome(way(capture.transport, recorder)) == outcome(RESPONSE)
    if way in STREAMS.values():
        assert recorder.text == "it’s 北🌍"
        assert recorder.calls == list(RESPONSE.calls)
        assert recorder.usage == [RESPONSE.usage]


@every_way
@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, TokenUsage()),
        ({"prompt_tokens": None, "completion_tokens": None, "total_tokens": None}, TokenUsage()),
        (
            {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 9}},
            TokenUsage(5, 2, 7, 5),
        ),
    ],
    ids=["none", "null", "more-cached-than-there-is"],
)
def test_figures_that_are_missing_or_absurd(way: Way, usage: Any, expected: TokenUsage) -> None:
    capture = Capture(answer("hi", usage=usage), stream({"content": "hi"}, usage=usage))
    assert way(capture.transport, CallbackRecorder()).usage == expected


@every_stream
def test_a_stream_cut_after_any_event_is_an_error_with_what_had_arrived(way: Way) -> None:
    for place in range(len(RICH) - 3):
        with pytest.raises(errors.TransportError) as failure:
            way(Capture(events=RICH[:place] or [b"\n"]).transport, CallbackRecorder())
        partial_text = "".join(part.text for part in failure.value.partial if isinstance(part, Text))
        assert partial_text == "".join(["it’s " * (place > 2), "北🌍" * (place > 3)])
        assert not any(part in RESPONSE.calls for part in failure.value.partial)


@every_way
def test_an_answer_without_choices_is_none(way: Way) -> None:
    capture = Capture(answer() | {"choices": []}, [chunk(), DONE])
    with pytest.raises(errors.TransportError):
        way(capture.transport, CallbackRecorder())


@every_way
def test_malformed_arguments_are_an_error_and_never_run(way: Way) -> None:
    broken = wire_call("call_1", "z", '{"a')
    events = stream({"tool_calls": [{"index": 0, **broken}]}, finish="tool_calls")
    recorder = CallbackRecorder()
    with pytest.raises(errors.TransportError, match="malformed arguments for a call of 'z'"):
        way(Capture(answer(None, broken, finish="tool_calls"), events).transport, recorder)
    assert recorder.calls == []


# -- refused


@every_way
@pytest.mark.parametrize("content_type", ["application/json", "text/event-stream"])
def test_a_failure_under_status_200_is_the_error_that_it_names(way: Way, content_type: str) -> None:
    body = json.dumps(error("RateLimitReached")).encode()
    is_stream = way in STREAMS.values() and content_type != "application/json"
    content = b"data: %b\n\n" % body if is_stream else body

    def answered(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, content=content, headers={"content-type": content_type})

    with pytest.raises(errors.RateLimitError, match="Sorry") as failure:
        way(httpx2.MockTransport(answered), CallbackRecorder())
    assert (failure.value.status, failure.value.kind) == (200, "RateLimitReached")


@every_way
@pytest.mark.parametrize("headers", [{"content-type": "text/html"}, {"content-type": "application/json"}, {}])
def test_a_page_under_status_200_is_no_answer(way: Way, headers: dict[str, str]) -> None:
    page = httpx2.MockTransport(lambda request: httpx2.Response(200, content=b"<html>Hi</html>", headers=headers))
    with pytest.raises(errors.TransportError) as failure:
        way(page, CallbackRecorder())
    assert failure.value.retryable


@every_way
def test_a_truncated_gzip_is_no_answer(way: Way) -> None:
    content = gzip.compress(b"".join(RICH) if way in STREAMS.values() else json.dumps(answer("hi")).encode())[:60]
    headers = {"content-encoding": "gzip", "content-type": "text/event-stream"}
    with pytest.raises(errors.TransportError):
        way(
            httpx2.MockTransport(lambda request: httpx2.Response(200, content=content, headers=headers)),
            CallbackRecorder(),
        )


@pytest.mark.parametrize(
    ("raised", "words"),
    [
        (ServiceRequestError(f"odd {KEY}"), "no complete answer from the service (ServiceRequestError: odd ***)"),
        (HttpResponseError("odd"), "no complete answer from the service (HttpResponseError: odd)"),
        (AzureError(""), "no complete answer from the service (AzureError: no details)"),
        (httpx2.ReadTimeout("slow"), "the service was silent for too long (ReadTimeout: slow)"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_broke_off_is_told_in_its_own_words(raised: Exception, words: str) -> None:
    failure = from_exception(raised, KEY)
    assert type(failure) is errors.TransportError
    assert failure.message == words


@pytest.mark.parametrize("place", ["system", "tool", "message"])
def test_text_without_a_form_in_utf_8_is_the_requests_fault_and_is_not_sent(place: str) -> None:
    capture, half = Capture(), "half of a pair: \ud800"
    system = half if place == "system" else None
    tools = [ToolSchema("z", half)] if place == "tool" else []
    user_text = half if place == "message" else "hi"
    stateful = legacy(transport=capture.transport)
    stateful.create_session(system, tools)
    with pytest.raises(errors.InvalidRequestError, match="not valid Unicode"):
        stateless(transport=capture.transport).complete([Message.user(user_text)], system, tools)
    with pytest.raises(errors.InvalidRequestError, match="not valid Unicode"):
        stateful.send_message(user_text)
    assert stateful.get_history() == []
    assert not capture.requests


# -- ended


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("opened", ["stateless", "legacy"])
def test_a_connection_is_used_again_after_a_whole_stream(opened: str) -> None:
    with scripted(lambda exchange: exchange.stream(*RICH)) as server:
        if opened == "stateless":
            pure = stateless(server.url)
            for _ in range(3):
                pure.complete([HI], **STREAMED)
        else:
            stateful = legacy(server.url)
            for _ in range(3):
                stateful.send_message_streaming("hi", unheard)
        assert (len(server.requests), server.connections) == (3, 1)


# -- lifecycle


def test_models_are_those_of_the_catalogue() -> None:
    seen: list[httpx2.Request] = []

    def listed(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(200, json=[{"id": "openai/gpt-4.1", "publisher": "OpenAI"}, {"id": "meta/llama"}])

    provider = stateless("http://example.invalid/inference", transport=httpx2.MockTransport(listed))
    assert provider.list_models() == ["openai/gpt-4.1", "meta/llama"]
    assert provider.verify_auth()
    assert seen[0].url == "http://example.invalid/catalog/models"
    assert seen[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(("status", "accepted"), [(401, False), (403, False)])
def test_a_refused_key_is_told_from_other_trouble(status: int, accepted: bool) -> None:
    refused = httpx2.MockTransport(lambda request: httpx2.Response(status))
    assert stateless(transport=refused).verify_auth() is accepted
    with pytest.raises(errors.OverloadedError):
        stateless(transport=httpx2.MockTransport(lambda request: httpx2.Response(500))).verify_auth()
    with pytest.raises(errors.TransportError):
        stateless(transport=httpx2.MockTransport(lambda request: httpx2.Response(200, json={}))).list_models()


@pytest.mark.parametrize("name", ["GITHUB_TOKEN", "GH_TOKEN"])
def test_a_key_may_stand_in_the_environment(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for each in ("GITHUB_TOKEN", "GH_TOKEN"):
        monkeypatch.delenv(each, raising=False)
    capture = Capture()
    provider = stateless(transport=capture.transport)
    with pytest.raises(errors.AuthenticationError, match="GITHUB_TOKEN or GH_TOKEN"):
        provider.initialize({})
    monkeypatch.setenv(name, "ghp_env")
    provider.initialize({"base_url": "http://example.invalid", "transport": capture.transport})
    provider.complete([HI])
    assert capture.requests[0].headers["authorization"] == "Bearer ghp_env"


def test_what_can_be_asked_of_a_provider() -> None:
    provider = stateless(transport=Capture().transport)
    assert provider.get_context_limit() == 1_047_576
    assert not provider.supports_thinking()
    assert provider.supports_structured_output()
    assert provider.supports_streaming()
    assert provider.supports_stop()
    assert stateless(context_tokens=8000, transport=Capture().transport).get_context_limit() == 8000
    capture = Capture()
    thinks = stateless(model="openai/gpt-5", transport=capture.transport)
    thinks.set_thinking_config({"effort": "high"})
    thinks.complete([HI])
    assert capture.body["reasoning_effort"] == "high"
