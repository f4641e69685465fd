"""What every rule looks at: the body, its messages, the model's facts, the surface, and the world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...base import HttpRequest, ModelFacts, Refusal, Rule, World
from ...judged_request import JudgedRequest
from .. import errors
from ..surface_table import SURFACE_TABLE
from ..surfaces import ChatCall, Surface


@dataclass(frozen=True, slots=True)
class Context(JudgedRequest[ChatCall]):
    """One request for an answer under judgement.

    `facts` is None for a model that the surface does not have: rules about models are then silent.
    """

    body: Mapping[str, Any]
    messages: Sequence[Mapping[str, Any]]

    @classmethod
    def from_request(cls, request: HttpRequest, call: ChatCall, world: World) -> Context:
        body = call.body
        return cls(request, call, world, facts_of(call, world), body, body["messages"])

    @property
    def surface(self) -> Surface:
        return self.call.surface

    @property
    def window(self) -> int | None:
        """The most tokens that a prompt may have; None for an unknown model."""
        if self.facts is None:
            return None
        limit = SURFACE_TABLE[self.surface].window
        return self.facts.context_tokens if limit is None else min(limit, self.facts.context_tokens)

    def refuse(self, rule: Rule, kind: str, message: str, path: str = "$") -> Refusal:
        """The usual refusal: 400, in the form of the surface."""
        return errors.refuse(self.surface, rule, kind, message, path)


def facts_of(call: ChatCall, world: World) -> ModelFacts | None:
    """What is known of the model that is asked; None where the surface does not have it.

    A deployment of Azure has the name that its customer gave it: any model of the world may be one.
    """
    facts = world.models.get(call.model or "")
    if facts is None or call.surface is Surface.AZURE:
        return facts
    surfaces = {feature for feature in facts.features if feature.startswith("on:")}
    return facts if not surfaces or f"on:{call.surface}" in surfaces else None
