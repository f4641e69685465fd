"""What a session and a cache plugin agree on.

A plugin looks at a request before it is converted and returns it annotated with `CacheMark`s: data, not wire
format. It keeps nothing of a conversation, so the same one is always annotated in the same way, by a new plugin as
by an old one; all that a plugin may remember is what a service keeps for it, under a name. Providers of either path
may use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from ..messages import Message, TokenUsage, ToolSchema
from ..provider import SystemInstruction


@dataclass(frozen=True, slots=True)
class Prepared:
    """An annotated request. Messages keep ids and order; those without a mark are the very objects given."""

    messages: tuple[Message, ...]
    system: SystemInstruction
    tools: tuple[ToolSchema, ...]


@dataclass(frozen=True, slots=True)
class CacheUsage:
    """What the cache did for one response, in tokens: served, stored, and paid in full."""

    read: int
    written: int
    fresh: int

    @classmethod
    def of(cls, usage: TokenUsage) -> CacheUsage:
        """The cache's share of a response's usage: what was neither read nor written was paid in full."""
        read, written = usage.cache_read_tokens, usage.cache_creation_tokens
        return cls(read, written, max(0, usage.prompt_tokens - read - written))

    @property
    def hit_rate(self) -> float:
        """The share of the prompt that the cache served, 0.0 to 1.0."""
        prompt = self.read + self.written + self.fresh
        return self.read / prompt if prompt else 0.0


@runtime_checkable
class CachePlugin(Protocol):
    """Decides where the breakpoints of a request stand, and accounts for what came of them."""

    name: str

    def prepare(
        self, messages: Sequence[Message], system: SystemInstruction, tools: Sequence[ToolSchema] | None
    ) -> Prepared:
        """The request with its marks. Changes none of its arguments."""

    def extract_usage(self, usage: TokenUsage) -> CacheUsage:
        """The cache's share of a response's usage."""

    def on_collected(self, before: Sequence[Message], after: Sequence[Message]) -> None:
        """The session replaced its history `before` by `after`: what was cached beyond their common head is lost."""

    def lost(self, name: str) -> bool:
        """The service does not know the managed cache `name` any more. True if `prepare` now gives another request."""
