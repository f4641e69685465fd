"""The SDK's client, set up so that opening one is cheap and nothing is done twice.

The SDK does not retry: whoever drives the adapter does, and two policies on top of each other would multiply.
"""

from __future__ import annotations

import ssl

import anthropic
import httpx2

from .._cut import make_cuttable
from .._http import DEFAULT_TIMEOUT, client_arguments


def open_client(
    base_url: str,
    api_key: str,
    *,
    silence: float = DEFAULT_TIMEOUT,
    tls: ssl.SSLContext | None = None,
    transport: httpx2.BaseTransport | None = None,
) -> anthropic.Anthropic:
    """A client of the official SDK for this address. `silence` seconds without a byte end a call."""
    arguments = client_arguments(base_url, silence=silence, tls=tls, transport=transport)
    return anthropic.Anthropic(
        # The SDK adds the version itself; an address that already ends in it would have it twice.
        base_url=base_url.rstrip("/").removesuffix("/v1"),
        api_key=api_key,
        # Not left to the SDK: it takes an HTTP client's 5 seconds for a default, and puts 600 in their place.
        timeout=arguments["timeout"],
        max_retries=0,
        http_client=make_cuttable(httpx2.Client(limits=anthropic.DEFAULT_CONNECTION_LIMITS, **arguments)),
    )
