"""Provider calls that nobody showed, derived from what is seen of a session from outside.

A framework's session opens its own client. Nobody hands its messages to an adapter, and nobody gets a response back;
but the wire has each request and each answer, the session tells what it holds after each turn, and the user sees how
the turn ended. Where these agree on which message came of which answer, that is a call: the messages that the session
held when it asked, and the message that it made of the answer. Where they do not agree, a call is its request and its
answer on the wire, and nothing is said of the rest.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

from ... import messages as m
from ...run.transcript import Failed, Response, TurnBegan, TurnEnded
from ...scenarios.model import Turn
from ..finding import Place, Side
from .call import Callback, ProviderCall
from .exchange import Exchange
from .run import View
from .turn import TurnView
from .turn_reading import CallParts, Known, TurnReading, held_before, repeated_unawares


class DerivedCall(ProviderCall):
    """A call as far as it shows from outside: one request, and what the session made of its answer.

    `response` has the parts of the message that the session holds for the answer. Its finish reason says no more than
    whether the turn was cancelled, and its usage is known of a turn's last answer alone, where the session tells it.
    `failed` is what the turn failed with, or what the session gave as its reason to ask again. `callbacks` is what the
    user was shown; where the session is late with it, the text alone, in one piece.
    """

    def __init__(self, call: CallParts, turn: Turn | None, view: TurnView, run: View) -> None:
        super().__init__(call.began, call.exchanges, call.callbacks, call.late, call.ended, call.attempt, turn, run.key)
        self._view = view
        self._run = run
        self._request = call.exchange
        self._held_at = call.held_at
        self._knows_messages = call.knows_messages
        self._knows_callbacks = call.knows_callbacks
        self._retried = call.retried

    @cached_property
    def where(self) -> str:
        """The place of the call, for messages."""
        return f"turn {self.began.turn} round {self.began.round} (request {self._request.number})"

    @property
    def knows_messages(self) -> bool:
        """Whether it is known what the session held: not where it made its history shorter in this turn."""
        return self._knows_messages

    @property
    def knows_callbacks(self) -> bool:
        """Whether it is known what was shown of this answer, and in which pieces."""
        return self._knows_callbacks

    @property
    def came_to_nothing(self) -> bool:
        """Whether the session had to ask again: it made no message of the answer."""
        return self.response is None and not self.clean

    def at(self, side: Side, *tokens: str | int, **fields: Any) -> Place:
        """The place in what is held after the turn, or in how it ended, that shows what a call would have shown."""
        ended = self._view.ended
        match side:
            case Side.RESPONSE if ended is not None and ended.answer is not None and self.response is ended.answer:
                return self._view.at_event(ended, "answer", *tokens)
            case Side.RESPONSE if tokens[:1] == ("parts",) and self._held_at is not None:
                return self._view.at(Side.HISTORY, "session", self._held_at, *tokens)
            case Side.HISTORY:
                return self._view.at(Side.HISTORY, "session", *tokens)
            case Side.ERROR if self._retried is not None:
                return self._view.at_event(self._retried, "failure", *tokens)
            case Side.ERROR if self._view.failed is not None:
                return self._view.at(Side.ERROR, *tokens)
            case Side.CALLBACK if self._view.ended is not None:
                return self._view.at_event(self._view.ended, "shown")
        return self._view.at_end()

    def at_callback(self, callback: Callback, *tokens: str | int) -> Place:
        """What the user was shown, or a part of it."""
        return self._run.at_event(callback, *tokens) if self._knows_callbacks else self.at(Side.CALLBACK)


class _SaidAgain(ProviderCall):
    """The call by which a turn began that was said again; `index` is that of the turn's own first call."""

    def __init__(self, call: ProviderCall, index: int) -> None:
        super().__init__(
            call.began, call.exchanges, call.callbacks, call.late, call._ended, call.attempt, call._turn, call._key
        )
        self._index = index

    @property
    def index(self) -> int:
        return self._index


def derived(view: View, known: Known = "history", *, reports_retries: bool = False) -> DerivedView:
    """The same run with the calls that can be derived, made once for each view."""
    views = _DERIVED.setdefault(view, {})
    if (known, reports_retries) not in views:
        views[known, reports_retries] = DerivedView(view, known, reports_retries=reports_retries)
    return views[known, reports_retries]


class DerivedView(View):
    """A run of a session that does not show its provider calls, with the calls that can be derived.

    Only calls of which as much is `known` have a response. Of a session that `reports_retries` a request that came
    again without a report is none of its own doing: both are of one call.
    """

    shows_calls = False

    def __init__(self, view: View, known: Known = "history", *, reports_retries: bool = False) -> None:
        super().__init__(
            view.transcript,
            view.dialect,
            view.scenario,
            view.digest,
            given_texts_alone=view.given_texts_alone,
            window=view.window,
            dialect_form=view.dialect_form,
        )
        self._known = known
        self._reports_retries = reports_retries

    @cached_property
    def turns(self) -> tuple[TurnView, ...]:
        """The turns in order, each with the calls that could be derived."""
        found: list[TurnView] = []
        number = 0
        for turn in super().turns:
            messages_before = held_before(self.transcript.events, turn)
            exchanges = self._exchanges_of(turn)
            repeated = repeated_unawares(turn.events, exchanges) if self._reports_retries else frozenset()
            reading = TurnReading(turn, messages_before, exchanges, repeated, self._in_force(turn), self.streamed)
            calls = list(reading.calls(number, self._known))
            number += len(calls)
            own_turn = TurnView(turn.index, turn.script, turn.events, (), self.key, live=self.live)
            own_turn.calls = tuple(DerivedCall(call, turn.script, own_turn, self) for call in calls)
            found.append(own_turn)
        return tuple(found)

    @cached_property
    def probes(self) -> dict[str, tuple[ProviderCall, ...]]:
        """What was said again, as the first call of the turn in which it had been said."""
        first = self._first_calls
        return {
            probe: tuple(_SaidAgain(call, first.get(call.index, call.index)) for call in calls)
            for probe, calls in super().probes.items()
        }

    def probe_responses(self, probe: str) -> dict[int, Response | Failed]:
        """How each of them ended, by the index of the first call of its turn."""
        first = self._first_calls
        return {first.get(turn, turn): ended for turn, ended in super().probe_responses(probe).items()}

    @cached_property
    def _first_calls(self) -> dict[int, int]:
        return {turn.index: turn.calls[0].index for turn in self.turns if turn.calls}

    def _exchanges_of(self, turn: TurnView) -> list[Exchange]:
        """What was sent while the turn ran: what was sent ahead of it is a child's, and what tidies up behind it no
        call's."""
        events = turn.events
        at = next((n for n, event in enumerate(events) if isinstance(event, TurnBegan)), len(events))
        end = next((n for n, event in enumerate(events) if isinstance(event, TurnEnded)), len(events))
        later = [exchange for exchange in self.exchanges_in(events[end:]) if exchange.generates]
        return [*self.exchanges_in(events[at:end]), *later]

    def _in_force(self, turn: TurnView) -> tuple[str | None, tuple[m.ToolSchema, ...]]:
        scripts = self.scenario.turns[: turn.index + 1]
        texts = [script.system for script in scripts if script.system is not None]
        first = next((exchange for exchange in self._exchanges_of(turn) if exchange.generates), None)
        return texts[-1] if texts else self.scenario.system, self.tools_in(turn.index, first)


_DERIVED: WeakKeyDictionary[View, dict[tuple[Known, bool], DerivedView]] = WeakKeyDictionary()
