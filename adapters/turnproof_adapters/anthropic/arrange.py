"""A conversation as the API insists on it, made message by message from left to right.

Neighbours of one role are merged. Within an assistant message calls come last; the user message after it opens with
one result for every call, in call order, and with no other. A call without a result gets one that says so, a result
without a call is left out, and so are a call of the service's own that it did not come back to, and a message that
has nothing to say. The rules are those of the public reference (https://docs.claude.com/en/api/messages) and of
recorded refusals.

Only the last assistant run and what followed it are still open at any time; everything before is closed and never
changes again. That makes a conversation resumable: `copy()` is a snapshot that costs nothing to keep, and going on
from it costs the new messages, not the history.
"""

from __future__ import annotations

from collections import deque
from typing import Generic

from msgspec.structs import replace

from turnproof.errors import InvalidRequestError
from turnproof.messages import FunctionCall, Opaque, Part, Text, ToolResult

from .._sendable import require_messages
from . import convert
from .blocks import Codec, Kind, Row, Unit, V
from .names import wire_id
from .service import Facts, Service


class Arrangement(Generic[V]):
    """Wire messages so far. Feed it with `add`, in order; `finish` gives them all and ends it."""

    __slots__ = ("_answers", "_closed", "_codec", "_facts", "_instructions", "_open_units", "_service", "_thinks")

    def __init__(self, codec: Codec[V], service: Service, facts: Facts) -> None:
        self._codec = codec
        self._service = service
        self._facts = facts
        self._closed: list[V] = []
        self._open_units: list[Unit[V]] = []
        self._answers: list[Unit[V]] = []
        self._instructions: list[Unit[V]] = []
        self._thinks: bool | None = None

    @property
    def loop_lacks_thinking(self) -> bool:
        """Whether a tool loop is running that began without thinking: it cannot go on with a thinking budget."""
        return self._thinks is False and bool(self._calls())

    def copy(self) -> Arrangement[V]:
        """A snapshot: adding to either leaves the other alone."""
        other = Arrangement(self._codec, self._service, self._facts)
        other._closed = self._closed.copy()
        other._open_units = self._open_units.copy()
        other._answers = self._answers.copy()
        other._instructions = self._instructions.copy()
        other._thinks = self._thinks
        return other

    def add(self, row: Row[V]) -> None:
        """Append the blocks of one neutral message. Results in a message of the model's answer its own calls too."""
        role, units = row.role, row.units
        if role == "model":
            self._add_model([unit for unit in units if unit.kind is not Kind.RESULT])
            self._answers.extend(unit for unit in units if unit.kind is Kind.RESULT)
        elif all(unit.kind is Kind.THINKING for unit in units):
            return  # nothing to send
        elif role == "system" and self._facts.mid_system and self._answers:
            # The API takes an instruction only after a user message and before an assistant one.
            self._instructions.extend(units)
        else:
            self._answers.extend(self._instructions)
            self._instructions.clear()
            self._answers.extend(units)
            if any(unit.kind is not Kind.RESULT for unit in units):
                self._thinks = None

    def finish(self) -> list[V]:
        """All wire messages. The arrangement takes no more after this.

        Raises InvalidRequestError where the API answers no such conversation: nothing is said in it, or what was said
        last are the model's own words, and the model does not go on with them.
        """
        if self._waits_for_the_user() and not self._facts.prefill:
            raise InvalidRequestError(
                "what was said last are the model's own words, and this model does not go on with them: "
                "end the conversation with a user's message or a tool's result"
            )
        self._close(last=not self._answers_anything())
        return require_messages(self._closed)

    def _add_model(self, units: list[Unit[V]]) -> None:
        if all(unit.kind is Kind.THINKING for unit in units):
            return  # an answer broken off before it said a word: thinking cannot end a message
        if self._answers_anything():
            self._close()
        self._answers.clear()
        if self._thinks is None:
            self._thinks = units[0].kind is Kind.THINKING
        self._open_units.extend(units)

    def _calls(self) -> list[Unit[V]]:
        return [unit for unit in self._open_units if unit.kind is Kind.CALL]

    def _answers_anything(self) -> bool:
        """Whether the user's side has anything to send between two model messages: orphan results alone are nothing."""
        if any(unit.kind is not Kind.RESULT for unit in self._answers):
            return True
        return bool(self._instructions) or (bool(self._answers) and bool(self._calls()))

    def _waits_for_the_user(self) -> bool:
        """Whether the model has said all it had to say. A turn that paused in a tool of the service's own has not: it
        goes back as it came."""
        if self._answers_anything() or self._calls():
            return False
        return bool(self._open_units) and not any(isinstance(unit.part, Opaque) for unit in self._open_units)

    def _close(self, *, last: bool = False) -> None:
        """Write the open assistant run, then what followed it. `last` says that nothing follows."""
        calls = _told_apart(self._calls())
        words = [unit for unit in self._open_units if unit.kind is not Kind.CALL]
        if not last:
            words = _over(words)
        while words and words[-1].kind is Kind.THINKING and not calls:
            words.pop()
        content_blocks = [unit.value for unit in words]
        if last and words and not calls:
            content_blocks[-1] = self._without_blanks_at_its_end(words[-1])
        content_blocks += [self._under(sent, unit) for sent, unit in calls]
        answers = self._results(calls)
        answers += [unit.value for unit in self._answers if unit.kind is not Kind.RESULT]
        instructions = [unit.value for unit in self._instructions]
        if not answers:
            answers, instructions = instructions, []
        for role, values in (("assistant", content_blocks), ("user", answers), ("system", instructions)):
            if values:
                self._closed.append(self._codec.message(role, values))
        self._open_units.clear()
        self._answers.clear()
        self._instructions.clear()

    def _results(self, calls: list[tuple[str, Unit[V]]]) -> list[V]:
        found: dict[str, deque[Unit[V]]] = {}
        for unit in self._answers:
            if unit.kind is Kind.RESULT:
                found.setdefault(unit.id, deque()).append(unit)
        values = []
        for sent, call in calls:
            waiting = found.get(call.id)
            if waiting:
                values.append(self._under(sent, waiting.popleft()))
            else:
                values.append(self._codec.block(convert.unanswered(sent)))
        return values

    def _under(self, sent: str, unit: Unit[V]) -> V:
        """A call or a result under the id that its call goes by: written again where that is not its own."""
        if sent != wire_id(unit.id):
            match unit.part:
                case FunctionCall() as call:
                    return self._codec.block(convert.call(call, sent, self._service))
                case ToolResult() as result:
                    return self._codec.block(convert.result(result, sent, self._service))
        return unit.value

    def _without_blanks_at_its_end(self, unit: Unit[V]) -> V:
        """An assistant message that ends the conversation may not end in blanks."""
        if not isinstance(unit.part, Text):
            return unit.value
        shorter = replace(unit.part, text=unit.part.text.rstrip())
        return self._codec.block(convert.cited(shorter, self._service))


def _over(words: list[Unit[V]]) -> list[Unit[V]]:
    """Without the calls of the service's own that nothing came of: a paused turn that was left alone has such, and once
    anything follows it they are refused."""
    answered = {unit.part.data.get("tool_use_id") for unit in words if isinstance(unit.part, Opaque)}

    def waits(part: Part) -> bool:
        if not isinstance(part, Opaque) or part.kind != "server_tool_use":
            return False
        return part.data.get("id") not in answered

    return [unit for unit in words if not waits(unit.part)]


def _told_apart(calls: list[Unit[V]]) -> list[tuple[str, Unit[V]]]:
    """The calls of one message under their wire ids; a repeated one is told apart by its place."""
    calls_by_wire_id: dict[str, Unit[V]] = {}
    places: dict[str, int] = {}
    for call in calls:
        own = sent = wire_id(call.id)
        while sent in calls_by_wire_id:
            places[own] = places.get(own, 1) + 1
            sent = f"{own}_{places[own]}"
        calls_by_wire_id[sent] = call
    return list(calls_by_wire_id.items())
