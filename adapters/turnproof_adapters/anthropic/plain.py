"""The SDK's own call for a conversation, to measure this adapter's turns against: no path is made of it.

The client is the one that the SDK makes by itself. The request is that of the paths, as plain dicts, converted where
the call is opened.
"""

from __future__ import annotations

from typing import Any

import anthropic

from turnproof.provider import Conversation, Endpoint, OnChunk

from .._calling import Prompt
from .._plain import DictConversation
from .lifecycle import AnthropicProvider


class MessagesCreate(DictConversation, AnthropicProvider):
    """`messages.create`, whole and streamed; see `turnproof.provider.PlainConversation`."""

    def __init__(self, endpoint: Endpoint, conversation: Conversation) -> None:
        super().__init__()
        self.connect(endpoint.model)
        self._hold(self._kwargs(Prompt(conversation.messages, conversation.system, conversation.tools)))
        self._client = anthropic.Anthropic(
            api_key=endpoint.api_key,
            base_url=endpoint.base_url,
            max_retries=0,
            # A proxy of the environment would stand between us and loopback.
            http_client=anthropic.DefaultHttpxClient(trust_env=False),
        )

    def _answer(self, request: dict[str, Any]) -> str:
        message = self._require_client().messages.create(**request)
        return "".join(block.text for block in message.content if block.type == "text")

    def stream(self, on_chunk: OnChunk) -> None:
        """One streamed answer."""
        for event in self._require_client().messages.create(**self._request, stream=True):
            if event.type == "content_block_delta" and event.delta.type == "text_delta":
                on_chunk(event.delta.text)

    def close(self) -> None:
        """Close all connections."""
        self.shutdown()
