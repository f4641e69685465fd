"""The legacy path: the provider owns the history, in the style that frameworks had before sessions took it over.

It keeps its own list, converts the whole of it for every call, and sends it through the SDK's `responses.create`, whose
own response and event types it reads. A failed call leaves the list as it was; a cancelled one keeps the user's side
and what the model had said.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import openai

from turnproof.cancel import CancelToken
from turnproof.messages import ProviderResponse, thaw

from .._answers import Listeners
from .._calling import Prompt, Source
from .._decoding import convert_to
from .._legacy import OwnHistory
from .._names import tool_names
from .lifecycle import ResponsesProvider
from .names import restorer
from .wire import Answer, Event


class ResponsesLegacy(OwnHistory, ResponsesProvider):
    """A conversation with the Responses API. One object holds one conversation and serves one thread at a time."""

    def _call(self, prompt: Prompt, listeners: Listeners, token: CancelToken | None) -> ProviderResponse:
        if token is not None:
            token.raise_if_cancelled()
        kwargs = thaw(self._kwargs(prompt)) | {"timeout": self._timeouts}
        way = self._way(prompt.messages, token)
        restore = restorer(partial(tool_names, prompt.messages, prompt.tools))
        return self._caller.call(
            partial(way, partial(ask, kwargs)), partial(way, partial(open_stream, kwargs)), restore, listeners, token
        )


def ask(kwargs: Mapping[str, Any], client: openai.OpenAI, headers: Mapping[str, str]) -> Answer:
    """The whole answer to a request."""
    return convert_to(_fields(client.responses.create(**kwargs, extra_headers=headers)), Answer)


def open_stream(kwargs: Mapping[str, Any], client: openai.OpenAI, headers: Mapping[str, str]) -> Source[Event]:
    """The answer to a request as it comes."""
    stream = client.responses.create(**kwargs, extra_headers=headers, stream=True)
    return Source((convert_to(_fields(event), Event) for event in stream), stream.close)


def _fields(answer: object) -> dict[str, object]:
    """An answer of the SDK's as plain data, as it came. Raises ValueError for what is no object at all."""
    if not isinstance(answer, openai.BaseModel):
        raise ValueError(f"the service sent {type(answer).__name__} where an object belongs")
    return answer.to_dict(warnings=False)
