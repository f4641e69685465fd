"""The six ways to send of a legacy path: they differ in what is said and in whether the answer is heard as it comes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from turnproof.cancel import CancelToken
from turnproof.messages import Message, Part, ProviderResponse, ToolResult
from turnproof.provider import OnChunk, OnFunctionCall, OnThinking, OnUsage

from ._answers import Listeners

Schema: TypeAlias = Mapping[str, Any]


class LegacySends(ABC):
    """The sending half of `turnproof.provider.LegacyProvider`, made of one turn.

    Beyond the contract, files can be streamed, and a batch call can be cancelled.
    """

    @abstractmethod
    def _turn(
        self, said: Message, response_schema: Schema | None, listeners: Listeners, token: CancelToken | None
    ) -> ProviderResponse:
        """Have `said` answered, streaming if `listeners.on_chunk` is there, and record what came of it."""

    def send_message(
        self, message: str, response_schema: Schema | None = None, *, cancel_token: CancelToken | None = None
    ) -> ProviderResponse:
        """Say something and wait for the answer."""
        return self._turn(Message.user(message), response_schema, Listeners(), cancel_token)

    def send_message_with_parts(
        self, parts: Sequence[Part], response_schema: Schema | None = None, *, cancel_token: CancelToken | None = None
    ) -> ProviderResponse:
        """Say something that is more than text."""
        return self._turn(Message("user", tuple(parts)), response_schema, Listeners(), cancel_token)

    def send_tool_results(
        self,
        results: Sequence[ToolResult],
        response_schema: Schema | None = None,
        *,
        cancel_token: CancelToken | None = None,
    ) -> ProviderResponse:
        """Answer the calls of the last response."""
        return self._turn(Message.tool(*results), response_schema, Listeners(), cancel_token)

    def send_message_streaming(
        self,
        message: str,
        on_chunk: OnChunk,
        *,
        cancel_token: CancelToken | None = None,
        on_usage_update: OnUsage | None = None,
        on_function_call: OnFunctionCall | None = None,
        on_thinking: OnThinking | None = None,
        response_schema: Schema | None = None,
    ) -> ProviderResponse:
        """Say something and hear the answer as it comes."""
        listeners = Listeners(on_chunk, on_usage_update, on_function_call, on_thinking)
        return self._turn(Message.user(message), response_schema, listeners, cancel_token)

    def send_message_with_parts_streaming(
        self,
        parts: Sequence[Part],
        on_chunk: OnChunk,
        *,
        cancel_token: CancelToken | None = None,
        on_usage_update: OnUsage | None = None,
        on_function_call: OnFunctionCall | None = None,
        on_thinking: OnThinking | None = None,
        response_schema: Schema | None = None,
    ) -> ProviderResponse:
        """Say something that is more than text and hear the answer as it comes."""
        listeners = Listeners(on_chunk, on_usage_update, on_function_call, on_thinking)
        return self._turn(Message("user", tuple(parts)), response_schema, listeners, cancel_token)

    def send_tool_results_streaming(
        self,
        results: Sequence[ToolResult],
        on_chunk: OnChunk,
        *,
        cancel_token: CancelToken | None = None,
        on_usage_update: OnUsage | None = None,
        on_function_call: OnFunctionCall | None = None,
        on_thinking: OnThinking | None = None,
        response_schema: Schema | None = None,
    ) -> ProviderResponse:
        """Answer the calls of the last response and hear the answer as it comes."""
        listeners = Listeners(on_chunk, on_usage_update, on_function_call, on_thinking)
        return self._turn(Message.tool(*results), response_schema, listeners, cancel_token)
