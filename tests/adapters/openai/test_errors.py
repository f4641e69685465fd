"""Every failure is one of turnproof's errors, decided by code and status; the key is in none of them."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import httpx2
import openai
import pytest

from turnproof.errors import (
    AuthenticationError,
    ContentFilterError,
    ContextLimitError,
    InvalidRequestError,
    OverloadedError,
    ProviderError,
    RateLimitError,
    TransportError,
    UsageError,
)
from turnproof.messages import Message
from turnproof_adapters.openai.calling import from_exception
from turnproof_adapters.openai.errors import refused, told
from turnproof_adapters.openai.stateless import OpenAIStateless
from turnproof_adapters.openai.wire import Failure

from ..callback_recorder import CallbackRecorder
from ..faults import everything, reset
from ..scripted_server import Exchange, scripted
from .kit import KEY, MODEL, URL, answer, legacy, stateless

HI = [Message.user("hi")]


def asks(url: str, **options: Any) -> Iterator[Callable[[], object]]:
    """The four ways to ask: on both paths, whole and streamed."""
    yield lambda: stateless(url, **options).complete(HI)
    yield lambda: stateless(url, **options).complete(HI, **CallbackRecorder().callbacks)
    yield lambda: legacy(url, **options).send_message("hi")
    yield lambda: legacy(url, **options).send_message_streaming("hi", print)


def fails(ask: Callable[[], object]) -> ProviderError:
    with pytest.raises(ProviderError) as failure:
        ask()
    return failure.value


@dataclass(frozen=True)
class Case:
    """A refusal with a `retry-after` of 17 seconds, which counts where trying again makes sense. `kind` is the code, or
    the type where there is none."""

    id: str
    status: int
    error: Any
    expected: type[ProviderError]
    kind: str | None = None
    retryable: bool = False
    fields: dict[str, Any] = field(default_factory=dict)


def error(message: str, code: Any = None, type: str | None = "invalid_request_error") -> dict[str, Any]:
    return {"message": message, "type": type, "param": None, "code": code}


INVALID = "invalid_request_error"
NO_ROOM = (
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130211 tokens. Please "
    "reduce the length of the messages."
)
DEEPSEEK = (
    "This model's maximum context length is 1048565 tokens. However, you requested 1250025 tokens (1250025 in the "
    "messages, 0 in the completion). Please reduce the length of the messages or completion."
)
VLLM = (
    "This model's maximum context length is 4096 tokens. However, you requested 100 output tokens and your prompt "
    "contains at least 3997 input tokens, for a total of at least 4097 tokens. Please reduce the length of the input "
    "prompt or the number of requested output tokens. (parameter=input_tokens, value=3997)"
)
VLLM_INPUT = (
    "This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens. Please reduce "
    "the length of the input messages."
)
TOO_LARGE = (
    "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 38324. The "
    "input or output tokens must be reduced in order to run successfully. Visit "
    "https://platform.openai.com/account/rate-limits to learn more."
)
LLAMA = "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it"
CASES = [
    Case("bad-request", 400, error("Invalid request."), InvalidRequestError, INVALID),
    Case("key", 401, error("Incorrect API key", "invalid_api_key"), AuthenticationError, "invalid_api_key"),
    Case("permission", 403, error("no", "permission_denied"), AuthenticationError, "permission_denied"),
    Case("model", 404, error("no such", "model_not_found"), InvalidRequestError, "model_not_found"),
    Case("request-timeout", 408, error("slow", None, None), TransportError, None, True),
    Case("conflict", 409, error("conflict", None, None), OverloadedError, None, True),
    Case("too-large", 413, error("too large", "tokens_limit_reached"), ContextLimitError, "tokens_limit_reached"),
    Case("unprocessable", 422, error("no"), InvalidRequestError, INVALID),
    Case("rate", 429, error("slower", "rate_limit_exceeded", "tokens"), RateLimitError, "rate_limit_exceeded", True),
    Case("quota", 429, error("no money", "insufficient_quota"), RateLimitError, "insufficient_quota"),
    Case("server", 500, error("sorry", None, "server_error"), OverloadedError, "server_error", True),
    Case("overloaded", 503, error("The engine is currently overloaded", None, "server_error"), OverloadedError,
         "server_error", True),
    Case("full", 400, error(NO_ROOM, "context_length_exceeded"), ContextLimitError, "context_length_exceeded",
         fields={"limit": 128000, "requested": 130211}),
    Case("full-in-other-words", 400, error("It is full.", "context_length_exceeded"), ContextLimitError,
         "context_length_exceeded", fields={"limit": None, "requested": None}),
    Case("full-without-a-code", 400, error(DEEPSEEK), ContextLimitError, INVALID,
         fields={"limit": 1048565, "requested": 1250025}),
    Case("full-vllm", 400, error(VLLM, 400, "BadRequestError"), ContextLimitError, "400",
         fields={"limit": 4096, "requested": 4097}),
    Case("full-vllm-by-its-input", 400, error(VLLM_INPUT, 400), ContextLimitError, "400",
         fields={"limit": 4096, "requested": 5000}),
    Case("larger-than-a-minutes-limit", 429, error(TOO_LARGE, "rate_limit_exceeded", "tokens"), ContextLimitError,
         "rate_limit_exceeded", fields={"limit": 30000, "requested": 38324}),
    Case("full-llama", 400, error(LLAMA, 400, "exceed_context_size_error"), ContextLimitError, "400",
         fields={"limit": 4096, "requested": 9000}),
    Case("copilot-full", 400, error("prompt token count of 391491 exceeds the limit of 128000",
         "model_max_prompt_tokens_exceeded"), ContextLimitError, "model_max_prompt_tokens_exceeded",
         fields={"limit": 128000, "requested": 391491}),
    Case("a-maximum-is-not-a-full-context", 400, error("max_tokens is too large: 99999. This model supports at most "
         "16384 completion tokens, whereas you provided 99999."), InvalidRequestError, INVALID),
    Case("a-quoted-sentence-is-not-a-full-context", 400, error(f"Invalid 'tools[0].description': {NO_ROOM}"),
         InvalidRequestError, INVALID),
    Case("filtered", 400, error("The response was filtered", "content_filter", None), ContentFilterError,
         "content_filter"),
    Case("zai-key", 401, {"code": "1000", "message": "Authentication Failed"}, AuthenticationError, "1000"),
    Case("zai-money", 429, {"code": "1113", "message": "Insufficient balance"}, RateLimitError, "1113"),
    Case("zai-rate", 429, {"code": "1302", "message": "Rate limit reached"}, RateLimitError, "1302", True),
    Case("zai-full", 400, {"code": "1261", "message": "Prompt exceeds max length"}, ContextLimitError, "1261"),
    Case("zai-unsafe", 400, {"code": "1301", "message": "unsafe"}, ContentFilterError, "1301"),
    Case("azure-key", 401, {"code": "401", "message": "Access denied"}, AuthenticationError, "401"),
    Case("a-string", 503, "DNS resolution failure", OverloadedError, None, True),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=attrgetter("id"))
def test_a_refusal_is_typed_alike_however_it_was_asked_for(case: Case) -> None:
    """Nobody below the session retries: each way makes one request."""
    requests: list[httpx2.Request] = []

    def refuse(request: httpx2.Request) -> httpx2.Response:
        requests.append(request)
        return httpx2.Response(case.status, json={"error": case.error}, headers={"retry-after": "17"})

    for ask in asks(URL, transport=httpx2.MockTransport(refuse)):
        failure = fails(ask)
        words = case.error if isinstance(case.error, str) else case.error["message"]
        assert type(failure) is case.expected
        assert (failure.status, failure.kind, failure.message) == (case.status, case.kind, words)
        assert failure.retryable is case.retryable
        if case.retryable:
            assert failure.retry_after == 17
        for name, value in case.fields.items():
            assert getattr(failure, name) == value
    assert len(requests) == 4


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<html><h1>503 Service Unavailable</h1></html>", "HTTP status 503"),
        (b"", "HTTP status 503"),
        (b'["odd"]', "HTTP status 503"),
        (b'{"error": {"type": 7}}', "7"),
        (b'{"error": {"type": "api_error"}}', "api_error"),
        (b'{"detail": "Not here"}', "Not here"),
        (b'{"object": "error", "message": "busy", "code": 503}', "busy"),
        (b"upstream connect error", "upstream connect error"),
    ],
)
def test_a_body_of_another_form_is_typed_by_its_status(body: bytes, message: str) -> None:
    transport = httpx2.MockTransport(lambda _: httpx2.Response(503, content=body))
    for ask in asks(URL, transport=transport):
        failure = fails(ask)
        assert isinstance(failure, OverloadedError)
        assert (failure.message, failure.status) == (message, 503)


@pytest.mark.parametrize(("advice", "status", "retryable"), [("false", 503, False), ("true", 400, True)])
def test_the_service_may_say_itself_whether_to_try_again(advice: str, status: int, retryable: bool) -> None:
    answers = httpx2.MockTransport(lambda _: httpx2.Response(status, json={}, headers={"x-should-retry": advice}))
    assert all(fails(ask).retryable is retryable for ask in asks(URL, transport=answers))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "52220"}, 52220.0),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_a_wait_is_what_the_head_says(headers: dict[str, str], seconds: float | None) -> None:
    assert refused(429, error("slower", "rate_limit_exceeded"), headers, KEY).retry_after == seconds


def page(status: int = 200, body: bytes = b"<html>busy</html>", **headers: str) -> httpx2.MockTransport:
    return httpx2.MockTransport(lambda _: httpx2.Response(status, content=body, headers=headers))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "transport",
    [
        page(**{"content-type": "text/html"}),
        page(**{"content-type": "application/json"}),
        page(body=b"", **{"content-type": "application/json"}),
        page(body=b"[1]", **{"content-type": "application/json"}),
        page(body=b'"so it is"', **{"content-type": "application/json"}),
        page(body=b"so it is", **{"content-type": "text/plain"}),
        page(304),
    ],
    ids=["html", "html-called-json", "empty", "a-list", "a-string", "text", "not-modified"],
)
def test_a_page_in_an_answers_place_is_a_transport_error(transport: httpx2.MockTransport) -> None:
    for ask in asks(URL, transport=transport):
        failure = fails(ask)
        assert type(failure) is TransportError
        assert failure.retryable


def test_a_compressed_answer_that_was_cut_is_a_transport_error() -> None:
    def cut(exchange: Exchange) -> None:
        exchange.answer(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcbH", 200, **{"content-encoding": "gzip"})

    with scripted(cut) as server:
        for ask in asks(server.url):
            assert type(fails(ask)) is TransportError


@pytest.mark.parametrize("status", [307, 308])
def test_a_redirect_that_keeps_the_request_is_followed(status: int) -> None:
    def answers(request: httpx2.Request) -> httpx2.Response:
        if "moved" in request.url.path:
            assert request.method == "POST"
            return httpx2.Response(200, json=answer("hi"))
        return httpx2.Response(status, headers={"location": "/moved/v1/chat/completions"})

    transport = httpx2.MockTransport(answers)
    assert stateless(URL, transport=transport).complete(HI).text == "hi"
    assert legacy(URL, transport=transport).send_message("hi").text == "hi"


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/v1", "ftp://127.0.0.1/v1", "http://[::1]:1/v1"])
def test_a_service_that_cannot_be_reached_is_a_transport_error(url: str) -> None:
    assert all(type(fails(ask)) is TransportError for ask in asks(url))


REQUEST = httpx2.Request("POST", URL)
SILENT, BROKEN_OFF = "the service was silent for too long", "no complete answer from the service"


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("raised", "words"),
    [
        (
            caused(openai.APIConnectionError(request=REQUEST), httpx2.ConnectError("[Errno 111] refused")),
            f"{BROKEN_OFF} (ConnectError: [Errno 111] refused)",
        ),
        (
            caused(openai.APITimeoutError(REQUEST), httpx2.ReadTimeout("timed out")),
            f"{SILENT} (ReadTimeout: timed out)",
        ),
        (TimeoutError(), f"{SILENT} (TimeoutError: no details)"),
        (openai.OpenAIError(f"odd {KEY}"), f"{BROKEN_OFF} (OpenAIError: odd ***)"),
        (openai.APIError("odd", REQUEST, body=None), f"{BROKEN_OFF} (APIError: odd)"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_what_broke_off_is_told_in_the_words_of_its_cause(raised: Exception, words: str) -> None:
    failure = from_exception(raised, KEY)
    assert type(failure) is TransportError
    assert (failure.message, failure.status) == (words, None)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("invalid_request_error", InvalidRequestError),
        ("BadRequestError", InvalidRequestError),
        ("invalid_api_key", AuthenticationError),
        ("permission_denied", AuthenticationError),
        ("model_not_found", InvalidRequestError),
        ("rate_limit_exceeded", RateLimitError),
        ("insufficient_quota", RateLimitError),
        ("context_length_exceeded", ContextLimitError),
        ("content_filter", ContentFilterError),
        ("server_error", OverloadedError),
        ("429", RateLimitError),
        ("400", InvalidRequestError),
        ("1302", RateLimitError),
        ("error_of_tomorrow", OverloadedError),
        (None, OverloadedError),
    ],
)
def test_an_error_in_a_stream_is_typed_by_its_code(kind: str | None, expected: type[ProviderError]) -> None:
    """Also one that the SDK read, which raises it without a status."""
    words = f"Sorry, {KEY}"
    by_sdk = openai.APIError(words, REQUEST, body={"code": kind, "message": words})
    for failure in (told(Failure(words, code=kind), KEY), from_exception(by_sdk, KEY)):
        assert type(failure) is expected
        assert (failure.kind, failure.message, failure.status, failure.retry_after) == (kind, "Sorry, ***", 200, None)


def test_a_failure_without_words_shows_the_status_that_it_came_under() -> None:
    failure = told(Failure(), KEY)
    assert (failure.message, failure.status, failure.kind) == ("HTTP status 200", 200, None)


def echoing(exchange: Exchange) -> None:
    said = f"bad {exchange.headers['authorization']} {exchange.headers['api-key']} {exchange.path}"
    exchange.answer({"error": error(said, f"code {KEY}")}, 401)


@pytest.mark.parametrize("script", [echoing, reset], ids=["refused", "reset"])
def test_no_key_shows_anywhere(script: Callable[[Exchange], None], caplog: pytest.LogCaptureFixture) -> None:
    """Not in the error, its causes, its traceback, the log, or what the provider shows of itself."""
    other, third = "azure-canary-1", "query-canary-2"
    options = {"headers": {"api-key": other}, "query": {"api_key": third}}
    with scripted(script) as server, caplog.at_level(logging.DEBUG):
        shown = [everything(fails(ask)) for ask in asks(server.url, **options)]
        assert server.requests[0].headers["api-key"] == other
        assert third in server.requests[0].path
    shown += [repr(stateless(URL, **options)), repr(legacy(URL, **options))]
    for secret in (KEY, other, third):
        assert not any(secret in each for each in shown)
    assert KEY not in caplog.text


def test_a_provider_that_is_not_open_says_so() -> None:
    with pytest.raises(UsageError, match="not open"):
        OpenAIStateless().complete(HI)
    provider = stateless(URL)
    provider.shutdown()
    with pytest.raises(UsageError, match="not open"):
        provider.complete(HI)
    unchosen = OpenAIStateless()
    unchosen.initialize({"api_key": KEY})
    with pytest.raises(UsageError, match="no model is chosen"):
        unchosen.complete(HI)
    with contextlib.suppress(ProviderError):
        stateless(URL, MODEL, transport=page(500)).list_models()
