"""What every stateless path does alike: it takes the arguments of `complete()`, and keeps encodings with messages.

Each message is encoded once and a request is joined from the pieces, so that no SDK works on it again.
Answers are read by typed decoding. Nothing depends on earlier calls: the encodings kept beside messages can be dropped
at any time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Generic

from turnproof.cancel import CancelToken
from turnproof.messages import Message, ProviderResponse, ToolSchema
from turnproof.provider import OnChunk, OnFunctionCall, OnThinking, OnUsage, ProviderBase, SystemInstruction

from ._answers import Listeners, with_structured_output
from ._calling import Prompt
from ._encoded_messages import A, Encoder


class StatelessCalls(ProviderBase, ABC):
    """The calling half of `turnproof.provider.StatelessProvider`. Comes first among the bases of a provider."""

    @abstractmethod
    def _complete(self, prompt: Prompt, listeners: Listeners, token: CancelToken | None) -> ProviderResponse:
        """Answer the conversation, streaming if `listeners.on_chunk` is there."""

    def complete(
        self,
        messages: Sequence[Message],
        system_instruction: SystemInstruction = None,
        tools: Sequence[ToolSchema] | None = None,
        *,
        response_schema: Mapping[str, Any] | None = None,
        cancel_token: CancelToken | None = None,
        on_chunk: OnChunk | None = None,
        on_usage_update: OnUsage | None = None,
        on_function_call: OnFunctionCall | None = None,
        on_thinking: OnThinking | None = None,
    ) -> ProviderResponse:
        """Answer the conversation, streaming if `on_chunk` is given, with the guarantees of `StatelessProvider`."""
        prompt = Prompt(messages, system_instruction, tools, response_schema)
        listeners = Listeners(on_chunk, on_usage_update, on_function_call, on_thinking)
        return with_structured_output(self._complete(prompt, listeners, cancel_token), response_schema)


class EncodesOnce(StatelessCalls, Generic[A]):
    """Converts a message once, however often it is sent. Comes first among the bases of a provider."""

    def __init__(self) -> None:
        super().__init__()
        self._encoder = self._fresh_encoder("")

    @abstractmethod
    def _fresh_encoder(self, model: str) -> Encoder[A]:
        """An encoder for a model; for none, where the model is empty: nothing is encoded before one is chosen."""

    @property
    def messages_encoded(self) -> int:
        """How many messages had to be encoded since `connect()`; a turn adds its new ones, not its history."""
        return self._encoder.encoded

    def connect(self, model: str) -> None:
        """Choose the model that later calls use."""
        super().connect(model)
        self._encoder = self._fresh_encoder(model)

    def forget_encodings(self) -> None:
        """Drop everything kept beside messages. No request changes by it."""
        self._encoder.forget()
