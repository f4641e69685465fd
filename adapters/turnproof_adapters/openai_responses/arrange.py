"""A conversation as the API insists on it, made message by message from left to right.

Every call has one output and every output a call (openai/codex#620, continuedev/continue#10092): a call without a
result gets one that says so, a result without a call is left out. Outputs stand right behind the run of items that
called, in call order, whatever the user said in between. Reasoning goes with what followed it; where nothing did,
because the answer was broken off, it is left out (openai/openai-agents-js#326).

Only the last run of the model and what followed it are still open at any time; everything before is closed and never
changes again. That makes a conversation resumable: `copy()` is a snapshot, and going on from it costs the new messages.
"""

from __future__ import annotations

from collections import deque
from typing import Generic, Self

from turnproof.messages import FunctionCall, ToolResult

from .._sendable import require_messages
from . import convert
from .items import Codec, Kind, Row, Unit, V
from .names import wire_id


class Arrangement(Generic[V]):
    """Wire items so far. Feed it with `add`, in order; `finish` gives them all and ends it."""

    __slots__ = ("_answers", "_closed", "_codec", "_open_units")

    def __init__(self, codec: Codec[V]) -> None:
        self._codec = codec
        self._closed: list[V] = []
        self._open_units: list[Unit[V]] = []
        self._answers: list[Unit[V]] = []

    def copy(self) -> Self:
        """A snapshot: adding to either leaves the other alone."""
        other = type(self)(self._codec)
        other._closed = self._closed.copy()
        other._open_units = self._open_units.copy()
        other._answers = self._answers.copy()
        return other

    def pass_answer(self) -> int:
        """How many of the items that `finish` gives belong to the messages so far, the last of which is a whole answer:
        what is added now is said to it. An answer that was blank has no item, and ends what was said before all the
        same."""
        if self._answers:
            self._close()
        count = len(self._open_units)
        while count and self._open_units[count - 1].kind is Kind.REASONING:
            count -= 1
        return len(self._closed) + count

    def add(self, row: Row[V]) -> None:
        """Append the items of one neutral message. Results in a message of the model's answer its own calls too."""
        if row.role == "model":
            units = [unit for unit in row.units if unit.kind is not Kind.RESULT]
            if units and self._answers:
                self._close()
            self._open_units += units
        self._answers += [unit for unit in row.units if row.role != "model" or unit.kind is Kind.RESULT]

    def finish(self) -> list[V]:
        """All wire items. The arrangement takes no more after this.

        Raises InvalidRequestError where there is none.
        """
        self._close()
        return require_messages(self._closed)

    def _close(self) -> None:
        """Write the open run of the model, then what followed it."""
        while self._open_units and self._open_units[-1].kind is Kind.REASONING:
            self._open_units.pop()
        units_by_wire_id: dict[str, Unit[V]] = {}
        places: dict[str, int] = {}
        for unit in self._open_units:
            if unit.kind is Kind.CALL:
                sent = self._told_apart(self._wire_id(unit.id), units_by_wire_id, places)
                units_by_wire_id[sent] = unit
                self._closed.append(self._under(sent, unit))
            else:
                self._closed.append(unit.value)
        self._closed += self._outputs(units_by_wire_id)
        self._closed += [unit.value for unit in self._answers if unit.kind is not Kind.RESULT]
        self._open_units.clear()
        self._answers.clear()

    def _outputs(self, calls: dict[str, Unit[V]]) -> list[V]:
        found: dict[str, deque[Unit[V]]] = {}
        for unit in self._answers:
            if unit.kind is Kind.RESULT:
                found.setdefault(unit.id, deque()).append(unit)
        outputs = []
        for sent, call in calls.items():
            waiting = found.get(call.id)
            if waiting:
                outputs.append(self._under(sent, waiting.popleft()))
            else:
                outputs.append(self._unanswered(call, sent))
        return outputs

    def _under(self, sent: str, unit: Unit[V]) -> V:
        """A call or a result under the id that its call goes by: written again where that is not its own."""
        if sent != self._wire_id(unit.id):
            match unit.part:
                case FunctionCall() as call:
                    return self._call(call, sent)
                case ToolResult() as result:
                    return self._result(result, sent)
        return unit.value

    def _told_apart(self, own: str, units: dict[str, Unit[V]], places: dict[str, int]) -> str:
        """The wire id of a call. Of two calls with one id in a run, the second gets its position added."""
        sent = own
        while sent in units:
            places[own] = places.get(own, 1) + 1
            sent = self._wire_id(f"{own}_{places[own]}")
        return sent

    # What an API of the same kind writes in its own way

    def _wire_id(self, call_id: str) -> str:
        """The id under which a call and its output go on the wire."""
        return wire_id(call_id)

    def _call(self, part: FunctionCall, sent: str) -> V:
        """A call under this id."""
        return self._codec(convert.call(part, sent))

    def _result(self, part: ToolResult, sent: str) -> V:
        """A result of the call that goes by this id."""
        return self._codec(convert.result(part, sent))

    def _unanswered(self, unit: Unit[V], sent: str) -> V:
        """What stands for the result of a call that has none."""
        return self._codec(convert.unanswered(sent))
