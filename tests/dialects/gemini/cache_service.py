"""The Gemini API on a clock that the test moves, for tests of caches, counts and models."""

from __future__ import annotations

from typing import Any

import msgspec

from turnproof.dialects.base import Call, PromptUsage, World
from turnproof.dialects.gemini import DIALECT

from .asks import Ask, created

SHORT = "How moist is bed 3?"


class Service:
    """The service on a clock that the test moves: what is sent is parsed, validated and answered."""

    def __init__(self, seed: str = "s") -> None:
        self.now = 1_700_000_000.0
        self.seed = seed
        self.world = World(frozenset(), DIALECT.models, lambda: self.now, any_key=True)
        self.cache = DIALECT.new_cache()

    def parse(self, sendable: Ask) -> Call:
        found = DIALECT.parse(sendable.request(), self.world)
        assert isinstance(found, Call), found
        return found

    def send(self, sendable: Ask) -> tuple[int, Any]:
        """Status and JSON of the answer to an operation that no script speaks of."""
        found = self.parse(sendable)
        for refusal in DIALECT.validate(sendable.request(), found, self.world):
            return refusal.status, refusal.message
        usage = self.account(found)[0] if found.model else PromptUsage(0)
        rendered = DIALECT.render_extra(found, usage, self.world, self.seed)
        return rendered.status, msgspec.json.decode(rendered.events[0].data)

    def make(self, request: Ask | None = None) -> dict[str, Any]:
        status, cache = self.send(request or created())
        assert status == 200, cache
        assert isinstance(cache, dict)
        return cache

    def account(self, found: Call) -> tuple[PromptUsage, Any]:
        return self.cache.account(found, DIALECT.models[found.model or ""], self.now)

    def use(self, request: Ask) -> PromptUsage:
        """Generate: how the prompt was counted."""
        found = self.parse(request)
        usage, commit = self.account(found)
        commit()
        assert usage.whole == DIALECT.count(found)
        return usage
