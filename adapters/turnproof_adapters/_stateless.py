"""What every stateless path has to do with the encodings that it keeps beside messages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic

from turnproof.provider import ProviderBase

from ._encoded_messages import A, Encoder


class EncodesOnce(ProviderBase, ABC, Generic[A]):
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
