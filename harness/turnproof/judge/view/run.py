"""A readable view over a transcript: turns, calls, exchanges. It adds no facts, and drives nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

from ...dialects.base import Call, World
from ...dialects.contract import Dialect
from ...messages import Message, ToolSchema
from ...run import transcript as t
from ...scenarios.model import Scenario, Turn
from ...windows import Window
from ..finding import Place, Side, pointer
from .aliases import Aliases, aliases_of
from .asked import Asked, count
from .call import Callback, ProviderCall
from .diff import present
from .documents import CALLBACKS, event_document, is_stray, process_events
from .exchange import Exchange, read_run
from .own_texts import GivenTexts
from .turn import TurnView
from .window import completed, said_before_requests


class View:
    """One run, as checks read it.

    `digest` is the evidence digest of the transcript, where the caller knows it; verdicts then name it. Wire bodies
    are parsed by the dialect, when they are first asked for. With `given_texts_alone` they are read without the texts
    that a framework adds of its own, and with a `window` as if that had left out nothing that it may leave out; with
    `dialect_form` only those of which it is known how the rest would read.
    """

    shows_calls: bool = True
    """Whether its calls are those that the subject made, with all that was seen of them."""

    def __init__(
        self,
        transcript: t.Transcript,
        dialect: Dialect,
        scenario: Scenario,
        digest: str = "",
        *,
        given_texts_alone: bool = False,
        window: Window | None = None,
        dialect_form: bool = False,
    ) -> None:
        self.transcript = transcript
        self.window = window
        self.dialect_form = dialect_form
        self.dialect = dialect
        self.scenario = scenario
        self.digest = digest
        self.given_texts_alone = given_texts_alone
        self.key: t.RunKey = transcript.key
        """Scenario, path, mode and repeat."""
        self._asked_counts: dict[Asked, int] = {}

    def at(self, side: Side, *tokens: str | int, **fields: Any) -> Place:
        """A place in this run, outside of any turn. `tokens` are those of the pointer (see `finding`)."""
        fields.setdefault("pointer", pointer(*tokens))
        return Place.of_run(side, self.key, **fields)

    def at_event(self, event: t.Event, *tokens: str | int) -> Place:
        """Any event of this run, or a part of it; what it leaves out is pointed to by what stands around it."""
        if not isinstance(event, t.WireRequest | t.WireResponse):
            tokens = present(event_document(event), tokens)
        match event:
            case t.WireRequest() | t.WireResponse():
                exchange = next(one for one in self.exchanges if one.number == event.exchange)
                return exchange.at(Side.REQUEST if isinstance(event, t.WireRequest) else Side.STREAM, *tokens)
            case t.SpanMade():
                number = next(n for n, one in enumerate(self.transcript.of(t.SpanMade)) if one is event)
                return self.at(Side.SPAN, number, *tokens)
            case t.HistorySnapshot():
                operated = event.owner == "session" and event.after != "turn"
                owner = ("operations", event.after) if operated else (event.owner,)
                return self.at(Side.HISTORY, *owner, *tokens, turn=event.turn, probe=event.probe)
        call = next((one for one in self.calls if one.index == event.call), None) if not event.probe else None
        where: dict[str, Any] = {"turn": event.turn, "call": event.call, "probe": event.probe}
        if call is not None:
            where |= {"round": call.began.round, "attempt": call.attempt}
        match event:
            case t.Failed() if not is_stray(event):
                if event.scope == "turn":
                    return self.at(Side.ERROR, *tokens, turn=event.turn, probe=event.probe)
                return self.at(Side.ERROR, *tokens, **where)
            case t.Response():
                return self.at(Side.RESPONSE, *tokens, **where)
            case t.CallBegan():
                return self.at(Side.HISTORY, *tokens, **where)
            case t.Chunk() | t.Thinking() | t.FunctionCallDetected() | t.UsageUpdate():
                own_callbacks = (one for one in self.transcript.events if isinstance(one, CALLBACKS))
                own_callbacks = (one for one in own_callbacks if one.call == event.call and one.probe == event.probe)
                number = next(n for n, one in enumerate(own_callbacks) if one is event)
                return self.at(Side.CALLBACK, number, *tokens, **where)
        turn_events = (one for one in self.transcript.events if one.turn == event.turn and one.probe == event.probe)
        number = next(n for n, one in enumerate(process_events(turn_events)) if one is event)
        return self.at(Side.PROCESS, number, *tokens, turn=event.turn, probe=event.probe)

    @property
    def streamed(self) -> bool:
        """Whether the run asked for streams."""
        return self.key.mode == "stream"

    def asked(self, what: Asked) -> int:
        """How often the subject was asked in this run: its calls, requests, answers, failures or steps."""
        if what not in self._asked_counts:
            self._asked_counts[what] = count(self.transcript, self.exchanges, what)
        return self._asked_counts[what]

    @cached_property
    def live(self) -> bool:
        """Whether the real service answered, now or when its answers were recorded."""
        return self.transcript.backend == "live" or any(
            event.origin == "service" for event in self.transcript.of(t.WireResponse)
        )

    @cached_property
    def finished(self) -> bool:
        """Whether the run came to its end."""
        return self.transcript.end.how == "completed"

    @cached_property
    def turns(self) -> tuple[TurnView, ...]:
        """The turns in order; each has its calls. What children sent while others were under way is in none."""
        by_turn: dict[int, list[t.Event]] = defaultdict(list)
        for event in self.transcript.events:
            if event.turn >= 0 and not event.probe and not self._is_beside(event):
                by_turn[event.turn].append(event)
        scripts = self.scenario.turns
        views = []
        for index, events in sorted(by_turn.items()):
            script = scripts[index] if index < len(scripts) else None
            calls = self._calls(events, script)
            views.append(TurnView(index, script, events, calls, self.key, live=self.live))
        return tuple(views)

    def child_exchanges(self, turn: int, child: int) -> tuple[Exchange, ...]:
        """The requests for an answer of one of the children that were under way beside others in a turn, in order."""
        found = (one for one in self.exchanges if one.request.child == child and one.request.turn == turn)
        return tuple(exchange for exchange in found if exchange.generates)

    @cached_property
    def calls(self) -> tuple[ProviderCall, ...]:
        """The calls of all turns, in order; probes are not among them."""
        return tuple(call for turn in self.turns for call in turn.calls)

    @cached_property
    def aliases(self) -> Aliases:
        """What stands for the ids and seals of this run where it is compared with another one."""
        return aliases_of(self.calls)

    @cached_property
    def comparable(self) -> tuple[ProviderCall, ...]:
        """The calls that both paths have in common.

        They end with the first paused answer, since a path that cannot take it up again ends its turn there; those that
        only found a managed cache gone are not among them, since a path may find that out without a call of its own.
        """
        paused = next((place for place, call in enumerate(self.calls, 1) if call.paused), None)
        return tuple(call for call in self.calls[:paused] if not call.lost_cache)

    @cached_property
    def probes(self) -> dict[str, tuple[ProviderCall, ...]]:
        """The calls that probes made again, by probe; `index` is that of the original call.

        The `threads` probe makes all calls at once, so its exchanges belong to no call: see `probe_exchanges`.
        """
        by_probe: dict[str, list[t.Event]] = defaultdict(list)
        for event in self.transcript.events:
            if event.probe:
                by_probe[event.probe].append(event)
        return {probe: tuple(self._calls(events, None)) for probe, events in by_probe.items()}

    def probe_exchanges(self, probe: str) -> tuple[Exchange, ...]:
        """All exchanges of a probe that asked for an answer, in the order in which the server saw them."""
        events = [event for event in self.transcript.events if event.probe == probe]
        return tuple(exchange for exchange in self.exchanges_in(events) if exchange.generates)

    def probe_responses(self, probe: str) -> dict[int, t.Response | t.Failed]:
        """How each call of a probe ended, by the index of the original call."""
        events = (event for event in self.transcript.events if event.probe == probe and event.call >= 0)
        return {event.call: event for event in events if isinstance(event, t.Response | t.Failed)}

    @cached_property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Every exchange of the run, probes included."""
        rounds = {(began.probe, began.call): began.round for began in self.transcript.of(t.CallBegan)}
        answers = {event.exchange: event for event in self.transcript.of(t.WireResponse)}
        world, calls = self._run
        texts = GivenTexts.of_run(self.scenario, self.transcript) if self.given_texts_alone else None
        window, events = self.window, self.transcript.events
        before = (
            {}
            if window is None
            else said_before_requests(
                window, self.scenario, self.dialect, events, self._messages_of, dialect_form=self.dialect_form
            )
        )
        return tuple(
            Exchange(
                self.dialect,
                request,
                answers.get(request.exchange),
                world,
                self.key,
                rounds.get((request.probe, request.call), -1),
                calls.get(request.exchange),
                texts,
                before.get(request.exchange),
            )
            for request in self.transcript.of(t.WireRequest)
        )

    def _messages_of(self, number: int) -> tuple[Message, ...]:
        call = next(one.call for one in self.exchanges if one.number == number)
        return call.messages if call is not None else ()

    def exchanges_in(self, events: Iterable[t.Event]) -> tuple[Exchange, ...]:
        """The exchanges whose requests are among these events, each the same object however often it is asked for."""
        return tuple(self._by_request[id(event)] for event in events if isinstance(event, t.WireRequest))

    def tools_in(self, turn: int, exchange: Exchange | None) -> tuple[ToolSchema, ...]:
        """The tools in force in a turn. Where one may go on in the background, what the session offers with it in this
        request is among them: a tool by which the model asks what became of it."""
        tools = self.scenario.tools_in(turn)
        slow = any(script.background is not None for script in self.scenario.turns)
        if not slow or exchange is None or exchange.call is None:
            return tools
        known = {tool.name for tool in tools}
        return (*tools, *(tool for tool in exchange.call.tools if tool.name not in known))

    @property
    def strays(self) -> tuple[t.Failed, ...]:
        """Failures of the adapter outside any call: in `get_history()` or `shutdown()`."""
        found = self.transcript.of(t.Failed)
        return tuple(event for event in found if is_stray(event) and not event.probe)

    def pairs(self) -> Iterator[tuple[ProviderCall, ProviderCall]]:
        """Each call with the next call of the run."""
        return zip(self.calls, self.calls[1:], strict=False)

    def _calls(self, events: Sequence[t.Event], script: Turn | None) -> list[ProviderCall]:
        calls: list[ProviderCall] = []
        rounds: dict[int, int] = defaultdict(int)
        for group in _by_call(events):
            began = group[0]
            assert isinstance(began, t.CallBegan)
            if began.child:
                continue  # of another conversation; its exchanges are found by the events of its step
            calls.append(self._call(began, group, rounds[began.round], script))
            # A managed cache that ended costs another request, and no attempt: nothing was wrong with this one.
            rounds[began.round] += not calls[-1].lost_cache
        return calls

    def _call(self, began: t.CallBegan, events: Sequence[t.Event], attempt: int, script: Turn | None) -> ProviderCall:
        callbacks: list[Callback] = []
        late: list[t.LateCallback] = []
        ended: t.Response | t.Failed | None = None
        for event in events:
            match event:
                case t.Chunk() | t.Thinking() | t.FunctionCallDetected() | t.UsageUpdate():
                    callbacks.append(event)
                case t.LateCallback():
                    late.append(event)
                case t.Response() | t.Failed(scope="call") if ended is None:
                    ended = event
        return ProviderCall(began, self.exchanges_in(events), callbacks, late, ended, attempt, script, self.key)

    def _is_beside(self, event: t.Event) -> bool:
        """Whether it is part of an exchange of a child that was under way beside others."""
        return isinstance(event, t.WireRequest | t.WireResponse) and event.exchange in self._child_exchanges

    @cached_property
    def _child_exchanges(self) -> frozenset[int]:
        return frozenset(one.exchange for one in self.transcript.of(t.WireRequest) if one.child is not None)

    @cached_property
    def _by_request(self) -> dict[int, Exchange]:
        return {id(exchange.request): exchange for exchange in self.exchanges}

    @cached_property
    def _run(self) -> tuple[World, dict[int, Call]]:
        answers = {event.exchange: event for event in self.transcript.of(t.WireResponse)}
        requests = self.transcript.of(t.WireRequest)
        return read_run(self.dialect, ((request, answers.get(request.exchange)) for request in requests))


