"""A neutral message as a row of wire steps, still apart from its neighbours, and the arrangement of such rows.

Calls, their results and thoughts are arranged as items of Responses are: every call has a result right behind the run
of steps that called, and a thought that nothing followed is left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from turnproof import messages

from .._sendable import refuse_unsendable
from ..openai.convert import code
from ..openai_responses import arrange
from ..openai_responses.items import Codec, Kind, Row, Unit, V
from . import convert


class Arrangement(arrange.Arrangement[V]):
    """Wire steps so far. Feed it with `add`, in order; `finish` gives them all and ends it."""

    __slots__ = ()

    def _wire_id(self, call_id: str) -> str:
        """The description of the API says of an id that it is unique, and nothing of its form."""
        return call_id

    def _call(self, part: messages.FunctionCall, sent: str) -> V:
        return self._codec(convert.call(part, sent))

    def _result(self, part: messages.ToolResult, sent: str) -> V:
        return self._codec(convert.result(part, sent))

    def _unanswered(self, unit: Unit[V], sent: str) -> V:
        name = unit.part.name if isinstance(unit.part, messages.FunctionCall) else ""
        return self._codec(convert.unanswered(sent, name))


def row(message: messages.Message, codec: Codec[V], model: str) -> Row[V]:
    """The steps of a message. Raises InvalidRequestError for content that the API has no step for."""
    refuse_unsendable(message)
    make = _own if message.role == "model" else _input_units
    return Row(message.role, tuple(make(message, codec, model)))


def _own(message: messages.Message, codec: Codec[V], model: str) -> Iterator[Unit[V]]:
    """What the model said: one step a part, as they came."""
    for part in message.parts:
        kind, step = Kind.WORDS, None
        match part:
            case messages.Text(text=words):
                step = convert.output_step(convert.answer_text(part)) if words.strip() else None
            case messages.Thought():
                kind, step = Kind.REASONING, convert.thought(part, model)
            case messages.FunctionCall(id=own):
                yield Unit(Kind.CALL, codec(convert.call(part, own)), part, own)
            case messages.ToolResult(call_id=own):
                yield Unit(Kind.RESULT, codec(convert.result(part, own)), part, own)
            case messages.InlineData() | messages.FileRef():
                step = convert.output_step(convert.media(part))
            case messages.Opaque():
                step = convert.opaque(part)
            case messages.ExecutableCode() | messages.CodeExecutionResult():
                step = convert.output_step(convert.text(code(part)))
        if step is not None:
            yield Unit(kind, codec(step))


def _input_units(message: messages.Message, codec: Codec[V], model: str) -> Iterator[Unit[V]]:
    """What was said to the model: results are steps of their own, everything else is one step."""
    contents = []
    for part in message.parts:
        match part:
            case messages.Text(text=words) if words.strip():
                contents.append(convert.text(words))
            case messages.ToolResult(call_id=own):
                yield Unit(Kind.RESULT, codec(convert.result(part, own)), part, own)
            case messages.InlineData() | messages.FileRef():
                contents.append(convert.media(part))
            case messages.ExecutableCode() | messages.CodeExecutionResult():
                contents.append(convert.text(code(part)))
            case messages.Opaque() if (content := convert.opaque(part)) is not None:
                contents.append(content)
    if contents:
        yield Unit(Kind.WORDS, codec(convert.input_step(contents)))
