"""A run as a session's user sees it: one step after the other, with what was held before and after each.

Steps are made of snapshots, operations and the wire alone, so they can be read of any session, also of one that does
not show its provider calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, TypeVar

from msgspec import UNSET
from msgspec.structs import replace as changed

from turnproof.gc import turn_starts
from turnproof.judge.finding import Place, Side
from turnproof.judge.view import Exchange, TurnView, View
from turnproof.messages import (
    JSON,
    FinishReason,
    FunctionCall,
    Message,
    Part,
    ToolResult,
    same,
    same_history,
    to_builtins,
)
from turnproof.run.transcript import Event, HistorySnapshot, Refused

from .content import spoken_text
from .context_room import too_long
from .part_rows import ValueDifference, value_differences
from .reading import once_per_view

E = TypeVar("E", bound=Event)

FORGETTING = frozenset({"gc", "reset", "revert"})
"""Operations after which something is rightly held no longer."""

_LONGEST_MESSAGE = 200
"""Characters of an error's message that are shown beside the outcome; the place of the finding has all of it."""

_WHOLE = frozenset({FinishReason.STOP, FinishReason.TOOL_USE, FinishReason.UNKNOWN})


@dataclass(frozen=True)
class Step:
    """One thing done with a session. `kind` is `turn`, or the operation by the word that scenarios have for it.

    `history_before` and `history` are what the session held before and after it, `provider` what its provider held
    after it, where that is known. `refused_before` says that the API has refused a prompt as too long in an earlier
    step. `previous` is the step before, None for the first one.
    """

    turn: TurnView
    kind: str
    history_before: tuple[Message, ...]
    history: tuple[Message, ...]
    events: tuple[Event, ...]
    exchanges: tuple[Exchange, ...]
    provider: tuple[Message, ...] | None = None
    refused_before: bool = False
    previous: Step | None = field(default=None, repr=False)

    @property
    def where(self) -> str:
        """The place of the step, for messages."""
        return self.turn.where if self.kind == "turn" else f"{self.kind} before {self.turn.where}"

    def at_history(self, *tokens: str | int) -> Place:
        """The place of what the session held after the step: all of it, a message (`3`), or what is in one."""
        owner = ("session",) if self.kind == "turn" else ("operations", self.kind)
        return self.turn.at(Side.HISTORY, *owner, *tokens)

    def at_before(self, *tokens: str | int) -> tuple[Place, ...]:
        """The place of what the session held before the step, as a finding has related ones; none before the first."""
        return () if self.previous is None else (self.previous.at_history(*tokens),)

    def at_provider(self, *tokens: str | int) -> Place:
        """The place of what the session's provider holds; of an operation as it stood at the end of the turn."""
        return self.turn.at(Side.HISTORY, "provider", *(tokens if self.kind == "turn" else ()))

    def at_event(self, event: Event, *tokens: str | int) -> Place:
        """The place of something else that happened in the step, or of a part of it."""
        return self.turn.at_event(event, *tokens)

    def at_change(self, change: ValueDifference) -> Place:
        """The place in what the session held after the step of one of `changes`."""
        return self.at_history(*change.steps)

    @property
    def changes(self) -> Iterator[ValueDifference]:
        """Where the session holds something else than before, ids of messages aside."""
        return value_differences(content(self.history_before), content(self.history))

    def first(self, kind: type[E]) -> E | None:
        """The first event of a kind."""
        return next((event for event in self.events if isinstance(event, kind)), None)

    @property
    def refusal(self) -> Refused | None:
        """How the operation itself was refused, or None."""
        return next(
            (event for event in self.events if isinstance(event, Refused) and event.operation == self.kind), None
        )

    @property
    def unchanged(self) -> bool:
        """Whether the session holds the same as before, ids aside."""
        return same_history(self.history_before, self.history, ids=False)

    @property
    def generated(self) -> tuple[Exchange, ...]:
        """The requests for an answer that were made in it."""
        return tuple(exchange for exchange in self.exchanges if exchange.generates)

    @cached_property
    def added(self) -> tuple[Message, ...] | None:
        """What came on top of what was held before; None where that is not all there any more.

        A conversation from elsewhere may have calls that nobody answered. What the session puts behind them, so that
        the API takes them, is none of it.
        """
        messages_now = mended_as(self.history, self.history_before)
        count = len(self.history_before)
        return messages_now[count:] if same_history(self.history_before, messages_now[:count], ids=False) else None

    @property
    def collects(self) -> bool:
        """Whether the session may rightly collect history in this turn: a prompt was too long for the API.

        Once it was, the session knows the limit, and may collect in time.
        """
        return self.refused_before or any(too_long(one) or _status(one) == 413 for one in self.exchanges)

    @property
    def answers(self) -> tuple[Exchange, ...]:
        """The exchanges that brought a whole, undisturbed answer."""
        return tuple(exchange for exchange in self.generated if exchange.clean)

    @property
    def ordinary(self) -> bool:
        """Whether it is a turn in which nothing out of the ordinary happened, on any side."""
        ended = self.turn.ended
        return (
            self.kind == "turn"
            and self.turn.normal
            and ended is not None
            and ended.outcome == "answer"
            and not self.collects
            and len(self.answers) == len(self.generated) > 0
            and all(_finish(exchange) in _WHOLE for exchange in self.answers)
        )

    @property
    def answered_text(self) -> list[str]:
        """The visible text of each whole answer that has some."""
        texts = [spoken_text(exchange.answer.parts) for exchange in self.answers if exchange.answer is not None]
        return [text for text in texts if text]

    @property
    def turns_before(self) -> int:
        """How many turns the session held before."""
        return len(turn_starts(self.history_before))


