"""Every failure is one of turnproof's errors, decided by code and status; the key is in none of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest

from turnproof import errors
from turnproof.messages import Message
from turnproof_adapters.openai.errors import from_failure, from_status
from turnproof_adapters.openai.wire import Failure

from ..callback_recorder import CallbackRecorder
from ..faults import everything, raised_by, reset
from ..scripted_server import Exchange, scripted
from .kit import KEY, URL, answer, legacy, stateless
from .refusals import error

HI = [Message.user("hi")]


def asks(url: str, **options: Any) -> Iterator[Callable[[], object]]:
    """The four ways to ask: on both paths, whole and streamed."""
    yield lambda: stateless(url, **options).complete(HI)
    yield lambda: stateless(url, **options).complete(HI, **CallbackRecorder().callbacks)
    yield lambda: legacy(url, **options).send_message("hi")
    yield lambda: legacy(url, **options).send_message_streaming("hi", print)


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
        failure = raised_by(ask)
        assert isinstance(failure, errors.OverloadedError)
        assert (failure.message, failure.status) == (message, 503)


@pytest.mark.parametrize(("advice", "status", "retryable"), [("false", 503, False), ("true", 400, True)])
def test_the_service_may_say_itself_whether_to_try_again(advice: str, status: int, retryable: bool) -> None:
    answers = httpx2.MockTransport(lambda _: httpx2.Response(status, json={}, headers={"x-should-retry": advice}))
    assert all(raised_by(ask).retryable is retryable for ask in asks(URL, transport=answers))


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
    assert from_status(429, error("slower", "rate_limit_exceeded"), headers, KEY).retry_after == seconds


def page(
    content_type: str | None = None, status: int = 200, body: bytes = b"<html>busy</html>"
) -> httpx2.MockTransport:
    headers = {"content-type": content_type} if content_type is not None else {}
    return httpx2.MockTransport(lambda _: httpx2.Response(status, content=body, headers=headers))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "transport",
    [
        page("text/html"),
        page("application/json"),
        page("application/json", body=b""),
        page("application/json", body=b"[1]"),
        page("application/json", body=b'"so it is"'),
        page("text/plain", body=b"so it is"),
        page(status=304),
    ],
    ids=["html", "html-called-json", "empty", "a-list", "a-string", "text", "not-modified"],
)
def test_a_page_in_an_answers_place_is_a_transport_error(transport: httpx2.MockTransport) -> None:
    for ask in asks(URL, transport=transport):
        failure = raised_by(ask)
        assert type(failure) is errors.TransportError
        assert failure.retryable


def test_a_compressed_answer_that_was_cut_is_a_transport_error() -> None:
    def cut(exchange: Exchange) -> None:
        exchange.answer(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcbH", 200, **{"content-encoding": "gzip"})

    with scripted(cut) as server:
        for ask in asks(server.url):
            assert type(raised_by(ask)) is errors.TransportError


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


def test_a_failure_without_words_shows_the_status_that_it_came_under() -> None:
    failure = from_failure(Failure(), KEY)
    assert (failure.message, failure.status, failure.kind) == ("HTTP status 200", 200, None)


def echoing(exchange: Exchange) -> None:
    message = f"bad {exchange.headers['authorization']} {exchange.headers['api-key']} {exchange.path}"
    exchange.answer({"error": error(message, f"code {KEY}")}, 401)


@pytest.mark.parametrize("script", [echoing, reset], ids=["refused", "reset"])
def test_no_key_shows_anywhere(script: Callable[[Exchange], None], caplog: pytest.LogCaptureFixture) -> None:
    """Not in the error, its causes, its traceback, the log, or what the provider shows of itself."""
    other, third = "azure-canary-1", "query-canary-2"
    options: dict[str, Any] = {"headers": {"api-key": other}, "query": {"api_key": third}}
    with scripted(script) as server, caplog.at_level(logging.DEBUG):
        shown = [everything(raised_by(ask)) for ask in asks(server.url, **options)]
        assert server.requests[0].headers["api-key"] == other
        assert third in server.requests[0].path
    shown += [repr(stateless(URL, **options)), repr(legacy(URL, **options))]
    for secret in (KEY, other, third):
        assert not any(secret in each for each in shown)
    assert KEY not in caplog.text
