"""One adapter: its callers, their cases, and what came out. What fails is left out, and named with its reason."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TypeAlias

from msgspec import structs

from ..._base.counts import counted
from ...dialects import dialect
from ...errors import HarnessError
from ...provider import Binding
from ...report.progress import Telling
from ...wire.emulator import EmulatorServer
from ...wire.emulator.server_run import CANARY_KEY
from . import allocations, memory
from .callers import Caller
from .canned_answers import canned_responses
from .canned_provider import CannedServer
from .conversations import LONG, SHORT, WHOLE, Answer
from .counts import counts
from .figures import Key, figures, ratios, sizes, times
from .open_callers import CallerKey, Opening, Plan, answer_to
from .peers.process import PeerProcess
from .report import AdapterBench, Count, Peer, SizeFigure
from .timing import Case, Series, measure
from .whole_conversation import rehearsed

_FEW_ROUNDS = 2
"""What takes seconds is not disturbed by what takes milliseconds, and takes long enough."""

_Urls: TypeAlias = dict[tuple[str, Answer], str]
"""Where a caller is answered in that way; not there if it could not hold the conversation."""


def measure_adapter(spec: str, binding: Binding, plan: Plan, server: CannedServer, progress: Telling) -> AdapterBench:
    """All figures, ratios and counts of the adapter, and what went wrong. Raises no exception of an adapter's.

    `spec` is how another process finds the binding.
    """
    measuring = _Measuring(spec, Opening(binding, plan, server), progress)
    with ExitStack() as running:
        measuring.start_peers(running)
        urls = measuring.meet()
        found = measuring.turns(urls)
        if plan.long:
            found |= measuring.conversations_and_crowds(urls) | measuring.memory_of_sessions(urls)
        counted = tuple(measuring.counts(urls))
        peers = tuple(Peer(peer.name, peer.package, peer.versions) for peer in measuring.opening.peers.values())
    done = AdapterBench(
        dialect=binding.dialect,
        model=binding.model,
        package=binding.package or "",
        plain_calls=tuple(binding.plain_calls),
        times=tuple(times(found)),
        sizes=tuple(sizes(found)),
        counts=counted,
        problems=tuple(dict.fromkeys(measuring.problems)),
        peers=peers,
    )
    return structs.replace(done, ratios=tuple(ratios(found, done.rivals)))


class _Measuring:
    """The steps, with one list of what failed in them."""

    def __init__(self, spec: str, opening: Opening, progress: Telling) -> None:
        self.opening = opening
        self._spec, self._binding, self._plan, self._server = spec, opening.binding, opening.plan, opening.server
        self._progress = progress
        lacking = f"{self._binding.name} has no {' or '.join(self._plan.paths)} path"
        self.problems = [] if opening.paths else [lacking]

    def start_peers(self, running: ExitStack) -> None:
        """A process for each, with the environment that it needs."""
        for place, name in enumerate(self._plan.peers, 1):
            self._progress.stage("environments")
            self._progress(place, len(self._plan.peers), name)
            with self._note_failures(name):
                peer = PeerProcess(name, self._binding.name)
                running.callback(peer.close)
                self.opening.peers[name] = peer

    def meet(self) -> _Urls:
        """Let every caller meet the emulator, once for each form of answer."""
        urls: _Urls = {}
        answers = (WHOLE, SHORT, LONG) if self.opening.streams else (WHOLE,)
        wire = dialect(self._binding.dialect)

        def open_at(url: str) -> Caller:
            caller = self.opening.open(("turn", name, 2), url)
            assert caller is not None, "everybody takes turns"
            return caller

        with EmulatorServer() as emulator:
            for name in (*self.opening.own, *self.opening.peers):
                for answer in answers:
                    with self._note_failures(f"{name}, {'streamed' if answer.streamed else 'in one piece'}"):
                        responses = canned_responses(emulator, wire, open_at, answer)
                        urls[name, answer] = self._server.add(responses, wire.service.base_path)
        return urls

    def turns(self, urls: _Urls) -> dict[Key, Series]:
        """All that one turn costs, at each length of history."""
        with ExitStack() as stack:
            self._progress.stage("visits")
            cases = self._open_callers(self.opening.turns(), urls, stack)
            self._measured(cases, self._plan.rounds)
            return figures(cases) | (self._allocated(cases) if self._plan.long else {})

    def conversations_and_crowds(self, urls: _Urls) -> dict[Key, Series]:
        """Whole conversations, and crowds."""
        with ExitStack() as stack:
            self._progress.stage("long visits")
            cases = self._open_callers(self.opening.conversations_and_crowds(), urls, stack)
            self._measured(cases, min(self._plan.rounds, _FEW_ROUNDS), warm_up=False)
            return figures(cases)

    def memory_of_sessions(self, urls: _Urls) -> dict[Key, Series]:
        """What live sessions hold in memory."""
        found: dict[Key, Series] = {}
        if not memory.can_measure():
            return found
        callers = [name for name in self.opening.own if name != "legacy"]
        planned_figures: list[tuple[SizeFigure, str]] = [("held", name) for name in callers]
        planned_figures += [("held-bare", name) for name in callers if name == "stateless"]
        self._progress.stage("processes")
        for done, (figure, name) in enumerate(planned_figures, 1):
            self._progress(done, len(planned_figures), f"{figure}, {name}")
            if (url := urls.get((name, WHOLE))) is not None:
                with self._note_failures(f"{figure}, {name}"):
                    amount = memory.bytes_per_message(memory.Holding(self._spec, name, url, bare=figure == "held-bare"))
                    if amount is not None:
                        found[figure, name, memory.MESSAGES] = Series(amount, (amount,))
        return found

    def counts(self, urls: _Urls) -> Iterator[Count]:
        """The counts of every path at each length of history."""
        for path in self.opening.paths:
            for messages in self._plan.messages:
                if (url := urls.get((path, WHOLE))) is not None:
                    with self._note_failures(f"counts, {path}, {counted(messages, 'message')}"):
                        yield from counts(self._binding, path, messages, self._server, url, urls.get((path, SHORT)))

    def _open_callers(self, keys: Iterator[CallerKey], urls: _Urls, stack: ExitStack) -> list[Case]:
        """Open every caller that found its answers, with the floor beside it, and see that it works."""
        cases: list[Case] = []

        def add(key: CallerKey, caller: Caller, url: str) -> None:
            kind, name, messages = key
            stack.callback(self._close, name, caller)
            rehearsed(caller, answer_to(kind))
            self.opening.check_sent(key, url)
            cases.append(Case(kind, name, messages, caller))

        for caller_key in keys:
            kind, name, messages = caller_key
            if (url := urls.get((name, answer_to(kind)))) is None:
                continue
            with self._note_failures(f"{kind}, {name}, {counted(messages, 'message')}"):
                if (caller := self.opening.open(caller_key, url)) is not None:
                    add(caller_key, caller, url)
                    if self.opening.is_floored(caller_key):
                        add(*self.opening.floor(caller_key, url), url)
        return cases

    def _measured(self, cases: list[Case], rounds: int, *, warm_up: bool = True) -> None:
        measure(cases, rounds, self._progress, warm_up=warm_up)
        for case in cases:
            if case.failure is not None:
                self.problem(str(case), case.failure)

    def _allocated(self, cases: list[Case]) -> dict[Key, Series]:
        """What the turns of everybody in this process allocate."""
        found: dict[Key, Series] = {}
        own_cases = [case for case in cases if case.name not in self.opening.peers]
        turns = [case for case in own_cases if case.kind == "turn" and case.failure is None]
        self._progress.stage("allocations")
        gc.collect()
        # As for times: the collector has nothing to do with what all cases hold together.
        gc.freeze()
        for done, case in enumerate(turns, 1):
            self._progress(done, len(turns), str(case))
            with self._note_failures(f"allocations, {case.name}, {counted(case.messages, 'message')}"):
                peak, left = allocations.peak(case.caller), allocations.blocks_left(case.caller)
                found["peak", case.name, case.messages] = Series(peak, (peak,))
                found["left", case.name, case.messages] = Series(left, (left,))
        gc.unfreeze()
        return found

    def problem(self, what: str, error: Exception) -> None:
        """Note why something was not measured."""
        message = f"{what}: {type(error).__name__}: {error}"
        self.problems.append(" ".join(message.replace(CANARY_KEY, "[key]").split()))

    def _close(self, name: str, caller: Caller) -> None:
        with self._note_failures(f"closing {name}"):
            caller.close()

    @contextmanager
    def _note_failures(self, what: str) -> Iterator[None]:
        try:
            yield
        except HarnessError:
            raise
        except Exception as error:  # whatever somebody's adapter raises, it is a reason and not our end
            self.problem(what, error)
