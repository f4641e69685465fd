"""The items of a request as one conversation: what the service holds in front, references replaced, then messages.

Neighbouring items of the model make one message, neighbouring outputs another. What stands in the name of `system` or
`developer` before anybody else has spoken belongs to the instructions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from ...messages import FunctionCall, Message, Part, Role
from ..base import World
from .items import kind_of, parts_of
from .store import issued_item
from .surfaces import Item

_ROLES: dict[str, Role] = {"user": "user", "assistant": "model", "system": "system", "developer": "system"}


def role_of(item: Item) -> Role:
    """Who speaks in an item. A message in a role that there is not counts as the user's; `validate` refuses it."""
    match kind_of(item):
        case "message":
            return _ROLES.get(str(item.get("role")), "user")
        case kind if kind.endswith("_output"):
            return "tool"
        case _:
            return "model"


def resolved(items: Sequence[Item], world: World) -> tuple[Item, ...]:
    """The items, each that only names another replaced by what is stored under its id; one that names nothing stays."""
    return tuple(_resolved(item, world) if is_by_name(item) else item for item in items)


def is_by_name(item: Item) -> bool:
    """Whether the service must look the item up: a reference, or reasoning without anything to read."""
    if kind_of(item) == "reasoning":
        return not item.get("encrypted_content") and not item.get("content")
    return kind_of(item) == "item_reference"


def _resolved(item: Item, world: World) -> Item:
    found = issued_item(world, item.get("id"))
    return found.item if found is not None and found.stored else item


def count_instructions(items: Sequence[Item]) -> int:
    """How many items in front are instructions."""
    return next((n for n, item in enumerate(items) if role_of(item) != "system"), len(items))


def messages(items: Sequence[Item], model: str, path: str = "input") -> tuple[Message, ...]:
    """The conversation behind its opening instructions."""
    start = count_instructions(items)
    return tuple(_messages(list(enumerate(items))[start:], model, path))


def _messages(placed: Sequence[tuple[int, Item]], model: str, path: str) -> Iterator[Message]:
    names: dict[str, str] = {}
    for (role, _), run in groupby(placed, key=lambda each: _place(*each)):
        parts: list[Part] = []
        first = -1
        for n, item in run:
            first = n if first < 0 else first
            parts += parts_of(item, model, names)
        names |= {part.id: part.name for part in parts if isinstance(part, FunctionCall)}
        yield Message(role, tuple(parts), f"{path}[{first}]")


def _place(n: int, item: Item) -> tuple[Role, int]:
    """What neighbours share that make one message: users and instructions keep their own."""
    role = role_of(item)
    return role, n if role in ("user", "system") else -1
