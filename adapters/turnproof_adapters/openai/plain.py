"""The SDK's own call for a conversation, to measure this adapter's turns against: no path is made of it.

The client is the one that the SDK makes by itself. The request is that of the paths, as plain dicts, converted where
the call is opened.
"""

from __future__ import annotations

from typing import Any

from turnproof.provider import Conversation, Endpoint, OnChunk

from .._calling import Prompt
from .._plain import DictConversation
from .client import plain_client
from .lifecycle import OpenAIProvider


class ChatCompletionsCreate(DictConversation, OpenAIProvider):
    """`chat.completions.create`, whole and streamed; see `turnproof.provider.PlainConversation`."""

    instructions = 1

    def __init__(self, endpoint: Endpoint, conversation: Conversation) -> None:
        super().__init__()
        self.connect(endpoint.model)
        self._hold(self._kwargs(Prompt(conversation.messages, conversation.system, conversation.tools)))
        self._client = plain_client(endpoint.base_url, endpoint.api_key)

    def _answer(self, request: dict[str, Any]) -> str:
        return self._require_client().chat.completions.create(**request).choices[0].message.content or ""

    def stream(self, on_chunk: OnChunk) -> None:
        """One streamed answer, with its figures."""
        for chunk in self._require_client().chat.completions.create(
            **self._request, stream=True, stream_options={"include_usage": True}
        ):
            if chunk.choices and (piece := chunk.choices[0].delta.content):
                on_chunk(piece)

    def close(self) -> None:
        """Close all connections."""
        self.shutdown()
