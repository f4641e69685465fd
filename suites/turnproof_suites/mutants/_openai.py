"""What both of OpenAI's APIs have in common, where mutants are concerned."""

from __future__ import annotations

import re
from typing import Any, Protocol

from ._typed_blocks import TypedBlocks
from ._wire import Json

INSTRUCTIONS = ("system", "developer")

_FAILED = re.compile(r"\W*error\b", re.IGNORECASE)


class OpenAIWire(TypedBlocks, Protocol):
    """In the form of `to_messages` a body has `messages` with `blocks`: neither API has both.

    Marks do not exist: what would set them does nothing.
    """

    def blocks(self, message: Json) -> list[Json]:
        found: list[Json] = message["blocks"]
        return found

    def user_message(self, text: str) -> Json:
        return {"role": "user", "blocks": blocks_of(text)}

    def set_mark(self, block: Json) -> None:
        return

    def clear_mark(self, block: Json) -> None:
        return

    def drop_thinking(self, message: Json) -> None:
        message["blocks"] = [block for block in message["blocks"] if self.kind(block) != "thinking"]

    def drop_tools(self, body: Json) -> None:
        for name in ("tools", "tool_choice", "parallel_tool_calls"):
            body.pop(name, None)


def instruction_count(messages: list[Json]) -> int:
    """How many messages, or items, in front are instructions."""
    return next((n for n, one in enumerate(messages) if one.get("role") not in INSTRUCTIONS), len(messages))


def blocks_of(content: Any) -> list[Json]:
    """A content as blocks. One that is a bare text becomes a block without a type."""
    if isinstance(content, str):
        return [{"text": content}]
    return content or []


def content_of(blocks: list[Json], kind: str) -> Any:
    """Blocks as a content: a bare text where they came from one, else a list, in which each has a type."""
    match blocks:
        case [{"text": str(text), **rest}] if not rest:
            return text
        case _:
            return [{"type": kind, **block} for block in blocks]


def is_error_text(content: Any) -> bool:
    """Whether a result calls itself an error: there is no flag, and nobody says how it is to be put."""
    blocks = blocks_of(content)
    return bool(blocks) and _FAILED.match(str(blocks[0].get("text", ""))) is not None
