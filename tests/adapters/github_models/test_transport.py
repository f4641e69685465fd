"""azure-core's pipeline on our HTTP client: each request goes out once, as it was made, and its answer comes back."""

from __future__ import annotations

import gzip
import logging
from typing import Any

import httpx2
import pytest
from azure.core.exceptions import HttpResponseError
from azure.core.rest import HttpRequest

from turnproof_adapters._http import Connection, timeouts
from turnproof_adapters.github_models.client import HOST, address, catalogue_of, open_client
from turnproof_adapters.github_models.transport import Httpx2Response, Httpx2Transport

from .kit import KEY, URL


def sent_by(handler: Any, *, stream: bool = False, **request: Any) -> Httpx2Response:
    """The answer of a handler to one request through the transport."""
    transport = Httpx2Transport(httpx2.Client(transport=httpx2.MockTransport(handler)), timeouts(3.0))
    with transport:
        transport.open()
        response = transport.send(HttpRequest("POST", f"{URL}/a", **request), stream=stream)
    assert isinstance(response, Httpx2Response)
    return response


def test_a_request_goes_out_as_it_was_made() -> None:
    seen: list[httpx2.Request] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(200)

    sent_by(handle, params={"v": "1"}, headers={"X-Mine": "b"}, content=b'{"a":1}')
    (request,) = seen
    assert (request.method, str(request.url), request.content) == ("POST", f"{URL}/a?v=1", b'{"a":1}')
    assert request.headers["x-mine"] == "b"
    assert request.extensions["timeout"] == {"connect": 3.0, "read": 3.0, "write": 3.0, "pool": 3.0}


def test_an_answer_is_what_azure_core_makes_of_one() -> None:
    body = gzip.compress(b'{"a": "\xc3\xa9"}')
    response = sent_by(
        lambda request: httpx2.Response(
            203, content=body, headers={"Content-Encoding": "gzip", "Content-Type": "application/json"}
        )
    )
    assert (response.status_code, response.reason) == (203, "Non-Authoritative Information")
    assert response.headers["CONTENT-TYPE"] == response.content_type == "application/json"
    assert (response.json(), response.text()) == ({"a": "é"}, '{"a": "é"}')
    assert response.content == response.read() == b'{"a": "\xc3\xa9"}'
    assert (response.is_closed, response.is_stream_consumed) == (True, True)
    assert (response.url, response.request.url) == (f"{URL}/a", f"{URL}/a")
    response.raise_for_status()
    response.encoding = "latin-1"
    assert (response.encoding, response.text("ascii")) == ("latin-1", '{"a": "\ufffd\ufffd"}')


def test_a_stream_is_read_as_it_arrives_and_can_be_given_another_body() -> None:
    def handle(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, content=iter([gzip.compress(b"ab")]), headers={"content-encoding": "gzip"})

    with sent_by(handle, stream=True) as response:
        assert not response.is_stream_consumed
        assert b"".join(response.iter_bytes()) == b"ab"
    assert response.is_closed
    assert b"".join(sent_by(handle, stream=True).iter_raw())[:2] == b"\x1f\x8b"
    other = sent_by(handle, stream=True)
    other.replace_body(iter([b"c"]))
    assert list(other.iter_bytes()) == [b"c"]


def test_a_refusal_is_raised_only_where_it_is_asked_for() -> None:
    response = sent_by(lambda request: httpx2.Response(404))
    with pytest.raises(HttpResponseError) as failure:
        response.raise_for_status()
    assert failure.value.response is response


def test_what_the_http_client_raises_passes_through() -> None:
    def fail(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("no way")

    with pytest.raises(httpx2.ConnectError):
        sent_by(fail)


# -- the client around it


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [
        (None, f"{HOST}/inference"),
        ("", f"{HOST}/inference"),
        (HOST, f"{HOST}/inference"),
        (f"{HOST}/", f"{HOST}/inference"),
        (f"{HOST}/v1", f"{HOST}/inference"),
        (f"{HOST}/inference/", f"{HOST}/inference"),
        (f"{HOST}/inference/v1/", f"{HOST}/inference"),
        (f"{HOST}/orgs/a/inference", f"{HOST}/orgs/a/inference"),
        ("https://models.inference.ai.azure.com", "https://models.inference.ai.azure.com"),
        ("http://127.0.0.1:8/run/1/inference", "http://127.0.0.1:8/run/1/inference"),
    ],
)
def test_an_address_may_end_as_it_likes(base_url: str | None, expected: str) -> None:
    assert address(base_url) == expected


@pytest.mark.parametrize(
    ("endpoint", "expected"),
    [
        (f"{HOST}/inference", f"{HOST}/catalog/models"),
        (f"{HOST}/orgs/a/inference", f"{HOST}/catalog/models"),
        ("http://127.0.0.1:8/run/1/inference", "http://127.0.0.1:8/run/1/catalog/models"),
        ("https://models.inference.ai.azure.com", "https://models.inference.ai.azure.com/catalog/models"),
    ],
)
def test_where_models_are_listed(endpoint: str, expected: str) -> None:
    assert catalogue_of(endpoint) == expected


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_the_pipeline_sends_once_and_logs_no_key(status: int, caplog: pytest.LogCaptureFixture) -> None:
    seen: list[httpx2.Request] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(status, headers={"retry-after": "0"})

    caplog.set_level(logging.DEBUG)
    client = open_client(Connection(base_url=URL, transport=httpx2.MockTransport(handle)), KEY)
    assert client.send_request(HttpRequest("GET", "/x")).status_code == status
    (request,) = seen
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert "api-key" not in request.headers
    assert "ai-inference" in request.headers["user-agent"]
    assert KEY not in caplog.text


def test_a_redirect_to_another_host_leaves_the_key_behind() -> None:
    seen: list[httpx2.Request] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        if request.url.host == "example.invalid":
            return httpx2.Response(307, headers={"location": "http://elsewhere.invalid/y"})
        return httpx2.Response(200)

    client = open_client(Connection(base_url=URL, transport=httpx2.MockTransport(handle)), KEY)
    client.send_request(HttpRequest("GET", "/x"))
    assert [request.url.host for request in seen] == ["example.invalid", "elsewhere.invalid"]
    assert KEY not in str(seen[1].headers.raw)
