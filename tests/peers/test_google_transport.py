"""google-genai is kept on httpx, which it has where nothing else is installed; aiohttp comes with turnproof."""

from __future__ import annotations

import pytest
from google import genai
from google.genai import _api_client

from turnproof_adapters.peers.google_transport import keep_on_httpx


def uses_aiohttp() -> bool:
    client = genai.Client(api_key="k", http_options={"base_url": "http://127.0.0.1:1"})
    return bool(client._api_client._use_aiohttp())


def test_the_sdk_stays_on_httpx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_api_client, "has_aiohttp", True)
    assert uses_aiohttp()
    keep_on_httpx()
    assert not uses_aiohttp()


def test_an_sdk_that_has_changed_is_not_taken_for_one_on_httpx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_api_client, "has_aiohttp", None)
    with pytest.raises(TypeError, match="has_aiohttp"):
        keep_on_httpx()
