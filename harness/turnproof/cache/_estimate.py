"""A cheap upper guess of how many tokens a prefix has, good enough to leave out marks that can do nothing."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ..messages import Message, Text, Thought, ToolSchema

CHARACTERS_A_TOKEN = 2
"""Few characters a token: a prefix that might be large enough is marked. A mark in vain costs nothing."""


class Estimate:
    """Sizes add up in wire order. Only as much of a history is looked at as it takes to reach the minimum."""

    def __init__(self) -> None:
        self._characters = 0

    def add_tool(self, tool: ToolSchema) -> None:
        """Count a tool's name, description and schema."""
        self._characters += len(tool.name) + len(tool.description) + len(msgspec.json.encode(tool.parameters))

    def add_text(self, text: str) -> None:
        """Count the system text."""
        self._characters += len(text)

    def reaches(self, tokens: int, messages: Sequence[Message] = ()) -> bool:
        """Whether what was added, and these messages after it, may have that many tokens."""
        wanted = tokens * CHARACTERS_A_TOKEN - self._characters
        for message in messages:
            if wanted <= 0:
                break
            for part in message.parts:
                # An image or a document has far fewer tokens than bytes; counting it high only adds a mark.
                wanted -= len(part.text) if isinstance(part, Text | Thought) else len(msgspec.json.encode(part))
        return wanted <= 0
