"""Operations on what the service keeps: responses, what was asked for them, conversations and their items.

A response in the background is queued when it is created, in progress when it is first asked for, and finished then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..base import PromptUsage, Refusal, Rendered, World
from . import rules
from .compaction import compacted
from .errors import render_refusal
from .items import id_of
from .store import Conversation, forget, keep_conversation, kept_conversation, kept_response, seed_of_creation
from .stored_items import page, stored_form, whole_number
from .stored_response import StoredResponse
from .surfaces import Item, ResponsesCall
from .writing import body_event, item_id, request_id

Json = dict[str, Any]


def render_stored(call: ResponsesCall, usage: PromptUsage, world: World, seed: str) -> Rendered:
    """The answer to an operation on the store, which changes it."""
    if call.action == "compact":
        return _whole(compacted(call, usage, world, seed), seed)
    if call.stored_kind in ("response", "input_items"):
        found = kept_response(world, call.resource)
        if found is None:
            return render_refusal(unknown_response(call.resource), seed)
        return _of_response(call, found, world, seed)
    if call.action == "create" and call.stored_kind == "conversation":
        return _whole(_created(call, world, seed), seed)
    conversation = kept_conversation(world, call.resource)
    if conversation is None:
        return render_refusal(unknown_conversation(call.resource), seed)
    if call.stored_kind == "conversation":
        return _whole(_of_conversation(call, conversation, world), seed)
    return _of_items(call, conversation, world, seed)


def unknown_response(name: object) -> Refusal:
    """404: no response is kept under this id."""
    return Refusal(rules.RESPONSE_NOT_FOUND, 404, "invalid_request_error", f"Response with id '{name}' not found.")


def unknown_conversation(name: object) -> Refusal:
    """404: no conversation is kept under this id."""
    message = f"Conversation with id '{name}' not found."
    return Refusal(rules.CONVERSATION_NOT_FOUND, 404, "invalid_request_error", message)


def _whole(body: Mapping[str, Any], seed: str) -> Rendered:
    headers = {"content-type": "application/json", "x-request-id": request_id(seed)}
    return Rendered(200, headers, (body_event(dict(body)),))


# -- responses


def _of_response(call: ResponsesCall, found: StoredResponse, world: World, seed: str) -> Rendered:
    if call.stored_kind == "input_items":
        return _whole(page(stored_form(found.input_items, str(id_of(found.current))), call.settings), seed)
    match call.action:
        case "delete":
            forget(world, str(call.resource))
            return _whole({"id": call.resource, "object": "response", "deleted": True}, seed)
        case "cancel":
            if found.final is not None:
                found.current = {**found.current, "status": "cancelled", "output": []}
                found.final = None
            return _whole(found.current, seed)
    if call.settings.get("stream") == "true" and found.events:
        after = whole_number(call.settings.get("starting_after"))
        start = 0 if after is None else after + 1
        found.current, found.final = found.final or found.current, None
        headers = {"content-type": "text/event-stream; charset=utf-8", "x-request-id": request_id(seed)}
        return Rendered(200, headers, found.events[start:])
    return _whole(_next_state(found), seed)


def _next_state(found: StoredResponse) -> Item:
    """A stored response as it is now. One in the background makes progress each time it is asked for."""
    if found.final is not None:
        if found.current.get("status") == "queued":
            found.current = {**found.current, "status": "in_progress"}
        else:
            found.current, found.final = found.final, None
    return found.current


# -- conversations


def _created(call: ResponsesCall, world: World, seed: str) -> Json:
    body, seed = call.body or {}, seed_of_creation(world, seed)
    created = Conversation(item_id("conv", seed), int(world.clock()), dict(body.get("metadata") or {}))
    created.items += stored_form(body.get("items") or (), seed)
    keep_conversation(world, created)
    return _conversation_json(created)


def _conversation_json(conversation: Conversation) -> Json:
    return {
        "id": conversation.id,
        "object": "conversation",
        "created_at": conversation.created,
        "metadata": conversation.metadata,
    }


def _of_conversation(call: ResponsesCall, found: Conversation, world: World) -> Json:
    match call.action:
        case "delete":
            forget(world, found.id)
            return {"id": found.id, "object": "conversation.deleted", "deleted": True}
        case "update":
            found.metadata = dict((call.body or {}).get("metadata") or {})
    return _conversation_json(found)


def _of_items(call: ResponsesCall, found: Conversation, world: World, seed: str) -> Rendered:
    match call.action:
        case "create":
            added = stored_form((call.body or {}).get("items") or (), seed_of_creation(world, seed))
            found.items += added
            return _whole(page(added, {"order": "asc", "limit": str(max(1, len(added)))}), seed)
        case "list":
            return _whole(page(found.items, call.settings), seed)
    item = next((each for each in found.items if id_of(each) == call.item), None)
    if item is None:
        message = f"Item with id '{call.item}' not found."
        refusal = Refusal(rules.RESPONSE_NOT_FOUND, 404, "invalid_request_error", message)
        return render_refusal(refusal, seed)
    if call.action == "delete":
        found.items.remove(item)
        return _whole(_conversation_json(found), seed)
    return _whole(item, seed)
