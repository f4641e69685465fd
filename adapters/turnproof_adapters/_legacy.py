"""The six ways to send of a legacy path: they differ in what is said and in whether the answer is heard as it comes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, Unpack

from turnproof.cancel import CancelToken
from turnproof.messages import Message, Part, ProviderResponse, TokenUsage, ToolResult, ToolSchema
from turnproof.provider import OnChunk, StreamOptions, SystemInstruction

from ._answers import Listeners, with_structured_output
from ._calling import Prompt

Schema: TypeAlias = Mapping[str, Any]


class LegacySends(ABC):
    """The sending half of `turnproof.provider.LegacyProvider`, made of one turn.

    Beyond the contract, files can be streamed, and a batch call can be cancelled.
    """

    @abstractmethod
    def _turn(
        self, message: Message, response_schema: Schema | None, listeners: Listeners, token: CancelToken | None
    ) -> ProviderResponse:
        """Send `message`, as a stream where there is a `listeners.on_chunk`, and record the answer in the history."""

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
        self, message: str, on_chunk: OnChunk, **options: Unpack[StreamOptions]
    ) -> ProviderResponse:
        """Say something and hear the answer as it comes."""
        return self._stream(Message.user(message), on_chunk, **options)

    def send_message_with_parts_streaming(
        self, parts: Sequence[Part], on_chunk: OnChunk, **options: Unpack[StreamOptions]
    ) -> ProviderResponse:
        """Say something that is more than text and hear the answer as it comes."""
        return self._stream(Message("user", tuple(parts)), on_chunk, **options)

    def send_tool_results_streaming(
        self, results: Sequence[ToolResult], on_chunk: OnChunk, **options: Unpack[StreamOptions]
    ) -> ProviderResponse:
        """Answer the calls of the last response and hear the answer as it comes."""
        return self._stream(Message.tool(*results), on_chunk, **options)

    def _stream(self, message: Message, on_chunk: OnChunk, **options: Unpack[StreamOptions]) -> ProviderResponse:
        listeners = Listeners(
            on_chunk, options.get("on_usage_update"), options.get("on_function_call"), options.get("on_thinking")
        )
        return self._turn(message, options.get("response_schema"), listeners, options.get("cancel_token"))


class LegacySession(LegacySends):
    """A conversation with a provider: its system text, its tools, and the figures of its latest call."""

    def __init__(self) -> None:
        super().__init__()
        self._system: SystemInstruction = None
        self._tools: tuple[ToolSchema, ...] = ()
        self._usage = TokenUsage()

    def create_session(
        self,
        system_instruction: SystemInstruction = None,
        tools: Sequence[ToolSchema] | None = None,
        history: Sequence[Message] | None = None,
    ) -> None:
        """Begin a conversation, or another one: nothing of the last one stays.

        Raises InvalidRequestError for a history that the provider cannot hold or go on with.
        """
        self._begin(list(history or ()), tuple(tools or ()))
        self._system = system_instruction
        self._tools = tuple(tools or ())
        self._usage = TokenUsage()

    @abstractmethod
    def _begin(self, history: list[Message], tools: tuple[ToolSchema, ...]) -> None:
        """Hold this history in place of the one that there is."""

    def get_token_usage(self) -> TokenUsage:
        """The figures of the latest call."""
        return self._usage


class OwnHistory(LegacySession):
    """A conversation that the provider keeps in a list of its own, for providers whose SDK keeps none.

    A failed call leaves the list as it was; a cancelled one keeps the user's side and what the model had said. Comes
    first among the bases of a provider.
    """

    def __init__(self) -> None:
        super().__init__()
        self._history: list[Message] = []

    def _begin(self, history: list[Message], tools: tuple[ToolSchema, ...]) -> None:
        self._history = history

    def get_history(self) -> list[Message]:
        """The conversation so far, in a list of the caller's own."""
        return list(self._history)

    def _turn(
        self, message: Message, response_schema: Schema | None, listeners: Listeners, token: CancelToken | None
    ) -> ProviderResponse:
        self._history.append(message)
        try:
            prompt = Prompt(self._history, self._system, self._tools, response_schema)
            response = with_structured_output(self._call(prompt, listeners, token), response_schema)
        except BaseException:
            self._history.pop()
            raise
        if response.parts:
            self._history.append(Message("model", response.parts))
        self._usage = response.usage
        return response

    @abstractmethod
    def _call(self, prompt: Prompt, listeners: Listeners, token: CancelToken | None) -> ProviderResponse:
        """Have the list answered, which ends in what was said."""
