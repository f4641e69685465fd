"""google-genai as it is where nothing else is installed: on httpx.

The SDK takes aiohttp once it can be imported, and turnproof brings it along. It behaves otherwise there: it repeats a
request on a connection that broke, and the responses in its errors are aiohttp's. A library is judged by what it
installs itself; LlamaIndex and Haystack do install aiohttp. A transport of the binding's own would keep the SDK off
aiohttp too, and be shared by the pools of connections that the SDK has for each event loop.
"""

from __future__ import annotations


def keep_on_httpx() -> None:
    """Let the SDK believe that aiohttp is not installed, for all clients that this process makes from now on."""
    from google.genai import _api_client

    # What it imported is in a private member: one that is gone is an error, and no silent return to aiohttp.
    if not isinstance(_api_client.has_aiohttp, bool):
        raise TypeError(f"google-genai keeps something else in has_aiohttp now: {_api_client.has_aiohttp!r}")
    _api_client.has_aiohttp = False
