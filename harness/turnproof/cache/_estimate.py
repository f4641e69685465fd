"""Whether a prefix may be large enough to be cached: by the project's ruler, and generously."""

from __future__ import annotations

from collections.abc import Iterable

from ..messages import Message, ToolSchema
from ..tokens import message_tokens, text_tokens, tool_tokens

GENEROSITY = 2
"""A prefix may have as many tokens as this times the ruler's: dense text does. A mark in vain costs nothing."""


class Estimate:
    """Sizes add up in wire order. Only as much of a history is looked at as it takes to reach the minimum."""

    def __init__(self) -> None:
        self._tokens = 0

    def add_tool(self, tool: ToolSchema) -> None:
        """Count a tool."""
        self._tokens += GENEROSITY * tool_tokens(tool)

    def add_text(self, text: str) -> None:
        """Count the system text."""
        self._tokens += GENEROSITY * text_tokens(text)

    def reaches(self, minimum: int, messages: Iterable[Message] = ()) -> bool:
        """Whether what was added, and these messages after it, may have that many tokens."""
        missing = minimum - self._tokens
        for message in messages:
            if missing <= 0:
                break
            missing -= GENEROSITY * message_tokens(message)
        return missing <= 0
