"""The outcome of a benchmark as data: `turnproof.bench/1`, its JSON, and reading it back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from .._canonical import canonical
from ..errors import UsageError
from ..provider import Path as AdapterPath
from ..runlog import Environment

Schema: TypeAlias = Literal["turnproof.bench/1"]

Figure: TypeAlias = Literal["turn", "stream", "first-delta", "delta", "collect", "restore"]
Operation: TypeAlias = Literal["turn", "stream", "collect", "restore"]


class Time(msgspec.Struct, frozen=True):
    """CPU milliseconds of one figure for one caller (a path, or a plain call), with `messages` of history.

    `turn` is a turn answered in one piece, `stream` a streamed one, `first-delta` the part of it up to the first piece
    of text, `delta` what each further piece adds. `collect` is a collection of half the history with the turn after it,
    `restore` the first turn of a conversation that is new to the provider. `ms` is the best of the `rounds`.
    """

    figure: Figure
    caller: str
    messages: int
    ms: float
    rounds: tuple[float, ...]


class Ratio(msgspec.Struct, frozen=True):
    """A path's time, over that of caller `to` with `to_messages` of history: the same figure of it, or, for `collect`
    and `restore` against a plain call, which has no such thing, its `turn`.

    `value` is the quotient of the best rounds; `low` and `high` are the ends of the quotients within each round.
    """

    figure: Figure
    caller: str
    messages: int
    to: str
    to_messages: int
    value: float
    low: float
    high: float

    @property
    def best(self) -> float:
        """What a limit is held against: the best that any round showed, so that no noise alone goes beyond it."""
        return min(self.value, self.low)

    @property
    def words(self) -> str:
        """What it is the ratio of."""
        return _words(self)


def _words(ratio: Ratio | GoalResult) -> str:
    at = f" at {ratio.to_messages}" if ratio.to_messages != ratio.messages else ""
    return f"{ratio.figure}, {ratio.caller}, {ratio.messages} messages / {ratio.to}{at}"


class Count(msgspec.Struct, frozen=True):
    """What one operation of the reference session took on a path. Exact: the same in every run.

    `calls` are those of the provider's methods, `requests` what reached the server. `read` is how many messages of the
    history were looked into while the provider had control, `taken` how many it took out of the list that it was
    handed: every pass over the list, and every copy, takes all.
    """

    operation: Operation
    path: AdapterPath
    messages: int
    calls: dict[str, int]
    requests: int
    read: int
    taken: int


class AdapterBench(msgspec.Struct, frozen=True):
    """One adapter. `plain_calls` are the SDK's own calls that it was held against; `problems` say what was not measured
    and why."""

    dialect: str
    model: str
    plain_calls: tuple[str, ...] = ()
    times: tuple[Time, ...] = ()
    ratios: tuple[Ratio, ...] = ()
    counts: tuple[Count, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def measured(self) -> bool:
        """Whether there is any figure of a path."""
        return bool(self.ratios or self.counts)


class GoalResult(msgspec.Struct, frozen=True):
    """A goal and what became of it: missed if the ratio is above it even at its `best`.

    `value` and `best` are the ratio's own; None where the run did not measure it.
    """

    adapter: str
    figure: Figure
    caller: str
    messages: int
    to: str
    to_messages: int
    at_most: float
    standing: Literal["met", "missed", "not measured"]
    value: float | None = None
    best: float | None = None

    @property
    def words(self) -> str:
        """What it is the ratio of."""
        return _words(self)


class Change(msgspec.Struct, frozen=True):
    """One figure that is worse than in the baseline: what it is, and both sides."""

    adapter: str
    what: str
    before: str
    now: str


class Comparison(msgspec.Struct, frozen=True):
    """This run against an earlier one. `counts` and `ratios` say how many of each both runs have."""

    baseline: str
    max_ratio: float
    counts: int
    ratios: int
    worse: tuple[Change, ...] = ()


class Bench(msgspec.Struct, frozen=True, kw_only=True):
    """The whole outcome. `messages` are the lengths of history; `started` is ISO 8601 in UTC."""

    schema: Schema
    turnproof: str
    started: str
    rounds: int
    messages: tuple[int, ...]
    environment: Environment
    adapters: dict[str, AdapterBench]
    goals: tuple[GoalResult, ...] = ()
    comparison: Comparison | None = None

    def ratios(self) -> Iterator[tuple[str, Ratio]]:
        """Every ratio with the name of its adapter."""
        for name, adapter in self.adapters.items():
            yield from ((name, ratio) for ratio in adapter.ratios)


def to_json(bench: Bench) -> bytes:
    """The outcome as JSON text, ending in a newline."""
    return msgspec.json.format(canonical(bench), indent=1) + b"\n"


def read(file: Path) -> Bench:
    """The inverse of `to_json`. Raises UsageError, with file and path to the spot, for anything else."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Bench)
    except OSError as error:
        raise UsageError(f"{file}: cannot read the benchmark: {error.strerror}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: this is no output of `turnproof bench --json`: {error}") from error
