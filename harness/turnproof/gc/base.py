"""What every collector of history promises, and what it hands back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from ..messages import Message, TokenUsage


class GCResult(msgspec.Struct, frozen=True):
    """A collected history. `messages` are the same objects as before, those of `removed_ids` left out.

    `before` and `after` count messages.
    """

    messages: tuple[Message, ...]
    removed_ids: tuple[str, ...]
    before: int
    after: int


class Collector(Protocol):
    """Makes a history shorter without making it invalid; the history it is given stays as it is."""

    def should_collect(self, usage: TokenUsage, limit: int) -> bool:
        """Whether a conversation with this last usage should be collected before it reaches `limit` tokens."""

    def collect(self, history: Sequence[Message], *, keep_turns: int | None = None) -> GCResult:
        """The history without what may go; `keep_turns` overrides how many turns stay at least."""
