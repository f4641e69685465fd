"""What an adapter offers (two paths), what it claims, and the few lines that bind one.

A *stateless* path gets the whole conversation in every call and keeps none of it. A *legacy* path owns the
history itself. A `Binding` says how to open each for one endpoint. All of this is imported from here, and so is the
error tree, which lives in `turnproof.errors`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Unpack, runtime_checkable

from ..cancel import CancelToken
from ..errors import (
    AnswerLostError,
    AuthenticationError,
    BindingError,
    CacheExpiredError,
    Cancelled,
    ChainLostError,
    ContentFilterError,
    ContextLimitError,
    HarnessError,
    InvalidRequestError,
    OverloadedError,
    ProviderError,
    RateLimitError,
    TransportError,
    TurnproofError,
)
from ..messages import Message, Part, ProviderResponse, ToolResult, ToolSchema
from .binding import OPTIONS, RETAINED, Binding, Difference, Endpoint, Outcome, Translator
from .call_types import (
    PATHS,
    CallOptions,
    JSONSchema,
    OnChunk,
    OnFunctionCall,
    OnThinking,
    OnUsage,
    Path,
    StreamOptions,
    SystemInstruction,
    system_text,
    tools_by_name,
)
from .capabilities import ASSUMED, Capabilities
from .plain_calls import Conversation, PlainCall, PlainConversation

__all__ = [
    "ASSUMED",
    "LEGACY_METHODS",
    "OPTIONS",
    "PATHS",
    "RETAINED",
    "AnswerLostError",
    "AuthenticationError",
    "Binding",
    "BindingError",
    "CacheExpiredError",
    "CallOptions",
    "Cancelled",
    "Capabilities",
    "ChainLostError",
    "ContentFilterError",
    "ContextLimitError",
    "Conversation",
    "Difference",
    "Endpoint",
    "HarnessError",
    "InvalidRequestError",
    "JSONSchema",
    "LegacyProvider",
    "OnChunk",
    "OnFunctionCall",
    "OnThinking",
    "OnUsage",
    "Outcome",
    "OverloadedError",
    "Path",
    "PlainCall",
    "PlainConversation",
    "ProviderBase",
    "ProviderError",
    "RateLimitError",
    "StatelessProvider",
    "StreamOptions",
    "SystemInstruction",
    "Translator",
    "TransportError",
    "TurnproofError",
    "system_text",
    "tools_by_name",
]


@runtime_checkable
class StatelessProvider(Protocol):
    """The session owns the history. `complete()` may be a plain or a coroutine function.

    It changes none of its arguments and keeps nothing of the conversation. With `on_chunk` it streams, without
    it answers in one piece; both give the same result. Callbacks run before the call returns, never after.
    Raises `Cancelled` if the token was set before the request was written; a later cancel returns what had
    arrived with `finish_reason=cancelled`. Every failure is a `ProviderError`.
    """

    def complete(
        self,
        messages: Sequence[Message],
        system_instruction: SystemInstruction = None,
        tools: Sequence[ToolSchema] | None = None,
        *,
        response_schema: JSONSchema | None = None,
        cancel_token: CancelToken | None = None,
        on_chunk: OnChunk | None = None,
        on_usage_update: OnUsage | None = None,
        on_function_call: OnFunctionCall | None = None,
        on_thinking: OnThinking | None = None,
    ) -> ProviderResponse: ...


@runtime_checkable
class LegacyProvider(Protocol):
    """The provider owns the history, as frameworks did before the session took it over.

    A failed call leaves the history as it was before the call. A cancelled streaming call records the user's
    side and the partial answer, like the stateless path's session does.
    """

    def create_session(
        self,
        system_instruction: SystemInstruction = None,
        tools: Sequence[ToolSchema] | None = None,
        history: Sequence[Message] | None = None,
    ) -> None: ...

    def get_history(self) -> list[Message]: ...

    def send_message(self, message: str, response_schema: JSONSchema | None = None) -> ProviderResponse: ...

    def send_message_with_parts(
        self, parts: Sequence[Part], response_schema: JSONSchema | None = None
    ) -> ProviderResponse: ...

    def send_tool_results(
        self, results: Sequence[ToolResult], response_schema: JSONSchema | None = None
    ) -> ProviderResponse: ...

    def send_message_streaming(
        self, message: str, on_chunk: OnChunk, **options: Unpack[StreamOptions]
    ) -> ProviderResponse: ...

    def send_tool_results_streaming(
        self, results: Sequence[ToolResult], on_chunk: OnChunk, **options: Unpack[StreamOptions]
    ) -> ProviderResponse: ...


LEGACY_METHODS = tuple(name for name in vars(LegacyProvider) if not name.startswith("_"))
"""The methods of `LegacyProvider`: those by which a provider owns a history."""


class ProviderBase:
    """Lifecycle of a reference adapter, with "not claimed" answers for what an adapter leaves out.

    Subclasses set `name`, and implement what they claim in their binding's `Capabilities`.
    """

    name = "provider"

    @property
    def telemetry_name(self) -> str:
        """What spans call the provider: its `gen_ai.provider.name` of OpenTelemetry's conventions."""
        return self.name

    def __init__(self) -> None:
        self._model: str | None = None

    def initialize(self, config: Mapping[str, Any]) -> None:
        """Take settings (`api_key`, `base_url`, ...). Opens no connection."""

    def connect(self, model: str) -> None:
        """Choose the model that later calls use."""
        self._model = model

    @property
    def is_connected(self) -> bool:
        """Whether `connect()` has chosen a model."""
        return self._model is not None

    @property
    def model_name(self) -> str | None:
        """The model in use, or None."""
        return self._model

    def list_models(self) -> list[str]:
        """Ids of the models the key may use; empty where the provider does not say."""
        return []

    def verify_auth(self) -> bool:
        """Whether the key is accepted. Costs one cheap request."""
        return False

    def shutdown(self) -> None:
        """Release connections. Calling it twice is harmless."""

    def count_tokens(
        self,
        messages: Sequence[Message],
        system_instruction: SystemInstruction = None,
        tools: Sequence[ToolSchema] | None = None,
    ) -> int:
        """Tokens of the prompt as the provider counts them; an estimate (characters / 4) where it has no count."""
        from ..messages import dump_messages

        return len(dump_messages(messages)) // 4

    def get_context_limit(self) -> int:
        """The model's window in tokens."""
        return 0

    def supports_structured_output(self) -> bool:
        """Whether `response_schema` is honoured."""
        return False

    def supports_streaming(self) -> bool:
        """Whether `on_chunk` streams."""
        return False

    def supports_stop(self) -> bool:
        """Whether a cancel token stops a running call."""
        return False

    def supports_thinking(self) -> bool:
        """Whether thinking can be switched on."""
        return False

    def set_thinking_config(self, config: Mapping[str, Any] | None) -> None:
        """Switch thinking on (`{"budget_tokens": n}`) or off (None)."""

    def classify_error(self, error: BaseException) -> dict[str, bool]:
        """`{"transient": ..., "rate_limit": ..., "infra": ...}` for an error of this provider."""
        return {
            "transient": isinstance(error, ProviderError) and error.retryable,
            "rate_limit": isinstance(error, RateLimitError),
            "infra": isinstance(error, OverloadedError | TransportError),
        }

    def get_retry_after(self, error: BaseException) -> float | None:
        """Seconds the provider asked us to wait, or None."""
        return error.retry_after if isinstance(error, ProviderError) else None

    def serialize_history(self, history: Sequence[Message]) -> str:
        """History as text; `deserialize_history` is its exact inverse."""
        from ..messages import dump_messages

        return dump_messages(history).decode()

    def deserialize_history(self, data: str) -> list[Message]:
        """The inverse of `serialize_history`."""
        from ..messages import load_messages

        return load_messages(data)
