"""Operations on what the service keeps: it must be kept, and only a response in the background can be cancelled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...base import Refusal, World
from .. import rules
from ..store import has_run_out, kept_conversation, kept_response
from ..stored_items import whole_number
from ..stored_operations import unknown_conversation, unknown_response
from ..surfaces import ResponsesCall


def check(call: ResponsesCall, world: World) -> Iterator[Refusal]:
    """What is wrong with a request to read, change or delete what is stored."""
    if call.stored_kind in ("response", "input_items"):
        found = kept_response(world, call.resource)
        if found is None:
            yield replace(unknown_response(call.resource), outdated=has_run_out(world, call.resource))
        elif call.action == "cancel" and found.current.get("background") is not True:
            message = "Cannot cancel a synchronous response."
            yield Refusal(rules.NOT_IN_BACKGROUND, 400, "invalid_request_error", message)
        elif call.settings.get("stream") == "true" and found.events:
            yield from _position(call.settings.get("starting_after"), len(found.events))
    elif call.resource is not None and kept_conversation(world, call.resource) is None:
        yield unknown_conversation(call.resource)


def _position(after: object, count: int) -> Iterator[Refusal]:
    """A stream is taken up again behind one of its events."""
    number = whole_number(after)
    if after is None or (number is not None and number < count):
        return
    message = f"The stream has no event with the number {after}: its events are 0 to {count - 1}."
    yield Refusal(rules.RESUMED_ELSEWHERE, 400, "invalid_request_error", message, "starting_after")
