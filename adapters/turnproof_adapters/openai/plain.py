"""The SDK's own call for a conversation, to measure this adapter's turns against: no path is made of it.

The client is the one that the SDK makes by itself. The request is that of the paths, as plain dicts, converted where
the call is opened.
"""

from __future__ import annotations

from typing import Any

import msgspec
import openai

from turnproof.provider import Conversation, Endpoint, OnChunk

from .._calling import Prompt
from .lifecycle import OpenAIProvider


class ChatCompletionsCreate(OpenAIProvider):
    """`chat.completions.create`, whole and streamed; see `turnproof.provider.PlainConversation`."""

    def __init__(self, endpoint: Endpoint, conversation: Conversation) -> None:
        super().__init__()
        self.connect(endpoint.model)
        request = self._kwargs(Prompt(conversation.messages, conversation.system, conversation.tools))
        # Through JSON: frozen payloads become the plain dicts that a user of the SDK would have.
        self._request = msgspec.json.decode(msgspec.json.encode(request))
        self.history: list[Any] = self._request["messages"]
        self._client = openai.OpenAI(
            api_key=endpoint.api_key,
            base_url=endpoint.base_url,
            max_retries=0,
            # A proxy of the environment would stand between us and loopback.
            http_client=openai.DefaultHttpxClient(trust_env=False),
        )

    def ready(self) -> None:
        """Every call sends the same request."""

    def ask(self) -> str:
        """The text of one answer."""
        answer = self._require_client().chat.completions.create(**self._request)
        return answer.choices[0].message.content or ""

    def stream(self, on_chunk: OnChunk) -> None:
        """One streamed answer, with its figures."""
        for chunk in self._require_client().chat.completions.create(
            **self._request, stream=True, stream_options={"include_usage": True}
        ):
            if chunk.choices and (piece := chunk.choices[0].delta.content):
                on_chunk(piece)

    def begin(self) -> None:
        """Start a conversation anew, with the system text alone."""
        self.history = self._request["messages"][:1]

    def say(self, text: str) -> str:
        """One turn, with a history of dicts."""
        self.history.append({"role": "user", "content": text})
        answer = self._require_client().chat.completions.create(**{**self._request, "messages": self.history})
        said = answer.choices[0].message.content or ""
        self.history.append({"role": "assistant", "content": said})
        return said

    def close(self) -> None:
        """Close all connections."""
        self.shutdown()
