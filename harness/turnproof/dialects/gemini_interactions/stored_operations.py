"""Operations on what the service keeps: an interaction is read, taken up again as a stream, cancelled, deleted.

An interaction in the background is in progress when it is created and when it is first asked for, and finished the next
time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..base import Refusal, Rendered, WireEvent, World
from . import rules
from .addresses import InteractionsCall, Step
from .errors import render_refusal
from .finishes import CANCELLED
from .store import StoredInteraction, forget, kept_interaction
from .writing import JSON_HEADERS, STREAM_HEADERS, body_event


def unknown_interaction(name: object) -> Refusal:
    """403: no interaction of this caller is kept under this id."""
    message = f"You do not have permission to access the interaction {name} or it may not exist."
    return Refusal(rules.UNKNOWN_INTERACTION, 403, "permission_denied", message)


def render_stored(call: InteractionsCall, world: World, seed: str) -> Rendered:
    """The answer to an operation on the store, which changes it."""
    found = kept_interaction(world, call.resource)
    if found is None:
        return render_refusal(unknown_interaction(call.resource), seed)
    match call.action:
        case "delete":
            forget(world, str(call.resource))
            return _whole({})
        case "cancel":
            if found.final is not None:
                found.current, found.final = {**found.current, "status": CANCELLED}, None
            return _whole(found.current)
    if call.stream and found.events:
        found.current, found.final = found.final or found.current, None
        return Rendered(200, STREAM_HEADERS, _events_after(found.events, call.settings.get("last_event_id")))
    return _whole(_with_input(_next_state(found), found, call))


def _whole(body: Mapping[str, Any]) -> Rendered:
    return Rendered(200, JSON_HEADERS, (body_event(dict(body)),))


def _next_state(found: StoredInteraction) -> Step:
    """A stored interaction as it is now. One in the background makes progress each time it is asked for."""
    if found.final is not None and found.was_asked_for:
        found.current, found.final = found.final, None
    found.was_asked_for = True
    return found.current


def _with_input(interaction: Step, found: StoredInteraction, call: InteractionsCall) -> Step:
    """What the stored interaction has beside the answer: the steps that were asked with, in front of its own
    (documented), and the input where it is asked for."""
    steps = interaction.get("steps")
    whole = {**interaction, "steps": [*found.input_steps, *steps]} if isinstance(steps, list) else dict(interaction)
    return whole | {"input": list(found.input_steps)} if call.settings.get("include_input") == "true" else whole


def has_event(events: tuple[WireEvent, ...], event_id: object) -> bool:
    """Whether a stream has an event with this id."""
    return _place(events, event_id) is not None


def _events_after(events: tuple[WireEvent, ...], last: object) -> tuple[WireEvent, ...]:
    """The events that come behind the one with this id; all of them without one, or where nobody knows it."""
    at = _place(events, last)
    return events if at is None else events[at + 1 :]


def _place(events: tuple[WireEvent, ...], event_id: object) -> int | None:
    mark = f'"event_id":"{event_id}"'.encode()
    return next((n for n, event in enumerate(events) if mark in event.data), None)
