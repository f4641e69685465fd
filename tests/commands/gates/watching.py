"""Runs that are watched, in this process, and what the criteria of later phases say of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from types import ModuleType
from typing import Any

import pytest

from turnproof._base.environment import environment_with
from turnproof._base.settings import GateSettings
from turnproof.commands.gates.checks import decide
from turnproof.commands.gates.decision import Decision
from turnproof.commands.gates.flag import FlagPlan
from turnproof.commands.gates.measurement import Measured
from turnproof.commands.gates.phases import Criterion, Setting, load_phases
from turnproof.dialects import dialect
from turnproof.judge.requirements import load_suite
from turnproof.judge.view import View
from turnproof.provider import Binding
from turnproof.run.driver import Runner, RunSpec, Watch
from turnproof.run.transcript import RunKey
from turnproof.scenarios import Scenario
from turnproof.subject import SessionBinding

from . import migrated, sessions, two_paths
from .kit import scenarios

PHASES = load_phases()
SUITE = load_suite()


class Bench:
    """One server for all runs of a module; each run is made once."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._views: dict[tuple[object, ...], View] = {}

    def runs(
        self, name: str, *expected: str, setting: Setting = "default", phase: int = 4, watch: Watch = "session"
    ) -> list[View]:
        """The first mode of these scenarios, with the flag standing like this."""
        subject = self._runner.subject(name)
        plan = FlagPlan.from_settings(GateSettings(), subject.session)
        path = plan.path(setting, phase)
        with environment_with({plan.flag.variable: plan.value(setting)}):
            return [
                self._run(name, one, RunKey(one.name, path, one.modes[0]), setting, watch)
                for one in scenarios(expected)
            ]

    def _run(self, name: str, scenario: Scenario, key: RunKey, setting: Setting, watch: Watch) -> View:
        identity = (name, key, setting, watch)
        if identity not in self._views:
            subject = self._runner.subject(name)
            transcript = self._runner.run(RunSpec(name, scenario, key, flag=subject.session.flag, watch=watch))
            self._views[identity] = View(transcript, dialect(subject.dialect), scenario, "d" * 64)
        return self._views[identity]

    def measured(self, name: str, runs: dict[Setting, Sequence[View]], phase: int = 4, **fields: Any) -> Measured:
        """What a gate of this phase decides from."""
        subject = self._runner.subject(name)
        plan = FlagPlan.from_settings(GateSettings(), subject.session)
        values = {"scenarios": scenarios(), "whole": True, "today": date(2026, 11, 22), **fields}
        return Measured(subject=subject, phase=phase, flag=plan, suite=SUITE, runs=runs, **values)

    def decided(self, id: str, name: str, *expected: str, watch: Watch = "session", **fields: Any) -> Decision:
        """A criterion that is read from runs with the flag not set."""
        views = self.runs(name, *expected, phase=int(id[0]), watch=watch)
        measured = self.measured(name, {"default": views}, int(id[0]), **fields)
        return decide(measured, without_flag(id))


def without_flag(id: str) -> Criterion:
    """A criterion as phases without a flag read it."""
    return next(
        one
        for number in (4, 5)
        for one in (*PHASES.entry(PHASES[number]), *PHASES.exit(PHASES[number]))
        if one.id == id
    )


def criterion(id: str) -> Criterion:
    """A criterion as its own phase reads it."""
    (found,) = PHASES.criteria([id])
    return found


def bindings_in(module: ModuleType) -> dict[str, Binding | SessionBinding]:
    """What a module binds, by name."""
    return {name: value for name, value in vars(module).items() if isinstance(value, Binding | SessionBinding)}


@contextmanager
def opened_bench() -> Iterator[Bench]:
    """A bench for everything that is bound beside this file; what both paths have is behind `two/`."""
    found = {**bindings_in(sessions), **bindings_in(migrated)}
    found |= {f"two/{name}": value for name, value in bindings_in(two_paths).items()}
    with Runner(in_process=True, bindings=found) as runner:
        yield Bench(runner)


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    """See `Bench`."""
    with opened_bench() as bench:
        yield bench
