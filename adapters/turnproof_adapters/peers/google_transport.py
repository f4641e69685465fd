"""The transport of google-genai where nothing else is installed: httpx.

The SDK takes aiohttp once it can be imported, and turnproof brings it along. It behaves otherwise there: it repeats a
request on a connection that broke, and the responses in its errors are aiohttp's. A library is judged by what it
installs itself.
"""

from __future__ import annotations

from typing import Any


def http_options(base_url: str) -> dict[str, Any]:
    """Options of the SDK's client that keep it on httpx."""
    import httpx

    return {"base_url": base_url, "async_client_args": {"transport": httpx.AsyncHTTPTransport()}}
