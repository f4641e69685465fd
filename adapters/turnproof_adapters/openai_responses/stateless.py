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
from .._encoded_messages import encode
from .._http import arriving
from .._names import tool_names
from .._sse import payloads
from .._stateless import EncodesOnce
from .arrange import Arrangement
from .encode import Encoder
from .lifecycle import ResponsesProvider
from .names import restorer
from .wire import Answer, Event, decode_answer, decode_event

PATH = "/responses"


class ResponsesStateless(EncodesOnce[Arrangement[bytes]], ResponsesProvider):
    """`complete()` for the Responses API. One object serves any number of conversations and threads."""

    def _fresh_encoder(self, model: str) -> Encoder:
        return Encoder(model)

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
        streamed = on_chunk is not None
        if cancel_token is not None:
            cancel_token.raise_if_cancelled()
        body = self._body(messages, system_instruction, tools, response_schema, stream=streamed)
        way = self._way(messages, cancel_token)
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
        fields = self._settings().kwargs(system, tools, response_schema)
        head = encode({"model": fields.pop("model"), **({"stream": True} if stream else {})})
        items = self._encoder.arranged(messages).finish()
        # The ends are put on before joining: the long run in the middle is copied once.
        items[0] = head[:-1] + b',"input":[' + items[0]
        items[-1] += b"]," + encode(fields)[1:]
        return b",".join(items)

    def _post(
        self, body: bytes, client: openai.OpenAI, headers: Mapping[str, str], *, stream: bool = False
    ) -> httpx2.Response:
        return client.post(
            PATH,
            content=body,
            cast_to=httpx2.Response,
            options={"headers": dict(headers), "timeout": self._timeouts},
            stream=stream,
        )

    def _ask(self, body: bytes, client: openai.OpenAI, headers: Mapping[str, str]) -> Answer:
        return decode_answer(self._post(body, client, headers).content)

    def _open(self, body: bytes, client: openai.OpenAI, headers: Mapping[str, str]) -> Source[Event]:
        response = self._post(body, client, headers, stream=True)
        return Source(map(decode_event, payloads(arriving(response))), response.close)