def as_claimed(view: View, *, given_texts_alone: bool, window: Window | None, dialect_form: bool = False) -> View:
    """The same run, its requests without the texts that a framework adds of its own, or with what its window leaves
    out; made once for each view."""
    if not given_texts_alone and window is None:
        return view

    def sent_in(turn: int) -> tuple[Message, ...]:
        calls = [
            one.call for one in view.exchanges if one.generates and one.request.turn == turn and not one.request.probe
        ]
        return calls[-1].messages if calls and calls[-1] is not None else ()

    views = _AS_CLAIMED.setdefault(view, {})
    key = (given_texts_alone, window, dialect_form)
    if key not in views:
        views[key] = View(
            view.transcript if window is None else completed(view.transcript, view.scenario, view.dialect, sent_in),
            view.dialect,
            view.scenario,
            view.digest,
            given_texts_alone=given_texts_alone,
            window=window,
            dialect_form=dialect_form,
        )
    return views[key]


_AS_CLAIMED: WeakKeyDictionary[View, dict[tuple[bool, Window | None, bool], View]] = WeakKeyDictionary()


def _by_call(events: Sequence[t.Event]) -> list[list[t.Event]]:
    """The events of each call, found by its index: late events may come after the next call began."""
    groups: dict[int, list[t.Event]] = {}
    for event in events:
        if isinstance(event, t.CallBegan):
            groups[event.call] = [event]
        elif event.call in groups:
            groups[event.call].append(event)
    return list(groups.values())
