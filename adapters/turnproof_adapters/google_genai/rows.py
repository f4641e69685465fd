"""A neutral message as finished parts, still apart from its neighbours.

`Codec` says what "finished" means: plain data for the SDK's own call, bytes for the prepared request. Everything above
it treats finished parts as opaque, so both forms of a conversation are arranged in exactly the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from turnproof import messages

from .._sendable import refuse_unsendable
from . import convert
from .names import wire_name
from .target import Target

V = TypeVar("V")


class Codec(Protocol[V]):
    """How a part and a whole content are written."""

    def part(self, part: convert.WirePart) -> V: ...

    def content(self, role: str, parts: Sequence[V]) -> V: ...


@dataclass(frozen=True, slots=True)
class Call:
    """What has to be known of a call to answer it: its own id and its wire name."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Result(Generic[V]):
    """A finished response to the call of that id, and the parts that go beside it."""

    id: str
    response: V
    companions: tuple[V, ...]
    part: messages.ToolResult


@dataclass(slots=True)
class Row(Generic[V]):
    """What one message says: a finished content, if it says anything by itself, its calls, and its results."""

    model: bool
    marked: bool
    content: V | None = None
    calls: list[Call] = field(default_factory=list)
    results: list[Result[V]] = field(default_factory=list)


def row(message: messages.Message, codec: Codec[V], to: Target) -> Row[V]:
    """The row of a message for a model. Raises InvalidRequestError for what cannot be sent."""
    refuse_unsendable(message)
    content_row: Row[V] = Row(message.role == "model", any(part.cache is not None for part in message.parts))
    parts: list[V] = []
    says_something = False
    for part in message.parts:
        if isinstance(part, messages.ToolResult):
            response, media = convert.result(part, to)
            content_row.results.append(Result(part.call_id, codec.part(response), tuple(map(codec.part, media)), part))
            continue
        sent = _part(part, to, first=not content_row.calls)
        if sent is None or (isinstance(part, messages.Thought) and not content_row.model):
            continue
        if isinstance(part, messages.FunctionCall):
            content_row.calls.append(Call(part.id, wire_name(part.name)))
        # An answer broken off while the model was still thinking is nothing that a conversation could go on from.
        says_something = says_something or not isinstance(part, messages.Thought) or "thoughtSignature" in sent
        parts.append(codec.part(sent))
    if says_something:
        content_row.content = codec.content("model" if content_row.model else "user", parts)
    return content_row


def says_nothing(message: messages.Message) -> bool:
    """Whether a message of the user is an empty text, and nothing else."""
    texts = [part.text if isinstance(part, messages.Text) else None for part in message.parts]
    return message.role == "user" and bool(texts) and not any(text != "" for text in texts)


def _part(part: messages.Part, to: Target, *, first: bool) -> convert.WirePart | None:
    match part:
        case messages.Text():
            return convert.text(part, to)
        case messages.Thought():
            return convert.thought(part, to)
        case messages.FunctionCall():
            return convert.call(part, to, first=first)
        case messages.InlineData() | messages.FileRef():
            return convert.answered_media(part, to)
        case messages.ExecutableCode() | messages.CodeExecutionResult():
            return convert.code(part, to)
        case messages.Opaque():
            return convert.opaque(part, to)
        case messages.ToolResult():
            raise AssertionError("results are not parts of their own message")
