"""Operations on what the service keeps: it must be kept, and only a response in the background can be cancelled."""

from __future__ import annotations

from collections.abc import Iterator

from ...base import Refusal, World
from .. import rules
from ..store import kept_conversation, kept_response
from ..stored_operations import unknown_conversation, unknown_response
from ..surfaces import ResponsesCall


def check(call: ResponsesCall, world: World) -> Iterator[Refusal]:
    """What is wrong with a request to read, change or delete what is stored."""
    if call.stored_kind in ("response", "input_items"):
        found = kept_response(world, call.resource)
        if found is None:
            yield unknown_response(call.resource)
        elif call.action == "cancel" and found.current.get("background") is not True:
            message = "Cannot cancel a synchronous response."
            yield Refusal(rules.NOT_IN_BACKGROUND, 400, "invalid_request_error", message)
    elif call.resource is not None and kept_conversation(world, call.resource) is None:
        yield unknown_conversation(call.resource)
