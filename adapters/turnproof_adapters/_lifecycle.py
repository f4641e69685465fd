"""What a provider is apart from its calls: what its model can do, a client that is opened and closed, a check of the
key, and the service's count of tokens."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from turnproof.errors import AuthenticationError, UsageError
from turnproof.messages import Message, ToolSchema
from turnproof.provider import ProviderBase, SystemInstruction

from ._calling import Prompt

C = TypeVar("C")


class ModelFacts(Protocol):
    """What a family of adapters knows of a model by its name."""

    @property
    def context_tokens(self) -> int:
        """The window; 0 where it is not known."""

    @property
    def structured(self) -> bool:
        """Whether a response schema is heeded."""

    @property
    def thinks(self) -> bool:
        """Whether the model thinks before it answers."""


class ModelAbilities(ProviderBase):
    """Says what the chosen model can do, without a request."""

    @property
    @abstractmethod
    def _facts(self) -> ModelFacts:
        """What is known of the chosen model, or of one that is not known where none is chosen."""

    def _require_model(self) -> str:
        """The chosen model. Raises UsageError before one is."""
        if self._model is None:
            raise UsageError("no model is chosen: call connect() first")
        return self._model

    def get_context_limit(self) -> int:
        """The model's window in tokens."""
        return self._facts.context_tokens

    def supports_structured_output(self) -> bool:
        """Whether a response schema is heeded, also beside tools, as far as it is known."""
        return self._facts.structured

    def supports_streaming(self) -> bool:
        """Every model streams."""
        return True

    def supports_stop(self) -> bool:
        """A cancel token ends a running call."""
        return True

    def supports_thinking(self) -> bool:
        """Whether the chosen model thinks before it answers, as far as it is known."""
        return self._facts.thinks


class ClientProvider(ModelAbilities, Generic[C]):
    """Holds the client that calls go through, from `initialize()` to `shutdown()`."""

    def __init__(self) -> None:
        super().__init__()
        self._client: C | None = None

    @property
    def is_connected(self) -> bool:
        """Whether calls can be made: initialized, a model chosen, not shut down."""
        return self._client is not None and super().is_connected

    def shutdown(self) -> None:
        """Release all that the client holds. Calls made afterwards raise UsageError."""
        client, self._client = self._client, None
        if client is not None:
            self._close_client(client)

    @abstractmethod
    def _close_client(self, client: C) -> None:
        """Close its connections, or end its program."""

    def _require_client(self) -> C:
        """The client. Raises UsageError where there is none."""
        if self._client is None:
            raise UsageError("the provider is not open: call initialize() and connect() first")
        return self._client


class KeyChecks(ProviderBase):
    """Tells whether the service accepts the key. Comes first among the bases of a provider."""

    def verify_auth(self) -> bool:
        """Whether the service accepts the key. Failures of another kind are raised."""
        try:
            self._check_key()
        except AuthenticationError:
            return False
        return True

    def _check_key(self) -> None:
        """Make a cheap request that needs the key. Raises AuthenticationError where the service refuses it."""
        self.list_models()


class TokenCounts(ProviderBase):
    """Has the service count the tokens of a prompt. Comes first among the bases of a provider."""

    def count_tokens(
        self,
        messages: Sequence[Message],
        system_instruction: SystemInstruction = None,
        tools: Sequence[ToolSchema] | None = None,
    ) -> int:
        """Tokens of the whole prompt as the service counts them. Costs one request. Where the service does not count,
        an estimate without one."""
        count = self._count_tokens(Prompt(messages, system_instruction, tools))
        return super().count_tokens(messages, system_instruction, tools) if count is None else count

    @abstractmethod
    def _count_tokens(self, prompt: Prompt) -> int | None:
        """Tokens of the whole prompt, cached or not; None where the service does not count."""
