"""The SDK's own calls for a conversation, to measure this adapter's turns against: no path is made of them.

The client is the one that the SDK makes by itself. It is given a session token that was exchanged beforehand, and the
headers of an editor. The requests are those of the paths, as plain dicts, converted where a call is opened.
"""

from __future__ import annotations

from typing import Any

import msgspec
import openai

from turnproof.provider import Conversation, Endpoint, OnChunk

from ..._calling import Prompt
from ..._open_provider import open_provider
from .headers import Editor
from .stateless import CopilotChatStateless, CopilotResponsesStateless


class _SdkCall:
    """A client of the SDK with a token for this conversation."""

    def __init__(
        self, provider: CopilotChatStateless | CopilotResponsesStateless, endpoint: Endpoint, conversation: Conversation
    ) -> None:
        open_provider(provider, endpoint)
        way = provider._way(conversation.messages, None)
        self._client, headers = way(lambda client, headers: (_plain_client(client), headers))
        self._headers = {**Editor().headers, **headers}
        provider.shutdown()

    def ready(self) -> None:
        """Every call sends the same request."""

    def close(self) -> None:
        """Close all connections."""
        self._client.close()


class CopilotCompletionsCreate(_SdkCall):
    """`chat.completions.create`, whole and streamed; see `turnproof.provider.PlainConversation`."""

    def __init__(self, endpoint: Endpoint, conversation: Conversation) -> None:
        provider = CopilotChatStateless()
        super().__init__(provider, endpoint, conversation)
        prompt = Prompt(conversation.messages, conversation.system, conversation.tools)
        self._whole = _plain_data(provider._kwargs(prompt))
        self._streamed = _plain_data(provider._kwargs(prompt, stream=True))
        self.history: list[Any] = self._whole["messages"]

    def ask(self) -> str:
        """The text of one answer."""
        return self._asked(self._whole)

    def stream(self, on_chunk: OnChunk) -> None:
        """One streamed answer, with its figures."""
        for chunk in self._client.chat.completions.create(**self._streamed, extra_headers=self._headers, stream=True):
            if chunk.choices and (piece := chunk.choices[0].delta.content):
                on_chunk(piece)

    def begin(self) -> None:
        """Start a conversation anew, with the system text alone."""
        self.history = self._whole["messages"][:1]

    def say(self, text: str) -> str:
        """One turn, with a history of dicts."""
        self.history.append({"role": "user", "content": text})
        said = self._asked({**self._whole, "messages": self.history})
        self.history.append({"role": "assistant", "content": said})
        return said

    def _asked(self, request: dict[str, Any]) -> str:
        answer = self._client.chat.completions.create(**request, extra_headers=self._headers)
        return str(answer.choices[0].message.content or "")


class CopilotResponsesCreate(_SdkCall):
    """`responses.create`, whole and streamed; see `turnproof.provider.PlainConversation`."""

    def __init__(self, endpoint: Endpoint, conversation: Conversation) -> None:
        provider = CopilotResponsesStateless()
        super().__init__(provider, endpoint, conversation)
        prompt = Prompt(conversation.messages, conversation.system, conversation.tools)
        self._request = _plain_data(provider._kwargs(prompt))
        self.history: list[Any] = self._request["input"]

    def ask(self) -> str:
        """The text of one answer."""
        return self._asked(self._request)

    def stream(self, on_chunk: OnChunk) -> None:
        """One streamed answer."""
        for event in self._client.responses.create(**self._request, extra_headers=self._headers, stream=True):
            if event.type == "response.output_text.delta":
                on_chunk(event.delta)

    def begin(self) -> None:
        """Start a conversation anew."""
        self.history = []

    def say(self, text: str) -> str:
        """One turn, with a history of dicts."""
        self.history.append({"role": "user", "content": text})
        said = self._asked({**self._request, "input": self.history})
        self.history.append({"role": "assistant", "content": said})
        return said

    def _asked(self, request: dict[str, Any]) -> str:
        return str(self._client.responses.create(**request, extra_headers=self._headers).output_text)


def _plain_client(ours: openai.OpenAI) -> openai.OpenAI:
    """A client as the SDK makes it, for the address and the token of ours."""
    return openai.OpenAI(
        api_key=ours.api_key,
        base_url=ours.base_url,
        max_retries=0,
        # A proxy of the environment would stand between us and loopback.
        http_client=openai.DefaultHttpxClient(trust_env=False),
    )


def _plain_data(request: dict[str, Any]) -> Any:
    """Through JSON: frozen payloads become the plain dicts that a user of the SDK would have."""
    return msgspec.json.decode(msgspec.json.encode(request))
