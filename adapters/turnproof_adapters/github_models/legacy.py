"""The legacy path: the provider owns the history, in the style that frameworks had before sessions took it over.

It keeps its own list, converts the whole of it into the SDK's message types for every call, and sends it through
`ChatCompletionsClient.complete`, whose answers and stream updates it reads. A failed call leaves the list as it was; a
cancelled one keeps the user's side and what the model had said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from azure.ai.inference import ChatCompletionsClient
from azure.ai.inference.models import ChatCompletions, StreamingChatCompletionsUpdate
from azure.core.pipeline import PipelineResponse
from azure.core.rest import HttpRequest

from turnproof.cancel import CancelToken
from turnproof.messages import ProviderResponse

from .._answers import Listeners
from .._calling import Prompt, Source
from .._decoding import convert_to
from .._legacy import OwnHistory
from .._names import tool_names
from ..openai.names import restorer
from ..openai.wire import END, Answer
from . import sdk
from .lifecycle import GitHubModelsProvider
from .readable_stream import readable_pieces
from .transport import Httpx2Response


class GitHubModelsLegacy(OwnHistory, GitHubModelsProvider):
    """A conversation with GitHub Models. One object holds one conversation and serves one thread at a time."""

    def _call(self, prompt: Prompt, listeners: Listeners, token: CancelToken | None) -> ProviderResponse:
        client, streamed = self._require_client(), listeners.on_chunk is not None
        if token is not None:
            token.raise_if_cancelled()
        kwargs = sdk.request(self._settings(), prompt, stream=streamed)
        restore = restorer(partial(tool_names, prompt.messages, prompt.tools))
        return self._caller.call(
            partial(_ask, client, kwargs), partial(_open, client, kwargs), restore, listeners, token
        )


def _ask(client: ChatCompletionsClient, kwargs: Mapping[str, Any]) -> Answer:
    return _read(client.complete(**kwargs))


def _open(client: ChatCompletionsClient, kwargs: Mapping[str, Any]) -> Source[Answer]:
    body = _Body()
    stream = client.complete(**kwargs, stream=True, raw_response_hook=body.make_legible)
    return Source(_arriving(stream, body), stream.close)


class _Body:
    """The body of a stream's answer, caught on its way to the SDK."""

    rest: Iterator[bytes]

    def make_legible(self, piped: PipelineResponse[HttpRequest, Httpx2Response]) -> None:
        """Have the SDK read the answer in the form that it can."""
        response = piped.http_response
        self.rest = readable_pieces(response.content_type or "", response.iter_bytes())
        response.replace_body(self.rest)


def _arriving(updates: Iterable[StreamingChatCompletionsUpdate], body: _Body) -> Iterator[Answer]:
    yield from map(_read, updates)
    yield END
    for _ in body.rest:
        pass


def _read(answer: ChatCompletions | StreamingChatCompletionsUpdate) -> Answer:
    """An answer of the SDK's, as it came."""
    return convert_to(answer.as_dict(), Answer)
