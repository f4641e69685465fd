"""Every failure is one of turnproof's errors, decided by status and details; the key is in none of them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import google.auth.exceptions
import httpx2
import pytest
from google.genai import errors as sdk

from turnproof.errors import (
    AuthenticationError,
    CacheExpiredError,
    ContextLimitError,
    InvalidRequestError,
    OverloadedError,
    ProviderError,
    RateLimitError,
    TransportError,
    UsageError,
)
from turnproof.messages import CacheMark, Message, Text
from turnproof_adapters.google_genai.errors import from_exception
from turnproof_adapters.google_genai.stateless import GoogleStateless

from ..callback_recorder import CallbackRecorder
from ..faults import BROKEN, everything, reset
from ..scripted_server import LIMIT, Exchange, scripted
from .kit import KEY, MODEL, stateless

HI = [Message.user("hi")]
STREAMED = pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])


@dataclass(frozen=True)
class Case:
    id: str
    status: int
    kind: str
    message: str
    expected: type[ProviderError]
    retryable: bool = False
    details: list[dict[str, Any]] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)


INVALID, EXHAUSTED = "INVALID_ARGUMENT", "RESOURCE_EXHAUSTED"


def quota(name: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": name}]}


def retry_in(delay: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}


BAD_KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}

CASES = [
    Case(
        "key",
        400,
        INVALID,
        "API key not valid. Please pass a valid API key.",
        AuthenticationError,
        details=[BAD_KEY, {"@type": "type.googleapis.com/google.rpc.LocalizedMessage", "locale": "en-US"}],
    ),
    Case(
        "key-expired",
        400,
        INVALID,
        "API key expired. Please renew the API key.",
        AuthenticationError,
        details=[BAD_KEY],
    ),
    Case("no-key", 403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers", AuthenticationError),
    Case("token", 401, "UNAUTHENTICATED", "Request had invalid authentication credentials.", AuthenticationError),
    Case("no-cache-was-named", 403, "PERMISSION_DENIED", "CachedContent not found", AuthenticationError),
    Case("unknown-model", 404, "NOT_FOUND", "models/nope is not found for API version v1beta", InvalidRequestError),
    Case("place", 400, "FAILED_PRECONDITION", "User location is not supported", InvalidRequestError),
    Case(
        "prompt-too-long",
        400,
        INVALID,
        "The input token count (1250074) exceeds the maximum number of tokens allowed (1048576).",
        ContextLimitError,
        fields={"limit": 1048576, "requested": 1250074},
    ),
    Case(
        "prompt-too-long-in-older-words",
        400,
        INVALID,
        "The input token count exceeds the maximum number of tokens allowed 1048576.",
        ContextLimitError,
        fields={"limit": 1048576, "requested": None},
    ),
    Case(
        "prompt-too-long-without-a-number",
        400,
        INVALID,
        "The input token count exceeds the maximum number of tokens allowed.",
        ContextLimitError,
        fields={"limit": None, "requested": None},
    ),
    *(
        Case(
            f"prompt-too-long-on-vertex-in-{lines}",
            400,
            INVALID,
            "Unable to submit request because the input token count is 2000000 but model only supports up to 1048576."
            f"{between}Reduce the input token count and try again.",
            ContextLimitError,
            fields={"limit": 1048576, "requested": 2000000},
        )
        for lines, between in (("a-line", " "), ("two-lines", "\n"))
    ),
    Case(
        "a-limit-of-output-is-not-a-full-context",
        400,
        INVALID,
        "Unable to submit request because it has a maxOutputTokens value of 70000 but the supported range is from 1 "
        "(inclusive) to 65537 (exclusive). Update the value and try again.",
        InvalidRequestError,
    ),
    Case(
        "a-quoted-sentence-is-not-a-full-context",
        400,
        INVALID,
        "Invalid value 'The input token count (2) exceeds the maximum number of tokens allowed (1).'",
        InvalidRequestError,
    ),
    Case("order", 400, INVALID, "Please ensure that function call turn comes immediately after", InvalidRequestError),
    Case(
        "timeout",
        408,
        "DEADLINE_EXCEEDED",
        "slow",
        TransportError,
        True,
        [retry_in("2s")],
        {"retry_after": 2.0},
    ),
    Case("conflict", 409, "ABORTED", "conflict", OverloadedError, True),
    Case("too-large", 413, "", "too large", ContextLimitError),
    Case(
        "per-minute",
        429,
        EXHAUSTED,
        "You exceeded your current quota. Please retry in 48.939935699s.",
        RateLimitError,
        True,
        [quota("GenerateContentPaidTierInputTokensPerModelPerMinute"), retry_in("48s")],
        {"retry_after": 48.0},
    ),
    Case("fraction", 429, EXHAUSTED, "slow", RateLimitError, True, [retry_in("0.739s")], {"retry_after": 0.739}),
    Case("without-details", 429, EXHAUSTED, "exhausted", RateLimitError, True, [], {"retry_after": None}),
    Case("odd-delay", 429, EXHAUSTED, "slow", RateLimitError, True, [retry_in("soon")], {"retry_after": None}),
    Case(
        "per-day",
        429,
        EXHAUSTED,
        "You exceeded your current quota",
        RateLimitError,
        False,
        [quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"), retry_in("31s")],
        {"retry_after": None},
    ),
    Case("internal", 500, "INTERNAL", "Internal error encountered.", OverloadedError, True),
    Case(
        "unavailable",
        503,
        "UNAVAILABLE",
        "This model is currently experiencing high demand.",
        OverloadedError,
        True,
        [retry_in("5s")],
        {"retry_after": 5.0},
    ),
    Case("deadline", 504, "DEADLINE_EXCEEDED", "deadline", OverloadedError, True),
]


def fails(provider: Any, streamed: bool = False, **kwargs: Any) -> ProviderError:
    with pytest.raises(ProviderError) as failure:
        provider.complete(HI, **(CallbackRecorder().callbacks if streamed else {}), **kwargs)
    return failure.value


def refusal(case: Case) -> dict[str, Any]:
    error = {"code": case.status, "message": case.message, "status": case.kind, "details": case.details}
    return {"error": error}


@STREAMED
@pytest.mark.parametrize("case", CASES, ids=attrgetter("id"))
def test_a_refusal_is_typed_alike_however_it_was_asked_for(case: Case, streamed: bool) -> None:
    with scripted(lambda exchange: exchange.answer(refusal(case), case.status)) as server:
        failure = fails(stateless(server.url), streamed)
        assert len(server.requests) == 1, "nobody below the session retries"
    assert type(failure) is case.expected
    assert (failure.status, failure.kind, failure.message) == (case.status, case.kind, case.message)
    assert failure.retryable is case.retryable
    for name, value in case.fields.items():
        assert getattr(failure, name) == value


NAMED = Text("rules", cache=CacheMark(name="cachedContents/7abc"))


@STREAMED
@pytest.mark.parametrize(
    ("status", "message"),
    [
        (403, "CachedContent not found (or permission denied)"),
        (404, "Not found: cached content metadata for 7."),
    ],
)
def test_a_managed_cache_that_is_gone_is_told_by_its_name(status: int, message: str, streamed: bool) -> None:
    body = {"error": {"code": status, "message": message, "status": "PERMISSION_DENIED"}}
    with scripted(lambda exchange: exchange.answer(body, status)) as server:
        provider = stateless(server.url)
        failure = fails(provider, streamed, system_instruction=NAMED)
        assert isinstance(failure, CacheExpiredError)
        assert (failure.name, failure.status, failure.message) == ("cachedContents/7abc", status, message)
        assert failure.kind == "PERMISSION_DENIED"
        assert not isinstance(fails(provider, streamed, system_instruction="rules"), CacheExpiredError)


def test_a_bad_key_is_a_bad_key_also_where_a_cache_is_named() -> None:
    body = {"error": {"code": 403, "message": "Your API key was reported as leaked.", "status": "PERMISSION_DENIED"}}
    with scripted(lambda exchange: exchange.answer(body, 403)) as server:
        assert type(fails(stateless(server.url), system_instruction=NAMED)) is AuthenticationError


@STREAMED
@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<html><h1>503 Service Unavailable</h1></html>", "Whatever"),
        (b"\r\n <!doctype html>", "Whatever"),
        (b"", "Whatever"),
        (b'["odd"]', "HTTP status 503"),
        (b'{"error": "odd"}', "HTTP status 503"),
        (b"null", "HTTP status 503"),
        (b'{"error": {"code": "odd", "message": 7}}', "HTTP status 503"),
        (b'{"error": {"status": "UNAVAILABLE"}}', "UNAVAILABLE"),
        (b'[{"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}]', "busy"),
    ],
)
def test_a_proxys_page_is_typed_by_its_status(body: bytes, message: str, streamed: bool) -> None:
    with scripted(lambda exchange: exchange.answer(body, 503)) as server:
        failure = fails(stateless(server.url), streamed)
    assert isinstance(failure, OverloadedError)
    assert failure.message == message


@pytest.mark.parametrize(
    ("code", "error", "expected", "seen"),
    [
        (503, {"message": ["no"], "status": 7}, OverloadedError, (503, None, "HTTP status 503")),
        (503, {"message": 7, "status": "UNAVAILABLE"}, OverloadedError, (503, "UNAVAILABLE", "UNAVAILABLE")),
        (429, {"details": {"retryDelay": "5s"}}, RateLimitError, (429, None, "HTTP status 429")),
        (429, {"details": ["odd", {"violations": ["odd", {}]}]}, RateLimitError, (429, None, "HTTP status 429")),
        (100, {"message": "go", "status": "ON"}, TransportError, (100, "ON", "no answer under this status: go")),
        (399, {"message": "go"}, TransportError, (399, None, "no answer under this status: go")),
        (418, {"message": "I'm a teapot"}, InvalidRequestError, (418, None, "I'm a teapot")),
        (999, {"message": "no"}, OverloadedError, (999, None, "no")),
        (99, {"message": "no"}, TransportError, (None, None, "no answer under this status: no")),
        (1000, {"message": "no"}, TransportError, (None, None, "no answer under this status: no")),
        ("503", {"message": "no"}, TransportError, (None, None, "no answer under this status: no")),
        (True, {"message": "no"}, TransportError, (None, None, "no answer under this status: no")),
    ],
)
def test_an_error_of_odd_form_is_typed_by_what_is_sound_in_it(
    code: Any, error: dict[str, Any], expected: type[ProviderError], seen: tuple[Any, ...]
) -> None:
    """A stream tells of its failure in an event: neither status nor headers of the response stand behind it."""
    failure = from_exception(sdk.APIError(code, {"error": error}), KEY)
    assert type(failure) is expected
    assert (failure.status, failure.kind, failure.message, failure.retry_after) == (*seen, None)


def test_no_word_of_an_error_shows_the_key() -> None:
    body = {"error": {"status": f"NO_{KEY}", "message": f"{KEY} is not allowed to"}}
    failure = from_exception(sdk.APIError(403, body), KEY)
    assert (failure.kind, failure.message) == ("NO_***", "*** is not allowed to")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (httpx2.ReadTimeout("no byte"), "the service was silent for too long (ReadTimeout: no byte)"),
        (TimeoutError(), "the service was silent for too long (TimeoutError: no details)"),
        (httpx2.ConnectError("refused"), "no complete answer from the service (ConnectError: refused)"),
        (ValueError(), "no complete answer from the service (ValueError: no details)"),
    ],
)
def test_failures_of_the_network_say_what_went_wrong(error: Exception, message: str) -> None:
    failure = from_exception(error, KEY)
    assert (type(failure), failure.message) == (TransportError, message)


def test_a_proxy_may_say_in_a_header_how_long_to_wait() -> None:
    with scripted(lambda exchange: exchange.answer(b"", 429, **{"retry-after": "17"})) as server:
        failure = fails(stateless(server.url))
        assert failure.retry_after == 17
        assert stateless(server.url).get_retry_after(failure) == 17


@pytest.mark.parametrize("status", [204, 206, 301])
def test_a_status_under_which_there_is_no_answer_is_a_transport_error(status: int) -> None:
    with scripted(lambda exchange: exchange.answer(b"", status)) as server:
        failure = fails(stateless(server.url))
    assert type(failure) is TransportError
    assert failure.status == status


def test_a_stream_that_cannot_be_read_is_hung_up() -> None:
    def script(exchange: Exchange) -> None:
        exchange.stream_head()
        exchange.chunk(b"data: {\r\n\r\n")
        exchange.wait_for_hangup()

    with scripted(script) as server:
        provider = stateless(server.url)
        failure = fails(provider, streamed=True)
        assert type(failure) is TransportError
        assert server.hung_up.wait(LIMIT)
        assert provider._http is not None
        assert provider._http._transport._pool.connections == []  # type: ignore[attr-defined]


def no_answer(exchange: Exchange) -> None:
    exchange.answer({"candidates": "text"})


@STREAMED
@pytest.mark.parametrize("script", [*BROKEN, no_answer], ids=lambda script: script.__name__)
def test_an_answer_that_does_not_arrive_whole_is_a_transport_error(
    script: Callable[[Exchange], None], streamed: bool
) -> None:
    with scripted(script) as server:
        failure = fails(stateless(server.url), streamed)
    assert type(failure) is TransportError
    assert failure.retryable


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://host.invalid", "ftp://127.0.0.1", "http://[::1]:1"])
def test_a_service_that_cannot_be_reached_is_a_transport_error(url: str) -> None:
    assert type(fails(stateless(url))) is TransportError


def test_a_silence_is_told_apart_from_a_break() -> None:
    silent = from_exception(httpx2.ReadTimeout("x"), KEY)
    assert "silent" in silent.message
    assert "silent" not in from_exception(httpx2.ReadError("x"), KEY).message


def test_trouble_with_an_access_token_is_the_keys_or_the_ways() -> None:
    gone = google.auth.exceptions.RefreshError(f"no {KEY}", retryable=False)  # type: ignore[no-untyped-call]
    away = google.auth.exceptions.TransportError("no", retryable=True)  # type: ignore[no-untyped-call]
    seen = [(type(failure), failure.message) for failure in (from_exception(gone, KEY), from_exception(away, KEY))]
    assert seen == [
        (AuthenticationError, "no access token (RefreshError: no ***)"),
        (TransportError, "no access token (TransportError: no)"),
    ]


@STREAMED
def test_the_key_shows_nowhere(caplog: pytest.LogCaptureFixture, streamed: bool) -> None:
    """Also where the service repeats it, and with all logging on."""
    leaked = {"error": {"code": 400, "message": f"bad {KEY}", "status": INVALID, "details": [BAD_KEY]}}
    scripts: list[Callable[[Exchange], None]] = [
        lambda exchange: exchange.answer(leaked, 400),
        lambda exchange: exchange.answer(f"proxy refused {KEY}".encode(), 502),
        reset,
        lambda exchange: exchange.answer(f"not json {KEY}".encode()),
    ]
    with caplog.at_level(logging.DEBUG), scripted(*scripts) as server:
        provider = stateless(server.url)
        for _ in scripts:
            failure = fails(provider, streamed)
            assert KEY not in everything(failure)
            assert failure.__cause__ is None
            assert failure.__context__ is None
    assert KEY not in repr(provider)
    assert KEY not in caplog.text


def test_calls_before_opening_and_after_shutdown_say_what_to_do() -> None:
    provider = GoogleStateless()
    with pytest.raises(UsageError, match=r"initialize\(\) and connect\(\)"):
        provider.complete(HI)
    with pytest.raises(AuthenticationError, match="api_key"):
        provider.initialize({"api_key": ""})
    provider.initialize({"api_key": KEY, "base_url": "http://example.invalid"})
    with pytest.raises(UsageError, match=r"connect\(\)"):
        provider.complete(HI)
    provider.connect(MODEL)
    provider.shutdown()
    provider.shutdown()
    with pytest.raises(UsageError, match=r"initialize\(\)"):
        provider.complete(HI)
