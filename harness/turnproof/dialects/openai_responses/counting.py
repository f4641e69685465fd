"""A prompt as the row of cells that is counted and cached: tools, instructions, then the conversation.

Ids weigh nothing; encrypted reasoning weighs what it is long.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from msgspec.structs import replace

from ...messages import InlineData, Part, Text, Thought, ToolSchema
from ...tokens import part_tokens, tool_tokens
from ..atoms import media_key, token_of
from ..base import Call
from ..prefix_cache import Cell, kept_for_the_latest

_PART_TOKENS = 2
_encode = msgspec.json.Encoder().encode


def count(call: Call) -> int:
    """Tokens of the whole prompt, with what the service held of it before."""
    return sum(cell.tokens for cell in cells(call))


@kept_for_the_latest
def cells(call: Call) -> Sequence[Cell]:
    """The prompt's cells in prefix order, one for each tool, instruction and part. Not to be changed.

    Each but the last ends a prefix that may be found again; no prompt is cached to its very end.
    """
    row = list(_row(call))
    if row:
        row[-1].mark = None
    return row


def _row(call: Call) -> Iterator[Cell]:
    position = 0
    for tool in call.tools:
        position += 1
        yield _tool(tool, position)
    for part in call.system:
        position += 1
        yield _cell(part, b"system", position)
    for message in call.messages:
        for part in message.parts:
            position += 1
            yield _cell(part, message.role.encode(), position)


def _tool(tool: ToolSchema, position: int) -> Cell:
    content = _encode([tool.name, tool.description, tool.parameters])
    return Cell(b"tool\0" + content, tool_tokens(tool), position, "5m")


def _cell(part: Part, role: bytes, position: int) -> Cell:
    token = (token_of(part) or "") if isinstance(part, Thought) else ""
    # Base64 writes three bytes as four characters.
    tokens = part_tokens(part) + _PART_TOKENS + len(token) * 3 // 16
    return Cell(b"%b\0%b\0%b" % (role, token.encode(), _content(part)), tokens, position, "5m")


def _content(part: Part) -> bytes:
    match part:
        case Text(text=text):
            return b"text\0" + text.encode()
        case InlineData():
            return b"inline\0" + repr(media_key(part)).encode()
        case _:
            return _encode(replace(part, provider_data=None, cache=None))
