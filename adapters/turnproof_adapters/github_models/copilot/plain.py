"""The SDK's own calls for a conversation, to measure this adapter's turns against: no path is made of them.

The client is the one that the SDK makes by itself. It is given a session token that was exchanged beforehand, and the
headers of an editor. The requests are those of the paths, as plain dicts, converted where a call is opened.
"""

from __future__ import annotations

from typing import Any

from turnproof.provider import Conversation, Endpoint, OnChunk

from ..._calling import Prompt
from ..._open_provider import open_provider
from ..._plain import DictConversation, plain_data
from ...openai.client import plain_client
from .headers import Editor
from .stateless import CopilotChatStateless, CopilotResponsesStateless


class _SdkCall:
    """A client of the SDK with a token for this conversation."""

    def __init__(
        self, provider: CopilotChatStateless | CopilotResponsesStateless, endpoint: Endpoint, conversation: Conversation
    ) -> None:
        open_provider(provider, endpoint)
        way = provider._way(conversation.messages, None)
        self._client, headers = way(
            lambda client, headers: (plain_client(str(client.base_url), client.api_key), headers)
        )
        self._headers = {**Editor().headers, **headers}
        provider.shutdown()

    def close(self) -> None:
        """Close all connections."""
        self._client.close()


class CopilotCompletionsCreate(_SdkCall, DictConversation):
    """`chat.completions.create`, whole and streamed; see `turnproof.provider.PlainConversation`."""

    instructions = 1

    def __init__(self, endpoint: Endpoint, conversation: Conversation) -> None:
        provider = CopilotChatStateless()
        super().__init__(provider, endpoint, conversation)
        prompt = Prompt(conversation.messages, conversation.system, conversation.tools)
        self._hold(provider._kwargs(prompt))
        self._streamed = plain_data(provider._kwargs(prompt, stream=True))

    def stream(self, on_chunk: OnChunk) -> None:
        """One streamed answer, with its figures."""
        for chunk in self._client.chat.completions.create(**self._streamed, extra_headers=self._headers, stream=True):
            if chunk.choices and (piece := chunk.choices[0].delta.content):
                on_chunk(piece)

    def _answer(self, request: dict[str, Any]) -> str:
        answer = self._client.chat.completions.create(**request, extra_headers=self._headers)
        return str(answer.choices[0].message.content or "")


class CopilotResponsesCreate(_SdkCall, DictConversation):
    """`responses.create`, whole and streamed; see `turnproof.provider.PlainConversation`."""

    history_field = "input"

    def __init__(self, endpoint: Endpoint, conversation: Conversation) -> None:
        provider = CopilotResponsesStateless()
        super().__init__(provider, endpoint, conversation)
        prompt = Prompt(conversation.messages, conversation.system, conversation.tools)
        self._hold(provider._kwargs(prompt))

    def stream(self, on_chunk: OnChunk) -> None:
        """One streamed answer."""
        for event in self._client.responses.create(**self._request, extra_headers=self._headers, stream=True):
            if event.type == "response.output_text.delta":
                on_chunk(event.delta)

    def _answer(self, request: dict[str, Any]) -> str:
        return str(self._client.responses.create(**request, extra_headers=self._headers).output_text)
