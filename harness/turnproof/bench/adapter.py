"""One adapter: its callers, their cases, and what came out. What fails is left out, and named with its reason."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from msgspec import structs

from ..dialects import dialect
from ..emulator import EmulatorServer
from ..emulator.run import CANARY_KEY
from ..errors import HarnessError, ProviderError
from ..provider import Binding, Conversation, Path
from ..reports.progress import Telling
from . import allocations, memory
from .callers import Caller, Kind, open_caller
from .canned import CannedServer
from .conversations import LONG, SHORT, WHOLE, Answer, conversation, half, is_sent_whole
from .conversing import TURNS, open_conversing, rehearsed
from .counts import counts
from .crowd import HISTORY, crowd_of, open_crowd
from .figures import Key, figures, ratios, sizes, times
from .floor import FLOOR, Floor, has_floor
from .meeting import canned_responses
from .peers.process import PeerProcess
from .report import AdapterBench, Count, Peer, SizeFigure
from .timing import Case, Series, measure
from .tls import Certificate

_ANSWERS: dict[Kind, Answer] = {"stream": SHORT, "long-stream": LONG}
"""How each kind of turn is answered: in one piece unless it is here."""

_FLOORED: tuple[Kind, ...] = ("turn", "stream", "long-stream", "tls", "crowd")
"""What the floor does."""

_USUAL = 200
"""How long a history is over TLS, which costs the same whatever was said."""

_FEW_ROUNDS = 2
"""What takes seconds is not disturbed by what takes milliseconds, and takes long enough."""

_Urls: TypeAlias = dict[tuple[str, Answer], str]
"""Where a caller is answered in that way; not there if it could not hold the conversation."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured of an adapter: these of its paths, over histories of these lengths, in so many rounds.

    `long` is for what takes a minute and not a second: whole conversations, crowds, memory, allocations, TLS. `peers`
    are measured in the same rounds.
    """

    paths: tuple[Path, ...]
    messages: tuple[int, ...]
    rounds: int
    long: bool = False
    peers: tuple[str, ...] = ()
    certificate: Certificate | None = None


def measure_adapter(spec: str, binding: Binding, plan: Plan, server: CannedServer, progress: Telling) -> AdapterBench:
    """All figures, ratios and counts of the adapter, and what went wrong. Raises no exception of an adapter's.

    `spec` is how another process finds the binding.
    """
    with ExitStack() as running:
        measuring = _Measuring(spec, binding, plan, server, progress)
        measuring.start_peers(running)
        urls = measuring.meet()
        found = measuring.turns(urls)
        if plan.long:
            found |= measuring.whole(urls) | measuring.held(urls)
        counted = tuple(measuring.counts(urls))
    done = AdapterBench(
        dialect=binding.dialect,
        model=binding.model,
        package=binding.package or "",
        plain_calls=tuple(binding.plain_calls),
        times=tuple(times(found)),
        sizes=tuple(sizes(found)),
        counts=counted,
        problems=tuple(dict.fromkeys(measuring.problems)),
        peers=tuple(Peer(peer.name, peer.package, peer.versions) for peer in measuring.peers.values()),
    )
    return structs.replace(done, ratios=tuple(ratios(found, done.rivals)))


class _Measuring:
    """The steps, with one list of what failed in them."""

    def __init__(self, spec: str, binding: Binding, plan: Plan, server: CannedServer, progress: Telling) -> None:
        self._spec, self._binding, self._plan, self._server = spec, binding, plan, server
        self._progress = progress
        self._paths = [path for path in plan.paths if binding.opener(path) is not None]
        self._callers = (*binding.plain_calls, *self._paths)
        self._streams = binding.claims().streaming
        # Whose requests the floor sends: the SDK's own, where there is a call of it.
        self._floored = next(iter(self._callers), None)
        self.peers: dict[str, PeerProcess] = {}
        self.problems = [] if self._paths else [f"{binding.name} has no {' or '.join(plan.paths)} path"]

    def start_peers(self, running: ExitStack) -> None:
        """A process for each, with the environment that it needs."""
        for place, name in enumerate(self._plan.peers, 1):
            self._progress.stage("environments")
            self._progress(place, len(self._plan.peers), name)
            with self._noted(name):
                peer = PeerProcess(name, self._binding.name)
                running.callback(peer.close)
                self.peers[name] = peer

    def meet(self) -> _Urls:
        """Let every caller meet the emulator, once for each form of answer."""
        urls: _Urls = {}
        answers = (WHOLE, SHORT, LONG) if self._streams else (WHOLE,)
        wire = dialect(self._binding.dialect)
        with EmulatorServer() as emulator:
            for name in (*self._callers, *self.peers):
                for answer in answers:
                    open_at = partial(self._open_turn, "turn", name, 2)
                    with self._noted(f"{name}, {'streamed' if answer.streamed else 'in one piece'}"):
                        responses = canned_responses(emulator, wire, open_at, answer)
                        urls[name, answer] = self._server.add(responses, wire.service.base_path)
        return urls

    def turns(self, urls: _Urls) -> dict[Key, Series]:
        """All that one turn costs, at each length of history."""
        with ExitStack() as opened:
            self._progress.stage("visits")
            cases = self._opened(self._wanted(), urls, opened)
            self._measured(cases, self._plan.rounds)
            return figures(cases) | (self._allocated(cases) if self._plan.long else {})

    def whole(self, urls: _Urls) -> dict[Key, Series]:
        """Whole conversations, and crowds."""
        with ExitStack() as opened:
            self._progress.stage("long visits")
            cases = self._opened(self._wanted_whole(), urls, opened)
            self._measured(cases, min(self._plan.rounds, _FEW_ROUNDS), warm_up=False)
            return figures(cases)

    def held(self, urls: _Urls) -> dict[Key, Series]:
        """What live sessions hold in memory."""
        found: dict[Key, Series] = {}
        if not memory.can_measure():
            return found
        callers = [name for name in self._callers if name != "legacy"]
        wanted: list[tuple[SizeFigure, str]] = [("held", name) for name in callers]
        wanted += [("held-bare", name) for name in callers if name == "stateless"]
        self._progress.stage("processes")
        for done, (figure, name) in enumerate(wanted, 1):
            self._progress(done, len(wanted), f"{figure}, {name}")
            if (url := urls.get((name, WHOLE))) is not None:
                with self._noted(f"{figure}, {name}"):
                    taken = memory.held(memory.Holding(self._spec, name, url, bare=figure == "held-bare"))
                    if taken is not None:
                        found[figure, name, memory.MESSAGES] = Series(taken, (taken,))
        return found

    def counts(self, urls: _Urls) -> Iterator[Count]:
        """The counts of every path at each length of history."""
        for path in self._paths:
            for messages in self._plan.messages:
                if (whole := urls.get((path, WHOLE))) is not None:
                    with self._noted(f"counts, {path}, {messages} messages"):
                        yield from counts(self._binding, path, messages, self._server, whole, urls.get((path, SHORT)))

    def _opened(self, wanted: Iterator[tuple[Kind, str, int]], urls: _Urls, opened: ExitStack) -> list[Case]:
        """Open every caller that found its answers, with the floor beside it, and see that it works."""
        cases: list[Case] = []

        def add(kind: Kind, name: str, messages: int, caller: Caller, url: str) -> None:
            opened.callback(self._close, name, caller)
            rehearsed(caller, _ANSWERS.get(kind, WHOLE))
            if name in self.peers and not is_sent_whole(self._server.last(url).body, self._talk(messages)):
                raise ProviderError("it does not send the whole history")
            cases.append(Case(kind, name, messages, caller))

        for kind, name, messages in wanted:
            answer = _ANSWERS.get(kind, WHOLE)
            if (url := urls.get((name, answer))) is None:
                continue
            with self._noted(f"{kind}, {name}, {messages} messages"):
                if (caller := self._open(kind, name, messages, url)) is None:
                    continue
                add(kind, name, messages, caller, url)
                if has_floor() and kind in _FLOORED and name == (self._paths[0] if kind == "tls" else self._floored):
                    add(kind, FLOOR, messages, self._floor(kind, url, answer), url)
        return cases

    def _open(self, kind: Kind, name: str, messages: int, url: str) -> Caller | None:
        match kind:
            case "conversation":
                return open_conversing(self._binding, name, url)
            case "crowd":
                return open_crowd(self._binding, name, url)
            case "tls" if (certificate := self._plan.certificate) is not None:
                trusting = {**self._binding.options, "ssl_context": certificate.trusting}
                trusted = replace(self._binding, options=trusting)
                return open_caller(trusted, name, "turn", self._server.secure(url), messages)
            case _:
                return self._open_turn(kind, name, messages, url)

    def _open_turn(self, kind: Kind, name: str, messages: int, url: str) -> Caller:
        if (peer := self.peers.get(name)) is not None:
            return peer.open(url, CANARY_KEY, self._binding.model, self._talk(messages))
        return open_caller(self._binding, name, kind, url, messages)

    def _talk(self, messages: int) -> Conversation:
        return conversation(messages, tools=self._binding.claims().tools)

    def _floor(self, kind: Kind, url: str, answer: Answer) -> Caller:
        """The latest request, over the bare HTTP client."""
        sent = self._server.last(url)
        if kind == "tls" and (certificate := self._plan.certificate) is not None:
            return Floor(replace(sent, url=self._server.secure(sent.url)), answer, certificate.trusting)
        floor = Floor(sent, answer)
        return crowd_of(floor) if kind == "crowd" else floor

    def _measured(self, cases: list[Case], rounds: int, *, warm_up: bool = True) -> None:
        measure(cases, rounds, self._progress, warm_up=warm_up)
        for case in cases:
            if case.failure is not None:
                self.problem(str(case), case.failure)

    def _allocated(self, cases: list[Case]) -> dict[Key, Series]:
        mine = [case for case in cases if case.name not in self.peers]
        turns = [case for case in mine if case.kind == "turn" and case.failure is None]
        self._progress.stage("allocations")
        gc.collect()
        # As for times: the collector has nothing to do with what all cases hold together.
        gc.freeze()
        try:
            return self._each_allocated(turns)
        finally:
            gc.unfreeze()

    def _each_allocated(self, turns: list[Case]) -> dict[Key, Series]:
        found: dict[Key, Series] = {}
        for done, case in enumerate(turns, 1):
            self._progress(done, len(turns), str(case))
            with self._noted(f"allocations, {case.name}, {case.messages} messages"):
                peak, left = allocations.peak(case.caller), allocations.left(case.caller)
                found["peak", case.name, case.messages] = Series(peak, (peak,))
                found["left", case.name, case.messages] = Series(left, (left,))
        return found

    def problem(self, what: str, error: Exception) -> None:
        """Note why something was not measured."""
        told = f"{what}: {type(error).__name__}: {error}"
        self.problems.append(" ".join(told.replace(CANARY_KEY, "[key]").split()))

    def _close(self, name: str, caller: Caller) -> None:
        with self._noted(f"closing {name}"):
            caller.close()

    def _wanted(self) -> Iterator[tuple[Kind, str, int]]:
        tools = self._binding.claims().tools
        for messages in self._plan.messages:
            for name in (*self._callers, *self.peers):
                yield "turn", name, messages
                if self._streams:
                    yield "stream", name, messages
                    if messages == min(self._plan.messages):
                        yield "long-stream", name, messages
                if name in self._paths:
                    yield "restore", name, messages
                    if half(messages, tools=tools):
                        yield "collect", name, messages

        if self._plan.long and self._plan.certificate is not None:
            for path in self._paths:
                yield (
                    "tls",
                    path,
                    max((n for n in self._plan.messages if n <= _USUAL), default=min(self._plan.messages)),
                )

    def _wanted_whole(self) -> Iterator[tuple[Kind, str, int]]:
        for name in self._callers:
            yield "conversation", name, 2 * TURNS
        # A plain call that is not the first of its binding may be one that remembers, and is nothing for threads.
        for name in (*list(self._binding.plain_calls)[:1], *self._paths):
            yield "crowd", name, HISTORY

    @contextmanager
    def _noted(self, what: str) -> Iterator[None]:
        try:
            yield
        except HarnessError:
            raise
        except Exception as error:  # whatever somebody's adapter raises, it is a reason and not our end
            self.problem(what, error)
