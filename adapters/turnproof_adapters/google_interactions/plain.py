"""The SDK's own call for a conversation, to measure this adapter's turns against: no path is made of it.

The client is given a plain HTTP client, as it would make one by itself, but with the TLS context that the process has
already. The request is that of the stateless path, as plain dicts.
"""

from __future__ import annotations

from typing import Any

from google.genai import types

from turnproof.provider import Conversation, Endpoint, OnChunk

from .._calling import Prompt
from .._plain import DictConversation
from ..google_genai.plain import official_client
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
        self._client, self._http = official_client(endpoint, types.HttpRetryOptions(attempts=1))

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
