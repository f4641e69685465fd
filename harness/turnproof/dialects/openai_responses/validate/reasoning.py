"""Reasoning that comes back: unaltered, and together with the item that it came with.

Items that the service stores are known to it by id: reasoning without the item that followed it is refused, and so is
that item without its reasoning. An item that is sent without its id is a new one, which needs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...base import Refusal
from ...catalogue import same_model
from ...judged_request import Placed
from ...owners import is_own
from .. import rules
from ..conversation import role_of
from ..items import id_of
from ..models import MODELS
from ..store import issued_item
from .context import Context, refuse

_UNKNOWN = "Encrypted content could not be decrypted or parsed."
_ANOTHER_OWNER = "Encrypted content organization_id did not match the target organization."
_SHOWN = 4
"""Characters that the service shows of either end of encrypted content."""


def check(context: Context) -> Iterator[Refusal]:
    """Rules about reasoning items and those that go with them."""
    present = {id_of(item) for item in (*context.carried, *(placed.item for placed in context.sent))}
    for n, placed in enumerate(context.sent):
        if placed.kind == "reasoning":
            yield from _encrypted(context, placed)
            yield from _followed(context, n, present)
        else:
            yield from _reasoned(context, placed, present)


def _encrypted(context: Context, placed: Placed) -> Iterator[Refusal]:
    token = placed.item.get("encrypted_content")
    if not isinstance(token, str) or not token:
        return
    issued = context.world.issued.get(token)
    if issued is None or not is_own(context.world, token):
        reason = _UNKNOWN if issued is None else _ANOTHER_OWNER
        named = f"for item {placed.id}" if placed.id else f"{token[:_SHOWN]}...{token[-_SHOWN:]}"
        message = f"The encrypted content {named} could not be verified. Reason: {reason}"
        yield refuse(rules.ENCRYPTED_CONTENT, message, "$", "invalid_encrypted_content")
    elif context.call.model is not None and not same_model(MODELS, issued[1], context.call.model):
        message = f"The reasoning of {placed.path} was issued by {issued[1]}; the model will not see it."
        yield refuse(rules.FOREIGN_REASONING, message, placed.path)


def _followed(context: Context, n: int, present: set[str | None]) -> Iterator[Refusal]:
    placed = context.sent[n]
    found = issued_item(context.world, placed.id)
    if found is None or found.follower is None or found.follower in present:
        return
    message = f"Item '{placed.id}' of type 'reasoning' was provided without its required following item."
    if found.stored:
        yield refuse(rules.LOST_FOLLOWER, message, "input")
    elif n + 1 == len(context.sent) or role_of(context.sent[n + 1].item) != "model":
        yield refuse(rules.UNSTORED_FOLLOWER, message, "input")


def _reasoned(context: Context, placed: Placed, present: set[str | None]) -> Iterator[Refusal]:
    found = issued_item(context.world, placed.id)
    if found is None or found.reasoning is None or found.reasoning in present:
        return
    message = (
        f"Item '{placed.id}' of type '{placed.kind}' was provided without its required 'reasoning' item: "
        f"'{found.reasoning}'."
    )
    yield refuse(rules.LOST_REASONING if found.stored else rules.UNSTORED_REASONING, message, "input")
