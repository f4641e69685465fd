"""What the HTTP clients of the SDKs have in common: cheap to open, and every call over them can be cut.

A TLS context costs more than everything else in a client, so one is shared by the whole process.
"""

from __future__ import annotations

import ipaddress
import ssl
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import httpx2

DEFAULT_TIMEOUT = 600.0
CONNECT_TIMEOUT = 5.0


@cache
def shared_tls() -> ssl.SSLContext:
    """The process's TLS context with the usual authorities, made on first use."""
    return httpx2.create_ssl_context()


def timeouts(silence: float) -> httpx2.Timeout:
    """`silence` seconds without a byte end a call; connecting is given less."""
    return httpx2.Timeout(silence, connect=min(silence, CONNECT_TIMEOUT))


def client_arguments(
    base_url: str | None, *, silence: float, tls: ssl.SSLContext | None, transport: httpx2.BaseTransport | None
) -> dict[str, Any]:
    """How to make a client for this address, or for one that its SDK knows. Proxies of the environment are used, but
    not for loopback.

    Without `tls` the shared context is used. `transport` replaces the network, for tests.
    """
    options: dict[str, Any] = {} if transport is None else {"transport": transport}
    return {
        "verify": tls or shared_tls(),
        "timeout": timeouts(silence),
        "follow_redirects": True,
        "trust_env": base_url is None or not _is_loopback(base_url),
        **options,
    }


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
