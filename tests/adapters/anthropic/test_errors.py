"""Every failure is one of turnproof's errors, decided by status and type; the key is in none of them."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import anthropic
import httpx2
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
from turnproof_adapters.anthropic.errors import from_answer, from_exception
from turnproof_adapters.anthropic.service import ANTHROPIC
from turnproof_adapters.anthropic.stateless import AnthropicStateless
from turnproof_adapters.anthropic.wire import Failure

from ..callback_recorder import CallbackRecorder
from ..faults import BROKEN, everything, reset
from ..scripted_server import Exchange, scripted
from .kit import KEY, MODEL, answer, legacy, stateless, stream, text, text_block

HI = [Message.user("hi")]
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@dataclass(frozen=True)
class Case:
    """A refusal with a `retry-after` of 17 seconds, which counts where trying again makes sense."""

    id: str
    status: int
    kind: str | None
    message: str
    expected: type[ProviderError]
    retryable: bool = False
    fields: dict[str, Any] = field(default_factory=dict)


INVALID = "invalid_request_error"
CASES = [
    Case("bad-request", 400, INVALID, "messages: at least one message is required", InvalidRequestError),
    Case("key", 401, "authentication_error", "invalid x-api-key", AuthenticationError),
    Case("billing", 402, "billing_error", "Your credit balance is too low", InvalidRequestError),
    Case("permission", 403, "permission_error", "not allowed", AuthenticationError),
    Case("unknown-model", 404, "not_found_error", "model: claude-sonet-4-5", InvalidRequestError),
    Case("request-timeout", 408, "timeout_error", "slow", TransportError, True),
    Case("conflict", 409, "conflict_error", "conflict", OverloadedError, True),
    Case("too-large", 413, "request_too_large", "Request exceeds the maximum size", ContextLimitError),
    Case("unprocessable", 422, INVALID, "no", InvalidRequestError),
    Case("rate", 429, "rate_limit_error", "This request would exceed your rate limit", RateLimitError, True),
    Case("server", 500, "api_error", "Internal server error", OverloadedError, True),
    Case("unavailable", 503, None, "upstream", OverloadedError, True),
    Case("gateway-timeout", 504, "timeout_error", "timed out", OverloadedError, True),
    Case("overloaded", 529, "overloaded_error", "Overloaded", OverloadedError, True),
    Case(
        "prompt-too-long",
        400,
        INVALID,
        "prompt is too long: 3333404 tokens > 200000 maximum",
        ContextLimitError,
        fields={"limit": 200000, "requested": 3333404},
    ),
    Case(
        "prompt-too-long-without-figures",
        400,
        INVALID,
        "Prompt is too long",
        ContextLimitError,
        fields={"limit": None, "requested": None},
    ),
    Case(
        "no-room",
        400,
        INVALID,
        "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or "
        "`max_tokens` and try again",
        ContextLimitError,
        fields={"limit": 200000, "requested": 209573},
    ),
    Case(
        "a-maximum-of-tokens-is-not-a-full-context",
        400,
        INVALID,
        "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5",
        InvalidRequestError,
    ),
    Case(
        "a-quoted-sentence-is-not-a-full-context",
        400,
        INVALID,
        "tools.0.description: 'prompt is too long: 2 tokens > 1 maximum' is not allowed",
        InvalidRequestError,
    ),
    Case(
        "a-missing-result-is-not-a-missing-model",
        400,
        INVALID,
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: model_404",
        InvalidRequestError,
    ),
    Case("filtered", 400, INVALID, "Output blocked by content filtering policy", ContentFilterError),
]


def fails(case: Case, provider: Any, call: Callable[[Any], object]) -> ProviderError:
    with pytest.raises(ProviderError) as failure:
        call(provider)
    return failure.value


@pytest.mark.parametrize("case", CASES, ids=attrgetter("id"))
def test_a_refusal_is_typed_alike_however_it_was_asked_for(case: Case) -> None:
    body = {"type": "error", "error": {"type": case.kind, "message": case.message}, "request_id": "req_1"}
    with scripted(lambda exchange: exchange.answer(body, case.status, **{"retry-after": "17"})) as server:
        failures = [
            fails(case, stateless(server.url), lambda provider: provider.complete(HI)),
            fails(case, stateless(server.url), lambda provider: provider.complete(HI, **CallbackRecorder().callbacks)),
            fails(case, legacy(server.url), lambda provider: provider.send_message("hi")),
            fails(case, legacy(server.url), lambda provider: provider.send_message_streaming("hi", print)),
        ]
        assert len(server.requests) == 4, "nobody below the session retries"
    for failure in failures:
        assert type(failure) is case.expected
        assert (failure.status, failure.kind, failure.message) == (case.status, case.kind, case.message)
        assert failure.retryable is case.retryable
        assert failure.retry_after == (17 if case.retryable else None)
        for name, value in case.fields.items():
            assert getattr(failure, name) == value


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<html><h1>503 Service Unavailable</h1></html>", "HTTP status 503"),
        (b"", "HTTP status 503"),
        (b'["odd"]', "HTTP status 503"),
        (b'{"error": "odd"}', "HTTP status 503"),
        (b'{"error": {"type": 7}}', "HTTP status 503"),
        (b'{"error": {"type": "api_error"}}', "api_error"),
    ],
)
def test_a_proxys_page_is_typed_by_its_status(body: bytes, message: str) -> None:
    with scripted(lambda exchange: exchange.answer(body, 503)) as server:
        failure = fails(CASES[0], stateless(server.url), lambda provider: provider.complete(HI))
    assert isinstance(failure, OverloadedError)
    assert failure.message == message


@pytest.mark.parametrize(("advice", "status", "retryable"), [("false", 529, False), ("true", 400, True)])
def test_the_service_may_say_itself_whether_to_try_again(advice: str, status: int, retryable: bool) -> None:
    with scripted(lambda exchange: exchange.answer({}, status, **{"x-should-retry": advice})) as server:
        failure = fails(CASES[0], stateless(server.url), lambda provider: provider.complete(HI))
    assert failure.retryable is retryable


def no_message(exchange: Exchange) -> None:
    exchange.answer({"type": "message", "content": "text"})


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "script",
    [*BROKEN, no_message],
    ids=lambda script: script.__name__,
)
def test_an_answer_that_does_not_arrive_whole_is_a_transport_error(script: Callable[[Exchange], None]) -> None:
    with scripted(script) as server:
        for failure in (
            fails(CASES[0], stateless(server.url), lambda provider: provider.complete(HI)),
            fails(CASES[0], legacy(server.url), lambda provider: provider.send_message("hi")),
        ):
            assert type(failure) is TransportError
            assert failure.retryable


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://host.invalid", "ftp://127.0.0.1", "http://[::1]:1"])
def test_a_service_that_cannot_be_reached_is_a_transport_error(url: str) -> None:
    failure = fails(CASES[0], stateless(url), lambda provider: provider.complete(HI))
    assert type(failure) is TransportError


REQUEST = httpx2.Request("POST", "http://example.invalid")
SILENT, BROKEN_OFF = "the service was silent for too long", "no complete answer from the service"


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            caused(anthropic.APIConnectionError(request=REQUEST), httpx2.ConnectError("[Errno 111] refused")),
            f"{BROKEN_OFF} (ConnectError: [Errno 111] refused)",
        ),
        (anthropic.APIConnectionError(message="odd", request=REQUEST), f"{BROKEN_OFF} (APIConnectionError: odd)"),
        (
            caused(anthropic.APITimeoutError(request=REQUEST), httpx2.ReadTimeout("timed out")),
            f"{SILENT} (ReadTimeout: timed out)",
        ),
        (anthropic.APITimeoutError(REQUEST), f"{SILENT} (APITimeoutError: {anthropic.APITimeoutError(REQUEST)})"),
        (TimeoutError(), f"{SILENT} (TimeoutError: no details)"),
        (
            anthropic.APIResponseValidationError(httpx2.Response(200, request=REQUEST), None, message="odd"),
            f"{BROKEN_OFF} (APIResponseValidationError: odd)",
        ),
        (caused(httpx2.ReadError(""), OSError("below")), f"{BROKEN_OFF} (ReadError: no details)"),
        (anthropic.AnthropicError(f"odd {KEY}"), f"{BROKEN_OFF} (AnthropicError: odd ***)"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_what_broke_off_is_told_in_the_words_of_its_cause(error: Exception, words: str) -> None:
    failure = from_exception(error, ANTHROPIC, KEY)
    assert type(failure) is TransportError
    assert (failure.message, failure.status) == (words, None)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("invalid_request_error", InvalidRequestError),
        ("authentication_error", AuthenticationError),
        ("billing_error", InvalidRequestError),
        ("permission_error", AuthenticationError),
        ("not_found_error", InvalidRequestError),
        ("conflict_error", OverloadedError),
        ("request_too_large", ContextLimitError),
        ("rate_limit_error", RateLimitError),
        ("api_error", OverloadedError),
        ("timeout_error", OverloadedError),
        ("overloaded_error", OverloadedError),
        ("error_of_tomorrow", OverloadedError),
        (None, OverloadedError),
    ],
)
def test_an_error_event_is_typed_by_its_kind(kind: str | None, expected: type[ProviderError]) -> None:
    """Also one that the SDK read: it raises it under the status of the stream."""
    words = f"Sorry, {KEY}"
    by_sdk = anthropic.APIStatusError(
        "odd", response=httpx2.Response(200, request=REQUEST), body={"error": {"type": kind, "message": words}}
    )
    for failure in (from_answer(Failure(kind, words), ANTHROPIC, KEY), from_exception(by_sdk, ANTHROPIC, KEY)):
        assert type(failure) is expected
        assert (failure.kind, failure.message, failure.status, failure.retry_after) == (kind, "Sorry, ***", 200, None)


def test_an_error_event_without_words_shows_the_status_that_it_came_under() -> None:
    failure = from_answer(Failure(), ANTHROPIC, KEY)
    assert (failure.message, failure.status, failure.kind) == ("HTTP status 200", 200, None)


def test_an_error_event_may_tell_of_a_full_context() -> None:
    failure = from_answer(Failure(INVALID, "prompt is too long: 3333404 tokens > 200000 maximum"), ANTHROPIC, KEY)
    assert isinstance(failure, ContextLimitError)
    assert (failure.limit, failure.requested, failure.status, failure.kind) == (200000, 3333404, 200, INVALID)


WAYS: dict[str, Callable[[str], object]] = {
    "stateless-batch": lambda url: stateless(url).complete(HI),
    "stateless-stream": lambda url: stateless(url).complete(HI, **CallbackRecorder().callbacks),
    "legacy-batch": lambda url: legacy(url).send_message("hi"),
    "legacy-stream": lambda url: legacy(url).send_message_streaming("hi", print),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_failure_under_a_good_status_is_typed_by_its_kind(way: Callable[[str], object]) -> None:
    """As gateways tell it that have no status to give; a stream that was asked for comes in one piece then."""
    body = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}
    with scripted(lambda exchange: exchange.answer(body)) as server, pytest.raises(RateLimitError) as failure:
        way(server.url)
    assert (failure.value.status, failure.value.kind, failure.value.message) == (200, "rate_limit_error", "slow down")


@pytest.mark.parametrize("way", [WAYS["stateless-stream"], WAYS["legacy-stream"]], ids=["stateless", "legacy"])
def test_a_stream_is_read_whatever_its_content_is_called(way: Callable[[str], Any]) -> None:
    def mislabelled(exchange: Exchange) -> None:
        exchange.answer(b"".join(stream(text_block(0, "so"))))

    with scripted(mislabelled) as server:
        assert way(server.url).text == "so"


@pytest.mark.parametrize("opened", [stateless, legacy], ids=["stateless", "legacy"])
@pytest.mark.parametrize("page", [b"<html></html>", b"[]", b""], ids=["html", "list", "empty"])
def test_a_page_where_models_belong_is_a_transport_error(page: bytes, opened: Any) -> None:
    with scripted(lambda exchange: exchange.answer(page, **{"content-type": "text/html"})) as server:
        provider = opened(server.url)
        for ask in (provider.list_models, provider.verify_auth):
            with pytest.raises(TransportError, match="no JSON object"):
                ask()


@pytest.mark.parametrize("opened", [stateless, legacy], ids=["stateless", "legacy"])
def test_a_bad_key_under_a_good_status_is_a_bad_key(opened: Any) -> None:
    body = {"type": "error", "error": {"type": "authentication_error", "message": "no"}}
    with scripted(lambda exchange: exchange.answer(body)) as server:
        assert not opened(server.url).verify_auth()


@pytest.mark.parametrize(
    ("response", "kind", "said"),
    [
        (httpx2.Response(304), None, "HTTP status 304"),
        (httpx2.Response(300, json={"error": {"type": "choices", "message": "one of two"}}), "choices", "one of two"),
    ],
    ids=["empty", "worded"],
)
@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
def test_a_status_for_neither_an_answer_nor_an_error_is_a_transport_error(
    response: httpx2.Response, kind: str | None, said: str, streamed: bool
) -> None:
    provider = stateless("http://example.invalid", transport=httpx2.MockTransport(lambda _: response))
    callbacks = CallbackRecorder().callbacks if streamed else {}
    failure = fails(CASES[0], provider, lambda provider: provider.complete(HI, **callbacks))
    assert type(failure) is TransportError
    assert (failure.status, failure.kind) == (response.status_code, kind)
    assert failure.message == f"no answer under this status: {said}"


def test_the_key_shows_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    """Also where the service repeats it, and with all logging on."""
    scripts: list[Callable[[Exchange], None]] = [
        lambda exchange: exchange.answer({"error": {"type": f"bad {KEY}", "message": f"bad {KEY}"}}, 401),
        lambda exchange: exchange.answer(f"proxy refused {KEY}".encode(), 502),
        reset,
        lambda exchange: exchange.answer(answer(text("hi"))),
    ]
    with caplog.at_level(logging.DEBUG), scripted(*scripts) as server:
        provider = stateless(server.url)
        for _ in range(3):
            failure = fails(CASES[0], provider, lambda provider: provider.complete(HI, **CallbackRecorder().callbacks))
            assert KEY not in everything(failure)
            assert failure.__cause__ is None
            assert failure.__context__ is None
        provider.complete(HI)
    assert KEY not in repr(provider)
    assert KEY not in caplog.text


def test_calls_before_opening_and_after_shutdown_say_what_to_do() -> None:
    provider = AnthropicStateless()
    with pytest.raises(UsageError, match=r"initialize\(\) and connect\(\)"):
        provider.complete(HI)
    with pytest.raises(AuthenticationError, match="api_key"):
        provider.initialize({"api_key": ""})
    provider.initialize({"api_key": KEY, "base_url": "http://example.invalid"})
    with pytest.raises(UsageError, match=r"connect\(\)"):
        provider.complete(HI)
    provider.connect(MODEL)
    provider.shutdown()
    with contextlib.suppress(UsageError):
        provider.shutdown()
    with pytest.raises(UsageError, match=r"initialize\(\)"):
        provider.complete(HI)
