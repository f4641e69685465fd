"""A run as a session's user sees it: one step after the other, with what was held before and after each.

Steps are made of snapshots, operations and the wire alone, so they can be read of any session, also of one that does
not show its provider calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from turnproof.gc import turn_starts
from turnproof.messages import FinishReason, Message, same, same_history
from turnproof.transcript import Event, HistorySnapshot, Refused
from turnproof.view import Exchange, TurnView, View
from turnproof.view.diff import differences, show
from turnproof.view.plain import plain

from .reading import once_per_view, spoken_text, too_long

E = TypeVar("E", bound=Event)

FORGETTING = frozenset({"gc", "reset", "revert"})
"""Operations after which something is rightly held no longer."""

_WHOLE = frozenset({FinishReason.STOP, FinishReason.TOOL_USE, FinishReason.UNKNOWN})


@dataclass(frozen=True)
class Step:
    """One thing done with a session. `done` is `turn`, or the operation by the word that scenarios have for it.

    `before` and `held` are what the session held before and after it, `provider` what its provider held after it, where
    that is known. `refused_before` says that the API has refused a prompt as too long in an earlier step.
    """

    turn: TurnView
    done: str
    before: tuple[Message, ...]
    held: tuple[Message, ...]
    events: tuple[Event, ...]
    exchanges: tuple[Exchange, ...]
    provider: tuple[Message, ...] | None = None
    refused_before: bool = False

    @property
    def where(self) -> str:
        """The place of the step, for messages."""
        return self.turn.where if self.done == "turn" else f"{self.done} before {self.turn.where}"

    def first(self, kind: type[E]) -> E | None:
        """The first event of a kind."""
        return next((event for event in self.events if isinstance(event, kind)), None)

    @property
    def refusal(self) -> Refused | None:
        """How the operation itself was refused, or None."""
        return next(
            (event for event in self.events if isinstance(event, Refused) and event.operation == self.done), None
        )

    @property
    def unchanged(self) -> bool:
        """Whether the session holds the same as before, ids aside."""
        return same_history(self.before, self.held, ids=False)

    @property
    def generated(self) -> tuple[Exchange, ...]:
        """The requests for an answer that were made in it."""
        return tuple(exchange for exchange in self.exchanges if exchange.generates)

    @cached_property
    def added(self) -> tuple[Message, ...] | None:
        """What came on top of what was held before; None where that is not all there any more."""
        count = len(self.before)
        return self.held[count:] if same_history(self.before, self.held[:count], ids=False) else None

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
            self.done == "turn"
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
        return len(turn_starts(self.before))


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
                asked = view.exchanges_in(between)
                refused = bool(found) and found[-1].collects
                found.append(
                    Step(turn, event.after, before, event.messages, tuple(between), asked, refused_before=refused)
                )
                before, between = event.messages, []
    return tuple(found)


def turns_done(view: View) -> Iterator[Step]:
    """The steps in which the user said something."""
    return (step for step in steps(view) if step.done == "turn")


def operations_done(view: View, *words: str) -> Iterator[Step]:
    """The steps that were one of these operations."""
    return (step for step in steps(view) if step.done in words)


def ends_alike(first: Sequence[Message], second: Sequence[Message]) -> int:
    """How many messages two conversations have in common at their end, by content."""
    count = 0
    for one, other in zip(reversed(first), reversed(second), strict=False):
        if not same(one, other, ids=False):
            break
        count += 1
    return count


def unpaired(messages: tuple[Message, ...]) -> str:
    """What is wrong with the pairs of calls and results; empty if nothing is."""
    waiting: dict[str, str] = {}
    for message in messages:
        for result in message.results:
            if waiting.pop(result.call_id, None) is None:
                return f"held is a result for {result.call_id!r}, which no call in front of it asks for"
        if waiting and (message.role == "model" or (message.role == "user" and message.text)):
            break
        waiting.update((call.id, call.name) for call in message.calls)
    return f"the call of {next(iter(waiting.values()))!r} is held without a result" if waiting else ""


def bare(texts: Iterable[str]) -> str:
    """Texts as one, without blanks: where they are cut and how they are joined says nothing."""
    return "".join("".join(text.split()) for text in texts)


def change(before: tuple[Message, ...], held: tuple[Message, ...]) -> str:
    """Where what is held differs from what was expected, in few words."""
    found = differences(plain(before, thoughts=True), plain(held, thoughts=True), names=("expected", "held"))
    return found[0] if found else "provider data differ"


def told(message: Message) -> str:
    """A message, in few words."""
    return f"a {message.role} message, {show(message.text or [type(part).__name__ for part in message.parts])}"


def _finish(exchange: Exchange) -> FinishReason | None:
    return exchange.answer.finish if exchange.answer is not None else None


def _status(exchange: Exchange) -> int:
    return exchange.response.status if exchange.response is not None else 0
