"""What OpenRouter refuses: everything that would have it keep a conversation."""

from __future__ import annotations

from collections.abc import Iterator

from ...base import Refusal
from .. import rules
from .context import Context, refuse


def check(context: Context) -> Iterator[Refusal]:
    """Rules of OpenRouter alone."""
    if context.body.get("previous_response_id") is not None:
        yield _refusal("previous_response_id")
    if context.body.get("store") is True:
        yield _refusal("store")


def _refusal(name: str) -> Refusal:
    return refuse(rules.OPENROUTER_STATE, f"'{name}' is not supported: this API is stateless.", name, "invalid_prompt")
