"""What the service remembers: items by id, responses by id with the chain that led to each, conversations with their
items, and what it has encrypted.

A response is stored unless the request says `store: false`; then nobody can name it or its items later. Which items
were given together is known of every response all the same, so that what is only inferred about unstored ones can be
logged. Encrypted content is known again by its bytes: `World.issued` has its digest and the model that issued it.

What is kept belongs to who asked for it: another owner cannot name it, and cannot send back what was encrypted for it.

A stored response is kept for thirty days on the world's clock, a conversation until it is deleted. A deleted response
is gone for who names it; a response that went on from it keeps what led to it.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from ..base import World
from ..catalogue import same_model
from ..owners import claim, is_own, own_resource
from .items import id_of, kind_of
from .models import MODELS
from .socket_memory import Socket, open_socket, was_held
from .stored_items import stored_form
from .stored_response import StoredResponse, complete_output, output_of
from .surfaces import Item

KEPT_SECONDS = 30 * 24 * 60 * 60
"""How long a response is kept (developers.openai.com, guide conversation-state)."""

_SEALED_BYTES = 192

_CREATIONS = "creations"
"""Where the world counts them; no id is like that."""


@dataclass(frozen=True, slots=True)
class IssuedItem:
    """An item as it was given. `reasoning` is the id of the reasoning item right before it; `follower`, of a reasoning
    item, the id of what came right after it."""

    item: Item
    stored: bool
    reasoning: str | None = None
    follower: str | None = None


@dataclass(slots=True)
class Conversation:
    """A conversation that collects the items of the responses which name it. `responses` has the ids of these."""

    id: str
    created: int
    metadata: dict[str, Any] = field(default_factory=dict)
    items: list[Item] = field(default_factory=list)
    responses: set[str] = field(default_factory=set)


def issued_item(world: World, item_id: object) -> IssuedItem | None:
    """The item that was given under this id; None for one that was not given here."""
    found = own_resource(world, item_id)
    return found if isinstance(found, IssuedItem) else None


def kept_response(world: World, response_id: object) -> StoredResponse | None:
    """The response that can be asked for under this id."""
    found = own_resource(world, response_id)
    return found if isinstance(found, StoredResponse) and _is_kept(found, world) else None


def stored_response(world: World, response_id: object) -> StoredResponse | None:
    """The response under this id, where a request can go on from it."""
    found = kept_response(world, response_id)
    return found if found is not None and found.stored else None


def previous_response(world: World, response_id: object, socket: int | None) -> StoredResponse | None:
    """The response that a request which came by this socket, or by HTTP, means by this id."""
    stored = stored_response(world, response_id)
    if stored is not None or socket is None or not isinstance(response_id, str):
        return stored
    return open_socket(world, socket).issued.get(response_id)


def can_go_on_from(world: World, response_id: object, socket: int | None) -> bool:
    """Whether the service has that response now: it is stored, or the socket holds it."""
    in_socket = socket is not None and open_socket(world, socket).holds(response_id)
    return in_socket or stored_response(world, response_id) is not None


def has_expired(world: World, response_id: object) -> bool:
    """Whether a request could go on from this response until the service's own rules ended that: its time was over, or
    the socket that held it has dropped it or is another one."""
    found = own_resource(world, response_id)
    if not isinstance(found, StoredResponse) or not found.stored:
        return was_held(world, response_id) and is_own(world, str(response_id))
    return has_run_out(world, response_id)


def has_run_out(world: World, response_id: object) -> bool:
    """Whether time alone ended that this response can be asked for."""
    found = own_resource(world, response_id)
    return isinstance(found, StoredResponse) and kept_response(world, response_id) is None


def kept_conversation(world: World, conversation_id: object) -> Conversation | None:
    """The conversation that is kept under this id."""
    found = own_resource(world, conversation_id)
    return found if isinstance(found, Conversation) else None


def kept_ids(world: World) -> tuple[str, ...]:
    """The ids of what owners can ask for, responses and conversations, in the order in which these were made."""
    return tuple(name for name, resource in world.resources.items() if _is_kept(resource, world))


def _is_kept(resource: object, world: World) -> bool:
    return isinstance(resource, Conversation) or (
        isinstance(resource, StoredResponse) and world.clock() - resource.since < KEPT_SECONDS
    )


def seed_of_creation(world: World, seed: str) -> str:
    """The seed for what a request creates that is no answer: of two equal requests, each has ids of its own."""
    count = world.resources.get(_CREATIONS, 0)
    world.resources[_CREATIONS] = count + 1
    return f"{seed}/{count}" if count else seed


def keep_conversation(world: World, conversation: Conversation) -> None:
    """Keep a new conversation."""
    world.resources[conversation.id] = conversation
    claim(world, conversation.id)


def forget(world: World, name: str) -> None:
    """Keep nothing under this id any more."""
    world.resources.pop(name, None)


def seal(text: str, model: str, seed: str) -> str:
    """Encrypted content for reasoning, in the form of the real one (`gAAAA…`). Equal arguments give the same."""
    random_bytes = b"".join(
        blake2b(f"{seed}\0{model}\0{n}\0{text}".encode(), digest_size=64).digest() for n in range(_SEALED_BYTES // 64)
    )
    return urlsafe_b64encode(b"\x80\x00\x00\x00\x00" + random_bytes[: _SEALED_BYTES - 5]).decode()


def digest(text: str) -> str:
    """The digest under which reasoning is known."""
    return blake2b(text.encode(), digest_size=16).hexdigest()


def remember(
    response: Item,
    input_items: Sequence[Item],
    world: World,
    *,
    stored: bool,
    model: str,
    previous: StoredResponse | None = None,
    conversation: Conversation | None = None,
    socket: Socket | None = None,
    lane: str = "",
) -> None:
    """Let the world know a whole response to the items that were `input_items` with; `model` is who issued it.

    It went on from the `previous` one, or from what the `conversation` holds, which then holds it too. The lane of the
    `socket` by which it was asked for holds it as well.
    """
    output = output_of(response)
    remember_items(output, world, stored=stored)
    remember_encrypted(output, model, world)
    name = id_of(response)
    if name is not None:
        claim(world, name)
    if socket is not None and name is not None and response.get("status") != "failed":
        socket.hold(lane, name, StoredResponse(response, tuple(input_items), world.clock(), previous, (), stored))
    if name is None or not (stored or response.get("background") is True):
        return
    if conversation is None:
        world.resources[name] = StoredResponse(response, tuple(input_items), world.clock(), previous, (), stored)
    elif name not in conversation.responses:
        # A retry gets the answer that its first request got: one conversation has nothing of it twice.
        earlier_items = tuple(conversation.items)
        world.resources[name] = StoredResponse(
            response, tuple(input_items), world.clock(), previous, earlier_items, stored
        )
        conversation.items += [*stored_form(input_items, name), *complete_output(response)]
        conversation.responses.add(name)


def remember_items(output: Sequence[Item], world: World, *, stored: bool) -> None:
    """Remember items that were given together, by their ids."""
    for before, item, after in zip((None, *output), output, (*output[1:], None), strict=False):
        if (name := id_of(item)) is not None:
            world.resources[name] = IssuedItem(item, stored, _id(before, "reasoning"), _follower(item, after))
            claim(world, name)


def remember_encrypted(items: Iterable[Item], model: str, world: World) -> None:
    """Remember the encrypted content of items, as issued by this model."""
    for item in items:
        token = item.get("encrypted_content")
        if isinstance(token, str) and token:
            world.issued[token] = (digest(_summary(item)), model)
            claim(world, token)


def withheld(items: Iterable[Item], model: str, world: World) -> list[dict[str, str]]:
    """The reasoning among these items that the model will not see, as the service tells of it (openai 3.54,
    `InputTransformation`): what another model was given."""
    found = []
    for item in items:
        issued = world.issued.get(str(item.get("encrypted_content") or ""))
        if issued is not None and kind_of(item) == "reasoning" and not same_model(MODELS, issued[1], model):
            reason = {"action": "removed", "reason": "model_mismatch"}
            found.append({"type": "reasoning", "id": id_of(item) or ""} | reason)
    return found


def _summary(item: Item) -> str:
    summary = item.get("summary")
    blocks = [each for each in summary if isinstance(each, dict)] if isinstance(summary, list) else []
    return "\n\n".join(str(each.get("text", "")) for each in blocks)


def _follower(item: Item, after: Item | None) -> str | None:
    return _id(after) if kind_of(item) == "reasoning" else None


def _id(item: Item | None, kind: str | None = None) -> str | None:
    return None if item is None or (kind is not None and kind_of(item) != kind) else id_of(item)
