"""The prompt cache of this API: it works by itself, from 1024 tokens on, in steps of 128 (`openai-chat.md` §5).

Since GPT-5.6 it counts by single tokens and says what was written.
"""

from __future__ import annotations

from collections.abc import Callable

from ..base import Call, ModelFacts, PromptUsage
from ..prefix_cache import PrefixStore
from .counting import cells
from .models import ONE_TOKEN_STEPS, dated

STEP = 128


class ResponsesCache:
    """One run's cache. Caches are kept per model; an alias and its dated id share one."""

    def __init__(self) -> None:
        self._store = PrefixStore(lookback=1)

    def account(self, call: Call, facts: ModelFacts, now: float) -> tuple[PromptUsage, Callable[[], None]]:
        """How the prompt is counted at `now`, and the function to call when the response has begun."""
        row = cells(call)
        whole = sum(cell.tokens for cell in row)
        if call.operation != "generate":
            return PromptUsage(whole), _nothing
        usage, commit = self._store.account(row, 0, dated(facts).encode(), facts.cache_minimum_tokens, now)
        if ONE_TOKEN_STEPS in facts.features:
            return usage, commit
        read = usage.cache_read // STEP * STEP
        return PromptUsage(whole - read, cache_read=read), commit


def _nothing() -> None:
    """Counting leaves nothing behind."""
