"""How the HTTP clients of all SDKs are set up."""

from __future__ import annotations

import ssl

import httpx2
import pytest

from turnproof_adapters._http import Connection, client_arguments, shared_tls, timeouts


@pytest.mark.parametrize(("silence", "connecting"), [(0.2, 0.2), (1.0, 1.0), (600.0, None)])
def test_connecting_never_takes_longer_than_silence_may_and_has_a_limit_of_its_own(
    silence: float, connecting: float | None
) -> None:
    limits = timeouts(silence)
    assert (limits.read, limits.write, limits.pool) == (silence, silence, silence)
    assert limits.connect is not None
    assert limits.connect < silence if connecting is None else limits.connect == connecting


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8000/run/1",
        "http://127.1.2.3",
        "http://[::1]:80",
        "http://localhost:80",
        "https://LOCALHOST",
    ],
)
def test_no_proxy_stands_between_us_and_loopback(url: str) -> None:
    assert client_arguments(Connection(), url)["trust_env"] is False


@pytest.mark.parametrize(
    "url",
    ["https://api.anthropic.com", "http://10.0.0.1", "http://[2001:db8::1]", "http://localhost.example", "", None],
)
def test_the_worlds_addresses_are_reached_as_the_environment_says(url: str | None) -> None:
    assert client_arguments(Connection(), url)["trust_env"] is True


def test_a_client_takes_the_callers_tls_and_transport_before_ours() -> None:
    tls, transport = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), httpx2.MockTransport(lambda _: httpx2.Response(200))
    own = client_arguments(Connection(silence=1, tls=tls, transport=transport), "https://example.invalid")
    assert (own["verify"], own["transport"], own["timeout"]) == (tls, transport, timeouts(1))
    usual = client_arguments(Connection(), "https://example.invalid")
    assert usual["verify"] is shared_tls()
    assert "transport" not in usual


def test_a_redirect_is_followed() -> None:
    def moved(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/old":
            return httpx2.Response(308, headers={"location": "/new"})
        return httpx2.Response(200, content=request.content)

    arguments = client_arguments(Connection(transport=httpx2.MockTransport(moved)), "http://example.invalid")
    with httpx2.Client(**arguments) as client:
        answer = client.post("http://example.invalid/old", content=b"asked")
    assert (answer.status_code, answer.content) == (200, b"asked")
