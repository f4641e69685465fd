"""Every failure is one of turnproof's errors, decided by status and details; the key is in none of them."""

from __future__ import annotations

from typing import Any

import google.auth.exceptions
import httpx2
import pytest
from google.genai import errors as sdk

from turnproof import errors
from turnproof.messages import CacheMark, Message, Text
from turnproof_adapters.google_genai.errors import from_exception
from turnproof_adapters.google_genai.stateless import GoogleStateless

from ..callback_recorder import CallbackRecorder
from ..scripted_server import LIMIT, Exchange, scripted
from .kit import KEY, stateless

HI = [Message.user("hi")]
STREAMED = pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])


def fails(provider: Any, streamed: bool = False, **kwargs: Any) -> errors.ProviderError:
    with pytest.raises(errors.ProviderError) as failure:
        provider.complete(HI, **(CallbackRecorder().callbacks if streamed else {}), **kwargs)
    return failure.value


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
        assert isinstance(failure, errors.CacheExpiredError)
        assert (failure.name, failure.status, failure.message) == ("cachedContents/7abc", status, message)
        assert failure.kind == "PERMISSION_DENIED"
        assert not isinstance(fails(provider, streamed, system_instruction="rules"), errors.CacheExpiredError)


def test_a_bad_key_is_a_bad_key_also_where_a_cache_is_named() -> None:
    body = {"error": {"code": 403, "message": "Your API key was reported as leaked.", "status": "PERMISSION_DENIED"}}
    with scripted(lambda exchange: exchange.answer(body, 403)) as server:
        assert type(fails(stateless(server.url), system_instruction=NAMED)) is errors.AuthenticationError


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
    assert isinstance(failure, errors.OverloadedError)
    assert failure.message == message


@pytest.mark.parametrize(
    ("code", "error", "expected", "seen"),
    [
        (503, {"message": ["no"], "status": 7}, errors.OverloadedError, (503, None, "HTTP status 503")),
        (503, {"message": 7, "status": "UNAVAILABLE"}, errors.OverloadedError, (503, "UNAVAILABLE", "UNAVAILABLE")),
        (429, {"details": {"retryDelay": "5s"}}, errors.RateLimitError, (429, None, "HTTP status 429")),
        (429, {"details": ["odd", {"violations": ["odd", {}]}]}, errors.RateLimitError, (429, None, "HTTP status 429")),
        (100, {"message": "go", "status": "ON"}, errors.TransportError, (100, "ON", "no answer under this status: go")),
        (399, {"message": "go"}, errors.TransportError, (399, None, "no answer under this status: go")),
        (418, {"message": "I'm a teapot"}, errors.InvalidRequestError, (418, None, "I'm a teapot")),
        (999, {"message": "no"}, errors.OverloadedError, (999, None, "no")),
        (99, {"message": "no"}, errors.TransportError, (None, None, "no answer under this status: no")),
        (1000, {"message": "no"}, errors.TransportError, (None, None, "no answer under this status: no")),
        ("503", {"message": "no"}, errors.TransportError, (None, None, "no answer under this status: no")),
        (True, {"message": "no"}, errors.TransportError, (None, None, "no answer under this status: no")),
    ],
)
def test_an_error_of_odd_form_is_typed_by_what_is_sound_in_it(
    code: Any, error: dict[str, Any], expected: type[errors.ProviderError], seen: tuple[Any, ...]
) -> None:
    """A stream tells of its failure in an event: neither status nor headers of the response stand behind it."""
    failure = from_exception(sdk.APIError(code, {"error": error}), KEY)
    assert type(failure) is expected
    assert (failure.status, failure.kind, failure.message, failure.retry_after) == (*seen, None)


def test_no_word_of_an_error_shows_the_key() -> None:
    body = {"error": {"status": f"NO_{KEY}", "message": f"{KEY} is not allowed to"}}
    failure = from_exception(sdk.APIError(403, body), KEY)
    assert (failure.kind, failure.message) == ("NO_***", "*** is not allowed to")


def test_failures_without_words_say_what_they_are() -> None:
    failures = [from_exception(error, KEY) for error in (TimeoutError(), ValueError())]
    assert [failure.message for failure in failures] == [
        "the service was silent for too long (TimeoutError: no details)",
        "no complete answer from the service (ValueError: no details)",
    ]
    assert {type(failure) for failure in failures} == {errors.TransportError}


def test_a_proxy_may_say_in_a_header_how_long_to_wait() -> None:
    with scripted(lambda exchange: exchange.answer(b"", 429, **{"retry-after": "17"})) as server:
        failure = fails(stateless(server.url))
        assert failure.retry_after == 17
        assert stateless(server.url).get_retry_after(failure) == 17


@pytest.mark.parametrize("status", [204, 206, 301])
def test_a_status_under_which_there_is_no_answer_is_a_transport_error(status: int) -> None:
    with scripted(lambda exchange: exchange.answer(b"", status)) as server:
        failure = fails(stateless(server.url))
    assert type(failure) is errors.TransportError
    assert failure.status == status


def test_a_stream_that_cannot_be_read_is_hung_up() -> None:
    def script(exchange: Exchange) -> None:
        exchange.stream_head()
        exchange.chunk(b"data: {\r\n\r\n")
        exchange.wait_for_hangup()

    with scripted(script) as server:
        provider = stateless(server.url)
        failure = fails(provider, streamed=True)
        assert type(failure) is errors.TransportError
        assert server.hung_up.wait(LIMIT)
        assert provider._http is not None
        assert provider._http._transport._pool.connections == []  # type: ignore[attr-defined]


def test_a_document_that_is_no_answer_is_a_transport_error() -> None:
    with scripted(lambda exchange: exchange.answer({"candidates": "text"})) as server:
        for streamed in (False, True):
            failure = fails(stateless(server.url), streamed)
            assert type(failure) is errors.TransportError
            assert failure.retryable


def test_a_silence_is_told_apart_from_a_break() -> None:
    silent = from_exception(httpx2.ReadTimeout("x"), KEY)
    assert "silent" in silent.message
    assert "silent" not in from_exception(httpx2.ReadError("x"), KEY).message


def test_trouble_with_an_access_token_is_the_keys_or_the_ways() -> None:
    refresh_error = google.auth.exceptions.RefreshError(f"no {KEY}", retryable=False)  # type: ignore[no-untyped-call]
    away = google.auth.exceptions.TransportError("no", retryable=True)  # type: ignore[no-untyped-call]
    seen = [
        (type(failure), failure.message) for failure in (from_exception(refresh_error, KEY), from_exception(away, KEY))
    ]
    assert seen == [
        (errors.AuthenticationError, "no access token (RefreshError: no ***)"),
        (errors.TransportError, "no access token (TransportError: no)"),
    ]


def test_an_empty_key_is_none() -> None:
    with pytest.raises(errors.AuthenticationError, match="api_key"):
        GoogleStateless().initialize({"api_key": ""})
