"""What the service holds: the previous response, items that are only named, and no item twice."""

from __future__ import annotations

from collections.abc import Iterator

from ...base import Refusal
from .. import rules
from ..conversation import is_by_name
from ..store import issued_item, stored_response
from .context import Context, refuse


def check(context: Context) -> Iterator[Refusal]:
    """Rules about ids that must, or must not, be known."""
    previous = context.body.get("previous_response_id")
    if previous is not None and stored_response(context.world, previous) is None:
        message = f"Previous response with id '{previous}' not found."
        where = "previous_response_id"
        yield refuse(rules.PREVIOUS_RESPONSE, message, where, "previous_response_not_found")
    seen: set[str] = set()
    for placed in context.sent:
        name = placed.id
        if name is None:
            continue
        if name in seen:
            message = f"Duplicate item found with id {name}. Remove duplicate items from your input and try again."
            yield refuse(rules.DUPLICATE_ITEM, message, "input")
        seen.add(name)
        if is_by_name(placed.item) and not _is_stored(context, name):
            yield _not_found(name)


def _is_stored(context: Context, name: str) -> bool:
    found = issued_item(context.world, name)
    return found is not None and found.stored


def _not_found(name: str) -> Refusal:
    message = (
        f"Item with id '{name}' not found. Items are not persisted when `store` is set to false. Try again with "
        "`store` set to true, or remove this item from your input."
    )
    return Refusal(rules.ITEM_NOT_FOUND, 404, "invalid_request_error", message, "$.input")
