"""What the service holds: the previous response or the conversation, items that are only named, and no item twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...base import Refusal
from .. import rules
from ..conversation import is_by_name
from ..store import can_go_on_from, has_expired, issued_item, kept_conversation, previous_response
from ..stored_operations import unknown_conversation
from ..surfaces import conversation_id
from .context import Context, refuse

_UNFINISHED = frozenset({"queued", "in_progress", "failed", "cancelled"})


def check(context: Context) -> Iterator[Refusal]:
    """Rules about ids that must, or must not, be known."""
    yield from _history(context)
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


def _history(context: Context) -> Iterator[Refusal]:
    """What the request goes on from must be there, and be one thing."""
    previous, conversation = context.body.get("previous_response_id"), conversation_id(context.body)
    where = "previous_response_id"
    if previous is not None:
        found = previous_response(context.world, previous, context.call.socket)
        if found is None or not can_go_on_from(context.world, previous, context.call.socket):
            message = f"Previous response with id '{previous}' not found."
            unknown = refuse(rules.PREVIOUS_RESPONSE, message, where, "previous_response_not_found")
            yield replace(unknown, outdated=has_expired(context.world, previous))
        elif found.current.get("status") in _UNFINISHED:
            message = f"Previous response with id '{previous}' has the status '{found.current['status']}'."
            yield refuse(rules.UNFINISHED_PREVIOUS, message, where)
        if conversation is not None:
            message = f"'{where}' cannot be used in conjunction with 'conversation'."
            yield refuse(rules.TWO_HISTORIES, message, where)
    if conversation is not None and kept_conversation(context.world, conversation) is None:
        yield unknown_conversation(conversation)
    if context.body.get("background") is True and context.body.get("store") is False:
        yield refuse(rules.BACKGROUND_UNSTORED, "Background mode requires 'store' to be true.", "store")


def _is_stored(context: Context, name: str) -> bool:
    found = issued_item(context.world, name)
    return found is not None and found.stored


def _not_found(name: str) -> Refusal:
    message = (
        f"Item with id '{name}' not found. Items are not persisted when `store` is set to false. Try again with "
        "`store` set to true, or remove this item from your input."
    )
    return Refusal(rules.ITEM_NOT_FOUND, 404, "invalid_request_error", message, "$.input")
