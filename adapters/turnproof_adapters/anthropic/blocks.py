"""A neutral message as a row of wire blocks, still apart from its neighbours.

`Codec` says what a finished block is: plain data for the SDK's own call, bytes for the prepared request. Everything
above it treats finished blocks as opaque, so both paths arrange conversations in exactly the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Generic, Protocol, TypeVar

from turnproof import messages

from .._sendable import refusal, refuse_unsendable
from . import convert
from .names import wire_id
from .service import Service

V = TypeVar("V")


class Codec(Protocol[V]):
    """How a block and a whole wire message are written."""

    def block(self, block: convert.Block) -> V: ...

    def message(self, role: str, blocks: Sequence[V]) -> V: ...


class Kind(Enum):
    """What the arrangement of a conversation depends on."""

    TEXT = auto()
    THINKING = auto()
    CALL = auto()
    RESULT = auto()
    OTHER = auto()


@dataclass(frozen=True, slots=True)
class Unit(Generic[V]):
    """One finished block, and the part that it is written from again where another id or text is needed. `id` is that
    of the call, for a call and a result."""

    kind: Kind
    value: V
    part: messages.Part
    id: str = ""


@dataclass(frozen=True, slots=True)
class Row(Generic[V]):
    """The blocks of one message in its own order. `marked` says that it carries a cache mark."""

    role: str
    units: tuple[Unit[V], ...]
    marked: bool


def row(message: messages.Message, codec: Codec[V], service: Service, model: str) -> Row[V]:
    """The blocks of a message. Raises InvalidRequestError for content that the API has no block for."""
    refuse_unsendable(message)
    units = tuple(_units(message, codec, service, model))
    return Row(message.role, units, any(part.cache is not None for part in message.parts))


def _units(message: messages.Message, codec: Codec[V], service: Service, model: str) -> Iterator[Unit[V]]:
    for place, part in enumerate(message.parts):
        kind, block = Kind.OTHER, None
        match part:
            case messages.Text():
                kind, block = Kind.TEXT, convert.text(part, service)
            case messages.Thought():
                kind, block = Kind.THINKING, convert.thought(part, service, model)
            case messages.FunctionCall(id=own):
                yield Unit(Kind.CALL, codec.block(convert.call(part, wire_id(own), service)), part, own)
            case messages.ToolResult(call_id=own):
                yield Unit(Kind.RESULT, codec.block(convert.result(part, wire_id(own), service)), part, own)
            case messages.InlineData() | messages.FileRef():
                if message.role == "model":
                    raise refusal(message, place, f"a {part.mime_type!r}, which the API takes from the user only")
                block = convert.media(part, service)
            case messages.Opaque():
                block = convert.opaque(part, service)
            case messages.ExecutableCode() | messages.CodeExecutionResult():
                block = convert.code(part)
        if block is not None:
            yield Unit(kind, codec.block(block), part)
