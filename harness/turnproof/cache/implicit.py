"""Services that cache prefixes by themselves (OpenAI, ZhipuAI, Gemini since 2.5): nothing is marked, only watched.

Such a cache helps a conversation whose start never changes. A session that holds this plugin measures whether that
is so, and reports what a change of the start cost (`PrefixMonitor`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..cancel import CancelToken
from ._plugin import BasePlugin, Covers, Prepared, Settings, settings


class ImplicitCachePlugin(BasePlugin):
    """For the provider of that name, or for any. Has no settings."""

    name = "implicit"
    covers: Covers = "conversation"

    def __init__(self, provider_name: str = "") -> None:
        self.provider_name = provider_name

    def initialize(self, config: Mapping[str, Any]) -> None:
        """Refuse whatever is set: there is nothing to choose."""
        settings(Settings, config, self.name)

    def _mark(self, request: Prepared, token: CancelToken) -> Prepared:
        return request
