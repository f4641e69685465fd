"""What a recorded or real answer tells the world: its items, what it encrypted, what is kept and what is gone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..base import Call, World
from ..lenient_reading import json_of
from .framing import all_documents, is_stream
from .socket_memory import socket_of
from .store import (
    Conversation,
    forget,
    keep_conversation,
    kept_conversation,
    kept_response,
    previous_response,
    remember,
    remember_encrypted,
    remember_items,
)
from .stored_response import output_of
from .surfaces import Item, ResponsesCall

_OPEN = (None, "in_progress", "queued")


def observe(call: Call, status: int, headers: Mapping[str, str], body: bytes, world: World) -> None:
    """Remember what an answer to `call` issued. An answer that names its model is believed."""
    own_call = ResponsesCall.from_call(call)
    if status != 200:
        return
    if own_call.operation == "stored" and not own_call.warms_up:
        found = json_of(body)
        if isinstance(found, dict):
            _observe_store(own_call, found, world)
        return
    previous = previous_response(world, (own_call.body or {}).get("previous_response_id"), own_call.socket)
    for response in _response_object(headers, body):
        # An organisation without retention stores nothing, whatever was asked; the answer says so.
        stored = response["store"] if isinstance(response.get("store"), bool) else own_call.stored
        remember(
            response, own_call.items[own_call.carried :], world, stored=stored, model=_issuer(response, call),
            previous=previous, conversation=kept_conversation(world, own_call.conversation),
            socket=socket_of(world, own_call), lane=own_call.lane,
        )  # fmt: skip


def _issuer(response: Item, call: Call) -> str:
    model = response.get("model")
    return model if isinstance(model, str) and model else call.model or ""


def _observe_store(call: ResponsesCall, found: dict[str, Any], world: World) -> None:
    """What an operation on the store tells: a response as it is now, a new conversation or more items, what is gone."""
    if call.action == "delete" and found.get("deleted") is True:
        forget(world, str(call.resource))
    elif found.get("object") == "response.compaction":
        remember_items(output_of(found), world, stored=False)
        remember_encrypted(output_of(found), call.model or "", world)
    elif found.get("object") == "response" and (stored := kept_response(world, call.resource)) is not None:
        stored.current = found
        remember_items(output_of(found), world, stored=stored.stored)
        remember_encrypted(output_of(found), _issuer(found, call), world)
    elif found.get("object") == "conversation" and call.action == "create":
        items = (call.body or {}).get("items") or []
        keep_conversation(world, Conversation(str(found.get("id")), 0, items=list(items)))
    elif call.stored_kind == "items" and call.action == "create":
        conversation = kept_conversation(world, call.resource)
        added = found.get("data")
        if conversation is not None and isinstance(added, list):
            conversation.items += [item for item in added if isinstance(item, dict)]


def _response_object(headers: Mapping[str, str], body: bytes) -> Iterator[dict[str, Any]]:
    """The response as a batch answer gives it; as a stream gives it, at its end and item by item.

    Recorded: encrypted content is drawn anew for every event that shows an item, so the two differ and both are good.
    """
    if not is_stream(headers, body):
        if isinstance(found := json_of(body), dict) and "output" in found:
            yield found
        return
    last: dict[str, Any] = {}
    done: list[Any] = []
    for event in all_documents(headers, body):
        match event:
            case {"type": "response.output_item.done", "item": dict(item)}:
                done.append(item)
            case {"type": str(), "response": dict(response)}:
                last = response
    if last.get("status") not in _OPEN:
        yield last
    if done:
        yield last | {"output": done}
