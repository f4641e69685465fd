"""What every rule looks at: the body, the steps in their places, the model's facts, and the world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...base import HttpRequest, Refusal, Rule, World
from ...error_answers import bad_request
from ...judged_request import JudgedRequest
from ..addresses import InteractionsCall, Step
from ..steps import kind_of


class Placed(NamedTuple):
    """A step, its type, and where it stood in the request (`input[3]`)."""

    path: str
    kind: str
    step: Step


@dataclass(frozen=True, slots=True)
class Context(JudgedRequest[InteractionsCall]):
    """One request under judgement. `sent` are the steps of the request, `carried` those the service held before it.

    `facts` is None for an unknown model: rules about models are then silent.
    """

    body: Mapping[str, Any]
    sent: Sequence[Placed]
    carried: Sequence[Step]

    @classmethod
    def from_request(cls, request: HttpRequest, call: InteractionsCall, world: World) -> Context:
        own = call.steps[call.carried :]
        return cls(
            request=request,
            call=call,
            world=world,
            body=call.body or {},
            sent=[Placed(f"input[{n}]", kind_of(step), step) for n, step in enumerate(own)],
            carried=call.steps[: call.carried],
            facts=world.models.get(call.model or ""),
        )


def refuse(rule: Rule, message: str, path: str = "$") -> Refusal:
    """The usual refusal: 400, an invalid request."""
    return bad_request(rule, "invalid_request", message, path)
