"""A scripted reply as one message of this server holds it: thinking, then text, then calls.

The server's message has one field for each. Of a call that the output limit clips, its parser never makes one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from msgspec.structs import replace as with_fields

from ...errors import HarnessError
from ...messages import FunctionCall, Text, Thought
from ..base import Reply, ReplyPart
from ..seeded_random import seeded_word
from .rules import NAME

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


def in_one(reply: Reply, seed: str, *, call_ids: bool = True) -> Reply:
    """The reply with at most one thought and one text, in front of its calls, which have ids of the server's form
    unless the script gives them. Raises HarnessError for a part that the server has no field for."""
    for part in reply.parts:
        if not isinstance(part.part, Thought | Text | FunctionCall):
            description = f"a part of type {type(part.part).__name__}: {part.part!r:.80}"
            raise HarnessError(f"{NAME} cannot answer with {description}")
    parts = [*_joined(reply.parts, Thought), *_joined(reply.parts, Text), *_calls(reply.parts, seed, call_ids)]
    return replace(reply, parts=tuple(parts))


def _joined(parts: Sequence[ReplyPart], kind: type[Thought] | type[Text]) -> Iterator[ReplyPart]:
    own = [(each, each.part.text) for each in parts if isinstance(each.part, kind)]
    if text := "".join(whole_text for _, whole_text in own):
        pieces = [piece for each, whole_text in own for piece in each.pieces or (whole_text,) if piece]
        has_pieces = any(each.pieces for each, _ in own) or len(own) > 1
        yield ReplyPart(kind(text), tuple(pieces) if has_pieces else ())


def _calls(parts: Sequence[ReplyPart], seed: str, call_ids: bool) -> Iterator[ReplyPart]:
    for n, each in enumerate(parts):
        if not isinstance(each.part, FunctionCall) or each.broken:
            continue
        call_id = f"call_{seeded_word(_LETTERS, 8, seed, 'call', n)}"
        yield ReplyPart(with_fields(each.part, id=(each.part.id or call_id) if call_ids else ""))
