"""The SDK's client, set up so that opening one is cheap and nothing is done twice.

The SDK does not retry: whoever drives the adapter does, and two policies on top of each other would multiply.
"""

from __future__ import annotations

import anthropic
import httpx2

from .._http import Connection, client_arguments
from .._interrupt import make_cuttable


def open_client(connection: Connection, address: str, api_key: str) -> anthropic.Anthropic:
    """A client of the official SDK. `address` is where the service is to be found unless the connection says it."""
    base_url = connection.base_url or address
    arguments = client_arguments(connection, base_url)
    return anthropic.Anthropic(
        # The SDK adds the version itself; an address that already ends in it would have it twice.
        base_url=base_url.rstrip("/").removesuffix("/v1"),
        api_key=api_key,
        # Not left to the SDK: it takes an HTTP client's 5 seconds for a default, and puts 600 in their place.
        timeout=arguments["timeout"],
        max_retries=0,
        http_client=make_cuttable(httpx2.Client(limits=anthropic.DEFAULT_CONNECTION_LIMITS, **arguments)),
    )
