"""What the chosen model and its service can do, told without asking anybody."""

from __future__ import annotations

from typing import ClassVar

from turnproof.provider import ProviderBase

from .service import ANTHROPIC, Service


class Abilities(ProviderBase):
    """Answers for any provider of this family, from what its service knows of the model."""

    service: ClassVar[Service] = ANTHROPIC
    """Whose API it is; an adapter for another service has another one here."""

    def get_context_limit(self) -> int:
        """The model's window in tokens."""
        return self.service.facts(self._model).context_tokens

    def supports_structured_output(self) -> bool:
        """Whether the chosen model takes a response schema, and the service heeds it."""
        return self.service.schemas and self.service.facts(self._model).structured

    def supports_streaming(self) -> bool:
        """Every model streams."""
        return True

    def supports_stop(self) -> bool:
        """A cancel token ends a running call."""
        return True

    def supports_thinking(self) -> bool:
        """Whether the chosen model has extended thinking."""
        return self.service.facts(self._model).thinks
