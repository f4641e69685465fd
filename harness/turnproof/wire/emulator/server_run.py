"""One run as the server sees it: its own base URL, world, prompt cache, armed turn and record of exchanges.

A run belongs to the server's event loop; the few methods that other threads may call say so.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any, Literal, Protocol, TypedDict
from weakref import WeakKeyDictionary

from ...dialects.base import Call, HttpRequest, Refusal, Rendered, WireEvent, World
from ...dialects.contract import Dialect, PrefixCache
from ...messages import ToolSchema
from ...scenarios.model import Cut, Fault, Turn
from .incoming import Incoming

CANARY_KEY = "tp-canary-5d41402abc4b2a76b9719d911017c592"
"""The key of every emulated run. It must never be seen anywhere but in an auth header."""


def other_key(key: str) -> str:
    """A second key of a run, of another organisation. The first one is in it: what hides that one hides both."""
    return f"{key}-other"


def secret_run_key() -> str:
    """A key for a run that the real service answers. Nobody else on the machine can guess it, so that nobody else is
    served with the real key; `CANARY_KEY` is in it."""
    return f"{CANARY_KEY}-{token_hex(16)}"


SERVER_THREAD = "turnproof-emulator"
"""The name of the thread in which a server answers."""

HOLD_LIMIT = 5.0
"""Seconds a stream is held for a cancel that the adapter does not act on ("must not" limit)."""

STALL_LIMIT = 6.0
"""Seconds of silence after which the server gives up on a stalled client."""

DONE_LIMIT = 10.0
"""Seconds in which the server is done with an exchange whose call has returned: longer than it waits for anything."""

_BACKGROUND_FAULTS: Mapping[str, Sequence[Fault]] = {"broken-stream": (Fault("reset", after="text:1"),) * 2}
"""What goes wrong with streams of answers in the background during a probe."""

_LOOK = 0.01
"""Seconds between two looks at connections that are still open."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """What a client that has read everything written so far can know: used to cancel at a settled point.

    `tokens` are the figures so far, in total; `earlier` is the text of the turn's answers before this one.
    """

    text: int = 0
    thinking: int = 0
    calls: int = 0
    tokens: int = 0
    earlier: int = 0


class WireFilter(Protocol):
    """A rewriting proxy in front of the server: how a broken adapter's wire side is imitated."""

    def request(self, request: HttpRequest) -> HttpRequest: ...

    def response(self, call: Call, rendered: Rendered) -> Rendered: ...


@dataclass(frozen=True, slots=True)
class Progress:
    """How much of an answer has been written: bytes of its `body` and of what was `sent`, and events."""

    body: int = 0
    sent: int = 0
    written: int = 0


@dataclass(slots=True)
class Exchange:
    """One request and what became of it.

    `answered` and `events` are the responder's whole answer; `status`, `body` and `written` what was put on the wire,
    with `body` in the dialect's own spelling. `sent` are the bytes themselves, each noted when it is written, and
    `spelling` the name of theirs if it is another. `settled` is how far the answer had come when the server last
    waited for the client: how much is written behind that, until a client closes, is a matter of moments. `origin` says
    whose answer it is: ours, that of the real `service`, an earlier one of the service that was `kept`, or the
    `recorded` one of a scenario. `stored` are the ids of what the service keeps behind it, `asked` the members
    that the request to a real service has for the script's sake. `began` and `over` are
    moments of the monotonic clock. `connection` is the number of the connection by which the request
    came. `child` is the number of the child of the session that asks while others are under way, None for
    everybody else.
    """

    number: int
    request: HttpRequest
    call: Call | None = None
    operation: str = "other"
    extra: bool = False
    findings: Sequence[Refusal] = ()
    turn: int = -1
    round: int = 0
    status: int = 0
    answered: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    events: Sequence[WireEvent] = ()
    body: bytearray = field(default_factory=bytearray)
    sent: bytearray = field(default_factory=bytearray)
    spelling: str = ""
    written: int = 0
    settled: Progress = Progress()
    ended: Literal["completed", "cut-by-us", "cut-by-peer", "timed-out", "left-open"] = "left-open"
    fault: str | None = None
    held: bool = False
    released: str | None = None
    events_after_cancel: int = 0
    prompt_tokens: int = 0
    origin: Literal["", "service", "kept", "recorded"] = ""
    stored: tuple[str, ...] = ()
    asked: Mapping[str, Any] = field(default_factory=dict)
    probe: str = ""
    done: threading.Event = field(default_factory=threading.Event)
    began: float = field(default_factory=time.monotonic)
    over: float | None = None
    connection: int | None = None
    child: int | None = None

    @property
    def progress(self) -> Progress:
        """How much has been written by now."""
        return Progress(len(self.body), len(self.sent), self.written)


