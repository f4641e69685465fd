"""google-genai is kept on httpx, which it has where nothing else is installed; aiohttp comes with turnproof."""

from __future__ import annotations

from google import genai

from turnproof_adapters.peers.google_transport import http_options


def uses_aiohttp(**options: object) -> bool:
    client = genai.Client(api_key="k", http_options=options)  # type: ignore[arg-type]
    return bool(client._api_client._use_aiohttp())


def test_the_sdk_stays_on_httpx() -> None:
    assert uses_aiohttp(base_url="http://127.0.0.1:1")
    assert not uses_aiohttp(**http_options("http://127.0.0.1:1"))
