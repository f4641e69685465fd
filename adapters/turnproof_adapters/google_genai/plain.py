"""The SDK's own calls for a conversation, to measure this adapter's turns against: no path is made of them.

The SDK's client is given a plain HTTP client, as it would make one by itself, but with the TLS context that the process
has already. Histories are in the SDK's own types, converted where the call is opened.
"""

from __future__ import annotations

from typing import Any

import httpx2
from google import genai
from google.genai import types

from turnproof.provider import Conversation, Endpoint, OnChunk

from .._calling import Prompt
from .._http import shared_tls
from .arrange import contents
from .models import target
from .request import sdk_config, sdk_contents
from .settings import Settings


def official_client(
    endpoint: Endpoint, retries: types.HttpRetryOptions | None = None
) -> tuple[genai.Client, httpx2.Client]:
    """A client of the SDK as it comes, and the HTTP client that it uses and does not close."""
    # A proxy of the environment would stand between us and loopback.
    http = httpx2.Client(verify=shared_tls(), trust_env=False, follow_redirects=True)
    options = types.HttpOptions(
        base_url=endpoint.base_url,
        httpx_client=http,
        httpx_async_client=httpx2.AsyncClient(verify=shared_tls()),
        async_client_args={"ssl": shared_tls()},
        retry_options=retries,
    )
    return genai.Client(vertexai=False, api_key=endpoint.api_key, http_options=options), http


class _SdkCall:
    """A client of the SDK, and one conversation in its types."""

    def __init__(self, endpoint: Endpoint, conversation: Conversation) -> None:
        self._model = endpoint.model
        self._contents = sdk_contents(contents(conversation.messages, target(endpoint.model)))
        self.history: list[Any] = self._contents
        prompt = Prompt(conversation.messages, conversation.system, conversation.tools)
        self._config = sdk_config(Settings(endpoint.model).fields(prompt))
        self._client, self._http = official_client(endpoint)

    def close(self) -> None:
        """Close all connections."""
        self._http.close()


class GenerateContent(_SdkCall):
    """`models.generate_content[_stream]` with the whole conversation; see `turnproof.provider.PlainConversation`."""

    def ready(self) -> None:
        """Every call sends the same request."""

    def ask(self) -> str:
        """The text of one answer."""
        response = self._client.models.generate_content(
            model=self._model, contents=list(self._contents), config=self._config
        )
        return response.text or ""

    def stream(self, on_chunk: OnChunk) -> None:
        """One streamed answer."""
        for chunk in self._client.models.generate_content_stream(
            model=self._model, contents=list(self._contents), config=self._config
        ):
            if chunk.text:
                on_chunk(chunk.text)

    def begin(self) -> None:
        """Start a conversation anew."""
        self.history = []

    def say(self, text: str) -> str:
        """One turn, with a history of the SDK's own contents."""
        self.history.append(types.Content(role="user", parts=[types.Part(text=text)]))
        response = self._client.models.generate_content(model=self._model, contents=self.history, config=self._config)
        self.history.append(types.Content(role="model", parts=[types.Part(text=response.text)]))
        return response.text or ""


class ChatSendMessage(_SdkCall):
    """`send_message[_stream]` of the SDK's `Chat`, which keeps the history itself; see `PlainConversation`."""

    def ready(self) -> None:
        """Start a chat that has the history; the last one had grown by its turn."""
        *history, question = self._contents
        self._question = list(question.parts or ())
        self._chat = self._client.chats.create(model=self._model, config=self._config, history=[*history])

    def ask(self) -> str:
        """The text of one answer."""
        return self._chat.send_message([*self._question]).text or ""

    def stream(self, on_chunk: OnChunk) -> None:
        """One streamed answer."""
        for chunk in self._chat.send_message_stream([*self._question]):
            if chunk.text:
                on_chunk(chunk.text)

    def begin(self) -> None:
        """Start an empty chat."""
        self._chat = self._client.chats.create(model=self._model, config=self._config)

    def say(self, text: str) -> str:
        """One turn; the chat keeps it."""
        return self._chat.send_message(text).text or ""
