"""What every rule looks at: the body, the steps in their places, the model's facts, and the world."""

from __future__ import annotations

from dataclasses import dataclass

from ...base import HttpRequest, Refusal, Rule, World
from ...error_answers import bad_request
from ...judged_request import JudgedItems
from ..addresses import InteractionsCall
from ..steps import kind_of


@dataclass(frozen=True, slots=True)
class Context(JudgedItems[InteractionsCall]):
    """One request under judgement. Its items are steps."""

    @classmethod
    def from_request(cls, request: HttpRequest, call: InteractionsCall, world: World) -> Context:
        return cls.of_items(request, call, world, call.steps, kind_of)


def refuse(rule: Rule, message: str, path: str = "$") -> Refusal:
    """The usual refusal: 400, an invalid request."""
    return bad_request(rule, "invalid_request", message, path)
