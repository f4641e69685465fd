"""Operations that no script speaks of: the store, and the model list, which is that of the Gemini API."""

from __future__ import annotations

from ..base import Call, PromptUsage, Rendered, World
from ..gemini import DIALECT as GEMINI
from .addresses import InteractionsCall
from .stored_operations import render_stored


def render_extra(call: Call, usage: PromptUsage, world: World, seed: str) -> Rendered:
    """The answer to an operation on what is stored, or to a question about models."""
    if call.operation == "stored":
        return render_stored(InteractionsCall.from_call(call), world, seed)
    return GEMINI.render_extra(call, usage, world, seed)
