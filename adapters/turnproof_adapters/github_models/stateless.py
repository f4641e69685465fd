"""The stateless path: the session owns the history, and a call costs what is new in it.

Each message is encoded once and the request is joined from the pieces, then sent through the SDK's own `send_request`:
its pipeline adds address and authentication, its per-message work is not done. Answers are read by typed decoding.
Nothing here depends on earlier calls; the encodings kept beside messages can be dropped at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from azure.ai.inference import ChatCompletionsClient
from azure.core.exceptions import HttpResponseError
from azure.core.rest import HttpRequest, HttpResponse

from turnproof.cancel import CancelToken
from turnproof.messages import Message, ProviderResponse, ToolSchema
from turnproof.provider import OnChunk, OnFunctionCall, OnThinking, OnUsage, SystemInstruction

from .._answers import Listeners, with_structured_output
from .._calling import Source
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

    def complete(
        self,
        messages: Sequence[Message],
        system_instruction: SystemInstruction = None,
        tools: Sequence[ToolSchema] | None = None,
        *,
        response_schema: Mapping[str, Any] | None = None,
        cancel_token: CancelToken | None = None,
        on_chunk: OnChunk | None = None,
        on_usage_update: OnUsage | None = None,
        on_function_call: OnFunctionCall | None = None,
        on_thinking: OnThinking | None = None,
    ) -> ProviderResponse:
        """Answer the conversation, streaming if `on_chunk` is given, with the guarantees of `StatelessProvider`."""
        client, streamed = self._opened(), on_chunk is not None
        if cancel_token is not None:
            cancel_token.raise_if_cancelled()
        body = self._body(messages, system_instruction, tools, response_schema, stream=streamed)
        restore = restorer(partial(tool_names, messages, tools))
        listeners = Listeners(on_chunk, on_usage_update, on_function_call, on_thinking)
        if streamed:
            response = self._caller.streamed(partial(_open, client, body), restore, listeners, cancel_token)
        else:
            response = self._caller.whole(partial(_ask, client, body), restore, listeners, cancel_token)
        return with_structured_output(response, response_schema)

    def _body(
        self,
        messages: Sequence[Message],
        system: SystemInstruction,
        tools: Sequence[ToolSchema] | None,
        response_schema: Mapping[str, Any] | None,
        *,
        stream: bool,
    ) -> bytes:
        settings = self._settings()
        fields = settings.fields(tools, response_schema, stream=stream)
        return encode.body(self._encoder.arranged(messages), settings, system, fields, stream=stream)


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
