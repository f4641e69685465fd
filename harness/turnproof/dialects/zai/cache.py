"""The prompt cache of this service: it works by itself, by prefix, in steps of 64 tokens; writing is free.

How long an entry lives is not stated; here it is five minutes from its last use. That a `cache_control` has no effect
is inferred: none was seen to have any.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..anthropic_messages.counting import TAIL_TOKENS, cells
from ..base import Call, ModelFacts, PromptUsage
from ..prefix_cache import PrefixStore, in_steps, open_ended

STEP = 64
"""Hits were reported in multiples of it (`zai.md` §5)."""


class ZaiCache:
    """One run's cache. Caches are kept per model; a Claude name shares that of the model it is mapped to."""

    def __init__(self) -> None:
        self._store = PrefixStore(lookback=1)

    def account(self, call: Call, facts: ModelFacts, now: float) -> tuple[PromptUsage, Callable[[], None]]:
        """How the prompt is counted at `now`, and the function to call when the response has begun.

        Every cell but the last ends a prefix that may be found again. Nothing is ever counted as written.
        """
        row = open_ended(replace(cell, mark="5m") for cell in cells(call.body))
        usage, commit = self._store.account_for(row, facts, now, tail=TAIL_TOKENS)
        return in_steps(usage.whole, usage.cache_read, STEP), commit
