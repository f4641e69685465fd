"""Cells of a prompt that are made from its neutral form, where two spellings of one part weigh and hash the same."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from ..messages import InlineData, Part, Text, ToolSchema
from ..tokens import tool_tokens
from .atoms import media_key
from .prefix_cache import Cell, Ttl

_encode = msgspec.json.Encoder().encode


def tool_cell(tool: ToolSchema, mark: Ttl | None = "5m") -> Cell:
    """A declared tool: its name, what it is for and its parameters."""
    return Cell(b"tool\0" + _encode([tool.name, tool.description, tool.parameters]), tool_tokens(tool), mark=mark)


def part_content(part: Part) -> bytes:
    """What is hashed of a part: neither what only a provider understands of it, nor a breakpoint on it."""
    match part:
        case Text(text=text):
            return b"text\0" + text.encode()
        case InlineData():
            return b"inline\0" + repr(media_key(part)).encode()
        case _:
            return _encode(replace(part, provider_data=None, cache=None))
