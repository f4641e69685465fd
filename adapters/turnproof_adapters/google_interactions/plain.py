"""The SDK's own call for a conversation, to measure this adapter's turns against: no path is made of it.

The client is given a plain HTTP client, as it would make one by itself, but with the TLS context that the process has
already. The request is that of the stateless path, as plain dicts.
"""

from __future__ import annotations

from typing import Any

import httpx2
from google import genai
from google.genai import types

from turnproof.provider import Conversation, Endpoint, OnChunk

from .._calling import Prompt
from .._http import shared_tls
from .._plain import DictConversation
from .convert import Step
from .request import Settings
from .steps import Arrangement, row


class InteractionsCreate(DictConversation):
    """`interactions.create`, whole and streamed; see `turnproof.provider.PlainConversation`."""

    history_field = "input"

    def __init__(self, endpoint: Endpoint, conversation: Conversation) -> None:
        arrangement: Arrangement[Step] = Arrangement(lambda step: step)
        for message in conversation.messages:
            arrangement.add(row(message, lambda step: step, endpoint.model))
        prompt = Prompt(conversation.messages, conversation.system, conversation.tools)
        fields = Settings(endpoint.model).fields(prompt, store=False)
        self._hold({"model": endpoint.model, "input": arrangement.finish(), **fields})
        # A proxy of the environment would stand between us and loopback.
        self._http = httpx2.Client(verify=shared_tls(), trust_env=False, follow_redirects=True)
        options = types.HttpOptions(
            base_url=endpoint.base_url,
            httpx_client=self._http,
            httpx_async_client=httpx2.AsyncClient(verify=shared_tls()),
            async_client_args={"ssl": shared_tls()},
            retry_options=types.HttpRetryOptions(attempts=1),
        )
        self._client = genai.Client(vertexai=False, api_key=endpoint.api_key, http_options=options)

    def stream(self, on_chunk: OnChunk) -> None:
        """One streamed answer."""
        for event in self._client.interactions.create(**self._request, stream=True):
            if event.event_type == "step.delta" and event.delta.type == "text":
                on_chunk(event.delta.text)

    def _answer(self, request: dict[str, Any]) -> str:
        return str(self._client.interactions.create(**request).output_text or "")

    def say(self, text: str) -> str:
        """One turn."""
        self.history.append({"type": "user_input", "content": [{"type": "text", "text": text}]})
        answer = self._answer({**self._request, self.history_field: self.history})
        self.history.append({"type": "model_output", "content": [{"type": "text", "text": answer}]})
        return answer

    def close(self) -> None:
        """Close all connections."""
        self._http.close()