@dataclass(slots=True)
class ChildCall:
    """A child that is spoken to while others are under way: whether its request has come, may be answered, is over."""

    requested: threading.Event = field(default_factory=threading.Event)
    answered: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)


class Responder(Protocol):
    """Where the answer to an accepted request comes from: a script, a cassette, or the real API."""

    async def answer(self, run: ServerRun, exchange: Exchange, call: Call) -> Rendered | Incoming: ...


@dataclass(slots=True)
class ServerRun:
    """State of one run.

    `on_hold` is told when a stream is held for a cancel, with what has `Arrived`. `judges` is False where the real API
    answers: then our own findings are opinions. `secrets` are the real keys that nothing of the run may keep.
    `failure` says what went wrong in the server itself, if anything, and `service_fault` what did in the real service.
    `awaited` counts the requests that wait for the service just now, and `last_data_at` is when it last sent something
    (monotonic clock). `patience` is how many seconds of silence the client takes, where the scenario limits them.
    `transports` are the connections that its requests came by, each with its number, as long as they are there.
    `background_faults` are what goes wrong with the next streams of answers in the background, one each: with those of
    requests for an answer, and with those that are retrieved.
    """

    id: str
    dialect: Dialect
    world: World
    responder: Responder
    seed: str
    cache: PrefixCache
    base_url: str = ""
    on_hold: Callable[[Arrived], None] = lambda arrived: None
    on_exchange: Callable[[Exchange], None] | None = None
    filter: WireFilter | None = None
    judges: bool = True
    failure: str = ""
    service_fault: str = ""
    awaited: int = 0
    last_data_at: float = 0.0
    patience: float | None = None
    probe: str = ""
    turn_index: int = -1
    turn: Turn | None = None
    tools: tuple[ToolSchema, ...] = ()
    clock_offset: float = 0.0
    exchanges: list[Exchange] = field(default_factory=list)
    background_faults: list[Fault] = field(default_factory=list)
    children: dict[int, ChildCall] = field(default_factory=dict)
    call_returned: threading.Event = field(default_factory=threading.Event)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    transports: WeakKeyDictionary[asyncio.Transport, int] = field(default_factory=WeakKeyDictionary)
    hold_limit: float = HOLD_LIMIT
    stall_limit: float = STALL_LIMIT
    _attempts: dict[tuple[bool, int], int] = field(default_factory=dict)
    _cut_done: bool = False
    _connections: int = 0

    # -- called from the driver's thread -------------------------------------------------------------------

    def arm(self, index: int, turn: Turn, tools: tuple[ToolSchema, ...] = ()) -> None:
        """Make a scenario turn the one that the next requests belong to. Thread-safe: nothing is in flight then.

        `tools` are those declared in that turn, under the names that the scenario gives them.
        """
        self.turn_index, self.turn, self.tools = index, turn, tools
        self._attempts.clear()
        self._cut_done = False
        self.clock_offset += turn.advance_clock

    def begin_probe(self, probe: str) -> None:
        """What comes now belongs to this probe; to the conversation with an empty name."""
        self.probe = probe
        self.background_faults = list(_BACKGROUND_FAULTS.get(probe, ()))

    def begin_call(self) -> int:
        """A provider call starts; returns the number of exchanges in `one_by_one` that came before it."""
        self.call_returned.clear()
        return len(self.one_by_one)

    @property
    def one_by_one(self) -> list[Exchange]:
        """The exchanges, less those of children that are spoken to while others are under way."""
        return [exchange for exchange in self.exchanges if exchange.child is None]

    def child_begins(self, child: int, *, waits: bool) -> None:
        """A child is spoken to while others are under way. Where it `waits`, its answer does until `child_answered`."""
        self.children[child] = call = ChildCall()
        if not waits:
            call.answered.set()

    def child_is_over(self, child: int) -> None:
        """Its turn has ended. A tool that was left running may have it end when the turn of its parent is over, and
        its exchanges are taken in."""
        if (call := self.children.get(child)) is not None:
            call.over.set()

    def child_exchanges(self) -> list[Exchange]:
        """The exchanges of all children of this turn, which are over; in the order in which they asked."""
        for call in self.children.values():
            call.answered.set()
            call.over.set()
        self.children.clear()
        own_exchanges = [one for one in self.exchanges if one.child is not None and one.turn == self.turn_index]
        for exchange in own_exchanges:
            exchange.done.wait(DONE_LIMIT)
        return own_exchanges

    def end_call(self, since: int) -> list[Exchange]:
        """A provider call is over; its exchanges, once the server is done with them (or `DONE_LIMIT` seconds later)."""
        self.call_returned.set()
        own_exchanges = self.one_by_one[since:]
        for exchange in own_exchanges:
            exchange.done.wait(DONE_LIMIT)
        return own_exchanges

    def open_connections(self, limit: float) -> int:
        """How many connections of its requests are open, as soon as none is or so many seconds later."""
        end = time.monotonic() + limit
        while (left := self._count_open()) and time.monotonic() < end:
            time.sleep(_LOOK)
        return left

    def _count_open(self) -> int:
        references = self.transports.keyrefs()  # at one stroke: the server's thread may add some meanwhile
        return sum((one := each()) is not None and not one.is_closing() for each in references)

    # -- called from the server's loop -----------------------------------------------------------------------

    def number_of(self, transport: asyncio.Transport | None) -> int | None:
        """The number of a connection within the run, counted from 0; None for one that is gone already."""
        if transport is None:
            return None
        if transport not in self.transports:
            self.transports[transport] = self._connections
            self._connections += 1
        return self.transports[transport]

    def take_fault(self, round_: int, turn: Turn | None) -> Fault | None:
        """The fault for this attempt of this round, if its turn has one: the armed turn, or one of a child in it."""
        if turn is None or self.probe:
            return None
        place = turn is self.turn, round_
        attempt = self._attempts.get(place, 0)
        self._attempts[place] = attempt + 1
        passed = 0
        for fault in turn.faults:
            if fault.round != round_:
                continue
            if attempt < passed + fault.times:
                return fault
            passed += fault.times
        return None

    def take_background_fault(self, exchange: Exchange) -> Fault | None:
        """The fault of an exchange that streams an answer in the background, if there is one left."""
        call, request = exchange.call, exchange.request
        if not self.background_faults or call is None:
            return None
        if call.operation == "generate":
            is_stream = call.stream and call.body is not None and call.body.get("background") is True
        else:
            is_stream = request.method == "GET" and request.query.get("stream") == "true"
        return self.background_faults.pop(0) if is_stream else None

    def is_drawn_anew(self, round_: int) -> bool:
        """Whether this attempt of the armed turn's round, whose fault was taken, is answered in other words than the
        first one: a client that has shown the first ones may leave as soon as it hears them."""
        rounds = self.turn.rounds if self.turn is not None else ()
        has_others = 0 <= round_ < len(rounds) and bool(rounds[round_].again)
        return has_others and not self.probe and self._attempts.get((True, round_), 0) > 1

    def take_cut(self, round_: int, *, child: bool = False) -> Cut | None:
        """The cancel point on the wire for this round, once: in the turn's own answers, or in those to its `child`."""
        cut = self.turn.cut if self.turn is not None and not self.probe else None
        places = ("child",) if child else ("event", "batch")
        if cut is None or self._cut_done or cut.round != round_ or cut.at not in places:
            return None
        self._cut_done = True
        return cut


class RunOptions(TypedDict, total=False):
    """The options of a run: what ids are drawn from, whose keys are known, the models, and a proxy in front of it."""

    seed: str
    keys: frozenset[str]
    any_key: bool
    models: Mapping[str, Any] | None
    filter: WireFilter | None


def new_run(
    id: str,
    dialect: Dialect,
    responder: Responder,
    *,
    seed: str = "0",
    keys: frozenset[str] = frozenset({CANARY_KEY, other_key(CANARY_KEY)}),
    any_key: bool = False,
    models: Mapping[str, Any] | None = None,
    filter: WireFilter | None = None,
) -> ServerRun:
    """A run with its own world and prompt cache, and no base URL yet."""
    run: ServerRun | None = None

    def clock() -> float:
        # A base that never moves by itself: only the scenario's advance_clock lets time pass.
        return 1_700_000_000.0 + (run.clock_offset if run is not None else 0.0)

    world = World(keys=keys, models=models or dialect.models, clock=clock, any_key=any_key)
    run = ServerRun(id, dialect, world, responder, seed, dialect.new_cache(), filter=filter)
    return run
