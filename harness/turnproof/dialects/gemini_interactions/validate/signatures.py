"""Thoughts that come back: with the signature that they were issued with, in front of the calls that they led to.

Judged is the running tool loop, behind the last words of the user: the documentation says that older turns are not
checked. What the service holds itself is as it gave it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...base import Refusal
from ...catalogue import same_model
from ...judged_request import Placed
from .. import rules
from ..models import MODELS, SIGNS
from ..steps import signature_of
from ..store import issued_call
from .context import Context, refuse

_INVALID = "Request contains an invalid argument."


def check(context: Context) -> Iterator[Refusal]:
    """Rules about thoughts, and the calls behind them."""
    running = _running(context.sent)
    present = {signature_of(placed.item) for placed in running}
    for n, placed in enumerate(running):
        if placed.kind == "thought":
            yield from _thought(context, placed, running[n + 1 :])
        elif placed.kind == "function_call" and context.has(SIGNS):
            issued = issued_call(context.world, placed.item.get("id"))
            own = issued is not None and same_model(MODELS, issued.model, context.call.model or "")
            if issued is not None and own and issued.signature not in present:
                yield refuse(rules.LOST_THOUGHT, _INVALID, placed.path)


def _running(sent: Sequence[Placed]) -> Sequence[Placed]:
    """The steps behind the last words of the user."""
    start = max((n + 1 for n, placed in enumerate(sent) if placed.kind == "user_input"), default=0)
    return sent[start:]


def _thought(context: Context, placed: Placed, following: Sequence[Placed]) -> Iterator[Refusal]:
    signature = signature_of(placed.item)
    if signature is None:
        if any(each.kind == "function_call" for each in following) and context.has(SIGNS):
            yield refuse(rules.UNSIGNED_THOUGHT, _INVALID, placed.path)
        return
    issued = context.world.issued.get(signature)
    if issued is None:
        yield refuse(rules.INVALID_SIGNATURE, "The signature of a thought was not issued here.", placed.path)
    elif not same_model(MODELS, issued[1], context.call.model or ""):
        message = f"The signature of a thought was issued by {issued[1]}."
        yield refuse(rules.FOREIGN_SIGNATURE, message, placed.path)
