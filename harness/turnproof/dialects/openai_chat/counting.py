"""A prompt as the row of cells that is counted and cached: tools, instructions, then the conversation.

Cells are made from the neutral form, so that an instruction weighs the same under either of its two roles, and a text
the same as a string or in a block. Ids weigh nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from ...messages import JSON, Part
from ...tokens import part_tokens, text_tokens, tool_tokens
from ..base import Call
from ..prefix_cache import Cell, kept_for_the_latest

_PART_TOKENS = 3
"""What frames a message; the service's own count has 3 or 4 for each."""

_encode = msgspec.json.Encoder().encode


def count(call: Call) -> int:
    """Tokens of the whole prompt, cached or not."""
    return sum(cell.tokens for cell in cells(call))


@kept_for_the_latest
def cells(call: Call) -> Sequence[Cell]:
    """The prompt's cells in prefix order, one for each tool, instruction and part. Not to be changed.

    Each ends a prefix that may be found again; where the request marks its breakpoints itself, only those do.
    """
    return list(_row(call))


def _row(call: Call) -> Iterator[Cell]:
    explicit = marks_itself(call.settings.get("prompt_cache_options"))
    position = 0
    for tool in call.tools:
        position += 1
        content = _encode([tool.name, tool.description, tool.parameters])
        yield Cell(b"tool\0" + content, tool_tokens(tool), position, None if explicit else "5m")
    spoken = [("system", part) for part in call.system]
    spoken += [(message.role, part) for message in call.messages for part in message.parts]
    for role, part in spoken:
        position += 1
        marked = part.cache is not None or not explicit
        yield Cell(_content(role, part), _weight(part), position, "5m" if marked else None)


def marks_itself(options: JSON) -> bool:
    """Whether a request says itself where its prefixes end."""
    return isinstance(options, Mapping) and options.get("mode") == "explicit"


def _content(role: str, part: Part) -> bytes:
    return role.encode() + b"\0" + _encode(replace(part, cache=None))


def _weight(part: Part) -> int:
    hidden = part.provider_data.data if part.provider_data is not None else {}
    return (
        part_tokens(part) + _PART_TOKENS + sum(text_tokens(each) for each in hidden.values() if isinstance(each, str))
    )
