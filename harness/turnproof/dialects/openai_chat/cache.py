"""The implicit prompt cache: a prefix that was seen within five minutes is counted as cached.

What is cached is a part of the prompt's tokens, grows in steps and never reaches the prompt's end (`openai-chat.md` §5:
1024 of 1150, 1280 of 1370; `zai.md` §5). Newer models count by single tokens and also say what they wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..base import Call, ModelFacts, PromptUsage
from ..prefix_cache import PrefixStore
from .counting import cells, count
from .models import IMPLICIT_CACHE, ONE_TOKEN_STEPS, dated
from .surfaces import ChatCall, Surface

_STEPS: Mapping[Surface, int] = {Surface.ZAI: 64}
_STEP = 128


class ChatCache:
    """One run's cache. Caches are kept per model; an alias and the id it stands for share one."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface
        self._store = PrefixStore(lookback=1)

    def account(self, call: Call, facts: ModelFacts, now: float) -> tuple[PromptUsage, Callable[[], None]]:
        """How the prompt is counted at `now`, and the function to call when the response has begun."""
        surface, whole = ChatCall.of(call, self._surface).surface, count(call)
        if surface is Surface.OLLAMA:
            # What does not fit was dropped before anything was counted.
            return PromptUsage(min(whole, facts.context_tokens)), _nothing
        if call.operation != "generate" or IMPLICIT_CACHE not in facts.features:
            return PromptUsage(whole), _nothing
        usage, commit = self._store.account(cells(call), 0, dated(facts).encode(), facts.cache_minimum_tokens, now)
        if ONE_TOKEN_STEPS in facts.features:
            return usage, commit
        read = min(usage.cache_read, whole - 1)
        read -= read % _STEPS.get(surface, _STEP)
        return PromptUsage(whole - read, cache_read=read), commit


def _nothing() -> None:
    """Nothing is remembered of this prompt."""
