"""What the holder of a cache plugin and the plugin agree on.

A plugin looks at a request before it is converted and returns it annotated with `CacheMark`s: data, not wire
format. It keeps nothing of a conversation, so the same one is always annotated in the same way, by a new plugin as
by an old one, and one plugin may serve many sessions; all that a plugin may remember is what a service keeps for it,
under a name.

Either the session holds the plugin and hands the annotated request to `complete()`, or the provider holds it
(`set_cache_plugin`) and annotates inside its calls. The bytes on the wire are the same.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

import msgspec

from ..cancel import CancelToken
from ..errors import UsageError
from ..messages import Message, TokenUsage, ToolSchema
from ..provider import SystemInstruction, tools_by_name

if TYPE_CHECKING:
    from ..budget import InstructionBudget

Covers: TypeAlias = Literal["prefix", "conversation"]
"""What of a request a cache holds: system text and tools, stored as one piece, or everything up to its last message."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """An annotated request. Messages keep ids and order; those without a mark are the very objects given."""

    messages: tuple[Message, ...]
    system: SystemInstruction
    tools: tuple[ToolSchema, ...]


@dataclass(frozen=True, slots=True)
class CacheUsage:
    """What the cache did for one response, in tokens: served, stored, and paid in full."""

    read: int = 0
    written: int = 0
    fresh: int = 0

    @classmethod
    def of(cls, usage: TokenUsage) -> CacheUsage:
        """The cache's share of a response's usage: what was neither read nor written was paid in full."""
        read, written = usage.cache_read_tokens, usage.cache_creation_tokens
        return cls(read, written, max(0, usage.prompt_tokens - read - written))

    @property
    def prompt(self) -> int:
        """The whole prompt."""
        return self.read + self.written + self.fresh

    @property
    def hit_rate(self) -> float:
        """The share of the prompt that the cache served, 0.0 to 1.0."""
        return self.read / self.prompt if self.prompt else 0.0

    def __add__(self, other: CacheUsage) -> CacheUsage:
        return CacheUsage(self.read + other.read, self.written + other.written, self.fresh + other.fresh)


@runtime_checkable
class CachePlugin(Protocol):
    """Decides what of a request the service is to keep, and accounts for what came of it."""

    name: str
    """What it is: `explicit`, `managed`, `implicit`, or a name of its own."""

    provider_name: str
    """The provider that understands its marks, by `ProviderBase.name`; empty for any."""

    covers: Covers

    def initialize(self, config: Mapping[str, Any]) -> None:
        """Take settings. Raises UsageError for one that is unknown or wrong, and then changes none."""

    def set_budget(self, budget: InstructionBudget | None) -> None:
        """Know from now on what of a conversation will stay."""

    def prepare(
        self,
        messages: Sequence[Message],
        system: SystemInstruction,
        tools: Sequence[ToolSchema] | None,
        *,
        cancel_token: CancelToken | None = None,
    ) -> Prepared:
        """The request with its marks. Changes none of its arguments.

        Raises Cancelled if the token is set while the plugin waits for the service.
        """

    def extract_usage(self, usage: TokenUsage) -> CacheUsage:
        """The cache's share of a response's usage."""

    def on_collected(self, before: Sequence[Message], after: Sequence[Message]) -> None:
        """The session replaced its history `before` by `after`: what was cached beyond their common head is lost."""

    def lost(self, name: str) -> bool:
        """The service does not know the managed cache `name` any more. True if `prepare` now gives another request."""


class BasePlugin(CachePlugin):
    """A plugin for a service that finds prefixes by their content: no collection and no lost name is its business."""

    def set_budget(self, budget: InstructionBudget | None) -> None:
        """Nothing depends on it."""

    def prepare(
        self,
        messages: Sequence[Message],
        system: SystemInstruction,
        tools: Sequence[ToolSchema] | None,
        *,
        cancel_token: CancelToken | None = None,
    ) -> Prepared:
        """The request with its marks, its tools by name: in another order they would be another prefix."""
        return self._mark(Prepared(tuple(messages), system, tuple(tools_by_name(tools))), cancel_token or CancelToken())

    @abstractmethod
    def _mark(self, request: Prepared, token: CancelToken) -> Prepared:
        """The request with its marks."""

    def extract_usage(self, usage: TokenUsage) -> CacheUsage:
        """The cache's share: what was neither read nor written was paid in full."""
        return CacheUsage.of(usage)

    def on_collected(self, before: Sequence[Message], after: Sequence[Message]) -> None:
        """Nothing to do."""

    def lost(self, name: str) -> bool:
        """False: nothing has a name."""
        return False


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of a plugin, as a configuration file has them."""


_SettingsT = TypeVar("_SettingsT", bound=Settings)


def settings(kind: type[_SettingsT], config: Mapping[str, Any], plugin: str) -> _SettingsT:
    """A configuration as typed settings; what it leaves out has its default. Raises UsageError, with the path."""
    try:
        return msgspec.convert(dict(config), kind)
    except msgspec.ValidationError as error:
        known = ", ".join(kind.__struct_fields__) or "none"
        raise UsageError(f"settings of the {plugin} cache plugin: {error}; known settings: {known}") from error
