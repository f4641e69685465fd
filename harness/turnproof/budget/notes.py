"""Messages that a collection writes itself: a summary of what went, a notice that something went, a service's item.

The first two are said as the user, since a conversation has to begin with the user on every wire, and neighbours of
one side are merged there. A service's item stands where answers of the model stood. What they are stands in their
message id and nowhere else: it survives save and load, no provider is sent it, and no text that somebody types can be
mistaken for one.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Literal, TypeAlias

from ..messages import Message, Part, Text

Note: TypeAlias = Literal["summary", "notice", "compaction"]

_PREFIXES: dict[Note, str] = {
    "summary": "turnproof-summary-",
    "notice": "turnproof-notice-",
    "compaction": "turnproof-compaction-",
}


def note(kind: Note, content: str | tuple[Part, ...], instead_of: Iterable[Message]) -> Message:
    """A message of a collector's own. Its id follows from the messages that it stands for."""
    digest = blake2b(digest_size=12)
    for message in instead_of:
        digest.update(message.message_id.encode() + b"\n")
    parts = (Text(content),) if isinstance(content, str) else content
    return Message("model" if kind == "compaction" else "user", parts, _PREFIXES[kind] + digest.hexdigest())


def is_note(message: Message, kind: Note | None = None) -> bool:
    """Whether a collector wrote it, of this kind or of any."""
    return message.message_id.startswith(tuple(_PREFIXES.values()) if kind is None else _PREFIXES[kind])


def begins_turn(message: Message) -> bool:
    """Whether a turn starts here: the user says something in words. Notes are nobody's turn."""
    return (
        message.role == "user"
        and any(isinstance(part, Text) and part.text for part in message.parts)
        and not is_note(message)
    )
