"""What the service keeps: the previous interaction must be there, and an operation needs what it is about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...base import Refusal, World
from .. import rules
from ..addresses import InteractionsCall
from ..store import has_expired, kept_interaction
from ..stored_operations import has_event, unknown_interaction
from .context import Context, refuse

_UNFINISHED = frozenset({"queued", "in_progress", "failed", "cancelled"})


def check(context: Context) -> Iterator[Refusal]:
    """What a request goes on from, and what it asks to have kept."""
    previous = context.body.get("previous_interaction_id")
    if previous is not None:
        found = kept_interaction(context.world, previous)
        if found is None:
            yield replace(unknown_interaction(previous), outdated=has_expired(context.world, previous))
        elif (status := found.current.get("status")) in _UNFINISHED:
            message = f"The interaction {previous} has the status {status!r}."
            yield refuse(rules.UNFINISHED_PREVIOUS, message, "previous_interaction_id")
    if context.call.background and not context.call.stored:
        yield refuse(rules.BACKGROUND_UNSTORED, "`background` requires `store`.", "store")


def check_operation(call: InteractionsCall, world: World) -> Iterator[Refusal]:
    """What is wrong with a request to read, cancel or delete an interaction."""
    found = kept_interaction(world, call.resource)
    if found is None:
        yield replace(unknown_interaction(call.resource), outdated=has_expired(world, call.resource))
    elif call.action == "cancel" and found.final is None:
        message = f"The interaction {call.resource} is not in progress."
        yield refuse(rules.NOT_IN_BACKGROUND, message)
    elif call.settings.get("last_event_id") and not call.stream:
        yield refuse(rules.RESUMED_WITHOUT_STREAM, "`last_event_id` requires `stream`.", "last_event_id")
    elif (last := call.settings.get("last_event_id")) and found.events and not has_event(found.events, last):
        message = f"The stream of {call.resource} has no event with the id {last!r}."
        yield refuse(rules.RESUMED_ELSEWHERE, message, "last_event_id")
