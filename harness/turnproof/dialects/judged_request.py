"""What the rules of every dialect look at in a request that is judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Self, TypeVar

from .base import Call, HttpRequest, ModelFacts, World
from .stored_calls import StoredCall

CallT = TypeVar("CallT", bound=Call)
StoredCallT = TypeVar("StoredCallT", bound=StoredCall)


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


class Placed(NamedTuple):
    """An item of a conversation, its type, and where it stood in the request (`input[3]`)."""

    path: str
    kind: str
    item: Mapping[str, Any]

    @property
    def id(self) -> str | None:
        """The id of the item, if it names one."""
        name = self.item.get("id")
        return name if isinstance(name, str) and name else None


@dataclass(frozen=True, slots=True)
class JudgedItems(JudgedRequest[StoredCallT]):
    """One whose conversation is a list of typed items.

    `sent` are those of the request, `carried` those that the service held before it.
    """

    body: Mapping[str, Any]
    sent: Sequence[Placed]
    carried: Sequence[Mapping[str, Any]]

    @classmethod
    def of_items(
        cls,
        request: HttpRequest,
        call: StoredCallT,
        world: World,
        items: Sequence[Mapping[str, Any]],
        kind_of: Callable[[Mapping[str, Any]], str],
    ) -> Self:
        """A request with the items of its whole conversation, which begins with those that the service held."""
        own = items[call.carried :]
        return cls(
            request=request,
            call=call,
            world=world,
            facts=world.models.get(call.model or ""),
            body=call.body or {},
            sent=[Placed(f"input[{n}]", kind_of(item), item) for n, item in enumerate(own)],
            carried=items[: call.carried],
        )
