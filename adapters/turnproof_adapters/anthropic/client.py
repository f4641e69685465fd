"""The SDK's client, set up so that opening one is cheap and nothing is done twice.

A TLS context costs more than everything else in a client, so one is shared by the whole process. The SDK does not
retry: whoever drives the adapter does, and two policies on top of each other would multiply.
"""

from __future__ import annotations

import ipaddress
import ssl
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import anthropic
import httpx2

from .cut import make_cuttable

DEFAULT_TIMEOUT = 600.0
CONNECT_TIMEOUT = 5.0


@cache
def shared_tls() -> ssl.SSLContext:
    """The process's TLS context with the usual authorities, made on first use."""
    return httpx2.create_ssl_context()


def timeouts(silence: float) -> httpx2.Timeout:
    """`silence` seconds without a byte end a call; connecting is given less."""
    return httpx2.Timeout(silence, connect=min(silence, CONNECT_TIMEOUT))


def open_client(
    base_url: str,
    api_key: str,
    *,
    silence: float = DEFAULT_TIMEOUT,
    tls: ssl.SSLContext | None = None,
    transport: httpx2.BaseTransport | None = None,
) -> anthropic.Anthropic:
    """A client of the official SDK for this address. Proxies of the environment are used, but not for loopback."""
    options: dict[str, Any] = {} if transport is None else {"transport": transport}
    http = httpx2.Client(
        verify=tls or shared_tls(),
        timeout=timeouts(silence),
        limits=anthropic.DEFAULT_CONNECTION_LIMITS,
        follow_redirects=True,
        trust_env=not _is_loopback(base_url),
        **options,
    )
    return anthropic.Anthropic(
        # The SDK adds the version itself; an address that already ends in it would have it twice.
        base_url=base_url.rstrip("/").removesuffix("/v1"),
        api_key=api_key,
        max_retries=0,
        http_client=make_cuttable(http),
    )


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
