"""Cache plugins made for tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from turnproof.cache import CacheUsage, Covers, Prepared
from turnproof.messages import CacheMark, Message, Text, TokenUsage


@dataclass
class Marker:
    """Marks the last message and the system text, and remembers what it was told."""

    name: str = "marker"
    provider_name: str = ""
    covers: Covers = "conversation"
    prepared: list[int] = field(default_factory=list)
    collected: list[tuple[int, int]] = field(default_factory=list)
    budgets: list[Any] = field(default_factory=list)

    def initialize(self, config: Mapping[str, Any]) -> None:
        raise AssertionError("a session takes plugins that are ready")

    def set_budget(self, budget: Any) -> None:
        self.budgets.append(budget)

    def prepare(self, messages: Any, system: Any, tools: Any, *, cancel_token: Any = None) -> Prepared:
        self.prepared.append(len(messages))
        *head, last = messages
        parts = tuple(replace(part, cache=CacheMark()) for part in last.parts)
        marked = Message(last.role, parts, last.message_id)
        return Prepared((*head, marked), Text(system, cache=CacheMark()), tuple(tools))

    def extract_usage(self, usage: TokenUsage) -> CacheUsage:
        return CacheUsage.of(usage)

    def on_collected(self, before: Any, after: Any) -> None:
        self.collected.append((len(before), len(after)))

    def lost(self, name: str) -> bool:
        raise AssertionError("there is no managed cache here")


@dataclass
class Named(Marker):
    """Names the next number on the system text each time a name was lost; `again` says whether it does."""

    name: str = "named"
    covers: Covers = "prefix"
    again: bool = True
    number: int = 1
    names: list[str] = field(default_factory=list)

    def prepare(self, messages: Any, system: Any, tools: Any, *, cancel_token: Any = None) -> Prepared:
        return Prepared(tuple(messages), Text(system, cache=CacheMark(name=f"cache-{self.number}")), tuple(tools))

    def lost(self, name: str) -> bool:
        self.names.append(name)
        self.number += self.again
        return self.again
