"""The records of a log, one after the other, become the state of a session."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET
from msgspec.structs import asdict, replace

from ...messages import Message, Part, Text
from ..persistence import InterruptedTurn, SavedTurn, SessionState, StartedCall, UserInput
from ..prompt import Typed
from .log_records import AnswerBegan, Began, Called, Changed, Changes, Ended, Opened, Record, Returned


class LeftOut(Exception):
    """A record cannot be taken as it is, because another one is missing."""


class StateBuilder:
    """Starts from a state, or from a log's first record, and takes one record after the other.

    A turn that is told of twice counts once: the same end may have been written again by somebody who could not know
    that it was on the disk already.
    """

    def __init__(self, state: SessionState | None = None) -> None:
        self._base = state
        self._facts: dict[str, Any] = {}
        self._messages: list[Message] = []
        self._typed: dict[str, Typed] = {}
        self._turns: list[SavedTurn] = []
        self._inputs: list[UserInput] = []
        self._interrupted: InterruptedTurn | None = None
        if state is not None:
            self._begin(state)

    @property
    def has_base(self) -> bool:
        """Whether there is anything to go on from."""
        return self._base is not None

    @property
    def next_turn(self) -> int:
        """The number of the next turn, counted from 0."""
        count: int = self._facts.get("turn_count", 0)
        return count

    @property
    def interrupted(self) -> InterruptedTurn | None:
        """The turn that has begun and not ended."""
        return self._interrupted

    def state(self, log_seq: int) -> SessionState:
        """The session after the last record, which is this one of the log."""
        assert self._base is not None
        ids = {message.message_id for message in self._messages} if self._typed else ()
        return replace(
            self._base,
            **self._facts,
            messages=tuple(self._messages),
            typed=tuple(typed for typed in self._typed.values() if typed.message_id in ids),
            turns=tuple(self._turns),
            inputs=tuple(self._inputs),
            interrupted=self._interrupted,
            log_seq=log_seq,
        )

    def apply(self, record: Record) -> None:
        """Go on by one record. Raises LeftOut, and leaves the conversation as it was, where that needs another one."""
        self._facts["updated_at"] = record.at
        match record:
            case Opened():
                if self._base is None:
                    self._begin(
                        SessionState(
                            session_id=record.session_id,
                            created_at=record.at,
                            updated_at=record.at,
                            turn_count=record.turn_count,
                        )
                    )
                    self._change(record.changes)
            case Began():
                self._interrupted = InterruptedTurn(began_at=record.at, content=record.content)
            case AnswerBegan():
                self._note_answer(record)
            case Called():
                self._note_call(StartedCall(call=record.call))
            case Returned():
                self._note_return(record.call_id)
            case Ended():
                began, self._interrupted = self._interrupted, None
                if record.turn >= self.next_turn:
                    self._end(record, began)
            case Changed():
                self._change(record.changes)

    def _begin(self, state: SessionState) -> None:
        self._base = state
        self._facts["turn_count"] = state.turn_count
        self._messages = list(state.messages)
        self._typed = {typed.message_id: typed for typed in state.typed}
        self._turns = list(state.turns)
        self._inputs = list(state.inputs)
        self._interrupted = state.interrupted

    def _end(self, record: Ended, began: InterruptedTurn | None) -> None:
        if record.outcome == "failed":
            self._change(record.changes)
            return
        content = began.content if began else ()
        added = record.messages
        if record.user is not None:
            if not content:
                raise LeftOut(f"turn {record.turn} is left out: the record of its beginning is missing")
            added = (Message("user", content, record.user), *added)
        self._facts["turn_count"] = record.turn + 1
        self._change(record.changes)
        self._messages += added
        self._typed |= {typed.message_id: typed for typed in record.typed}
        began_at = began.began_at if began else record.at
        if content:
            self._inputs.append(UserInput(at=began_at, text=_text(content)))
        self._inputs += record.inputs
        self._turns.append(
            SavedTurn(
                began_at=began_at,
                ended_at=record.at,
                outcome=record.outcome,
                usage=record.usage,
                rounds=record.rounds,
                attempts=record.attempts,
            )
        )
        if record.usage.total_tokens:
            self._facts["usage"] = record.usage

    def _change(self, changes: Changes | None) -> None:
        if changes is None:
            return
        changed_fields = {name: value for name, value in asdict(changes).items() if value is not UNSET}
        if (history := changed_fields.pop("history", None)) is not None:
            self._messages = list(history)
        if (typed := changed_fields.pop("typed", None)) is not None:
            self._typed = {one.message_id: one for one in typed}
        self._facts |= changed_fields

    def _note_call(self, started: StartedCall) -> None:
        if self._interrupted is not None:
            self._interrupted = replace(self._interrupted, calls=(*self._interrupted.calls, started), answer=None)

    def _note_answer(self, record: AnswerBegan) -> None:
        if (turn := self._interrupted) is not None:
            messages, typed = (*turn.messages, *record.messages), (*turn.typed, *record.typed)
            self._interrupted = replace(turn, answer=record.answer, messages=messages, typed=typed)

    def _note_return(self, call_id: str) -> None:
        if self._interrupted is not None:
            calls = tuple(
                replace(one, finished=True) if one.call.id == call_id else one for one in self._interrupted.calls
            )
            self._interrupted = replace(self._interrupted, calls=calls)


def _text(content: tuple[Part, ...]) -> str:
    return "".join(part.text for part in content if isinstance(part, Text))
