"""What Z.ai's own endpoint insists on; pairing and order are not known to be checked."""

from __future__ import annotations

from collections.abc import Iterator

from ...base import Refusal
from .. import rules
from ..errors import ChatRefusal
from .context import Context

_ILLEGAL = "The messages parameter is illegal. Please check the documentation."


def check(context: Context) -> Iterator[Refusal]:
    """Somebody must have asked something, and no tool may be forced."""
    if all(message["role"] in ("system", "developer") for message in context.messages):
        yield ChatRefusal(rules.ZAI_PARAMETER, 400, "1214", _ILLEGAL, "$.messages", surface=context.surface)
    if context.body.get("tool_choice") not in (None, "auto"):
        yield context.refuse(rules.ZAI_TOOL_CHOICE, "1210", "", "tool_choice")
