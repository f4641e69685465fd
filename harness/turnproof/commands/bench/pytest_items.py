"""The items of `pytest --turnproof-bench ADAPTER`: one for each caller and length of history, for pytest-benchmark.

The engine of `turnproof bench` measures an adapter when its first item runs: all callers in the same rounds, without
which there are no ratios. Each item hands the times of its caller to the fixture `benchmark`, and what else is known of
it to `extra_info`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ..._base.counts import counted
from ...errors import HarnessError, UsageError
from ...provider import Binding
from .conversations import history
from .engine import BenchOptions, bench, load_bindings
from .floor import FLOOR, has_floor
from .open_callers import paths_of
from .report import AdapterBench, Ratio, Time

MESSAGES = (2, 20, 200, 1000)
"""Lengths of history that are measured unless others are requested."""


@dataclass(frozen=True, slots=True)
class _Subject:
    """An adapter: how it is found, its name, and who takes turns for it."""

    spec: str
    name: str
    callers: tuple[str, ...]


class BenchItems:
    """Adds the items, and measures each adapter once.

    Raises UsageError for an adapter or a length that cannot be used, and where pytest-benchmark is not there.
    """

    def __init__(self, specs: Sequence[str], messages: Sequence[int], rounds: int, config: pytest.Config) -> None:
        if not config.pluginmanager.hasplugin("benchmark"):
            raise UsageError("`--turnproof-bench` needs pytest-benchmark: pip install 'turnproof[bench]'")
        if rounds < 1:
            raise UsageError(f"`--turnproof-bench-rounds` is at least 1: got {rounds}")
        self._messages = tuple(sorted(set(messages or MESSAGES)))
        for size in self._messages:
            history(size, tools=False)
        self._rounds = rounds
        specs = tuple(dict.fromkeys(specs))
        self._subjects = list(map(_subject, specs, load_bindings(specs)))
        self._outcomes: dict[str, AdapterBench] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        # A module, as fixtures of the project's own may have its scope.
        parent = pytest.Module.from_parent(session, path=Path(__file__), name="turnproof", nodeid="turnproof")
        parent.obj = sys.modules[__name__]
        for subject in self._subjects:
            for messages in self._messages:
                items.extend(self._item(parent, subject, caller, messages) for caller in subject.callers)

    def _item(self, parent: pytest.Module, subject: _Subject, caller: str, messages: int) -> BenchItem:
        clock = _MeasuredClock()

        @pytest.mark.benchmark(group=f"{subject.name}: a turn at {counted(messages, 'message')}", timer=clock)
        def turn(benchmark: Any) -> None:
            if benchmark.disabled:
                pytest.skip("pytest-benchmark is disabled")
            outcome = self._outcome(subject)
            figure = _figure(outcome, caller, messages)
            if figure is None:
                pytest.fail("\n".join(_problems(outcome, caller)), pytrace=False)
            clock.durations = iter(figure.rounds)
            benchmark.extra_info.update(_extra_info(subject.name, outcome, figure))
            benchmark.pedantic(clock.advance, rounds=len(figure.rounds))

        name = f"{subject.name}/turn[{caller}-{messages}]"
        return BenchItem.from_parent(parent, name=name, callobj=turn)

    def _outcome(self, subject: _Subject) -> AdapterBench:
        """What the adapter's turns cost, measured when it is first requested."""
        if subject.spec not in self._outcomes:
            options = BenchOptions((subject.spec,), self._messages, self._rounds, kinds=("turn",))
            try:
                self._outcomes[subject.spec] = bench(options).adapters[subject.name]
            except HarnessError as error:
                raise pytest.exit.Exception(f"turnproof could not measure: {error}") from error
        return self._outcomes[subject.spec]


class BenchItem(pytest.Function):
    """The turns of one caller over a history of one length."""

    def reportinfo(self) -> tuple[str, None, str]:
        return "turnproof", None, self.name


class _MeasuredClock:
    """A timer of pytest-benchmark's that shows what was measured already, round by round.

    The engine takes its times with `time.process_time`, under whose name the outcome lists this timer.
    """

    __name__ = time.process_time.__name__

    def __init__(self) -> None:
        self.__module__ = time.__name__
        self.durations: Iterator[float] = iter(())
        self._now = 0.0

    def __call__(self) -> float:
        return self._now

    def advance(self) -> None:
        """Let the next round pass. The durations are milliseconds, the clock shows seconds."""
        self._now += next(self.durations) / 1e3


def _subject(spec: str, binding: Binding) -> _Subject:
    floor = (FLOOR,) if has_floor() else ()
    return _Subject(spec, binding.name, (*floor, *binding.plain_calls, *paths_of(binding, ("stateless", "legacy"))))


def _figure(outcome: AdapterBench, caller: str, messages: int) -> Time | None:
    """The times of one caller; None where it was not measured."""
    key = ("turn", caller, messages)
    return next((time for time in outcome.times if (time.figure, time.caller, time.messages) == key), None)


def _problems(outcome: AdapterBench, caller: str) -> Sequence[str]:
    """Why a caller was not measured: what names it, else all that went wrong."""
    return [text for text in outcome.problems if caller in text] or outcome.problems or ["it was not measured"]


def _extra_info(adapter: str, outcome: AdapterBench, figure: Time) -> dict[str, Any]:
    """What the outcome says of a caller beside its times."""
    ratios = [ratio for ratio in outcome.ratios if ratio.key[:3] == (figure.figure, figure.caller, figure.messages)]
    return {
        "adapter": adapter,
        "model": outcome.model,
        "caller": figure.caller,
        "messages": figure.messages,
        "ratios": {_other(ratio): {"value": ratio.value, "low": ratio.low, "high": ratio.high} for ratio in ratios},
    }


def _other(ratio: Ratio) -> str:
    """What a ratio divides by."""
    return ratio.to if ratio.to_messages == ratio.messages else f"{ratio.to} at {ratio.to_messages}"
