"""Every failure is one of turnproof's errors, decided by status and details; no token is in any of them."""

from __future__ import annotations

import gzip
import logging
from typing import Any

import httpx2
import pytest

from turnproof import errors
from turnproof_adapters._encoded_messages import encode
from turnproof_adapters.antigravity.errors import from_exception

from ..faults import everything, exceptions_of, raised_by
from ..scripted_server import scripted
from .kit import KEY, PATHS, PROJECT, STREAMED, URL, asking, envelope, legacy, stateless, stream, text

WAYS = [(path, streamed) for path in ("stateless", "legacy") for streamed in (False, True)]
"""Both paths, whole and in pieces."""


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<html><h1>503 Service Unavailable</h1></html>", "HTTP status 503"),
        (b"", "HTTP status 503"),
        (b'["odd"]', "HTTP status 503"),
        (b"[]", "HTTP status 503"),
        (b"null", "HTTP status 503"),
        (b'{"error": 7}', "HTTP status 503"),
        (b'{"error": {"code": "odd", "message": 7, "details": {"x": 1}}}', "HTTP status 503"),
        (b'{"error": {"details": [7, {"violations": 7}, {"links": [7]}, {"metadata": 7}]}}', "HTTP status 503"),
        (b'{"error": {"status": "UNAVAILABLE"}}', "UNAVAILABLE"),
        (b'[{"error": {"code": 503, "message": "busy"}}]', "busy"),
        (b"[" * 20_000, "HTTP status 503"),
        (b"\xff\xfe", "HTTP status 503"),
    ],
    ids=range(12),
)
def test_a_proxys_page_is_typed_by_its_status(body: bytes, message: str, httpx2_mock: Any) -> None:
    httpx2_mock.route().respond(503, content=body)
    for path, streamed in WAYS:
        failure = raised_by(asking(path, streamed=streamed))
        assert type(failure) is errors.OverloadedError
        assert (failure.status, failure.message) == (503, message)


def test_a_proxy_may_say_in_a_header_how_long_to_wait(httpx2_mock: Any) -> None:
    httpx2_mock.route().respond(429, headers={"retry-after": "17"})
    provider = stateless()
    failure = raised_by(asking("stateless"))
    assert failure.retry_after == provider.get_retry_after(failure) == 17
    assert provider.classify_error(failure) == {"transient": True, "rate_limit": True, "infra": False}


@pytest.mark.parametrize("packed", [gzip.compress(b"x" * 999)[:-20], b"no archive"], ids=["cut", "none"])
@pytest.mark.parametrize(("status", "expected"), [(403, errors.AuthenticationError), (200, errors.TransportError)])
def test_an_answer_that_cannot_be_unpacked_is_typed_by_its_status(
    packed: bytes, status: int, expected: type[errors.ProviderError]
) -> None:
    with scripted(lambda exchange: exchange.answer(packed, status, **{"content-encoding": "gzip"})) as server:
        for path, streamed in WAYS:
            failure = raised_by(asking(path, server.url, streamed=streamed))
            assert type(failure) is expected
            # Of what was cut off, the stream that it would have been says no more than that it has no end.
            assert failure.status == (None if streamed and status == 200 and packed != b"no archive" else status)


@pytest.mark.parametrize("status", [204, 206, 301, 304])
def test_a_status_under_which_there_is_no_answer_is_a_transport_error(status: int, httpx2_mock: Any) -> None:
    httpx2_mock.route().respond(status)
    for path, streamed in WAYS:
        failure = raised_by(asking(path, streamed=streamed))
        assert (type(failure), failure.status) == (errors.TransportError, status)


@PATHS
@STREAMED
def test_an_answer_elsewhere_is_fetched_and_a_circle_of_them_is_an_error(
    path: str, streamed: bool, httpx2_mock: Any
) -> None:
    moved = httpx2_mock.route(url__startswith=f"{URL}/v1internal:")
    moved.respond(307, headers={"location": "http://moved.invalid/here"})
    body = b"".join(stream(text("hi"))) if streamed else encode(envelope(text("hi")))
    there = httpx2_mock.route(url="http://moved.invalid/here").respond(content=body)
    assert asking(path, streamed=streamed)().text == "hi"
    assert "authorization" not in there.calls.last.request.headers, "the token is for nobody else"
    moved.respond(307, headers={"location": f"{URL}/v1internal:generateContent"})
    assert type(raised_by(asking(path, streamed=streamed))) is errors.TransportError


@pytest.mark.parametrize("exception_type", exceptions_of(httpx2, httpx2.HTTPError), ids=lambda each: each.__name__)
def test_whatever_the_client_raises_is_typed_and_says_what_it_was(exception_type: Any) -> None:
    failure = from_exception(exception_type(f"for {KEY}"), [KEY])
    assert type(failure) is errors.TransportError
    assert "for ***" in failure.message


def test_failures_without_words_say_what_they_are() -> None:
    failures = [from_exception(error, []) for error in (TimeoutError(), ValueError())]
    assert [failure.message for failure in failures] == [
        "the service was silent for too long (TimeoutError: no details)",
        "no complete answer from the service (ValueError: no details)",
    ]
    assert {type(failure) for failure in failures} == {errors.TransportError}


ACCOUNT = {"refresh_token": "1//secret-refresh", "access_token": "ya29.secret-access", "project": PROJECT}
SECRETS = ["1//secret-refresh", "ya29.secret-access", "secret-of-the-client"]


@PATHS
@STREAMED
def test_no_secret_is_in_an_error_a_log_or_a_repr(
    path: str, streamed: bool, httpx2_mock: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    words = " ".join(SECRETS)
    httpx2_mock.post(f"{URL}/token").respond(400, json={"error": "invalid_grant", "error_description": words})
    error = {"code": 401, "message": f"{words} are not allowed", "status": f"NO_{SECRETS[0]}"}
    httpx2_mock.route(url__startswith=f"{URL}/v1internal:").respond(401, json={"error": error})
    options: dict[str, Any] = {
        "client_id": "c",
        "client_secret": SECRETS[2],
        "token_url": f"{URL}/token",
        "accounts": [ACCOUNT],
    }
    failure = raised_by(asking(path, streamed=streamed, **options))
    shown = everything(failure) + caplog.text + repr(vars(stateless(**options))) + repr(vars(legacy(**options)))
    assert not [secret for secret in SECRETS if secret in shown]
    assert type(failure) is errors.AuthenticationError
    assert failure.message == "*** *** ***"
