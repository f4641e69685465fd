"""The items of a request as one conversation: what the service holds in front, references replaced, then messages.

Neighbouring items of the model make one message, neighbouring outputs another. What stands in the name of `system` or
`developer` before anybody else has spoken belongs to the instructions.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ...messages import Message, Role
from ..base import World
from ..item_messages import item_messages
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
    placed = list(enumerate(items))[start:]
    read = partial(parts_of, model=model)
    return tuple(item_messages(placed, role_of, read, apart=("user", "system"), path=path))
