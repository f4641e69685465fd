"""The legacy path: the provider owns the history, in the style that frameworks had before sessions took it over.

It keeps its own list, converts the whole of it for every call, and sends it through the SDK's `messages.create`, whose
own stream and message types it reads. A failed call leaves the list as it was; a cancelled one keeps the user's side
and what the model had said.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import anthropic

from turnproof.cancel import CancelToken
from turnproof.messages import ProviderResponse

from .._answers import Listeners, with_structured_output
from .._calling import Source
from .._decoding import converted
from .._legacy import OwnHistory, Schema
from .._names import tool_names
from .lifecycle import AnthropicProvider
from .names import restorer
from .wire import Answer, Event


class AnthropicLegacy(OwnHistory, AnthropicProvider):
    """A conversation with the Messages API. One object holds one conversation and serves one thread at a time."""

    def _call(
        self, response_schema: Schema | None, listeners: Listeners, token: CancelToken | None
    ) -> ProviderResponse:
        client = self._opened()
        if token is not None:
            token.raise_if_cancelled()
        marked = self._annotated(self._history, self._system, self._tools, token)
        kwargs = self._kwargs(marked.messages, marked.system, marked.tools, response_schema)
        kwargs["timeout"] = self._timeouts
        restore = restorer(partial(tool_names, self._history, self._tools))
        if listeners.on_chunk is not None:
            response = self._caller.streamed(partial(_open, client, kwargs), restore, listeners, token)
        else:
            response = self._caller.whole(partial(_ask, client, kwargs), restore, listeners, token)
        return with_structured_output(response, response_schema)


def _ask(client: anthropic.Anthropic, kwargs: Mapping[str, Any]) -> Answer:
    return converted(_fields(client.messages.create(**kwargs)), Answer)


def _open(client: anthropic.Anthropic, kwargs: Mapping[str, Any]) -> Source[Event]:
    stream = client.messages.create(**kwargs, stream=True)
    return Source((converted(_fields(event), Event) for event in stream), stream.close)


def _fields(answer: object) -> dict[str, object]:
    """An answer of the SDK's as plain data, as it came. Raises ValueError for what is no object at all."""
    if not isinstance(answer, anthropic.BaseModel):
        raise ValueError(f"the service sent {type(answer).__name__} where an object belongs")
    return answer.to_dict(warnings=False)
