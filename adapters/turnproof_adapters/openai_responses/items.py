"""A neutral message as a row of wire items, still apart from its neighbours.

`Codec` says what a finished item is: plain data for the SDK's own call, bytes for the prepared request. The arrangement
above treats finished items as opaque, so both paths arrange conversations in exactly the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Generic, TypeAlias, TypeVar

from turnproof import messages

from .._sendable import refusal, refuse_unsendable
from ..openai.convert import code
from . import convert
from .names import wire_id

V = TypeVar("V")

Codec: TypeAlias = Callable[[convert.Item], V]
"""How an item is written."""


class Kind(Enum):
    """What the arrangement of a conversation depends on."""

    WORDS = auto()
    REASONING = auto()
    CALL = auto()
    RESULT = auto()


@dataclass(frozen=True, slots=True)
class Unit(Generic[V]):
    """One finished item, and the part that it is written from again where another id is needed. `id` is that of the
    call, for a call and a result."""

    kind: Kind
    value: V
    part: messages.Part | None = None
    id: str = ""


@dataclass(frozen=True, slots=True)
class Row(Generic[V]):
    """The items of one message in its own order."""

    role: str
    units: tuple[Unit[V], ...]
    marked: bool = False
    """Caching is implicit: no message carries a mark that would move on."""


def row(message: messages.Message, codec: Codec[V], model: str) -> Row[V]:
    """The items of a message. Raises InvalidRequestError for content that the API has no item for."""
    refuse_unsendable(message)
    make = _own if message.role == "model" else _input_units
    return Row(message.role, tuple(make(message, codec, model)))


def _own(message: messages.Message, codec: Codec[V], model: str) -> Iterator[Unit[V]]:
    """What the model said: one item a part, as they came."""
    for place, part in enumerate(message.parts):
        kind, item = Kind.WORDS, None
        match part:
            case messages.Text(text=words):
                item = convert.answer_message(part) if words.strip() else None
            case messages.Thought():
                kind, item = Kind.REASONING, convert.thought(part, model)
            case messages.FunctionCall(id=own):
                yield Unit(Kind.CALL, codec(convert.call(part, wire_id(own))), part, own)
            case messages.ToolResult(call_id=own):
                yield Unit(Kind.RESULT, codec(convert.result(part, wire_id(own))), part, own)
            case messages.InlineData() | messages.FileRef():
                raise refusal(message, place, f"a {part.mime_type!r}, which the API takes from the user only")
            case messages.Opaque():
                item = convert.opaque(part)
            case messages.ExecutableCode() | messages.CodeExecutionResult():
                item = convert.answer_message(messages.Text(code(part)))
        if item is not None:
            yield Unit(kind, codec(item))


def _input_units(message: messages.Message, codec: Codec[V], model: str) -> Iterator[Unit[V]]:
    """What was said to the model: results are items of their own, everything else is one message."""
    blocks = []
    for part in message.parts:
        match part:
            case messages.Text(text=words) if words.strip():
                blocks.append(convert.text(words))
            case messages.ToolResult(call_id=own):
                yield Unit(Kind.RESULT, codec(convert.result(part, wire_id(own))), part, own)
            case messages.InlineData() | messages.FileRef():
                blocks.append(convert.media(part))
            case messages.ExecutableCode() | messages.CodeExecutionResult():
                blocks.append(convert.text(code(part)))
            case messages.Opaque() if (block := convert.opaque(part)) is not None:
                blocks.append(block)
    if blocks:
        yield Unit(
            Kind.WORDS, codec(convert.input_message("developer" if message.role == "system" else "user", blocks))
        )
