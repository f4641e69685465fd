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

from .. import _encoded_messages
from .._answers import Listeners
from .._calling import Prompt, Source
from .._encoded_messages import encode, request_body
from .._http import body_pieces
from .._names import tool_names
from .._sse import payloads
from .._stateless import EncodesOnce
from ..openai.client import post
from .arrange import Arrangement
from .items import row
from .lifecycle import ResponsesProvider
from .names import restorer
from .wire import Answer, Event, decode_answer, decode_event

PATH = "/responses"


class ResponsesStateless(EncodesOnce[Arrangement[bytes]], ResponsesProvider):
    """`complete()` for the Responses API. One object serves any number of conversations and threads."""

    def _fresh_encoder(self, model: str) -> Encoder:
        return Encoder(model)

    def _complete(self, prompt: Prompt, listeners: Listeners, token: CancelToken | None) -> ProviderResponse:
        if token is not None:
            token.raise_if_cancelled()
        body = self._body(prompt, stream=listeners.on_chunk is not None)
        way = self._way(prompt.messages, token)
        restore = restorer(partial(tool_names, prompt.messages, prompt.tools))
        return self._request_answer(
            partial(way, partial(self._ask, body)), partial(way, partial(self._open, body)), restore, listeners, token
        )

    def _body(self, prompt: Prompt, *, stream: bool) -> bytes:
        return self._joined({"stream": True} if stream else {}, prompt)

    def _joined(self, around: Mapping[str, Any], prompt: Prompt) -> bytes:
        """A request with these fields beside those of the prompt."""
        fields = dict(self._fields(prompt))
        opening = {"model": fields.pop("model"), **around}
        return request_body(opening, "input", self._encoder.arranged(prompt.messages).finish(), fields)

    def _fields(self, prompt: Prompt) -> Mapping[str, Any]:
        """What stands around the items of a request."""
        return self._settings().kwargs(prompt)

    def _ask(self, body: bytes, client: openai.OpenAI, headers: Mapping[str, str]) -> Answer:
        return decode_answer(post(client, PATH, body, headers, self._timeouts, stream=False).content)

    def _open(self, body: bytes, client: openai.OpenAI, headers: Mapping[str, str]) -> Source[Event]:
        response = post(client, PATH, body, headers, self._timeouts, stream=True)
        return Source(map(decode_event, payloads(body_pieces(response))), response.close)


class Encoder(_encoded_messages.Encoder[Arrangement[bytes]]):
    """Wire items as bytes for one model."""

    def __init__(self, model: str) -> None:
        super().__init__(partial(Arrangement[bytes], encode), partial(row, codec=encode, model=model))
