"""The SDK's own call for a conversation, to measure this adapter's turns against: no path is made of it.

The client is the one that the SDK makes by itself, on `requests`. The request is that of the paths, converted where the
call is opened.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from azure.ai.inference import ChatCompletionsClient
from azure.ai.inference.models import AssistantMessage, UserMessage
from azure.core.credentials import AzureKeyCredential

from turnproof.provider import Conversation, Endpoint, OnChunk

from .._calling import Prompt
from ..openai.request import Settings
from . import sdk
from .client import address
from .lifecycle import GITHUB


class Complete:
    """`ChatCompletionsClient.complete`, whole and streamed; see `turnproof.provider.PlainConversation`."""

    def __init__(self, endpoint: Endpoint, conversation: Conversation) -> None:
        prompt = Prompt(conversation.messages, conversation.system, conversation.tools)
        settings = Settings(endpoint.model, GITHUB)
        request = partial(sdk.request, settings, prompt)
        self._whole, self._streamed = request(stream=False), request(stream=True)
        self.history: list[Any] = self._whole["messages"]
        self._client = ChatCompletionsClient(
            address(endpoint.base_url),
            AzureKeyCredential(endpoint.api_key),
            retry_total=0,
            # A proxy of the environment would stand between us and loopback.
            use_env_settings=False,
        )

    def ready(self) -> None:
        """Every call sends the same request."""

    def ask(self) -> str:
        """The text of one answer."""
        return self._client.complete(**self._whole).choices[0].message.content or ""

    def stream(self, on_chunk: OnChunk) -> None:
        """One streamed answer, with its figures."""
        for update in self._client.complete(**self._streamed, stream=True):
            if update.choices and (piece := update.choices[0].delta.content):
                on_chunk(piece)

    def begin(self) -> None:
        """Start a conversation anew, with the system text alone."""
        self.history = self._whole["messages"][:1]

    def say(self, text: str) -> str:
        """One turn, with a history of the SDK's own messages."""
        self.history.append(UserMessage(text))
        answer_text = (
            self._client.complete(**{**self._whole, "messages": self.history}).choices[0].message.content or ""
        )
        self.history.append(AssistantMessage(answer_text))
        return answer_text

    def close(self) -> None:
        """Close all connections."""
        self._client.close()
