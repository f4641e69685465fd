"""The services that libraries are bound to, each with the model that a binding names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from turnproof.provider import Binding, Endpoint
from turnproof.reproducer import Reproducer

from .capabilities import COMMON_CAPABILITIES


@dataclass(frozen=True, slots=True)
class Service:
    """A service: its name in the names of bindings, its wire API, and a model."""

    name: str
    dialect: str
    model: str

    def binding(
        self, library: str, opener: Callable[[Endpoint], Any], package: str, reproducer: Reproducer, **claims: Any
    ) -> Binding:
        """How a library is opened for this service. `claims` are what differs from `COMMON_CAPABILITIES`."""
        return Binding(
            name=f"{library}-{self.name}",
            dialect=self.dialect,
            model=self.model,
            capabilities=replace(COMMON_CAPABILITIES, **claims),
            open_stateless=opener,
            package=package,
            reproducer=reproducer,
        )


ANTHROPIC = Service("anthropic", "anthropic-messages", "claude-sonnet-4-6")
OPENAI = Service("openai", "openai-chat", "gpt-5-mini")
RESPONSES = Service("responses", "openai-responses", "gpt-5-mini")
GEMINI = Service("gemini", "gemini", "gemini-2.5-flash")
