"""The SDK's client, set up so that opening one is cheap and nothing is done twice.

The SDK does not retry unless told to: whoever drives the adapter does, and two policies on top of each other would
multiply. What its environment variables could change (the key, the platform) is always given.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from typing import Any

import google.oauth2.credentials
import httpx2
from google import genai
from google.genai import types

from .._http import Connection, client_arguments, shared_tls
from .._interrupt import make_cuttable
from .splice import SplicingClient

# The SDK warns of each word that the API has learned since; an answer shows it in `raw_finish`.
warnings.filterwarnings("ignore", r".+ is not a valid \w+", UserWarning, r"google\.genai\._common")

_VERSION = re.compile(r"/+(?:v\d+(?:alpha|beta)?\d*/*)?$")


def open_client(
    connection: Connection, api_key: str, *, vertexai: Mapping[str, Any] | None = None, attempts: int | None = None
) -> tuple[genai.Client, httpx2.Client]:
    """A client of the official SDK for this address, and the HTTP client that it uses and does not close.

    `vertexai` (`project` and `location`, or nothing for express mode) chooses Vertex AI; with a project the key is a
    bearer token. Without a `base_url` the SDK knows the address. `attempts` is how often the SDK tries a request, where
    it would try more than once unless told otherwise.
    """
    address = without_version(connection.base_url)
    arguments = client_arguments(connection, address)
    http = make_cuttable(SplicingClient(**arguments))
    context = connection.tls or shared_tls()
    options = types.HttpOptions(
        base_url=address,
        httpx_client=http,
        # Never used; the SDK would make two of its own, each with a new TLS context.
        httpx_async_client=httpx2.AsyncClient(verify=context),
        async_client_args={"ssl": context},
        retry_options=None if attempts is None else types.HttpRetryOptions(attempts=attempts),
    )
    if vertexai is None:
        return genai.Client(vertexai=False, api_key=api_key, http_options=options), http
    project, location = vertexai.get("project"), vertexai.get("location")
    if project is None:
        return genai.Client(vertexai=True, api_key=api_key, http_options=options), http
    bearer = google.oauth2.credentials.Credentials(token=api_key)  # type: ignore[no-untyped-call]
    client = genai.Client(
        vertexai=True, credentials=bearer, project=project, location=location or "global", http_options=options
    )
    return client, http


def without_version(base_url: str | None) -> str | None:
    """The address as the SDK takes it: it adds the version itself, and would have it twice. None where it knows it."""
    return _VERSION.sub("", base_url) if base_url else None
