"""The stateless path: the session owns the history, and a call costs what is new in it.

Requests and answers are made as `_stateless` has it. They go through the SDK's own `post`: address, authentication,
headers and error types are the SDK's.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import openai

from turnproof.cancel import CancelToken
from turnproof.messages import ProviderResponse

from .._answers import Listeners
from .._calling import Prompt, Source
from .._http import body_pieces
from .._names import tool_names
from .._stateless import EncodesOnce
from . import encode
from .arrange import Arrangement
from .client import post
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

    def _complete(self, prompt: Prompt, listeners: Listeners, token: CancelToken | None) -> ProviderResponse:
        if token is not None:
            token.raise_if_cancelled()
        way, streamed = self._way(prompt.messages, token), listeners.on_chunk is not None
        body = self._body(self._annotated(prompt, token), stream=streamed)
        restore = restorer(partial(tool_names, prompt.messages, prompt.tools))
        return self._caller.call(
            partial(way, partial(self._ask, body)), partial(way, partial(self._open, body)), restore, listeners, token
        )

    def _body(self, prompt: Prompt, *, stream: bool) -> bytes:
        settings = self._settings()
        # What an endpoint wants besides goes last, in place of a field of the same name.
        fields = settings.fields(prompt.tools, prompt.response_schema, stream=stream) | self._extra
        return encode.body(self._encoder.arranged(prompt.messages), settings, prompt.system, fields, stream=stream)

    def _ask(self, body: bytes, client: openai.OpenAI, headers: Mapping[str, str]) -> Answer:
        return decode(post(client, PATH, body, headers, self._timeouts, stream=False).content)

    def _open(self, body: bytes, client: openai.OpenAI, headers: Mapping[str, str]) -> Source[Answer]:
        response = post(client, PATH, body, headers, self._timeouts, stream=True)
        return Source(chunks(response.headers.get("content-type", ""), body_pieces(response)), response.close)
