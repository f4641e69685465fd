"""The stateless path: the session owns the history, and a call costs what is new in it.

Each message is encoded once and the request is joined from the pieces, then sent through the SDK's own `post`: address,
authentication, headers and error types are the SDK's, its per-message work is not done. Answers are read by typed
decoding. Nothing here depends on earlier calls; the encodings kept beside messages can be dropped at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import httpx2
import openai

from turnproof.cancel import CancelToken
from turnproof.messages import Message, ProviderResponse, ToolSchema
from turnproof.provider import OnChunk, OnFunctionCall, OnThinking, OnUsage, SystemInstruction

from .._answers import Listeners, with_structured_output
from .._calling import Source
from .._http import arriving
from .._names import tool_names
from .._stateless import EncodesOnce
from . import encode
from .arrange import Arrangement
from .encode import Encoder
from .lifecycle import OpenAIProvider
from .names import restorer
from .wire import Answer, chunks, decode

PATH = "/chat/completions"


class OpenAIStateless(EncodesOnce[Arrangement[bytes]], OpenAIProvider):
    """`complete()` for the chat API. One object serves any number of conversations and threads."""

    def initialize(self, config: Mapping[str, Any]) -> None:
        """Take the settings, as on the other path. What was encoded under others is dropped."""
        super().initialize(config)
        self._encoder = self._fresh_encoder(self._model or "")

    def _fresh_encoder(self, model: str) -> Encoder:
        return Encoder(self._service, model)

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
        if cancel_token is not None:
            cancel_token.raise_if_cancelled()
        way, streamed = self._way(messages, cancel_token), on_chunk is not None
        marked = self._annotated(messages, system_instruction, tools, cancel_token)
        body = self._body(marked.messages, marked.system, marked.tools, response_schema, stream=streamed)
        restore = restorer(partial(tool_names, messages, tools))
        listeners = Listeners(on_chunk, on_usage_update, on_function_call, on_thinking)
        if streamed:
            response = self._caller.streamed(partial(way, partial(self._open, body)), restore, listeners, cancel_token)
        else:
            response = self._caller.whole(partial(way, partial(self._ask, body)), restore, listeners, cancel_token)
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
        # What an endpoint wants besides goes last, in place of a field of the same name.
        fields = settings.fields(tools, response_schema, stream=stream) | self._extra
        return encode.body(self._encoder.arranged(messages), settings, system, fields, stream=stream)

    def _post(
        self, body: bytes, client: openai.OpenAI, headers: Mapping[str, str], *, stream: bool = False
    ) -> httpx2.Response:
        return client.post(
            PATH,
            content=body,
            cast_to=httpx2.Response,
            options={"headers": headers, "timeout": self._timeouts},
            stream=stream,
        )

    def _ask(self, body: bytes, client: openai.OpenAI, headers: Mapping[str, str]) -> Answer:
        return decode(self._post(body, client, headers).content)

    def _open(self, body: bytes, client: openai.OpenAI, headers: Mapping[str, str]) -> Source[Answer]:
        response = self._post(body, client, headers, stream=True)
        return Source(chunks(response.headers.get("content-type", ""), arriving(response)), response.close)
