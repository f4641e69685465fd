"""A prompt as the row of cells that is counted and cached: system text, tools, then the conversation.

Ids and empty texts weigh nothing, signatures as much as they are long. The service finds prefixes again by itself; here
it does so whenever a prefix of at least the documented minimum was part of an earlier prompt to the same model.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...messages import FileRef, InlineData, Part, Thought, ToolResult
from ...tokens import part_tokens
from ..atoms import token_of
from ..base import Call
from ..neutral_cells import part_content, tool_cell
from ..prefix_cache import AutomaticCache, Cell, prompt_cells
from .models import IMPLICIT_CACHE

_PART_TOKENS = 1


def count(call: Call) -> int:
    """Tokens of the whole prompt, with what the service held of it before."""
    return sum(cell.tokens for cell in cells(call))


def image_tokens(call: Call) -> int:
    """Tokens of the images and other files in the prompt."""
    return sum(part_tokens(part) for part in _files(call))


def _files(call: Call) -> Iterator[Part]:
    for message in call.messages:
        for part in message.parts:
            if isinstance(part, InlineData | FileRef):
                yield part
            elif isinstance(part, ToolResult):
                yield from part.attachments


@prompt_cells
def cells(call: Call) -> Iterator[Cell]:
    """One for each system text, tool and part."""
    for part in call.system:
        yield _cell(part, b"system")
    for tool in call.tools:
        yield tool_cell(tool)
    for message in call.messages:
        for part in message.parts:
            yield _cell(part, message.role.encode())


def _cell(part: Part, role: bytes) -> Cell:
    token = (token_of(part) or "") if isinstance(part, Thought) else ""
    tokens = part_tokens(part)
    if tokens or token:
        # Base64 writes three bytes as four characters.
        tokens += _PART_TOKENS + len(token) * 3 // 16
    return Cell(b"%b\0%b\0%b" % (role, token.encode(), part_content(part)), tokens, mark="5m")


new_cache = partial(AutomaticCache, cells, IMPLICIT_CACHE)
