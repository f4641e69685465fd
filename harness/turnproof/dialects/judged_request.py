"""What the rules of every dialect look at in a request that is judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from .base import Call, HttpRequest, ModelFacts, World

CallT = TypeVar("CallT", bound=Call)


@dataclass(frozen=True, slots=True)
class JudgedRequest(Generic[CallT]):
    """One request under judgement; a dialect's subclass adds what its own rules look at.

    `facts` is None for an unknown model: rules about models are then silent.
    """

    request: HttpRequest
    call: CallT
    world: World
    facts: ModelFacts | None

    def has(self, feature: str) -> bool:
        """Whether the model is known to have a feature of the model table."""
        return self.facts is not None and feature in self.facts.features
