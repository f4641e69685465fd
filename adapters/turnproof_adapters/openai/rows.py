"""A neutral message as the wire messages that it makes by itself, still apart from its neighbours.

A `Codec` says what a finished wire message is: plain data for an SDK's own call, bytes for the prepared request.
Everything above it treats finished messages as opaque, so both paths arrange conversations in exactly the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from turnproof import messages

from .._sendable import refusal, refuse_unsendable
from . import convert
from .models import same_model
from .names import wire_id
from .service import Service

V = TypeVar("V")

Codec: TypeAlias = Callable[[convert.Wire], V]
"""How a whole wire message is written."""


@dataclass(frozen=True, slots=True)
class Result(Generic[V]):
    """The finished answer to one call, under the call's own id, and what is shown beside it."""

    part: messages.ToolResult
    wire: V
    companion: V | None


@dataclass(frozen=True, slots=True)
class Row(Generic[V]):
    """What one message says: a wire message, if it says anything by itself, and its results.

    `calls` are those that the wire message asks, and `parts` all that a message with calls says, to be written again
    where they go by other ids: a row that held the message would keep it alive, and with it the memo's entry for it.
    No row is `marked`: the API caches by itself and takes no marks.
    """

    of_model: bool
    message: V | None
    calls: tuple[messages.FunctionCall, ...]
    results: tuple[Result[V], ...]
    parts: tuple[messages.Part, ...]
    marked: bool = False


def row(message: messages.Message, codec: Codec[V], service: Service, model: str) -> Row[V]:
    """The row of a message. Raises InvalidRequestError, with the place, for what the API has no form for."""
    refuse_unsendable(message)
    _refuse_unfit(message)
    calls = message.calls if message.role == "model" else ()
    wire = wire_message(message, [wire_id(call.id) for call in calls], service, model)
    results = tuple(_result(part, codec) for part in message.results)
    parts = message.parts if calls else ()
    return Row(message.role == "model", None if wire is None else codec(wire), calls, results, parts)


def wire_message(message: messages.Message, ids: Sequence[str], service: Service, model: str) -> convert.Wire | None:
    """The wire message of all parts but results, its calls under these ids; None where there is nothing to say."""
    if message.role == "model":
        return _answered(message, ids, service, model)
    blocks = list(_blocks(message, service))
    if len(blocks) > 1:
        blocks = [block for block in blocks if block.get("text") != ""] or blocks[:1]
    if not blocks:
        return None
    role = service.instructions if message.role == "system" else "user"
    if len(blocks) == 1 and blocks[0]["type"] == "text":
        # The form that every service takes.
        return {"role": role, "content": blocks[0]["text"]}
    return {"role": role, "content": blocks}


def _refuse_unfit(message: messages.Message) -> None:
    for place, part in enumerate(message.parts):
        media = part.attachments if isinstance(part, messages.ToolResult) else (part,)
        for each in media:
            if not isinstance(each, messages.InlineData | messages.FileRef):
                continue
            if message.role in ("model", "system") and each is part:
                raise refusal(message, place, f"a {each.mime_type!r:.80}, which the API takes from the user only")
            if (why := convert.unfit(each)) is not None:
                raise refusal(message, place, f"a {each.mime_type!r:.80}, {why}")


def _result(part: messages.ToolResult, codec: Codec[V]) -> Result[V]:
    companion = convert.attachments(part)
    wire = codec(convert.result(part, wire_id(part.call_id)))
    return Result(part, wire, None if companion is None else codec(companion))


def _answered(message: messages.Message, ids: Sequence[str], service: Service, model: str) -> convert.Wire | None:
    """An answer of the model. It has one text, in front of its calls: the form knows no order between them."""
    texts: list[str] = []
    fields: convert.Wire = {}
    for place, part in enumerate(message.parts):
        match part:
            case messages.Text():
                texts.append(part.text)
            case messages.ExecutableCode() | messages.CodeExecutionResult():
                # A fence has its lines to itself.
                texts.append(f"\n{convert.code(part)}\n")
            case messages.Thought():
                for field, thinking in _own_thinking(part, service, model):
                    fields[field] = fields.get(field, "") + thinking
            case messages.Opaque(dialect=service.dialect):
                raise refusal(message, place, f"a {part.kind!r:.80} block, which an answer has no place for")
    text = "".join(texts)
    calls = message.calls
    if not calls and not text.strip():
        return None
    wire: convert.Wire = {"role": "assistant", "content": text if text.strip() else None, **fields}
    if calls:
        wire["tool_calls"] = [convert.call(call, each) for call, each in zip(calls, ids, strict=True)]
    return wire


def _own_thinking(part: messages.Thought, service: Service, model: str) -> Iterator[tuple[str, str]]:
    """The fields that thinking goes back in: none unless this model issued it and the service wants it."""
    issued = part.provider_data
    if issued is None or issued.dialect != service.dialect or not same_model(issued.model, model):
        return
    sealed, field = issued.data.get("encrypted"), issued.data.get("field")
    if part.text and isinstance(field, str) and (service.thoughts_back or sealed):
        yield field, part.text
    if isinstance(sealed, str):
        yield "reasoning_opaque", sealed


def _blocks(message: messages.Message, service: Service) -> Iterator[convert.Wire]:
    for part in message.parts:
        match part:
            case messages.Text():
                yield convert.text_block(part.text)
            case messages.InlineData() | messages.FileRef():
                yield convert.media(part)
            case messages.ExecutableCode() | messages.CodeExecutionResult():
                yield convert.text_block(convert.code(part))
            case messages.Opaque(dialect=service.dialect):
                yield dict(part.data)
