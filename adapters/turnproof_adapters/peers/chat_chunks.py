"""The chunks of a streamed chat completion, added up, for libraries that leave this to their caller."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any


def whole_message(chunks: Sequence[Any]) -> SimpleNamespace:
    """What the chunks come to: `message`, `finish_reason` and `usage`, with the names that an answer in one piece has.

    `extra_content`, which some libraries add to a message and to its calls, is that of the last chunk that has one.
    """
    message = SimpleNamespace(content="", refusal="", reasoning="", extra_content=None, tool_calls=None)
    calls: dict[int, SimpleNamespace] = {}
    finish = usage = None
    for chunk in chunks:
        usage = getattr(chunk, "usage", None) or usage
        for choice in chunk.choices:
            delta = choice.delta
            finish = choice.finish_reason or finish
            message.content += delta.content or ""
            message.refusal += delta.refusal or ""
            message.reasoning += getattr(getattr(delta, "reasoning", None), "content", None) or ""
            message.extra_content = getattr(delta, "extra_content", None) or message.extra_content
            for piece in delta.tool_calls or ():
                _add(calls, piece)
    message.tool_calls = list(calls.values())
    return SimpleNamespace(message=message, finish_reason=finish, usage=usage)


def _add(calls: dict[int, SimpleNamespace], piece: Any) -> None:
    empty = SimpleNamespace(id="", function=SimpleNamespace(name="", arguments=""), extra_content=None)
    call = calls.setdefault(piece.index, empty)
    call.id = piece.id or call.id
    call.extra_content = getattr(piece, "extra_content", None) or call.extra_content
    if piece.function is not None:
        call.function.name = piece.function.name or call.function.name
        call.function.arguments += piece.function.arguments or ""
