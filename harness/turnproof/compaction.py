"""Conversations that the provider's service makes shorter: what a provider offers whose service can.

A service returns an item that it alone can read, in place of what was said. It goes back with every later request, to
the same service; another one cannot read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from .cancel import CancelToken
from .messages import Message, Part
from .provider import SystemInstruction


@runtime_checkable
class CompactingProvider(Protocol):
    """A provider of either path whose service makes conversations shorter."""

    def compact(
        self,
        messages: Sequence[Message],
        system_instruction: SystemInstruction = None,
        *,
        cancel_token: CancelToken | None = None,
    ) -> list[Message]:
        """The service's shorter form of a conversation, in one request. The provider's own conversation stays.

        Messages that the service left as they are, are the same objects. Raises ProviderError, or Cancelled.
        """

    def is_compaction(self, part: Part) -> bool:
        """Whether this is the service's item, which has all that was said before it."""

    def set_compact_threshold(self, tokens: int | None) -> None:
        """Have the service do it within an answer, once a prompt has more tokens than this; None: never.

        Such an answer begins with the item.
        """