@once_per_view
def steps(view: View) -> tuple[Step, ...]:
    """All steps of a run, in order."""
    found: list[Step] = []
    before: tuple[Message, ...] = ()
    for turn in view.turns:
        between: list[Event] = []
        for event in turn.events:
            if not isinstance(event, HistorySnapshot):
                between.append(event)
            elif event.owner == "provider":
                found[-1:] = [replace(last, provider=event.messages) for last in found[-1:]]
            else:
                exchanges = view.exchanges_in(between)
                previous = found[-1] if found else None
                refused = previous is not None and previous.collects
                found.append(
                    Step(
                        turn,
                        event.after,
                        before,
                        event.messages,
                        tuple(between),
                        exchanges,
                        refused_before=refused,
                        previous=previous,
                    )
                )
                before, between = event.messages, []
    return tuple(found)


def turns_done(view: View) -> Iterator[Step]:
    """The steps in which the user said something."""
    return (step for step in steps(view) if step.kind == "turn")


def operations_done(view: View, *words: str) -> Iterator[Step]:
    """The steps that were one of these operations."""
    return (step for step in steps(view) if step.kind in words)


def ends_alike(first: Sequence[Message], second: Sequence[Message]) -> int:
    """How many messages two conversations have in common at their end, by content."""
    count = 0
    for one, other in zip(reversed(first), reversed(second), strict=False):
        if not same(one, other, ids=False):
            break
        count += 1
    return count


@dataclass(frozen=True)
class Unpaired:
    """A call without a result, or a result without a call in front of it: what lacks, and where the other one stands.

    `message` and `part` are its indices in the conversation.
    """

    lacks: Literal["call", "result"]
    call_id: str
    tool: str
    message: int
    part: int


def every_unpaired(messages: Sequence[Message]) -> Iterator[Unpaired]:
    """The calls without a result, and the results without a call, in a conversation."""
    waiting: dict[str, Unpaired] = {}
    for number, message in enumerate(messages):
        calls: dict[str, Unpaired] = {}
        for place, part in enumerate(message.parts):
            match part:
                case ToolResult(call_id=id, name=tool) if waiting.pop(id, None) is None:
                    yield Unpaired("call", id, tool, number, place)
                case FunctionCall(id=id, name=tool):
                    calls[id] = Unpaired("result", id, tool, number, place)
        if message.role == "model" or (message.role == "user" and message.text):
            yield from waiting.values()
            waiting.clear()
        waiting.update(calls)
    yield from waiting.values()


def unpaired(messages: Sequence[Message]) -> Unpaired | None:
    """The first thing that is wrong with the pairs of calls and results; None if nothing is."""
    return next(every_unpaired(messages), None)


def mended_as(messages: Sequence[Message], before: Sequence[Message]) -> tuple[Message, ...]:
    """The messages, less the results of calls that had none in the conversation before."""
    missing = {one.call_id for one in every_unpaired(before) if one.lacks == "result"}
    if not missing:
        return tuple(messages)

    def is_mended(part: Part) -> bool:
        return isinstance(part, ToolResult) and part.call_id in missing

    return tuple(
        changed(message, parts=tuple(part for part in message.parts if not is_mended(part)))
        for message in messages
        if not message.parts or not all(map(is_mended, message.parts))
    )


def content(messages: Sequence[Message]) -> JSON:
    """A conversation as JSON, without the ids of its messages; indices are those of messages and parts."""
    return [{"role": message.role, "parts": to_builtins(message.parts)} for message in messages]


def outcome(turn: TurnView) -> object:
    """How a turn ended, as a finding has it: nothing where it came to no end."""
    return UNSET if turn.ended is None else turn.ended.outcome


def failure(turn: TurnView) -> str:
    """What a turn raised, in brackets behind its outcome; empty if it raised nothing."""
    failed = turn.failed
    return "" if failed is None else f" ({failed.error}: {failed.message[:_LONGEST_MESSAGE]})"


def _finish(exchange: Exchange) -> FinishReason | None:
    return exchange.answer.finish if exchange.answer is not None else None


def _status(exchange: Exchange) -> int:
    return exchange.response.status if exchange.response is not None else 0
