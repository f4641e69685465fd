"""The legacy path: the provider owns the history, in the style that frameworks had before sessions took it over.

It keeps its own list, converts the whole of it for every call, and sends it through the SDK's `messages.create`, whose
own stream and message types it reads. A failed call leaves the list as it was; a cancelled one keeps the user's side
and what the model had said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, TypeAlias

import anthropic

from turnproof.cancel import CancelToken
from turnproof.messages import ProviderResponse

from .._answers import Listeners
from .._calling import Prompt, Source
from .._decoding import convert_to
from .._legacy import OwnHistory
from .calling import fields_of
from .lifecycle import AnthropicProvider
from .wire import Answer, Event

Stream: TypeAlias = anthropic.Stream[anthropic.types.RawMessageStreamEvent]


class AnthropicLegacy(OwnHistory, AnthropicProvider):
    """A conversation with the Messages API. One object holds one conversation and serves one thread at a time."""

    def _call(self, prompt: Prompt, listeners: Listeners, token: CancelToken | None) -> ProviderResponse:
        client = self._require_client()
        if token is not None:
            token.raise_if_cancelled()
        kwargs = self._kwargs(self._annotated(prompt, token)) | {"timeout": self._timeouts}
        restore = self._restorer(prompt)
        return self._caller.call(
            partial(self._ask, client, kwargs), partial(self._open, client, kwargs), restore, listeners, token
        )

    def _ask(self, client: anthropic.Anthropic, kwargs: Mapping[str, Any]) -> Answer:
        return self._caller.read_fields(fields_of(client.messages.create(**kwargs)))

    def _open(self, client: anthropic.Anthropic, kwargs: Mapping[str, Any]) -> Source[Event]:
        stream = client.messages.create(**kwargs, stream=True)
        self._caller.refuse_unstreamed(stream.response)
        return Source(self._events(stream), stream.close)

    def _events(self, stream: Stream) -> Iterator[Event]:
        return (convert_to(fields_of(event), Event) for event in stream)
