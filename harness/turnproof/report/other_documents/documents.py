"""What the page reads of the documents that lie beside a run: the fields it shows, and nothing else.

The commands that write them stand above the reports, so their own types cannot be used here.
"""

from __future__ import annotations

from typing import Literal

import msgspec


class MutantRow(msgspec.Struct, frozen=True):
    """A mutant and what became of it."""

    mutant: str
    breaks: str
    expected: str
    outcome: str
    detail: str = ""
    trips: tuple[str, ...] = ()


class CaughtMutants(msgspec.Struct, frozen=True):
    """The mutants that a requirement caught, of those that name it."""

    caught: tuple[str, ...] = ()


class Mutants(msgspec.Struct, frozen=True):
    """A kill matrix (`mutants.json`)."""

    schema: Literal["turnproof.mutants/1"]
    adapter: str
    model: str
    mutants: tuple[MutantRow, ...]
    requirements: dict[str, CaughtMutants]
    median_others: float = 0
    only: tuple[str, ...] = ()
    control: dict[str, str] = {}
    started: str = ""
    backend: str = ""

    @property
    def ran(self) -> tuple[MutantRow, ...]:
        """Those that had anything to break."""
        return tuple(row for row in self.mutants if row.outcome != "not-claimed")

    @property
    def caught(self) -> tuple[MutantRow, ...]:
        """Those that were caught by the requirement that is to notice them."""
        return tuple(row for row in self.mutants if row.outcome == "caught")


class Machine(msgspec.Struct, frozen=True):
    """Where something was measured."""

    python: str
    platform: str
    packages: dict[str, str] = {}


class Goal(msgspec.Struct, frozen=True):
    """A ratio that was to be reached."""

    id: str
    subject: str
    words: str
    at_most: float
    standing: str
    stretch: float | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None


class Benched(msgspec.Struct, frozen=True):
    """An adapter that was measured; `problems` say what of it was not."""

    problems: tuple[str, ...] = ()


class Bench(msgspec.Struct, frozen=True):
    """A benchmark (`bench.json`)."""

    schema: Literal["turnproof.bench/2"]
    started: str
    rounds: int
    environment: Machine
    adapters: dict[str, Benched]
    goals: tuple[Goal, ...] = ()


class Spot(msgspec.Struct, frozen=True):
    """A line of source, and what stands there."""

    file: str
    line: int
    what: str


class Criterion(msgspec.Struct, frozen=True):
    """A criterion of a gate. `left` names what keeps it closed, `spots` the lines of source that this is about."""

    id: str
    side: str
    title: str
    state: str
    message: str
    left: tuple[str, ...] = ()
    spots: tuple[Spot, ...] = ()


class GateSubject(msgspec.Struct, frozen=True):
    """A session on an adapter that stands before a gate."""

    name: str
    state: str
    backend: str
    criteria: tuple[Criterion, ...]


class Gate(msgspec.Struct, frozen=True):
    """A gate (`gate-N.json`). `out_of_order` names entry criteria that do not hold."""

    schema: Literal["turnproof.gate/2"]
    phase: int
    name: str
    goal: str
    state: str
    mode: str
    depth: str
    started: str
    subjects: tuple[GateSubject, ...]
    out_of_order: tuple[str, ...] = ()


class ComparedScenario(msgspec.Struct, frozen=True):
    """One scenario of a comparison."""

    scenario: str
    mode: str
    standing: str
    problem: str = ""
    reproduce: str = ""


class Comparison(msgspec.Struct, frozen=True):
    """A comparison (`comparison.json`)."""

    schema: Literal["turnproof.comparison/1"]
    compares: str
    left: str
    right: str
    backend: str
    depth: str
    started: str
    counts: dict[str, int]
    adapters: tuple[str, ...]
    stale: tuple[str, ...]
    scenarios: tuple[ComparedScenario, ...]

    @property
    def told(self) -> tuple[ComparedScenario, ...]:
        """The scenarios that a reader has to look at."""
        return tuple(one for one in self.scenarios if one.standing in ("violated", "inconclusive"))
