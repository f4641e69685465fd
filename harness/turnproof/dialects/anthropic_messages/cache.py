"""The prompt cache of this API: minimum by model, 20 positions of lookback, lives of 5 minutes and 1 hour."""

from __future__ import annotations

from collections.abc import Callable

from ..base import Call, ModelFacts, PromptUsage
from ..prefix_cache import PrefixStore
from .counting import TAIL_TOKENS, cells
from .models import dated

LOOKBACK = 20
"""Positions looked back from a breakpoint, which counts as one of them (documentation, `anthropic.md` §7)."""


class MessagesCache:
    """One run's cache. Caches are kept per model; an alias and its dated id share one."""

    def __init__(self) -> None:
        self._store = PrefixStore(lookback=LOOKBACK)

    def account(self, call: Call, facts: ModelFacts, now: float) -> tuple[PromptUsage, Callable[[], None]]:
        """How the prompt is counted at `now`, and the function to call when the response has begun."""
        return self._store.account(
            cells(call.body), TAIL_TOKENS, dated(facts).encode(), facts.cache_minimum_tokens, now
        )
