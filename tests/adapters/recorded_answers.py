"""What an adapter makes of a recorded answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
from recordings.material import Exchange

from turnproof.errors import ProviderError
from turnproof.messages import ProviderResponse

from .callback_recorder import CallbackRecorder
from .contract.adapter_kit import PATHS, AdapterKit, OpenedPath


def replay(exchange: Exchange) -> httpx2.MockTransport:
    """A transport that gives the recorded answer to every request."""
    return httpx2.MockTransport(
        lambda _: httpx2.Response(exchange.status, headers=dict(exchange.headers), content=exchange.body)
    )


def readings(
    kit: AdapterKit, exchange: Exchange, streamed: bool, **options: Any
) -> Iterator[ProviderResponse | ProviderError]:
    """The response or the error of each path, the stateless one first."""
    for path in PATHS:
        opened = OpenedPath(kit, path, "http://example.invalid", transport=replay(exchange), **options)
        recorder = CallbackRecorder()
        try:
            response = opened.stream(recorder) if streamed else opened.batch()
        except ProviderError as failure:
            yield failure
        else:
            assert not streamed or recorder.text == response.text
            yield response
