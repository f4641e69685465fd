"""The legacy path: the provider owns the history, in the style that frameworks had before sessions took it over.

It keeps its own list, converts the whole of it for every call, and sends it through the SDK's `messages.create`, whose
own stream and message types it reads. A failed call leaves the list as it was; a cancelled one keeps the user's side
and what the model had said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import anthropic

from turnproof.cancel import CancelToken
from turnproof.messages import Message, ProviderResponse, TokenUsage, ToolSchema
from turnproof.provider import SystemInstruction

from .._answers import Listeners, with_structured_output
from .._calling import Source
from .._legacy import LegacySends, Schema
from .lifecycle import AnthropicProvider
from .names import restorer
from .wire import Answer, Event, converted


class AnthropicLegacy(LegacySends, AnthropicProvider):
    """A conversation with the Messages API. One object holds one conversation and serves one thread at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.create_session()

    def create_session(
        self,
        system_instruction: SystemInstruction = None,
        tools: Sequence[ToolSchema] | None = None,
        history: Sequence[Message] | None = None,
    ) -> None:
        """Begin a conversation, or another one: nothing of the last one stays."""
        self._system = system_instruction
        self._tools = tuple(tools or ())
        self._history: list[Message] = list(history or ())
        self._usage = TokenUsage()

    def get_history(self) -> list[Message]:
        """The conversation so far, in a list of the caller's own."""
        return list(self._history)

    def get_token_usage(self) -> TokenUsage:
        """The figures of the latest call."""
        return self._usage

    def _turn(
        self, said: Message, response_schema: Schema | None, listeners: Listeners, token: CancelToken | None
    ) -> ProviderResponse:
        self._history.append(said)
        try:
            response = self._call(response_schema, listeners, token)
        except BaseException:
            self._history.pop()
            raise
        if response.parts:
            self._history.append(Message("model", response.parts))
        self._usage = response.usage
        return response

    def _call(
        self, response_schema: Schema | None, listeners: Listeners, token: CancelToken | None
    ) -> ProviderResponse:
        client = self._opened()
        if token is not None:
            token.raise_if_cancelled()
        marked = self._annotated(self._history, self._system, self._tools, token)
        kwargs = self._kwargs(marked.messages, marked.system, marked.tools, response_schema)
        kwargs["timeout"] = self._timeouts
        restore = restorer(self._tool_names)
        if listeners.on_chunk is not None:
            response = self._caller.streamed(partial(_open, client, kwargs), restore, listeners, token)
        else:
            response = self._caller.whole(partial(_ask, client, kwargs), restore, listeners, token)
        return with_structured_output(response, response_schema)

    def _tool_names(self) -> list[str]:
        called = [call.name for message in self._history for call in message.calls]
        return [tool.name for tool in self._tools] + called


def _ask(client: anthropic.Anthropic, kwargs: Mapping[str, Any]) -> Answer:
    return converted(_fields(client.messages.create(**kwargs)), Answer)


def _open(client: anthropic.Anthropic, kwargs: Mapping[str, Any]) -> Source[Event]:
    stream = client.messages.create(**kwargs, stream=True)
    return Source((converted(_fields(event), Event) for event in stream), stream.close)


def _fields(answer: object) -> dict[str, object]:
    """An answer of the SDK's as plain data, as it came. Raises ValueError for what is no object at all."""
    if not isinstance(answer, anthropic.BaseModel):
        raise ValueError(f"the service sent {type(answer).__name__} where an object belongs")
    return answer.to_dict(warnings=False)
