"""The legacy path: the provider owns the history, in the style that frameworks had before sessions took it over.

It keeps its own list, converts the whole of it for every call, and sends it through the SDK's own
`chat.completions.create`, whose stream and answer types it reads. A failed call leaves the list as it was; a cancelled
one keeps the user's side and what the model had said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import openai

from turnproof.cancel import CancelToken
from turnproof.messages import ProviderResponse

from .._answers import Listeners
from .._calling import Prompt, Source
from .._decoding import convert_to
from .._legacy import OwnHistory
from .._names import tool_names
from .lifecycle import OpenAIProvider
from .names import restorer
from .wire import END, Answer, chunks


class OpenAILegacy(OwnHistory, OpenAIProvider):
    """A conversation with the chat API. One object holds one conversation and serves one thread at a time."""

    def _call(self, prompt: Prompt, listeners: Listeners, token: CancelToken | None) -> ProviderResponse:
        if token is not None:
            token.raise_if_cancelled()
        way, streamed = self._way(prompt.messages, token), listeners.on_chunk is not None
        kwargs = self._kwargs(self._annotated(prompt, token), stream=streamed)
        kwargs |= {"timeout": self._timeouts, "extra_body": self._extra}
        restore = restorer(partial(tool_names, prompt.messages, prompt.tools))
        return self._caller.call(
            partial(way, partial(_ask, kwargs)), partial(way, partial(_open, kwargs)), restore, listeners, token
        )


def _ask(kwargs: Mapping[str, Any], client: openai.OpenAI, headers: Mapping[str, str]) -> Answer:
    return convert_to(_fields(client.chat.completions.create(**kwargs, extra_headers=headers)), Answer)


def _open(kwargs: Mapping[str, Any], client: openai.OpenAI, headers: Mapping[str, str]) -> Source[Answer]:
    stream = client.chat.completions.create(**kwargs, extra_headers=headers, stream=True)
    content_type = stream.response.headers.get("content-type", "")
    if "json" in content_type.lower():
        # The SDK's stream finds nothing in an answer in one piece, be it a failure or not.
        return Source(chunks(content_type, stream.response.iter_bytes()), stream.close)
    return Source(_arriving(stream), stream.close)


def _arriving(stream: openai.Stream[Any]) -> Iterator[Answer]:
    for chunk in stream:
        yield convert_to(_fields(chunk), Answer)
    yield END


def _fields(answer: object) -> dict[str, object]:
    """An answer of the SDK's as plain data, as it came. Raises ValueError for what is no object at all."""
    if not isinstance(answer, openai.BaseModel):
        raise ValueError(f"the service sent {type(answer).__name__} where an object belongs")
    return answer.to_dict(warnings=False)
