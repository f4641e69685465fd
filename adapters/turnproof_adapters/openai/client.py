"""The SDK's client, set up so that opening one is cheap and nothing is done twice.

The SDK does not retry: whoever drives the adapter does, and two policies on top of each other would multiply.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

import httpx2
import openai
from openai._streaming import ServerSentEvent, SSEDecoder

from .._http import Connection, client_arguments
from .._interrupt import make_cuttable

DEFAULT_BASE_URL = "https://api.openai.com/v1"


def post(
    client: openai.OpenAI, path: str, body: bytes, headers: Mapping[str, str], limits: httpx2.Timeout, *, stream: bool
) -> httpx2.Response:
    """The response to a request whose bytes are ready. Address, key and the types of errors are the SDK's."""
    return client.post(
        path,
        content=body,
        cast_to=httpx2.Response,
        options={"headers": headers, "timeout": limits},
        stream=stream,
    )


class _Decoder(SSEDecoder):
    """The SDK's decoder, less the events that have no data: a retry time alone is none (WHATWG HTML, section 9.2.6),
    and the SDK (3.54) fails on reading it as JSON."""

    def decode(self, line: str) -> ServerSentEvent | None:
        event = super().decode(line)
        return event if event is not None and event.data else None


class Client(openai.OpenAI):
    """The SDK's client with that decoder."""

    def _make_sse_decoder(self) -> SSEDecoder:
        return _Decoder()


def open_client(
    connection: Connection, api_key: str, headers: Mapping[str, str], query: Mapping[str, str]
) -> openai.OpenAI:
    """A client of the official SDK that sends these headers and query parameters with every request."""
    base_url = address(connection.base_url)
    arguments = client_arguments(connection, base_url)
    return Client(
        base_url=base_url,
        api_key=api_key,
        # Not left to the SDK: it takes an HTTP client's 5 seconds for a default, and puts 600 in their place.
        timeout=arguments["timeout"],
        max_retries=0,
        default_headers=headers,
        default_query=query,
        http_client=make_cuttable(httpx2.Client(limits=openai.DEFAULT_CONNECTION_LIMITS, **arguments)),
    )


def plain_client(base_url: str | None, api_key: str) -> openai.OpenAI:
    """A client as the SDK makes it by itself, to measure ours against."""
    return openai.OpenAI(
        base_url=base_url,
        api_key=api_key,
        max_retries=0,
        # A proxy of the environment would stand between us and loopback.
        http_client=openai.DefaultHttpxClient(trust_env=False),
    )


def address(base_url: str | None) -> str:
    """The base URL that the SDK is given; None is OpenAI's own.

    Almost every service has the API under `/v1`, and says its address with it or without: an address of a host alone
    gets it. Any other path is left as it is.
    """
    if base_url is None:
        return DEFAULT_BASE_URL
    bare = base_url.rstrip("/")
    return bare if urlsplit(bare).path else f"{bare}/v1"
