"""What xAI refuses in its own words: instructions beside a response that has some already."""

from __future__ import annotations

from collections.abc import Iterator

from ...base import Refusal
from .. import rules
from .context import Context, refuse


def check(context: Context) -> Iterator[Refusal]:
    """Rules of xAI alone."""
    if context.body.get("previous_response_id") is not None and context.body.get("instructions") is not None:
        message = "Argument not supported: instructions and previous_response_id together"
        yield refuse(rules.XAI_INSTRUCTIONS, message, "instructions", "400")
