"""The legacy path: Anthropic's, at Z.ai."""

from __future__ import annotations

from collections.abc import Iterator

import anthropic

from ..anthropic.legacy import AnthropicLegacy, Stream
from ..anthropic.wire import Event
from .service import ZaiProvider


class ZaiLegacy(ZaiProvider, AnthropicLegacy):
    """A conversation with a GLM model. One object holds one conversation and serves one thread at a time."""

    def _events(self, stream: Stream) -> Iterator[Event]:
        # The SDK passes over events without a name, and in such the service may tell of a failure.
        for event in anthropic.Stream.raw_events(stream.response):
            if event.data:
                yield self._caller.read_event(event.data.encode())
