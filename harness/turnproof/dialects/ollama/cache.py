"""What is counted of a prompt: what the window leaves of it. The server has a cache, and never tells of it."""

from __future__ import annotations

from collections.abc import Callable

from ..base import Call, ModelFacts, PromptUsage
from .window import counted, window_of


class OllamaCache:
    """One run's cache, of which nothing is seen (`ollama.md` §6: no request field, no usage field)."""

    def account(self, call: Call, facts: ModelFacts, now: float) -> tuple[PromptUsage, Callable[[], None]]:
        """How the prompt is counted; there is nothing to do when the response has begun."""
        return PromptUsage(counted(call, window_of(call, facts))), lambda: None
