"""What the service remembers of its answers: items by id, whole responses by id, and what it has encrypted.

A response is stored unless the request says `store: false`; then nobody can name it or its items later. Which items
were given together is known of every response all the same, so that what is only inferred about unstored ones can be
logged. Encrypted content is known again by its bytes: `World.issued` has its digest and the model that issued it.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from ..base import World
from ..catalogue import same_model
from .items import id_of, kind_of
from .models import MODELS
from .surfaces import Item

_SEALED_BYTES = 192


@dataclass(frozen=True, slots=True)
class IssuedItem:
    """An item as it was given. `reasoning` is the id of the reasoning item right before it; `follower`, of a reasoning
    item, the id of what came right after it."""

    item: Item
    stored: bool
    reasoning: str | None = None
    follower: str | None = None


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A response that can be named as the previous one. `context` is the whole conversation up to its last item."""

    context: tuple[Item, ...]


def issued_item(world: World, item_id: object) -> IssuedItem | None:
    """The item that was given under this id; None for one that was not given here."""
    found = world.resources.get(item_id) if isinstance(item_id, str) else None
    return found if isinstance(found, IssuedItem) else None


def stored_response(world: World, response_id: object) -> StoredResponse | None:
    """The response that is kept under this id."""
    found = world.resources.get(response_id) if isinstance(response_id, str) else None
    return found if isinstance(found, StoredResponse) else None


def seal(text: str, model: str, seed: str) -> str:
    """Encrypted content for reasoning, in the form of the real one (`gAAAA…`). Equal arguments give the same."""
    drawn = b"".join(
        blake2b(f"{seed}\0{model}\0{n}\0{text}".encode(), digest_size=64).digest() for n in range(_SEALED_BYTES // 64)
    )
    return urlsafe_b64encode(b"\x80\x00\x00\x00\x00" + drawn[: _SEALED_BYTES - 5]).decode()


def digest(text: str) -> str:
    """The digest under which reasoning is known."""
    return blake2b(text.encode(), digest_size=16).hexdigest()


def remember(response: Item, conversation: Sequence[Item], world: World, *, stored: bool, model: str) -> None:
    """Let the world know a whole response to the items that were `asked` with; `model` is who issued it."""
    output_value = response.get("output")
    output = [item for item in output_value if isinstance(item, dict)] if isinstance(output_value, list) else []
    for before, item, after in zip((None, *output), output, (*output[1:], None), strict=False):
        if (name := id_of(item)) is not None:
            world.resources[name] = IssuedItem(item, stored, _id(before, "reasoning"), _follower(item, after))
    remember_encrypted(output, model, world)
    if stored and (name := id_of(response)) is not None:
        # Nobody was seen being asked for the output of a call that the model did not finish.
        complete = (item for item in output if kind_of(item) != "function_call" or item.get("status") != "incomplete")
        world.resources[name] = StoredResponse((*conversation, *complete))


def remember_encrypted(items: Iterable[Item], model: str, world: World) -> None:
    """Remember the encrypted content of items, as issued by this model."""
    for item in items:
        token = item.get("encrypted_content")
        if isinstance(token, str) and token:
            world.issued[token] = (digest(_summary(item)), model)


def withheld(items: Iterable[Item], model: str, world: World) -> list[dict[str, str]]:
    """The reasoning among these items that the model will not see, as the service tells of it (openai 3.54,
    `InputTransformation`): what another model was given."""
    found = []
    for item in items:
        issued = world.issued.get(str(item.get("encrypted_content") or ""))
        if issued is not None and not same_model(MODELS, issued[1], model):
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
