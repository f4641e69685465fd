"""How a prompt is counted: from a managed cache if it names one, else from what was seen before.

The service caches prefixes by itself since 2.5 and promises nothing about it. Here it does so whenever a prefix of at
least the documented minimum was part of an earlier prompt to the same model within five minutes.
"""

from __future__ import annotations

from collections.abc import Callable

from ..base import Call, ModelFacts, PromptUsage
from ..prefix_cache import PrefixStore
from .counting import cells, count, managed
from .models import IMPLICIT_CACHE, dated


class GeminiCache:
    """One run's cache. Caches are kept per model; an alias and the id it stands for share one."""

    def __init__(self) -> None:
        self._store = PrefixStore(lookback=1)

    def account(self, call: Call, facts: ModelFacts, now: float) -> tuple[PromptUsage, Callable[[], None]]:
        """How the prompt is counted at `now`, and the function to call when the response has begun.

        Nothing is ever counted as written: storing costs no tokens here.
        """
        whole, held = count(call), managed(call)
        if held:
            return PromptUsage(whole - held, cache_read=held), _nothing
        if call.operation != "generate" or IMPLICIT_CACHE not in facts.features:
            return PromptUsage(whole), _nothing
        salt = dated(facts).encode()
        usage, commit = self._store.account(cells(call), 0, salt, facts.cache_minimum_tokens, now)
        return PromptUsage(whole - usage.cache_read, cache_read=usage.cache_read), commit


def _nothing() -> None:
    """A managed cache lives no longer for being used, and older models remember nothing."""
