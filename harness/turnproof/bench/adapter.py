"""One adapter: its callers, their cases, and what came out. What fails is left out, and named with its reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from ..dialects import dialect
from ..emulator import EmulatorServer
from ..emulator.run import CANARY_KEY
from ..errors import HarnessError
from ..provider import Binding, Path
from .callers import Caller, Kind, checked, open_caller
from .canned import CannedServer
from .conversations import LONG, SHORT, WHOLE, Answer, half
from .counts import counts
from .figures import figures, ratios, times
from .meeting import canned_responses
from .report import AdapterBench, Count
from .timing import Case, measure

_ANSWERS: dict[Kind, Answer] = {
    "turn": WHOLE,
    "stream": SHORT,
    "long-stream": LONG,
    "collect": WHOLE,
    "restore": WHOLE,
}

_Urls: TypeAlias = dict[tuple[str, Answer], str]
"""Where a caller is answered in that way; not there if it could not hold the conversation."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured of an adapter: these of its paths, over histories of these lengths, in so many rounds."""

    paths: tuple[Path, ...]
    messages: tuple[int, ...]
    rounds: int


def measure_adapter(
    binding: Binding, plan: Plan, server: CannedServer, progress: Callable[[int, int, str], None]
) -> AdapterBench:
    """All figures, ratios and counts of the adapter, and what went wrong. Raises no exception of an adapter's."""
    measuring = _Measuring(binding, plan, server)
    urls = measuring.meet()
    with ExitStack() as opened:
        cases = measuring.open_cases(urls, opened)
        measure(cases, plan.rounds, progress)
    for case in cases:
        if case.failure is not None:
            measuring.problem(str(case), case.failure)
    found, plain = figures(cases), tuple(binding.plain_calls)
    return AdapterBench(
        dialect=binding.dialect,
        model=binding.model,
        plain_calls=plain,
        times=tuple(times(found)),
        ratios=tuple(ratios(found, plain)),
        counts=tuple(measuring.counts(urls)),
        problems=tuple(measuring.problems),
    )


class _Measuring:
    """The steps, with one list of what failed in them."""

    def __init__(self, binding: Binding, plan: Plan, server: CannedServer) -> None:
        self._binding, self._plan, self._server = binding, plan, server
        self._paths = [path for path in plan.paths if binding.opener(path) is not None]
        self._streams = binding.claims().streaming
        self.problems = [] if self._paths else [f"{binding.name} has no {' or '.join(plan.paths)} path"]

    def meet(self) -> _Urls:
        """Let every caller meet the emulator, once for each form of answer."""
        urls: _Urls = {}
        answers = (WHOLE, SHORT, LONG) if self._streams else (WHOLE,)
        wire = dialect(self._binding.dialect)
        with EmulatorServer() as emulator:
            for name in (*self._binding.plain_calls, *self._paths):
                for answer in answers:
                    open_at = partial(open_caller, self._binding, name, "turn", messages=2)
                    with self._noted(f"{name}, {'streamed' if answer.streamed else 'in one piece'}"):
                        responses = canned_responses(emulator, wire, open_at, answer)
                        urls[name, answer] = self._server.add(responses, wire.service.base_path)
        return urls

    def open_cases(self, urls: _Urls, opened: ExitStack) -> list[Case]:
        """Open every caller that found its answers, for each length of history, and see that it works."""
        cases = []
        for kind, name, messages in self._wanted():
            answer = _ANSWERS[kind]
            if (url := urls.get((name, answer))) is None:
                continue
            with self._noted(f"{kind}, {name}, {messages} messages"):
                caller = open_caller(self._binding, name, kind, url, messages)
                opened.callback(self._close, name, caller)
                checked(caller, answer)
                cases.append(Case(kind, name, messages, caller))
        return cases

    def counts(self, urls: _Urls) -> Iterator[Count]:
        """The counts of every path at each length of history."""
        for path in self._paths:
            for messages in self._plan.messages:
                if (whole := urls.get((path, WHOLE))) is not None:
                    with self._noted(f"counts, {path}, {messages} messages"):
                        yield from counts(self._binding, path, messages, self._server, whole, urls.get((path, SHORT)))

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
            for name in (*self._binding.plain_calls, *self._paths):
                yield "turn", name, messages
                if self._streams:
                    yield "stream", name, messages
                    if messages == min(self._plan.messages):
                        yield "long-stream", name, messages
                if name in self._paths:
                    yield "restore", name, messages
                    if half(messages, tools=tools):
                        yield "collect", name, messages

    @contextmanager
    def _noted(self, what: str) -> Iterator[None]:
        try:
            yield
        except HarnessError:
            raise
        except Exception as error:  # whatever somebody's adapter raises, it is a reason and not our end
            self.problem(what, error)
