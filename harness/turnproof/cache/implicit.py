"""Services that cache prefixes by themselves (OpenAI, ZhipuAI, Gemini since 2.5): nothing is marked, only watched.

Such a cache helps a conversation whose start never changes. A session that holds this plugin measures whether that
is so, and reports what a change of the start cost (`PrefixMonitor`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..cancel import CancelToken
from ..messages import Message, TokenUsage, ToolSchema
from ..provider import SystemInstruction, tools_by_name
from ._plugin import CacheUsage, Covers, Prepared, Settings, settings

if TYPE_CHECKING:
    from ..budget import InstructionBudget


class ImplicitCachePlugin:
    """For the provider of that name, or for any. Has no settings."""

    name = "implicit"
    covers: Covers = "conversation"

    def __init__(self, provider_name: str = "") -> None:
        self.provider_name = provider_name

    def initialize(self, config: Mapping[str, Any]) -> None:
        """Refuse whatever is set: there is nothing to choose."""
        settings(Settings, config, self.name)

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
        """The request without a mark. Tools come back by name: in another order they would be another prefix."""
        return Prepared(tuple(messages), system, tuple(tools_by_name(tools)))

    def extract_usage(self, usage: TokenUsage) -> CacheUsage:
        """What was read and what was paid in full; what the service stores it does not tell, and mostly not charge."""
        return CacheUsage.of(usage)

    def on_collected(self, before: Sequence[Message], after: Sequence[Message]) -> None:
        """Nothing to do: the service finds prefixes by their content."""

    def lost(self, name: str) -> bool:
        """False: nothing has a name."""
        return False
