"""What the service makes of a conversation when it makes it shorter: its items as neutral messages.

Recorded: all messages of the user in their order, and one item of encrypted content behind them. They are the next
input as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from turnproof.messages import Message, Opaque, Part, Text

from .convert import Item
from .models import DIALECT

COMPACTION = "compaction"
"""The type of the item that has what was said before it."""


def is_compaction(part: Part) -> bool:
    """Whether a part is such an item, of this API."""
    return isinstance(part, Opaque) and part.dialect == DIALECT and part.kind == COMPACTION


def read_messages(output: Sequence[Item], sent: Sequence[Message]) -> list[Message]:
    """The output of a compaction. A message of the user's that says the same as one that was sent is that one."""
    waiting = [message for message in sent if message.role == "user"]
    return [_message(item, waiting) for item in output]


def _message(item: Item, waiting: list[Message]) -> Message:
    kind = str(item.get("type"))
    if kind != "message" or item.get("role") != "user":
        return Message("model", (Opaque(DIALECT, kind, item),))
    content = item.get("content")
    blocks: list[Any] = [{"type": "input_text", "text": content}] if isinstance(content, str) else content or []
    text = "".join(block["text"] for block in blocks if isinstance(block.get("text"), str))
    for place, message in enumerate(waiting):
        if message.text == text:
            del waiting[: place + 1]
            return message
    return Message("user", tuple(_parts(blocks)))


def _parts(blocks: Sequence[Mapping[str, Any]]) -> Iterator[Part]:
    for block in blocks:
        if block.get("type") == "input_text" and isinstance(block.get("text"), str):
            yield Text(block["text"])
        else:
            yield Opaque(DIALECT, str(block.get("type")), dict(block))
