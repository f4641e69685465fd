"""What the HTTP clients of the SDKs have in common: cheap to open, and every call over them can be cut.

A TLS context costs more than everything else in a client, so one is shared by the whole process.
"""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import httpx2

HTTP_FAILURES: tuple[type[Exception], ...] = (
    httpx2.HTTPError,
    httpx2.StreamError,
    httpx2.InvalidURL,
    OSError,
    ValueError,  # a body, or a piece of one, that is not JSON
    RecursionError,  # one that is nested too deeply to be read
)
"""What the HTTP client and the reading of an answer raise, whoever's SDK stands above them."""

DEFAULT_TIMEOUT = 600.0
CONNECT_TIMEOUT = 5.0


@dataclass(frozen=True, slots=True)
class Connection:
    """How to reach a service. `silence` seconds without a byte end a call; `transport` replaces the network, for tests.

    `base_url` is None where the adapter, or its SDK, knows the address.
    """

    base_url: str | None = None
    silence: float = DEFAULT_TIMEOUT
    tls: ssl.SSLContext | None = None
    transport: httpx2.BaseTransport | None = None

    @classmethod
    def from_settings(cls, config: Mapping[str, Any]) -> Connection:
        """The connection that a provider's settings ask for: `base_url`, `timeout`, `ssl_context`, `transport`."""
        return cls(
            base_url=config.get("base_url") or None,
            silence=float(config.get("timeout", DEFAULT_TIMEOUT)),
            tls=config.get("ssl_context"),
            transport=config.get("transport"),
        )


@cache
def shared_tls() -> ssl.SSLContext:
    """The process's TLS context with the usual authorities, made on first use."""
    return httpx2.create_ssl_context()


def timeouts(silence: float) -> httpx2.Timeout:
    """`silence` seconds without a byte end a call; connecting is given less."""
    return httpx2.Timeout(silence, connect=min(silence, CONNECT_TIMEOUT))


def client_arguments(connection: Connection, base_url: str | None) -> dict[str, Any]:
    """How to make a client for this address, or for one that its SDK knows. Proxies of the environment are used, but
    not for loopback. Without a TLS context of the connection's own the shared one is used.
    """
    options: dict[str, Any] = {} if connection.transport is None else {"transport": connection.transport}
    return {
        "verify": connection.tls or shared_tls(),
        "timeout": timeouts(connection.silence),
        "follow_redirects": True,
        "trust_env": base_url is None or not is_loopback(base_url),
        **options,
    }


def is_loopback(url: str) -> bool:
    """Whether an address is of this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def body_pieces(response: httpx2.Response) -> Iterator[bytes]:
    """The body of an open response as it arrives; whoever takes it closes the response.

    Where nothing is compressed it comes straight from the transport: what `iter_bytes` does with each piece costs more
    than reading the event in it.
    """
    stream, untouched = response.stream, not response.is_stream_consumed
    if untouched and isinstance(stream, httpx2.SyncByteStream) and "content-encoding" not in response.headers:
        return iter(stream)
    return response.iter_bytes()
