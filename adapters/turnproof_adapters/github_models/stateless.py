"""The stateless path: the session owns the history, and a call costs what is new in it.

Requests and answers are made as `_stateless` has it. They go through the SDK's own `send_request`: its pipeline adds
address and authentication.
"""

from __future__ import annotations

from functools import partial

from azure.ai.inference import ChatCompletionsClient
from azure.core.exceptions import HttpResponseError
from azure.core.rest import HttpRequest, HttpResponse

from turnproof.cancel import CancelToken
from turnproof.messages import ProviderResponse

from .._answers import Listeners
from .._calling import Prompt, Source
from .._names import tool_names
from .._stateless import EncodesOnce
from ..openai import encode
from ..openai.arrange import Arrangement
from ..openai.encode import Encoder
from ..openai.names import restorer
from ..openai.wire import Answer, chunks, decode
from .lifecycle import GITHUB, GitHubModelsProvider

PATH = "/chat/completions"
API_VERSION = "2024-05-01-preview"
"""The version that the SDK asks for (azure-ai-inference 1.0.0b9)."""

_HEADERS = {"Content-Type": "application/json", "Accept": "application/json", "extra-parameters": "pass-through"}
"""Those of the SDK's own call. The last lets fields through that the SDK has no name for."""


class GitHubModelsStateless(EncodesOnce[Arrangement[bytes]], GitHubModelsProvider):
    """`complete()` for GitHub Models. One object serves any number of conversations and threads."""

    def _fresh_encoder(self, model: str) -> Encoder:
        return Encoder(GITHUB, model)

    def _complete(self, prompt: Prompt, listeners: Listeners, token: CancelToken | None) -> ProviderResponse:
        client, streamed = self._require_client(), listeners.on_chunk is not None
        if token is not None:
            token.raise_if_cancelled()
        body = self._body(prompt, stream=streamed)
        restore = restorer(partial(tool_names, prompt.messages, prompt.tools))
        ask, open_stream = partial(_ask, client, body), partial(_open, client, body)
        return self._caller.call(ask, open_stream, restore, listeners, token)

    def _body(self, prompt: Prompt, *, stream: bool) -> bytes:
        settings = self._settings()
        fields = settings.fields(prompt.tools, prompt.response_schema, stream=stream)
        return encode.body(self._encoder.arranged(prompt.messages), settings, prompt.system, fields, stream=stream)


def _post(client: ChatCompletionsClient, body: bytes, *, stream: bool = False) -> HttpResponse:
    request = HttpRequest("POST", PATH, params={"api-version": API_VERSION}, headers=_HEADERS, content=body)
    response = client.send_request(request, stream=stream)
    if response.status_code != 200:
        response.read()
        raise HttpResponseError(response=response)
    return response


def _ask(client: ChatCompletionsClient, body: bytes) -> Answer:
    return decode(_post(client, body).content)


def _open(client: ChatCompletionsClient, body: bytes) -> Source[Answer]:
    response = _post(client, body, stream=True)
    return Source(chunks(response.content_type or "", response.iter_bytes()), response.close)
