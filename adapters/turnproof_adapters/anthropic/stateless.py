"""The stateless path: the session owns the history, and a call costs what is new in it.

Requests and answers are made as `_stateless` has it. They go through the SDK's own `post`: address, authentication,
headers and error types are the SDK's.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import anthropic
import httpx2

from turnproof.cancel import CancelToken
from turnproof.messages import ProviderResponse

from .. import _encoded_messages
from .._answers import Listeners
from .._calling import Prompt, Source
from .._encoded_messages import encode, request_body
from .._http import body_pieces
from .._sse import payloads
from .._stateless import EncodesOnce
from .arrange import Arrangement
from .blocks import row
from .lifecycle import AnthropicProvider
from .service import Service
from .wire import Answer, Event

PATH = "/v1/messages"


class AnthropicStateless(EncodesOnce[Arrangement[bytes]], AnthropicProvider):
    """`complete()` for the Messages API. One object serves any number of conversations and threads."""

    def _fresh_encoder(self, model: str) -> Encoder:
        return Encoder(self.service, model)

    def _complete(self, prompt: Prompt, listeners: Listeners, token: CancelToken | None) -> ProviderResponse:
        client, streamed = self._require_client(), listeners.on_chunk is not None
        if token is not None:
            token.raise_if_cancelled()
        body = self._body(self._annotated(prompt, token), stream=streamed)
        restore = self._restorer(prompt)
        return self._caller.call(
            partial(self._ask, client, body), partial(self._open, client, body), restore, listeners, token
        )

    def _body(self, prompt: Prompt, *, stream: bool) -> bytes:
        """The request, with its fields in the order in which the SDK writes them."""
        settings = self._settings()
        arrangement = self._encoder.arranged(prompt.messages)
        think = settings.thinks_before(loop_lacks_thinking=arrangement.loop_lacks_thinking)
        fields = settings.kwargs(prompt, think=think)
        opening = {"max_tokens": fields.pop("max_tokens")}
        closing = {"model": fields.pop("model"), **({"stream": True} if stream else {}), **fields}
        return request_body(opening, "messages", arrangement.finish(), closing)

    def _post(self, client: anthropic.Anthropic, body: bytes, *, stream: bool = False) -> httpx2.Response:
        return client.post(
            PATH, content=body, cast_to=httpx2.Response, options={"timeout": self._timeouts}, stream=stream
        )

    def _ask(self, client: anthropic.Anthropic, body: bytes) -> Answer:
        return self._caller.read_body(self._post(client, body).content)

    def _open(self, client: anthropic.Anthropic, body: bytes) -> Source[Event]:
        response = self._post(client, body, stream=True)
        self._caller.refuse_unstreamed(response)
        return Source(map(self._caller.read_event, payloads(body_pieces(response))), response.close)


class BytesCodec:
    """Blocks and wire messages as JSON fragments."""

    def block(self, block: dict[str, Any]) -> bytes:
        """One block."""
        return encode(block)

    def message(self, role: str, blocks: Sequence[bytes]) -> bytes:
        """One wire message of finished blocks."""
        return b'{"role":"%b","content":[%b]}' % (role.encode(), b",".join(blocks))


class Encoder(_encoded_messages.Encoder[Arrangement[bytes]]):
    """Wire messages as bytes for one model of a service."""

    def __init__(self, service: Service, model: str) -> None:
        codec = BytesCodec()
        fresh = partial(Arrangement[bytes], codec, service, service.models.model(model))
        super().__init__(fresh, partial(row, codec=codec, service=service, model=model))
