"""The stateless path: the session owns the history, and a call costs what is new in it.

Requests and answers are made as `_stateless` has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import httpx2

from turnproof.cancel import CancelToken
from turnproof.errors import InvalidRequestError
from turnproof.messages import Message, ProviderResponse

from .._answers import Listeners
from .._calling import Prompt
from .._encoded_messages import request_body
from .._names import tool_names
from .._stateless import EncodesOnce
from ..google_genai.arrange import Arrangement
from ..google_genai.assemble import Assembler, read_answer
from ..google_genai.encode import Encoder
from ..google_genai.names import restorer
from ..google_genai.reading import batch, stream
from ..google_genai.settings import Fields
from .gateway import Gateway
from .lifecycle import AntigravityProvider
from .models import target
from .request import Settings, address, session_id, wrap_request
from .wire import decode_chunk


class AntigravityStateless(EncodesOnce[Arrangement[bytes]], AntigravityProvider):
    """`complete()` for the gateway. One object serves any number of conversations and threads."""

    def _fresh_encoder(self, model: str) -> Encoder:
        return Encoder(target(model))

    def _complete(self, prompt: Prompt, listeners: Listeners, token: CancelToken | None) -> ProviderResponse:
        gateway, settings = self._require_client(), self._settings()
        if token is not None:
            token.raise_if_cancelled()
        to, streamed = target(settings.model), listeners.on_chunk is not None
        request = self._request(prompt.messages, settings.fields(prompt))
        ask = partial(self._post, gateway, settings, request, token, stream=streamed)
        decode = partial(decode_chunk, to=to)
        assembler = partial(Assembler, to, restorer(partial(tool_names, prompt.messages, prompt.tools)))
        caller = gateway.caller
        if streamed:
            assembly = assembler(listeners, token=token)
            return caller.call_stream(lambda: stream(ask(), decode), assembly, token)
        return caller.call_batch(lambda: batch(ask(), decode), partial(read_answer, assembler), listeners, token)

    def _request(self, messages: Sequence[Message], fields: Fields) -> bytes:
        arrangement = self._encoder.arranged(messages)
        if arrangement.problem is not None:
            raise InvalidRequestError(f"the gateway does not answer this conversation: {arrangement.problem}")
        sent = arrangement.finish()
        return request_body({}, "contents", sent, {**fields, "sessionId": session_id(sent[0])})

    def _post(
        self, gateway: Gateway, settings: Settings, request: bytes, token: CancelToken | None, *, stream: bool
    ) -> httpx2.Response:
        http = gateway.http

        def send(host: str, bearer: str, project: str | None) -> httpx2.Response:
            url, headers = address(host, bearer, stream=stream)
            headers["content-type"] = "application/json"
            content = wrap_request(project, settings, request)
            return http.send(http.build_request("POST", url, content=content, headers=headers), stream=True)

        return gateway.ask_accounts(send, settings.model, token, partial(self._project, token=token))
