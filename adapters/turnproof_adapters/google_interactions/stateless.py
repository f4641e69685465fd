"""The stateless path: the session owns the history, nothing is stored (but for answers in the background), and a call
costs what is new in it.

Requests and answers are made as `_stateless` has it. The SDK makes the call, with a stub for the input: the HTTP client
that it was given puts the prepared body into the request, and hands over the open response, as
`with_streaming_response` gives it. Address, authentication, headers and what a status means stay the SDK's.
"""

from __future__ import annotations

from functools import partial

import httpx2
from google import genai

from turnproof.cancel import CancelToken
from turnproof.messages import ProviderResponse

from .. import _encoded_messages
from .._answers import Listeners
from .._calling import Prompt, Source
from .._encoded_messages import encode, request_body
from .._errors import by_status
from .._names import tool_names
from .._stateless import EncodesOnce
from ..google_genai import reading
from ..google_genai.names import restorer
from ..google_genai.splice import carrying
from .background import BackgroundInteractions
from .steps import Arrangement, row
from .wire import Event, Interaction, decode_event, decode_interaction


class InteractionsStateless(EncodesOnce[Arrangement[bytes]], BackgroundInteractions):
    """`complete()` for the Interactions API. One object serves any number of conversations and threads."""

    def _fresh_encoder(self, model: str) -> Encoder:
        return Encoder(model)

    def _complete(self, prompt: Prompt, listeners: Listeners, token: CancelToken | None) -> ProviderResponse:
        client = self._require_client()
        if token is not None:
            token.raise_if_cancelled()
        body = self._body(prompt, stream=listeners.on_chunk is not None)
        restore = restorer(partial(tool_names, prompt.messages, prompt.tools))
        return self._request_answer(
            partial(self._ask, client, body), partial(self._open, client, body), restore, listeners, token
        )

    def _body(self, prompt: Prompt, *, stream: bool) -> bytes:
        opening = {"model": self._require_model(), **({"stream": True} if stream else {})}
        steps = self._encoder.arranged(prompt.messages).finish()
        is_stored = self._is_in_background
        fields = self._settings().fields(prompt, store=is_stored) | ({"background": True} if is_stored else {})
        return request_body(opening, "input", steps, fields)

    def _ask(self, client: genai.Client, body: bytes) -> Interaction:
        return reading.batch(self._response(client, body, stream=False), decode_interaction)

    def _open(self, client: genai.Client, body: bytes) -> Source[Event]:
        return reading.stream(self._response(client, body, stream=True), decode_event)

    def _response(self, client: genai.Client, body: bytes, *, stream: bool) -> httpx2.Response:
        """The open response of status 200. Raises what the SDK makes of any other."""
        with carrying(body):
            call = client.interactions.with_streaming_response.create(
                model=self._require_model(), input="", stream=stream, automatic_continuation=False
            )
            response: httpx2.Response = call.__enter__().http_response
        if response.status_code != 200:
            # What is neither an answer nor an error is handed over by the SDK as it is.
            response.close()
            raise by_status(response.status_code, f"HTTP status {response.status_code}", kind=None)
        return response


class Encoder(_encoded_messages.Encoder[Arrangement[bytes]]):
    """Wire steps as bytes for one model."""

    def __init__(self, model: str) -> None:
        super().__init__(partial(Arrangement[bytes], encode), partial(row, codec=encode, model=model))
