"""What every rule looks at: the body, the items in their places, the model's facts, and the world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...base import HttpRequest, Refusal, Rule, World
from ...error_answers import bad_request
from ...judged_request import JudgedRequest
from ..items import id_of, kind_of
from ..surfaces import Item, ResponsesCall


class Placed(NamedTuple):
    """An item, its type, and where it stood in the request (`input[3]`)."""

    path: str
    kind: str
    item: Item

    @property
    def id(self) -> str | None:
        """The id of the item, if it names one."""
        return id_of(self.item)


@dataclass(frozen=True, slots=True)
class Context(JudgedRequest[ResponsesCall]):
    """One request under judgement. `sent` are the items of the request, `carried` those the service held before it.

    `facts` is None for an unknown model: rules about models are then silent.
    """

    body: Mapping[str, Any]
    sent: Sequence[Placed]
    carried: Sequence[Item]

    @classmethod
    def from_request(cls, request: HttpRequest, call: ResponsesCall, world: World) -> Context:
        own = call.items[call.carried :]
        return cls(
            request=request,
            call=call,
            world=world,
            body=call.body or {},
            sent=[Placed(f"input[{n}]", kind_of(item), item) for n, item in enumerate(own)],
            carried=call.items[: call.carried],
            facts=world.models.get(call.model or ""),
        )

    @property
    def counting(self) -> bool:
        """Whether the request asks for no answer of the model."""
        return self.call.operation != "generate"


def refuse(rule: Rule, message: str, path: str = "$", code: str = "invalid_request_error") -> Refusal:
    """The usual refusal: 400, an invalid request."""
    return bad_request(rule, code, message, path)
