"""The server that costs nobody anything: right bytes for each address, whatever way a request comes in."""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from turnproof.commands.bench.canned_provider import CannedServer, Sent
from turnproof.commands.bench.open_callers import temporary_certificate
from turnproof.errors import HarnessError

HELLO = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"
OTHER = b"HTTP/1.1 201 Created\r\ncontent-length: 5\r\n\r\nother"


@pytest.fixture(scope="module")
def server() -> Iterator[CannedServer]:
    with CannedServer() as running:
        yield running


def ask(url: str, path: str, body: bytes = b"", method: str = "POST") -> tuple[int, bytes]:
    address = urlsplit(url)
    line = http.client.HTTPConnection(str(address.hostname), address.port, timeout=20)
    line.request(method, f"{address.path}{path}", body)
    response = line.getresponse()
    answer = response.status, response.read()
    line.close()
    return answer


def raw(url: str, *pieces: bytes, expect: bytes) -> None:
    """Send these pieces in segments of their own, and read the expected bytes back."""
    address = urlsplit(url)
    with socket.create_connection((str(address.hostname), address.port or 0), timeout=20) as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            line.sendall(piece)
        data = b""
        while len(data) < len(expect):
            more = line.recv(65536)
            assert more, f"hung up after {data!r}"
            data += more
    assert data == expect


def test_each_address_has_its_own_answer_and_its_own_count(server: CannedServer) -> None:
    one = server.add({"POST /v1/a": HELLO, "GET /v1/a": OTHER})
    other = server.add({"POST /v1/a": OTHER})
    assert ask(one, "/v1/a", b"{}") == (200, b"hello")
    assert ask(one, "/v1/a", method="GET") == (201, b"other")
    assert ask(other, "/v1/a", b"{}") == (201, b"other")
    assert (server.requests(one), server.requests(other)) == (2, 1)


def test_a_base_url_may_hold_the_beginning_of_the_path(server: CannedServer) -> None:
    url = server.add({"POST /api/v4/a": HELLO}, "/api/v4")
    assert url.endswith("/api/v4")
    assert ask(url, "/a", b"{}") == (200, b"hello")
    assert server.requests(url) == 1


def test_the_query_does_not_choose_the_answer(server: CannedServer) -> None:
    url = server.add({"POST /v1/m:stream": HELLO})
    assert ask(url, "/v1/m:stream?alt=sse&key=x", b"{}") == (200, b"hello")


def test_an_address_that_was_not_met_is_404_and_counts(server: CannedServer) -> None:
    url = server.add({"POST /v1/a": HELLO})
    assert ask(url, "/v1/b", b"{}") == (404, b"")
    assert ask(url, "/v1/a", method="PUT") == (404, b"")
    assert server.requests(url) == 2
    stem = url.rpartition("/")[0]
    assert ask(stem, "/9999/v1/a") == (404, b"")
    assert ask(stem, "/x/v1/a") == (404, b"")


def test_a_request_is_answered_where_it_ends_in_whatever_segments_it_comes(server: CannedServer) -> None:
    url = server.add({"POST /a": HELLO})
    path = urlsplit(url).path.encode() + b"/a"
    sized = b"POST " + path + b" HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody"
    chunked = b"POST " + path + b" HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"
    bare = b"POST " + path + b" HTTP/1.1\r\nHost: x\r\n\r\n"
    raw(url, *(bytes([byte]) for byte in sized), expect=HELLO)
    raw(url, *(bytes([byte]) for byte in chunked), expect=HELLO)
    raw(url, sized + chunked + bare + sized, expect=HELLO * 4)
    assert server.requests(url) == 6


def test_a_large_body_is_read_to_its_end(server: CannedServer) -> None:
    url = server.add({"POST /a": HELLO})
    assert ask(url, "/a", b"x" * 3_000_000) == (200, b"hello")


def test_the_process_ends_with_its_user() -> None:
    with CannedServer() as server:
        process = server._process
        assert process.is_alive()
    assert not process.is_alive()


def test_a_server_that_died_is_our_own_fault() -> None:
    with CannedServer() as server:
        url = server.add({"POST /a": HELLO})
        server._process.kill()
        server._process.join()
        with pytest.raises(HarnessError, match="the benchmark's server process has died"):
            server.requests(url)


def test_the_last_request_is_kept_as_it_came(server: CannedServer) -> None:
    url = server.add({"POST /v1/a": HELLO})
    with pytest.raises(HarnessError, match="nobody has asked"):
        server.last(url)
    ask(url, "/v1/a?b=c", b"one")
    ask(url, "/v1/a?b=c", b"two")
    assert server.last(url) == Sent("POST", f"{url}/v1/a?b=c", b"two")


def test_the_same_is_served_over_tls_to_those_who_trust_the_certificate() -> None:
    certificate = temporary_certificate()
    with CannedServer(certificate.server) as server:
        url = server.add({"POST /v1/a": HELLO})
        address = urlsplit(server.secure(url))
        assert address.scheme == "https"
        line = http.client.HTTPSConnection(
            str(address.hostname), address.port, timeout=20, context=certificate.trusting
        )
        line.request("POST", f"{address.path}/v1/a", b"{}")
        assert line.getresponse().read() == b"hello"
        line.close()
        stranger = http.client.HTTPSConnection(str(address.hostname), address.port, timeout=20)
        with pytest.raises(ssl.SSLCertVerificationError):
            stranger.request("POST", f"{address.path}/v1/a", b"{}")
        assert server.requests(url) == 1
