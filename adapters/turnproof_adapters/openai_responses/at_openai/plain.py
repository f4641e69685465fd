"""The SDK's own call for a conversation, to measure this adapter's turns against: no path is made of it.

The client is the one that the SDK makes by itself. The request is that of the stateless path, as plain dicts, converted
where the call is opened.
"""

from __future__ import annotations

from typing import Any

from turnproof.provider import Conversation, Endpoint, OnChunk

from ..._calling import Prompt
from ..._plain import DictConversation
from ...openai.client import plain_client
from .provider import OpenAIResponses


class ResponsesCreate(DictConversation, OpenAIResponses):
    """`responses.create`, whole and streamed; see `turnproof.provider.PlainConversation`."""

    history_field = "input"

    def __init__(self, endpoint: Endpoint, conversation: Conversation) -> None:
        super().__init__()
        self.connect(endpoint.model)
        self._hold(self._kwargs(Prompt(conversation.messages, conversation.system, conversation.tools)))
        self._client = plain_client(endpoint.base_url, endpoint.api_key)

    def stream(self, on_chunk: OnChunk) -> None:
        """One streamed answer."""
        for event in self._require_client().responses.create(**self._request, stream=True):
            if event.type == "response.output_text.delta":
                on_chunk(event.delta)

    def _answer(self, request: dict[str, Any]) -> str:
        return str(self._require_client().responses.create(**request).output_text)

    def close(self) -> None:
        """Close all connections."""
        self.shutdown()
